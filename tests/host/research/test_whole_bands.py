"""The bands of the whole hold the truth: all that lies beside the answers is drawn."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from host_tools.main import main
from host_tools.research import whole_bands
from host_tools.research.whole_bands import (
    ANSWERS,
    RHOS,
    WHOLE,
    Band,
    Heard,
    bands_of,
    called_changed,
    coverage,
    drawn_db,
    rows_of,
    two_tests,
)
from tests.findings.test_whole_band import an_ear

ANSWERS_SD_DB = 2.0  # of the error; the bands are of 2.9 dB, as the device's are too wide
TRUTH_DB_HL = 40.0
EARS = 2000


def simulated(count: int, error_sd_db: float = ANSWERS_SD_DB) -> list[Heard]:
    """Return ears with bands of answers as tests leave them, from a fixed seed."""
    random = np.random.default_rng(1)
    truth_db_hl = dict.fromkeys(AUDIOGRAM_FREQUENCIES_HZ, TRUTH_DB_HL)

    def found() -> list[Band]:
        levels_db_hl = {f: float(random.normal(t, error_sd_db)) for f, t in truth_db_hl.items()}
        return bands_of(an_ear(levels_db_hl), truth_db_hl)

    return [Heard(found(), found()) for _ in range(count)]


@pytest.fixture(scope="module")
def ears() -> list[Heard]:
    return simulated(EARS)


@pytest.mark.parametrize(("rho", "mean_least"), [(0.0, 0.99), (0.5, 0.96), (1.0, 0.92)])
def test_the_whole_holds_the_truth_at_each_frequency_and_of_the_mean(
    ears: list[Heard], rho: float, mean_least: float
) -> None:
    """Of the mean a correlation of .8 is assumed: no one band is right at 0 and at 1."""
    held = coverage(ears, rho)

    assert [*held[WHOLE]] == [0, *AUDIOGRAM_FREQUENCIES_HZ]
    assert all(0.94 <= share <= 0.99 for f, share in held[WHOLE].items() if f)
    assert mean_least <= held[WHOLE][0] <= min(mean_least + 0.05, 1.0)
    assert max(held[ANSWERS].values()) < 0.93


@pytest.mark.parametrize("rho", RHOS)
def test_what_did_not_change_is_called_changed_at_most_as_often_as_it_says(
    ears: list[Heard], rho: float
) -> None:
    assert called_changed(ears, rho) <= 0.06
    assert called_changed(simulated(100, 10.0), rho) > 0.3, "it would be noticed"


def test_what_is_drawn_has_the_sds_and_the_correlation_of_its_parts() -> None:
    random = np.random.default_rng(2)
    drawn = np.array([drawn_db([[1.0, 2.0], [3.0, 1.0]], 0.5, random) for _ in range(20_000)])
    covariance = np.cov(drawn.T)

    assert np.diag(covariance) == pytest.approx([10.0, 5.0], rel=0.04)
    assert covariance[0, 1] == pytest.approx(0.5 * (1.0 * 2.0 + 3.0 * 1.0), rel=0.08)


def test_a_frequency_that_few_tests_asked_is_not_told() -> None:
    some = [Heard(ear.first[: 3 + 5 * (n == 0)], ear.last) for n, ear in enumerate(simulated(8))]
    assert [*coverage(some, 0.5)[WHOLE]] == [*AUDIOGRAM_FREQUENCIES_HZ[:3]]


def test_two_real_tests_leave_both_bands_of_each_ear() -> None:
    for ear in two_tests(1):
        assert {band.frequency_hz for band in ear.first} <= {0, *AUDIOGRAM_FREQUENCIES_HZ}
        for band in (*ear.first, *ear.last):
            assert band.whole_db_hl[0] <= band.answers_db_hl[0] < band.answers_db_hl[1]
            assert abs(band.level_db_hl - band.truth_db_hl) < 20.0


def test_the_table_has_a_row_a_band_and_rho(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tests: Callable[[int], list[Heard]] = lambda number: simulated(2)  # noqa: E731
    monkeypatch.setattr(whole_bands, "two_tests", tests)
    study = ["study", "--whole", "--people", "3", "--workers", "0"]
    assert main(study) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == "6 ears"
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert cells[0][-2:] == ["pta4", "called changed"]
    assert [(kind, rho) for kind, rho, *_ in cells[2:]] == [
        (kind, f"{rho:g}") for rho in RHOS for kind in (ANSWERS, WHOLE)
    ]
    assert main([*study, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["rows"]
    assert told[0]["coverage"].keys() == {ANSWERS, WHOLE}
    assert told[0]["ears"] == rows_of([simulated(2)])[0]["ears"] * 3
