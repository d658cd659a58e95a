"""The summary against arithmetic by hand."""

from pathlib import Path

import numpy as np
import pytest

from host_tools.research.methods.interface import Array
from host_tools.research.study.listener import Ear
from host_tools.research.study.measures import weighted_quantiles
from host_tools.research.study.session import METRICS, Job, Session, table_of
from host_tools.research.study.store import TABLE
from host_tools.research.study.summary import Results, as_csv, summary, table_lines, tones_to

TONES = 4


def session(method: str, ear: str, stratum: str, rmse_db: list[float], covered: float) -> Session:
    metrics = np.full((TONES + 1, len(METRICS)), covered)
    metrics[:, 0] = rmse_db
    job = Job(method, Ear(ear, stratum, (1000.0,), (30.0,)), 1)
    seconds = np.arange(TONES + 1.0) * (2.0 if stratum == "severe" else 1.5)
    return Session(job, metrics, seconds, None, False)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Three ears in one stratum, one in another; the second method has no bands and ends."""
    import pyarrow.parquet as pq

    mild = [[9.0, 6.0, 4.0, 2.0, 2.0], [9.0, 6.0, 4.0, 6.0, 5.0], [9.0, 9.0, 9.0, 9.0, 9.0]]
    severe = [30.0, 20.0, 10.0, 4.0, 3.0]
    sessions = [session("first", f"m{i}", "mild", rmse, 1.0) for i, rmse in enumerate(mild)]
    sessions.append(session("first", "s", "severe", severe, 0.5))
    for name, stratum in (("m0", "mild"), ("m1", "mild"), ("m2", "mild"), ("s", "severe")):
        part = session("second", name, stratum, [8.0] * 5, np.nan)
        sessions.append(Session(part.job, part.metrics, part.seconds, 2, failed=name == "s"))
    pq.write_table(table_of(sessions), tmp_path / TABLE)
    return Results(tmp_path, ("first", "second"), TONES)


def test_degrees_of_loss_count_in_equal_parts(results: Results) -> None:
    assert results.weight == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
    mild = np.array([9.0, 7.0, 17.0 / 3.0, 17.0 / 3.0, 16.0 / 3.0])
    severe = np.array([30.0, 20.0, 10.0, 4.0, 3.0])
    assert results.mean("first", "rmse_db") == pytest.approx(0.5 * mild + 0.5 * severe)
    assert results.mean("first", "covered_95") == pytest.approx(0.75)


def test_a_goal_is_reached_when_the_error_stays_within_it() -> None:
    rmse_db: Array = np.array(
        [
            [4.0, 9.0, 5.0, 4.0, 5.0],  # the prior was lucky
            [9.0, 9.0, 9.0, 9.0, 5.0],
            [4.0, 4.0, 4.0, 4.0, 5.1],
            [5.0, 5.0, 5.0, 5.0, 5.0],
        ]
    )

    assert tones_to(rmse_db, 5.0).tolist() == [2.0, 4.0, np.inf, 0.0]


def test_seconds_to_a_goal_are_those_of_its_tones(results: Results) -> None:
    assert results.seconds_to("first", 5.0).tolist() == [3.0, 6.0, np.inf, 6.0]
    assert results.seconds_to("first", 3.0).tolist() == [4.5, np.inf, np.inf, 8.0]


def test_at_a_time_an_error_is_that_after_the_last_tone_until_then(results: Results) -> None:
    """Tones take 1.5 s in mild ears and 2 s in the severe one; half of them end after 6 s."""
    places, (lowest, highest) = results.over_time("first", (0.1, 1.0))

    assert places.tolist() == [0.5 * n for n in range(13)]
    mild = [[9.0, 6.0, 4.0, 2.0, 2.0], [9.0, 6.0, 4.0, 6.0, 5.0], [9.0] * 5]
    severe = [30.0, 20.0, 10.0, 4.0]
    for place, low, high in zip(places, lowest, highest, strict=True):
        now = [*(ear[int(place // 1.5)] for ear in mild), severe[int(place // 2.0)]]
        assert (low, high) == (min(now), max(now)), place


@pytest.mark.parametrize(
    ("values", "weight", "at", "expected"),
    [
        ([3.0, 1.0, 2.0], [1.0, 1.0, 1.0], 0.5, 2.0),
        ([1.0, 2.0, 3.0, 4.0], [0.25] * 4, 0.5, 2.0),
        ([1.0, 2.0], [0.9, 0.1], 0.5, 1.0),
        ([1.0, 2.0], [0.1, 0.9], 0.5, 2.0),
        ([1.0, np.inf], [0.5, 0.5], 0.75, np.inf),
        ([7.0], [1.0], 0.25, 7.0),
        (list(range(10)), [0.1] * 10, 0.3, 2.0),  # though the sum of three tenths is not 0.3
    ],
)
def test_quantiles_have_weights(
    values: list[float], weight: list[float], at: float, expected: float
) -> None:
    assert weighted_quantiles(np.array(values), np.array(weight), (at,)).tolist() == [expected]


def test_the_summary_is_that_of_arithmetic_by_hand(results: Results) -> None:
    rows = summary(results)

    assert as_csv(rows).splitlines() == [
        "method,sessions,rmse_db_at_4,covered_95_at_4,tones_to_5_db,tones_to_3_db,"
        "seconds_to_5_db,seconds_to_3_db,seconds,reached_5_db,reached_3_db,ended,failed",
        "first,4,4.1667,0.75,3.0,4.0,6.0,8.0,6.0,0.8333,0.6667,0.0,0.0",
        "second,4,8.0,,,,,,6.0,0.0,0.0,1.0,0.5",
    ]
    head, _, *shown = [[c.strip() for c in row.split("|")[1:-1]] for row in table_lines(rows)]
    goals = ["tones to 5 dB", "tones to 3 dB", "s to 5 dB", "s to 3 dB"]
    assert head == ["method", "RMSE @4", "95 % @4", *goals]
    assert shown == [
        ["first", "4.2", "0.75", "3 (83%)", "4 (67%)", "6", "8"],
        ["second", "8.0", "-", ">4 (0%)", ">4 (0%)", ">6", ">6"],
    ]
