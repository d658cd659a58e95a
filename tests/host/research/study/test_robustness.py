"""The robustness table: its arithmetic by hand, its sessions, and the command."""

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.hearing import SimulatedTest
from device.simulator.kinds import kind_named
from device.simulator.listener import EARS, SimulatedListener
from firmware_py.session.hearing import HearingTest
from firmware_py.terms import events
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.settings import Settings
from host_tools.main import main
from host_tools.research.study import robustness_exact
from host_tools.research.study.ears import DEAD, REAL, STEEP, read_table
from host_tools.research.study.listener import Answering
from host_tools.research.study.plan import NOT_KNOWN
from host_tools.research.study.robustness import (
    ALL_HZ,
    BETWEEN_HZ,
    END,
    Goal,
    SessionFound,
    coverage,
    coverage_low,
    mean_mass,
    read_off,
    rmse,
    share_thin,
    told_between,
)
from host_tools.research.study.robustness_cases import BY_NAME, CASES, accept
from host_tools.research.study.robustness_exact import (
    Suspects,
    exact_posterior,
    log_likelihood,
    told_suspects,
    untold_suspects,
)
from host_tools.research.study.robustness_judged import compare_with_truth, run_procedure
from host_tools.research.study.robustness_sessions import ears_of_case, run_unit, units_of
from host_tools.research.study.sitting import Sitting
from tests.budget import quick
from tests.host.research.study.ears import unit_of, write_table

TOLD = Answering(2.0, 0.1, 0.05)


def finding(
    errors_db: list[float], covered: list[float], at: int = 20, refused: bool = False
) -> SessionFound:
    return SessionFound({at: np.array(errors_db)}, {at: np.array(covered)}, refused=refused)


def flat_test(level_db_hl: float, **settings: str) -> SimulatedTest:
    ears = dict.fromkeys(EARS, Audiogram((1000.0,), (level_db_hl,)))
    return SimulatedTest(Settings(**settings), SimulatedListener(ears))  # type: ignore[arg-type]


class TestArithmetic:
    def test_errors_are_those_from_500_hz_on_squared_over_all_sessions(self) -> None:
        sessions = [finding([99, 3, 0], [0, 1, 1]), finding([99, 4, math.nan], [1, 0, math.nan])]

        assert rmse(20)(sessions) == pytest.approx(math.sqrt(25 / 3))
        assert coverage(20)(sessions) == pytest.approx(0.5)
        assert coverage_low(20)(sessions) == 0.5

    def test_tests_that_were_refused_are_left_out_and_nothing_left_is_as_good(self) -> None:
        bad = finding([0, 30, 30], [0, 0, 0], END, refused=True)
        good = finding([0, 3, 3], [0, 1, 1], END)

        assert accept(rmse(END))([bad, good]) == 3.0
        assert accept(coverage(END))([bad, good]) == 1.0
        assert math.isnan(accept(rmse(END))([bad]))
        rows = read_off(BY_NAME["bursts-test"], [bad])
        assert [row["met"] for row in rows] == [True, True, None]
        assert [row["shown"] for row in rows] == ["-", "-", "100%"]

    def test_what_is_told_between_holds_a_truth_on_its_edge(self) -> None:
        low_db_hl = np.full(len(BETWEEN_HZ), 30.0)
        low_db_hl[:10] = 30.1
        held = told_between((low_db_hl, low_db_hl + 8.0), Audiogram((1000.0,), (30.0,)))

        assert held == pytest.approx((0.75, 4.0))
        assert len(BETWEEN_HZ) == 40
        assert 250.0 < min(BETWEEN_HZ) < max(BETWEEN_HZ) < 8000.0
        assert not {*BETWEEN_HZ} & {*ALL_HZ}

    def test_the_exact_mass_is_that_of_all_bands(self) -> None:
        sessions = [
            SessionFound({}, {}, mass=(0.95, 0.5)),
            SessionFound({}, {}, mass=(0.9, 0.97)),
        ]

        assert mean_mass(sessions) == pytest.approx(0.83)
        assert share_thin(sessions) == 0.25

    def test_goals_are_met_within_their_bounds_and_say_so(self) -> None:
        both = Goal("x", rmse(20), 0.7, 1.3, unit=" dB")
        assert [both.is_met(x) for x in (0.69, 0.7, 1.3, 1.31, math.nan)] == [
            False, True, True, False, False,
        ]  # fmt: skip
        assert both.wanted == "0.70 dB to 1.30 dB"
        assert Goal("x", rmse(20), high=0.05, percent=True).wanted == "at most 5%"
        assert Goal("x", rmse(20), low=0.9).wanted == "at least 0.90"
        assert Goal("x", rmse(20)).wanted == ""

    def test_cases_without_sessions_are_neither_met_nor_missed(self) -> None:
        assert [row["met"] for row in read_off(BY_NAME["steep"], [])] == [None, None]


class TestEars:
    @pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.name))
    def test_every_case_has_ears_of_its_kind_and_more_contain_fewer(self, case: object) -> None:
        named = BY_NAME[case.name]  # type: ignore[attr-defined]
        if named.ears in {REAL, STEEP}:
            assert ears_of_case(named, 5, None) == ()
            return
        ears = ears_of_case(named, 15, None)
        count = 15 * named.ears_factor

        assert len({ear.name for ear in ears}) == len(ears) == count
        # Dead ears are alike, their listeners are not.
        assert len({ear.thresholds_db_hl for ear in ears}) == (1 if named.ears == DEAD else count)
        assert ears_of_case(named, 6, None) == ears[: 6 * named.ears_factor]
        units = list(units_of(named, ears, 2))
        assert len(units) == 2 * count
        assert all((unit.other is None) == (named.other is None) for unit in units)
        assert all((unit.then is None) == (named.changes_at is None) for unit in units)
        assert all(unit.then.name != unit.ear.name for unit in units if unit.then is not None)

    def test_real_ears_are_drawn_from_a_table_and_moved_off_its_steps(self, tmp_path: Path) -> None:
        table = read_table(write_table(tmp_path / "ears.csv"), "--audiograms")
        case = BY_NAME["perhaps-3-noise-2"]

        ears = ears_of_case(case, 3, table)

        assert len({ear.name for ear in ears}) == len(ears) > 1
        assert ears_of_case(case, 2, table) == ears[:2]
        assert all(level % 5.0 for ear in ears for level in ear.thresholds_db_hl)

    def test_steep_ears_are_those_of_a_table_with_a_step(self, tmp_path: Path) -> None:
        path = write_table(tmp_path / "ears.csv")
        lines = path.read_text("utf-8").splitlines()
        steep = [f"B,{n},R,10,10,10,{40 + n},{45 + n}," for n in range(5)]
        path.write_text("\n".join([*lines, *steep]) + "\n", encoding="utf-8")

        ears = ears_of_case(BY_NAME["steep"], 2, read_table(path, "--audiograms"))

        assert [ear.name for ear in ears] == [f"B/{n}/R" for n in (4, 3, 2, 1)]
        assert all(np.abs(np.diff(ear.thresholds_db_hl)).max() >= 30 for ear in ears)


class TestSessions:
    @pytest.mark.parametrize(
        "name", quick(["island", "bursts-test", "exact", "exact-untold"], "island")
    )
    def test_a_session_is_the_same_again(self, name: str) -> None:
        first, second, other = (repr(run_unit(unit_of(name, seed))) for seed in (1, 1, 2))
        assert first == second != other

    def test_after_few_answers_the_estimator_is_as_sure_as_the_exact_posterior(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(robustness_exact, "EXACT_TONES", 3)
        monkeypatch.setattr(robustness_exact, "PARTICLES", 2000)
        monkeypatch.setattr(robustness_exact, "SAMPLES_MIN", 100)
        noted = run_unit(unit_of("exact"))

        assert 0.8 < noted.sd_ratio < 1.25
        assert 0.85 < min(noted.mass) <= max(noted.mass) <= 1.0
        assert noted.samples >= 100.0

    def test_the_estimator_is_compared_with_the_finer_truth(self) -> None:
        noted = run_unit(unit_of("narrow-notch"))

        assert set(noted.error_db) == {10, 20, 40}
        assert all(len(each) == len(ALL_HZ) for each in noted.error_db.values())
        assert noted.error_db[10][ALL_HZ.index(3000.0)] < -10.0, "nobody looked there yet"
        assert 0.5 < noted.noise_db < 10.0
        assert noted.between >= 0.93


class TestWholeSessions:
    def test_a_tone_ends_at_the_very_press_that_answers_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        taken: list[tuple[int, events.Event]] = []
        handle = HearingTest.handle

        def noting(test: HearingTest, now_us: int, event: events.Event) -> list[events.Action]:
            taken.append((test.number, event))
            return handle(test, now_us, event)

        monkeypatch.setattr(HearingTest, "handle", noting)
        flat_test(20.0, ears="left").run()

        ends = 0
        for (_, before), (number, event) in itertools.pairwise(taken):
            if isinstance(event, events.ToneEnded) and event.cut:
                assert isinstance(before, events.ButtonPressed)
                assert event.offset_us == before.at_us
                assert number == event.number + 1, "its presentation is over"
                ends += 1
        assert ends > 10

    def test_one_who_presses_all_the_time_is_refused(self) -> None:
        ears = dict.fromkeys(EARS, Audiogram((1000.0,), (40.0,)))
        someone = SimulatedListener(ears, false_alarm_rate=1.0)
        result = SimulatedTest(Settings(ears="right"), someone).run()

        noted = compare_with_truth(result, ears)
        assert noted.refused
        assert noted.inattentive

    def test_one_without_response_has_no_numbers_but_where_nothing_was_asked(self) -> None:
        result = flat_test(139.0, ears="left").run()
        noted = compare_with_truth(result, dict.fromkeys(EARS, Audiogram((1000.0,), (139.0,))))

        inferred = [t.mark == Outcome.INFERRED for t in result.ears[0].thresholds]
        assert {t.mark for t in result.ears[0].thresholds} <= {
            "no-response", "incomplete", "inferred"
        }  # fmt: skip
        assert {t.frequency_hz for t in result.ears[0].thresholds if t.mark == "inferred"} <= {
            750.0, 1500.0
        }  # fmt: skip
        assert (~np.isnan(noted.error_db[END])).tolist() == inferred
        assert len(noted.error_db[END]) == len(AUDIOGRAM_FREQUENCIES_HZ)

    def test_a_number_far_off_that_is_said_to_be_measured_is_confidently_wrong(self) -> None:
        result = replace(flat_test(40.0, ears="left").run(), remarks=())
        assert any(t.mark == Outcome.MEASURED for t in result.ears[0].thresholds)
        near, far = (dict.fromkeys(EARS, Audiogram((1000.0,), (truth,))) for truth in (40.0, 80.0))

        assert not compare_with_truth(result, near).confidently_wrong
        assert compare_with_truth(result, far).confidently_wrong
        assert not compare_with_truth(
            replace(result, remarks=(reason(Code.NEVER_ANSWERED),)), far
        ).confidently_wrong

    def test_its_listeners_are_of_the_kind_of_the_case(self) -> None:
        truth = Audiogram((1000.0,), (40.0,))
        plain = Answering(2.0, 0.0, 0.0)
        misses_all = Answering(2.0, 0.0, 0.0, kind_named("lapses=.99"))

        heard = run_procedure(Sitting(dict.fromkeys(EARS, truth), plain, 1))
        missed = run_procedure(Sitting(dict.fromkeys(EARS, truth), misses_all, 1))

        assert np.abs(heard.error_db[END]).max() < 15.0
        assert np.isnan(missed.error_db[END]).sum() > np.isnan(heard.error_db[END]).sum()


class TestExactPosterior:
    def test_it_is_that_of_a_grid(self) -> None:
        """One knot, two components, answers that contradict each other."""
        prior = (
            np.array([0.3, 0.7]), np.array([[20.0], [60.0]]), np.array([[[100.0]], [[400.0]]]),
        )  # fmt: skip
        answers = [(0, 30.0, True), (0, 50.0, False), (0, 45.0, True), (0, 40.0, False)]
        x = np.linspace(-60.0, 160.0, 20_001)
        density = sum(
            w * np.exp(-0.5 * (x - m[0]) ** 2 / v[0][0]) / math.sqrt(v[0][0])
            for w, m, v in zip(*prior, strict=True)
        )
        for _, level_db_hl, heard in answers:
            phi = np.array([0.5 * math.erfc((t - level_db_hl) / 2 / math.sqrt(2)) for t in x])
            p = 0.05 + 0.85 * phi
            density = density * (p if heard else 1 - p)
        density = density / density.sum()
        mean = float(density @ x)
        sd = math.sqrt(float(density @ (x - mean) ** 2))
        guess = (np.ones(1), np.array([[35.0]]), np.array([[[25.0]]]))

        curves, share = exact_posterior(
            prior, guess, answers, told_suspects(TOLD), np.random.default_rng(1)
        )

        assert share @ curves[:, 0] == pytest.approx(mean, abs=0.05 * sd)
        found_sd = math.sqrt(share @ (curves[:, 0] - share @ curves[:, 0]) ** 2)
        assert found_sd == pytest.approx(sd, rel=0.03)

    def test_a_guess_that_is_far_off_costs_particles_only(self) -> None:
        prior = (np.ones(1), np.zeros((1, 2)), np.array([[[400.0, 200.0], [200.0, 400.0]]]))
        answers = [(0, 10.0, True), (0, 0.0, False), (1, 20.0, False)]
        results = []
        for centre in (5.0, 80.0):
            guess = (np.ones(1), np.full((1, 2), centre), np.array([np.eye(2)]))
            rng = np.random.default_rng(2)
            curves, share = exact_posterior(prior, guess, answers, told_suspects(TOLD), rng)
            assert 1.0 / np.sum(share**2) > 900
            results.append(share @ curves)

        assert results[0] == pytest.approx(results[1], abs=1.0)

    def test_the_likelihood_of_who_may_wander_is_that_of_all_paths(self) -> None:
        """Three answers, two kinds: 27 paths of attention each, written out."""
        kinds = [(0.7, 2.0, 0.01, 0.02), (0.3, 6.0, 0.1, 0.05)]
        suspects = Suspects(np.array(kinds).T, wander=True)
        threshold_db_hl = 31.0
        answers = [(0, 30.0, True), (0, 50.0, False), (0, 25.0, True)]
        start = {"attends": 0.98, "misses": 0.01, "presses": 0.01}
        step = {
            "attends": {"attends": 0.99, "misses": 0.005, "presses": 0.005},
            "misses": {"attends": 0.2, "misses": 0.8, "presses": 0.0},
            "presses": {"attends": 0.2, "misses": 0.0, "presses": 0.8},
        }
        expected = 0.0
        for kind_share, noise_db, lapses, false_alarms in kinds:
            for path in itertools.product(start, repeat=3):
                p = kind_share * start[path[0]]
                p *= math.prod(step[a][b] for a, b in itertools.pairwise(path))
                for state, (_, level_db_hl, heard) in zip(path, answers, strict=True):
                    z = (level_db_hl - threshold_db_hl) / noise_db
                    attentive = (1.0 - lapses - false_alarms) * 0.5 * math.erfc(-z / math.sqrt(2))
                    press = {"attends": false_alarms + attentive, "misses": 0.2, "presses": 0.8}
                    p *= press[state] if heard else 1.0 - press[state]
                expected += p

        (found,) = log_likelihood(np.array([[threshold_db_hl]]), answers, suspects)

        assert found == pytest.approx(math.log(expected), abs=1e-7)

    def test_who_is_told_nothing_suspects_the_kinds_of_the_profile(self) -> None:
        suspects = untold_suspects()

        assert suspects.wander
        assert suspects.kinds[0].sum() == pytest.approx(1.0)
        assert len(set(map(tuple, suspects.kinds.T.tolist()))) == suspects.kinds.shape[1] > 1


class TestCommand:
    def test_it_prints_the_rows_that_are_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        options = ["--cases", "tent,steep", "--ears", "2", "--seeds", "1", "--workers", "0"]
        assert main(["study", "--robustness", *options]) == 0

        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "2 ears x 1 seeds a row"
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
        assert rows[0] == ["case", "number", "wanted", "found", "met"]
        assert [row[:3] for row in rows[2:]] == [
            ["tent", "RMSE @20", "at most 5.50 dB"],
            ["", "coverage @20", "at least 0.93"],
            ["", "coverage @10 at 250 Hz", "at least 0.90"],
            ["real ears with a step of 30 dB or more", "coverage @10", "at least 0.93"],
            ["", "coverage @20", "at least 0.95"],
        ]
        assert {row[4] for row in rows[2:5]} <= {"yes", "no"}
        assert [row[3:] for row in rows[5:]] == [["-", "needs --audiograms FILE"]] * 2

    def test_it_says_what_is_not_known_of_a_table(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = write_table(tmp_path / "ears.csv")
        options = ["--audiograms", str(path), "--cases", "tent", "--ears", "1", "--seeds", "1"]
        assert main(["study", "--robustness", *options, "--workers", "0"]) == 0
        assert NOT_KNOWN in capsys.readouterr().err

    @pytest.mark.thorough
    def test_processes_change_nothing(self, capsys: pytest.CaptureFixture[str]) -> None:
        said = []
        for workers in ("0", "2"):
            options = ["--cases", "noise-3,narrow-notch-test", "--ears", "2", "--seeds", "1"]
            assert main(["study", "--robustness", "--json", *options, "--workers", workers]) == 0
            said.append(capsys.readouterr().out)

        assert said[0] == said[1]
        found = json.loads(said[0])
        assert (found["ears"], found["seeds"]) == (2, 1)
        assert [row["case"] for row in found["rows"]] == [
            "noise-3", "noise-3", "narrow-notch-test",
        ]  # fmt: skip
        assert all(isinstance(row["found"], float) for row in found["rows"])
        assert all(row["sessions"] == 2 for row in found["rows"])
