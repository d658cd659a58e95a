"""`gp-pta study --seconds`: arithmetic by hand, who is tested, and the command."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.hearing import ear_named
from device.simulator.listener import EARS, SimulatedListener
from firmware_py.terms.settings import Settings
from host_tools import terminal
from host_tools.main import main
from host_tools.research.study.ears import Tables
from host_tools.research.study.listener import Ear, session_seed
from host_tools.research.study.options import Options
from host_tools.research.study.plan import ears_measured
from host_tools.research.study.seconds import (
    NAMES,
    SCORED,
    WAYS,
    How,
    Timed,
    Unit,
    people_of,
    read_off,
    run_test,
    table_lines,
)
from host_tools.research.study.time_ledger import TimedTest
from tests.budget import quick
from tests.host.research.study.ears import CAREFUL, write_table

ONE = How("brisk", both=False, unsure_half_width_db=0.0)
TWO = How("brisk", both=True, unsure_half_width_db=0.0)
UNSURE = How("brisk", both=False, unsure_half_width_db=3.0)
FLAT = Ear("flat", "some", (1000.0,), (30.0,))


def unit(how: How, stratum: str, *ears: Ear) -> Unit:
    return Unit(how, ears or (FLAT,), stratum, 1, CAREFUL, 0.4, 0.0)


def timed_tests(stratum: str, seconds: float, error_db: list[float], *, ears: int = 1) -> Timed:
    errors = np.array(error_db)
    covered = np.where(np.isnan(errors), np.nan, (np.abs(errors) < 4.0).astype(float))
    how = TWO if ears == 2 else ONE
    spent_s = dict.fromkeys(NAMES, 0.25 * seconds)
    tested = unit(how, stratum, *(FLAT,) * ears)
    return Timed(tested, seconds, spent_s, errors, covered, 20 * ears, ears - 1, inattentive=False)


class TestArithmetic:
    def test_degrees_of_loss_count_in_equal_parts(self) -> None:
        tests = [timed_tests("mild", s, [3.0, -3.0]) for s in (40.0, 50.0, 60.0)]
        row = read_off(ONE, [*tests, timed_tests("severe", 90.0, [5.0, math.nan])])

        assert row["seconds_mean"] == pytest.approx(70.0)
        assert (row["seconds_median"], row["seconds_95"]) == (60.0, 90.0)
        # Half of the weight has two numbers a test, and half of it one.
        assert row["rmse_db"] == pytest.approx(math.sqrt((2 * 9.0 + 25.0) / 3))
        assert row["covered_95"] == pytest.approx(2 / 3)
        assert (row["tests"], row["tones"], row["capped"]) == (4, 20.0, 0.0)

    def test_of_a_test_of_two_ears_each_has_half_of_it(self) -> None:
        row = read_off(TWO, [timed_tests("mild", 100.0, [1.0] * 4, ears=2)])

        assert (row["seconds_median"], row["seconds_mean"], row["tones"]) == (50.0, 50.0, 20.0)
        assert row["capped"] == 0.5
        assert row["spent_s"]["pause"] == 12.5

    def test_where_nothing_has_a_number_there_is_no_error(self) -> None:
        row = read_off(ONE, [timed_tests("mild", 10.0, [math.nan])])

        assert (row["rmse_db"], row["covered_95"]) == (None, None)
        assert ["RMSE at 500-8000 Hz", "-"] in [
            [cell.strip() for cell in line.split("|")[1:-1]] for line in table_lines([row])
        ]


class TestTests:
    @pytest.mark.parametrize(
        "how", quick([ONE, TWO, How("clinical", True, 0.0), UNSURE], ONE, UNSURE)
    )
    def test_a_test_is_the_one_it_says_and_all_of_its_time_is_shown(self, how: How) -> None:
        ears = (FLAT, Ear("other", "some", (1000.0,), (50.0,)))[: 1 + how.both]
        found = run_test(unit(how, "some", *ears))

        thresholds = [ear.thresholds_db_hl[0] for ear in ears] * 2
        truths = [Audiogram((1000.0,), (level_db_hl,)) for level_db_hl in thresholds[:2]]
        seed, half_width_db = session_seed("flat", 1), how.unsure_half_width_db
        listener = SimulatedListener(
            dict(zip(EARS, truths, strict=True)), seed=seed, unsure_half_width_db=half_width_db
        )
        settings = Settings(
            conduct=how.conduct, ears="both" if how.both else "right", seed=seed,
            unsure_button=half_width_db > 0.0,
        )  # fmt: skip
        test = TimedTest(settings, listener)
        result = test.run()

        assert found.seconds == test.seconds
        assert found.tones == sum(ear.tones for ear in result.ears)
        expected = [
            each.threshold_db_hl - thresholds[list(EARS).index(ear_named(ear.route.ear))]
            for ear in result.ears
            for each in np.array(ear.thresholds, dtype=object)[SCORED]
        ]
        assert found.error_db == pytest.approx(np.array(expected))
        for way in list(WAYS)[:2]:
            shown = sum(found.spent_s[name] for name, _ in WAYS[way])
            assert shown == pytest.approx(found.seconds), way

    def test_people_are_those_with_two_ears_that_can_be_scored(self, tmp_path: Path) -> None:
        path = write_table(tmp_path / "ears.csv")
        options = Options(str(path), ears_per_stratum=5)
        measured = ears_measured(options, Tables.read(options.audiograms, None))
        drawn = {ear.name: ear for ear in measured.ears}

        people = people_of(measured)

        names = [tuple(ear.name for ear in ears) for _, ears in people]
        assert len(set(names)) == len(names) > 5
        for (stratum, ears), (right, left) in zip(people, names, strict=True):
            assert (right[-2:], left[-2:]) == ("/R", "/L")
            assert right[:-2] == left[:-2]
            assert stratum in [drawn[ear.name].stratum for ear in ears if ear.name in drawn]
        both_there = {name for name in drawn if not name.startswith("A/59/")}  # incomplete ears
        assert both_there <= {name for pair in names for name in pair}


class TestCommand:
    @pytest.mark.thorough
    def test_it_prints_a_column_for_each_kind_of_test(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = write_table(tmp_path / "ears.csv")
        options = ["--ears", "1", "--conduct", "clinical,brisk", "--tested", "one,both"]
        study = ["study", "--seconds", "--audiograms", str(path), *options, "--workers", "0"]
        assert main(study) == 0

        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "4 ears, 4 people with both; 1 seeds each"
        rows = [[c.strip() for c in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
        assert rows[0] == [
            "of an ear", "clinical", "clinical, both ears", "brisk", "brisk, both ears",
        ]  # fmt: skip
        found = {row[0]: row[1:] for row in rows[2:]}
        clinical, _, brisk, _ = map(float, found["seconds, median"])
        assert clinical > brisk > 10.0
        assert found["retest"][2] == "0.0 (0%)"
        parts = [found[words] for _, words in WAYS["by what it is for"]]
        assert sum(float(part[0].split()[0]) for part in parts) == pytest.approx(
            float(found["seconds, mean"][0]), abs=0.3
        )

    def test_it_says_what_was_found_and_beside_it_how_far_it_was(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(terminal, "LINE_AFTER_S", 0.0)
        study = ["study", "--seconds", "--audiograms", "tent", "--ears", "1", "--workers", "0"]
        assert main([*study, "--json"]) == 0

        out, err = capsys.readouterr()
        assert err == "sessions: 100 % done\n"
        found = json.loads(out)
        assert (found["ears"], found["seeds"]) == (1, 1)
        assert [(row["name"], row["tests"]) for row in found["rows"]] == [("brisk", 1)]

        assert main(study) == 0
        ears, listeners, *lines = capsys.readouterr().out.splitlines()
        assert ears == "1 ears; 1 seeds each"
        assert listeners.endswith(" lapses 0.01, false alarms 0.01; median response time 0.4 s")
        assert [found[name] for name in ("lapse_rate", "response_time_s")] == [0.01, 0.4]
        assert lines[1:] == table_lines(found["rows"])
