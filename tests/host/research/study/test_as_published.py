"""`gp-pta study --as-published`: definitions by hand, what a test finds, and the command."""

import math
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from device.simulator.hearing import SimulatedTest
from device.simulator.listener import EARS, SimulatedListener
from firmware_py.terms.settings import Settings
from host_tools.main import main
from host_tools.research.study.as_published import (
    LIMIT,
    MANUAL,
    METHODS,
    NOT_ASKED,
    PUBLISHED,
    REASONS,
    Drift,
    MethodResult,
    Unit,
    drift_named,
    in_order,
    published_lines,
    read_off,
    run_test,
    table_lines,
)
from host_tools.research.study.listener import Answering, Ear, session_seed
from host_tools.research.study.measures import spread_of
from tests.budget import quick
from tests.host.research.study.ears import CAREFUL, FLAT

NO_DRIFT: Final = Drift(0.0, 1.0)
SURE: Final = Answering(response_noise_db=0.1, lapse_rate=0.0, false_alarm_rate=0.0)
OCTAVES_HZ: Final = (500.0, 1000.0, 2000.0, 4000.0)


def unit(method: str, ear: Ear = FLAT, occasion: int = 1, how: Answering = SURE) -> Unit:
    return Unit(method, occasion, ear, 1, how, 0.4, NO_DRIFT)


def make_told(
    method: str, occasion: int, levels_db_hl: list[float], ear: Ear = FLAT, seconds: float = 60.0
) -> MethodResult:
    levels = np.array(levels_db_hl)
    without = dict.fromkeys(REASONS, 0) | {LIMIT: int(np.isnan(levels).sum())}
    error_db = levels - ear.thresholds_db_hl
    return MethodResult(unit(method, ear, occasion), levels, error_db, without, seconds)


class TestDefinitions:
    def test_differences_are_taken_over_ears_and_frequencies(self) -> None:
        drawn = np.random.default_rng(3).normal(1.0, 6.0, (7, 4))
        spread = spread_of([*drawn], np.full(7, 1 / 7))

        values = drawn.ravel().tolist()
        assert spread["pairs"] == 28
        assert spread["mean_db"] == pytest.approx(statistics.mean(values))
        assert spread["sd_db"] == pytest.approx(statistics.pstdev(values))
        assert spread["mean_absolute_db"] == pytest.approx(statistics.mean(map(abs, values)))
        shares = [sum(abs(value) <= limit for value in values) / 28 for limit in (5.0, 10.0)]
        assert [spread["within_5_db"], spread["within_10_db"]] == pytest.approx(shares)
        assert 0.0 < shares[0] < shares[1] < 1.0

    def test_an_ear_of_three_times_the_weight_counts_as_three(self) -> None:
        once, twice = np.array([1.0, -4.0]), np.array([8.0])

        weighed = spread_of([once, twice], np.array([0.25, 0.75]))
        repeated = spread_of([once, twice, twice, twice], np.full(4, 0.25))

        assert weighed["pairs"] == 3
        assert weighed | {"pairs": 5} == pytest.approx(repeated)

    def test_what_has_no_number_is_left_out(self) -> None:
        with_gap = spread_of([np.array([3.0, math.nan, -1.0])], np.ones(1))
        assert with_gap == spread_of([np.array([3.0, -1.0])], np.ones(1))

        nothing = spread_of([np.array([math.nan])], np.ones(1))
        assert (nothing["pairs"], nothing["mean_db"], nothing["within_5_db"]) == (0, None, None)

    def test_each_test_is_compared_with_its_own_ear(self) -> None:
        other = replace(FLAT, name="other", stratum="severe")
        tests = [
            make_told(MANUAL, 1, [30.0, 35.0, 30.0, 35.0]),
            make_told(MANUAL, 2, [35.0, 35.0, 30.0, 35.0]),
            make_told("brisk", 1, [32.0, 31.0, math.nan, 39.0], seconds=90.0),
            make_told("brisk", 2, [31.0, 31.0, 33.0, math.nan]),
            make_told(MANUAL, 1, [60.0] * 4, other),
            make_told(MANUAL, 2, [60.0] * 4, other),
            make_told("brisk", 1, [54.0] * 4, other, seconds=30.0),
            make_told("brisk", 2, [57.0] * 4, other),
        ]
        manual, brisk = in_order(tests[::-1])

        assert brisk == read_off("brisk", tests)
        assert manual["to_manual"] is None
        assert manual["retest"]["mean_absolute_db"] == pytest.approx(5.0 / 8.0)
        to_manual = [2.0, -4.0, 4.0, -6.0, -6.0, -6.0, -6.0]
        assert brisk["to_manual"]["pairs"] == 7
        assert brisk["to_manual"]["mean_db"] == pytest.approx(statistics.mean(to_manual))
        assert brisk["to_manual"]["sd_db"] == pytest.approx(statistics.pstdev(to_manual))
        retest = [-1.0, 0.0, 3.0, 3.0, 3.0, 3.0]
        assert brisk["retest"]["pairs"] == 6
        assert brisk["retest"]["sd_db"] == pytest.approx(statistics.pstdev(retest))
        assert (brisk["ears"], brisk["frequencies"], brisk["without"][LIMIT]) == (2, 8, 1)
        assert (brisk["minutes_median"], brisk["minutes_95"]) == (0.5, 1.5)

    def test_the_table_shows_what_was_read_off(self) -> None:
        tests = [
            make_told(method, n, [30.0, 33.0, 36.0, 27.0]) for method in METHODS for n in (1, 2)
        ]
        tests[2] = make_told("brisk", 1, [40.0, 43.0, 46.0, math.nan])
        cells = [
            [c.strip() for c in line.split("|")[1:-1]] for line in table_lines(in_order(tests))
        ]

        assert cells[0] == ["", "manual, staircase", "gp-pta, brisk", "gp-pta, clinical"]
        rows = [(row[0], row[1:]) for row in cells]
        assert ("mean difference, dB", ["-", "+10.0", "+0.0"]) in rows
        assert ("within 10 dB", ["-", "100%", "100%"]) in rows
        assert ("no number: limit", ["0", "1", "0"]) in rows
        assert ("pairs", ["4", "3", "4"]) in rows


class TestDrift:
    def test_it_has_the_sd_it_says_and_neighbours_are_alike(self) -> None:
        ears = (replace(FLAT, name=f"ear {number}") for number in range(4000))
        drawn = np.array([Drift(2.3, 1.0).of_test(ear, 1) for ear in ears])

        assert np.std(drawn, axis=0) == pytest.approx(np.full(4, 2.3), rel=0.04)
        assert np.mean(drawn, axis=0) == pytest.approx(np.zeros(4), abs=0.15)
        between = np.corrcoef(drawn.T)
        assert between[0] == pytest.approx(np.exp(-np.arange(4.0)), abs=0.05)

    def test_each_test_has_one_of_its_own(self) -> None:
        drifting = replace(unit(MANUAL), drift=Drift(2.3, 1.0))
        days = {
            replace(drifting, method=method, occasion=occasion).on_the_day.thresholds_db_hl
            for method in METHODS
            for occasion in (1, 2)
        }
        assert len(days) == 6

    def test_it_is_read_from_a_text(self) -> None:
        assert drift_named("2.3") == Drift(2.3, 1.0)
        assert drift_named("3/0") == Drift(3.0, 0.0)
        alone = np.arange(4.0)
        np.testing.assert_array_equal(Drift(2.3, 0.0).correlate(alone, OCTAVES_HZ), alone)


class TestTests:
    def test_sure_answers_without_drift_leave_the_steps_of_the_staircase(self) -> None:
        # So far from a step that nobody is unsure of one.
        random = np.random.default_rng(5)
        draws = 5.0 * random.integers(4, 12, (60, 4)) + random.uniform(0.5, 4.5, (60, 4))
        ears = [Ear(str(n), "", OCTAVES_HZ, tuple(row.tolist())) for n, row in enumerate(draws)]
        tests = [run_test(unit(MANUAL, ear, occasion)) for ear in ears for occasion in (1, 2)]
        row = read_off(MANUAL, tests)

        error = row["to_truth_of_the_day"]
        assert error["pairs"] == 240
        assert error["mean_db"] == pytest.approx(2.5, abs=0.2)
        assert error["sd_db"] == pytest.approx(4.0 / math.sqrt(12.0), abs=0.1)
        assert row["retest"]["sd_db"] == 0.0

    def test_a_drift_comes_back_as_retest_of_that_size(self) -> None:
        draws = np.random.default_rng(6).uniform(20.0, 60.0, (60, 4))
        drift = Drift(4.0, 0.0)
        tests = [
            run_test(replace(unit(MANUAL, Ear(str(n), "", OCTAVES_HZ, tuple(row)), k), drift=drift))
            for n, row in enumerate(draws.tolist())
            for k in (1, 2)
        ]
        # Twice the drift and, of each test, the steps.
        wanted_db = math.sqrt(2.0 * (4.0**2 + 5.0**2 / 12.0))
        assert read_off(MANUAL, tests)["retest"]["sd_db"] == pytest.approx(wanted_db, rel=0.12)

    @pytest.mark.parametrize("method", quick(METHODS, MANUAL))
    def test_no_response_has_no_number_and_is_counted(self, method: str) -> None:
        deaf = Ear("deaf", "", OCTAVES_HZ, (30.0, 40.0, 60.0, 150.0))
        of_deaf = run_test(unit(method, deaf))
        assert of_deaf.without[LIMIT] == 1
        assert np.isnan(of_deaf.level_db_hl).tolist() == [False, False, False, True]
        assert np.all(np.abs(of_deaf.error_db[:3] - 2.5) < 6.0)

    @pytest.mark.parametrize("method", quick(METHODS, MANUAL))
    def test_frequencies_that_only_one_asks_are_not_compared(self, method: str) -> None:
        ear = Ear("half octaves", "", (375.0, 750.0, 1000.0, 1500.0, 2000.0), (20, 20, 20, 60, 60))
        told = run_test(unit(method, ear))
        assert told.unit.compared_hz == [1000, 2000]
        assert told.error_db == pytest.approx(told.level_db_hl - [20.0, 60.0])

    def test_the_device_tells_its_clinical_thresholds(self) -> None:
        how = replace(CAREFUL, response_noise_db=3.0)
        tested = run_test(unit("brisk", how=how))

        seed = session_seed("flat, brisk 1", 1)
        listener = SimulatedListener(
            dict.fromkeys(EARS, FLAT.audiogram), response_noise_db=3.0, seed=seed
        )
        test = SimulatedTest(Settings(conduct="brisk", ears="right", seed=seed), listener)
        (ear,) = test.run().ears
        asked = [each for each in ear.thresholds if each.frequency_hz in OCTAVES_HZ]
        expected = [
            math.nan if each.mark != "measured" else each.threshold_db_hl + ear.clinical_offset_db
            for each in asked
            if each.threshold_db_hl is not None
        ]
        assert tested.level_db_hl == pytest.approx(np.array(expected), nan_ok=True)
        assert 2.0 < ear.clinical_offset_db < 3.5
        assert tested.without[NOT_ASKED] == sum(each.mark == "inferred" for each in asked)
        assert tested.seconds == test.seconds


class TestPublished:
    def test_every_row_has_its_source_and_a_figure(self) -> None:
        for test, _, to_manual, retest, minutes, source in PUBLISHED:
            assert to_manual or retest or minutes, test
            assert any(sign in source for sign in ("10.", "PMC", "NHANES", "eprints")), test
        assert len(published_lines()) == len(PUBLISHED) + 2


class TestCommand:
    def test_a_table_without_1_khz_is_refused(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "ears.csv"
        path.write_text("subject,ear,t500,t2000,t4000\nA,R,20,40,55\n", encoding="utf-8")
        assert main(["study", "--as-published", "--audiograms", str(path)]) != 0
        assert "no thresholds at 1000 Hz" in capsys.readouterr().err

    def table(self, tmp_path: Path) -> Path:
        path = tmp_path / "ears.csv"
        path.write_text("subject,ear,t500,t1000,t2000,t4000\nA,R,20,25,40,55\n", encoding="utf-8")
        return path

    @pytest.mark.thorough
    def test_it_prints_both_tables(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        study = ["study", "--as-published", "--audiograms", str(self.table(tmp_path))]
        assert main([*study, "--ears", "1", "--workers", "0"]) == 0

        first, listeners, drift, *lines = capsys.readouterr().out.splitlines()
        assert first == "1 ears; seeds 1 to 1; each ear twice by each method"
        assert listeners.startswith("listeners: human; noise 2 dB")
        assert drift.endswith("SD 2.3 dB, alike over 1 octaves")
        assert sum(line.startswith("|--") for line in lines) == 2
        assert any("Barbour et al. 2019" in line for line in lines)
