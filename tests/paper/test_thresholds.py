"""What is said of the thresholds of an ear: a sentence, a table and a legend, by their readings."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from firmware_py.ear.mean_threshold import mean_threshold
from firmware_py.findings.rows import band_row, level_row, share_row
from firmware_py.paper.thresholds import ear_sentence
from firmware_py.terms.outcomes import MaskingMark, Outcome, Verdict
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.results import ThresholdResult
from firmware_py.terms.shown_threshold import Kind, as_shown
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from host_tools.recordings.source import source_of
from tests.host.journals import BOTH, LEFT_S2, cut, session_of
from tests.host.reports import (
    blocks,
    cells,
    codes_in,
    report_of,
    rows_in,
    rows_of,
    sentence,
    tables,
    with_ears,
)

# They read the same sessions, once.
pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]
PARTS: Final = {
    "part-above": Kind.ABOVE, "part-at-most": Kind.AT_MOST,
    "part-perhaps-above": Kind.PERHAPS_ABOVE, "part-inferred": Kind.INFERRED,
    "part-unknown": Kind.UNKNOWN,
}  # fmt: skip
MARKS: Final = [each for each in Outcome if each != Outcome.INFERRED]


def with_thresholds(
    session: ReplayedSession, change: Callable[[str, ThresholdResult], ThresholdResult]
) -> ReplayedSession:
    """Return a session with its thresholds changed, by ear, and the means that follow."""
    ears = []
    for ear in session.result.ears:
        found = replace(ear, thresholds=tuple(change(ear.route.ear, t) for t in ear.thresholds))
        mean = mean_threshold(found, session.test.ears[ear.route].estimator)
        ears.append(replace(found, pta4=mean))
    return with_ears(session, ears)


@pytest.mark.parametrize("outcome", MARKS)
@pytest.mark.parametrize("mark", list(Outcome))
def test_the_sentence_of_an_ear_says_of_each_frequency_one_thing(
    outcome: Outcome, mark: Outcome
) -> None:
    """What no test finds too: the sentence is the readings', whatever they are."""
    source = source_of(session_of(LEFT_S2))
    (ear,) = source.ears
    beyond = mark not in (Outcome.MEASURED, Outcome.INFERRED)
    thresholds = tuple(
        replace(t, mark=mark, limit_db_hl=90.0 if beyond else None) if t.frequency_hz < 1000 else t
        for t in ear.thresholds
    )
    found = replace(ear, outcome=outcome, thresholds=thresholds)
    told = ear_sentence(source, found)
    kinds = {
        kind: [t.frequency_hz for t in thresholds if as_shown(t).kind == kind] for kind in Kind
    }

    assert told["ear"] == "left"
    by_code = {part["code"]: part for part in told["parts"]}
    assert {code: by_code[code]["frequencies_hz"] for code in PARTS if code in by_code} == {
        code: kinds[kind] for code, kind in PARTS.items() if kinds[kind]
    }
    measured = [part for code, part in by_code.items() if code.startswith(("part-meas", "part-w"))]
    assert [(each.get("count", 1), each["of"]) for each in measured] == (
        [(len(kinds[Kind.MEASURED]), 10)] if kinds[Kind.MEASURED] else []
    )
    assert ("part-unreliable" in by_code) == (outcome == Outcome.UNRELIABLE)
    assert ("part-incomplete" in by_code) == (outcome == Outcome.INCOMPLETE)


def test_only_one_width_is_compared_and_the_frequency_is_named() -> None:
    session = session_of(BOTH)

    def say_with(*at_hz: int, half_db: float) -> tuple[float, float | None, list[int] | None]:
        band: dict[str, Any] = {"low_db_hl": 40.0 - half_db, "high_db_hl": 40.0 + half_db}
        changed = with_thresholds(
            session, lambda _, t: replace(t, **band) if t.frequency_hz in at_hz else t
        )
        part, _ = sentence(report_of(changed).paper, "right")["parts"]
        return part["half_width_db"], part.get("wanted_db"), part.get("frequencies_hz")

    assert say_with(4000, half_db=6.5) == (6.5, None, None)
    assert say_with(4000, half_db=6.6) == (6.6, 6.5, [4000])
    assert say_with(250, half_db=8.125) == (8.1, None, None), "a quarter wider is enough there"
    assert say_with(250, half_db=8.8) == (8.8, 8.12, [250])
    assert say_with(250, 4000, half_db=8.8) == (8.8, 6.5, [250, 4000])
    assert say_with(1500, half_db=12.0)[0] < 7.0, "it was inferred"


@pytest.mark.parametrize("masking", list(MaskingMark))
@pytest.mark.parametrize("wide", [False, True])
def test_a_level_says_what_it_rests_on(masking: MaskingMark, wide: bool) -> None:
    measured = ThresholdResult(1000, Outcome.MEASURED, 34.2, 2.0, 30.0, 38.0, None, masking)
    codes = ["wide"] * wide + ["doubtful"] * (masking == MaskingMark.UNCERTAIN) + ["level"]
    told = level_row(as_shown(measured), wide=wide)
    assert codes_in(told) == codes
    assert [*rows_in(told)][-1] == {"code": "level", "level": 34}


def test_what_was_inferred_stands_apart() -> None:
    found = as_shown(ThresholdResult(2000, Outcome.INFERRED, 34.2, 5.0, 24.0, 44.0, None))
    assert codes_in(level_row(found)) == ["inferred", "level"]
    assert codes_in(band_row(found)) == ["inferred", "band"]


@pytest.mark.parametrize(
    ("share", "code", "percent"),
    [(None, "no-value", None), (0.0, "percent-below", 1), (0.5, "percent", 50),
     (0.994, "percent-above", 99), (1.0, "percent-above", 99)],
)  # fmt: skip
def test_a_share_is_never_rounded_to_certainty(
    share: float | None, code: str, percent: int | None
) -> None:
    told = share_row(share)
    assert (told["code"], told.get("percent")) == (code, percent)


def test_an_ear_that_hears_nothing_has_bounds_alone(deaf_ear: Path) -> None:
    report = report_of(session_of(deaf_ear))
    (ear,) = report.source.ears
    assert (ear.verdict, ear.outcome) == (Verdict.VALID, "no-response")
    levels = cells(tables(report.paper, "thresholds")["left"], "row-level")
    shown = {str(t.mark): levels[t.frequency_hz] for t in ear.thresholds}
    assert shown["no-response"] == {"code": "level-above", "level": 100}
    assert shown["incomplete"] == {"code": "level-perhaps-above", "level": 100}
    assert shown["inferred"]["code"] == "inferred"
    assert shown.keys() == {"no-response", "incomplete", "inferred"}


def legend(paper: dict[str, Any]) -> list[list[str]]:
    return [mark for block in blocks(paper, "legend") for mark, _ in block["entries"]]


@pytest.mark.parametrize("records", [1, 60, 200])
def test_an_unfinished_session_says_so(records: int, tmp_path: Path) -> None:
    session = replay_session(cut(LEFT_S2, tmp_path, records))
    report = report_of(session)
    (ear,) = report.source.ears

    assert report.paper["standing"]["why"]["code"] == "status-unfinished"
    assert "not-finished" in codes_in(blocks(report.paper, "alarm"))
    (tones,) = rows_of(report.paper, "tones")
    assert tones["count"] == len([t for t in session.trials if t.frequency_hz is not None])
    if records < 60:
        assert (ear.verdict, ear.reasons) == (Verdict.NOT_TESTED, (reason(Code.NOT_BEGUN_YET),))
        assert rows_of(report.paper, "pta4-none")[0]["why"]["code"].startswith("test-could-not-be")
        assert tables(report.paper, "thresholds") == {}
