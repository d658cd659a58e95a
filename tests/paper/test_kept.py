"""Whole papers are what they were: all their codes and figures, which `papers.json` keeps.

`python -m tests.paper.test_kept` keeps them anew, on purpose.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import pytest

from firmware_py.paper.session_paper import paper_of
from firmware_py.terms.outcomes import MaskingMark, Outcome
from firmware_py.terms.person import Person
from firmware_py.terms.results import ConfirmedThreshold, ThresholdResult
from firmware_py.terms.settings import CLINICAL_ASCENDING, FIFTY_PERCENT
from host_tools.recordings.recorded_session import ReplayedSession
from tests.host.journals import BOTH, GOLDEN, LEFT_S2, session_of
from tests.host.reports import report_of, with_ears, with_person
from tests.paper.test_thresholds import with_thresholds

pytestmark = pytest.mark.xdist_group("recorded")  # they read the same sessions, once
KEPT: Final = Path(__file__).with_name("papers.json")
AGAIN: Final = (
    ConfirmedThreshold(1000, 65.0, Outcome.MEASURED, 9),  # far above the band
    ConfirmedThreshold(8000, None, Outcome.NO_RESPONSE, 4),
)
UNCERTAIN: Final[dict[str, Any]] = {"masking": MaskingMark.UNCERTAIN}
INFERRED: Final[dict[str, Any]] = {
    "mark": Outcome.INFERRED, "masking": None, "air_bone_gap_db": None,
}  # fmt: skip


def changed(path: Path, at: dict[str, Any], hz: int = 0, ear: str = "") -> ReplayedSession:
    """Return a session with thresholds changed, at one frequency or in one ear or in all."""

    def change(of: str, found: ThresholdResult) -> ThresholdResult:
        here = hz in (0, found.frequency_hz) and ear in ("", of)
        return replace(found, **at) if here else found

    return with_thresholds(session_of(path), change)


def confirmed(person: Person) -> ReplayedSession:
    session = with_person(session_of(BOTH), person)
    return with_ears(session, (replace(ear, confirmed=AGAIN) for ear in session.result.ears))


SESSIONS: Final[dict[str, Callable[[], ReplayedSession]]] = {
    **{path.stem: partial(session_of, path) for path in sorted(GOLDEN.glob("*.journal"))},
    "uncertain at 1 kHz": partial(changed, BOTH, UNCERTAIN, 1000),
    "uncertain in one ear": partial(changed, BOTH, UNCERTAIN, ear="right"),  # as of N1 and N7
    "inferred in one ear": partial(changed, BOTH, INFERRED, 2000, "left"),
    "no response at 8 kHz": partial(
        changed, LEFT_S2, {"mark": Outcome.NO_RESPONSE, "limit_db_hl": 90.0}, 8000
    ),
    "a woman, confirmed": partial(confirmed, Person(60.0, "F", "P-1")),
    # The spread of men of 65 is not known above 3 kHz.
    "a man": lambda: with_person(session_of(LEFT_S2), Person(65, "M", "P-17")),
}
NAMES: Final = [
    *((name, FIFTY_PERCENT) for name in SESSIONS),
    *((name, CLINICAL_ASCENDING) for name in ("a woman, confirmed", "a man", "bone")),
]


def told(name: str, convention: str) -> Any:
    """Return a paper's sections, first what stands above them; not the version that made it."""
    paper = paper_of(report_of(SESSIONS[name](), convention=convention).source)
    head = {key: paper[key] for key in ("title", "headline", "standing", "final")}
    return json.loads(json.dumps([head, *paper["sections"], *paper["details"]]))


@cache
def kept() -> dict[str, Any]:
    return dict(json.loads(KEPT.read_text("utf-8")))


@pytest.mark.parametrize(("name", "convention"), NAMES)
def test_a_paper_says_what_it_said(name: str, convention: str) -> None:
    for now, before in zip(told(name, convention), kept()[f"{name}, {convention}"], strict=True):
        assert now == before


if __name__ == "__main__":
    papers = {f"{name}, {each}": told(name, each) for name, each in NAMES}
    lines = (
        f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, of)) + "\n]"
        for name, of in papers.items()
    )
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
