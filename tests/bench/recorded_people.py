"""Some people of the panel, whose tests are recorded: each rule and constant changes one of them.

    python -m tests.bench.recorded_people            # records their tests anew, if that is meant

`tests/faults/constants.py` finds out whether it is so.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bench.panel.rows import Seated, ending_of, sittings
from firmware_py.terms.events import Play
from firmware_py.terms.results import EarResult, ThresholdResult

KEPT: Final = Path(__file__).with_name("people.json")


def recorded() -> dict[str, dict[str, Any]]:
    """Return what was recorded of each: by name, what is needed for it, and how the test went."""
    found: dict[str, dict[str, Any]] = json.loads(KEPT.read_text())
    return found


def people(names: Iterable[str]) -> Iterator[Seated]:
    wanted = {*names}
    return (each for each in sittings() if str(each) in wanted)


def how_it_went(person: Seated) -> dict[str, Any]:
    """Test somebody, and return how it went, to tenths: what was played, what was found."""
    test = person.sitting.test()
    ending = ending_of(test, person.sitting)
    result, plays = test.test.result(), [a for _, a in test.log if isinstance(a, Play)]
    return {
        "ending": {name: _short(value) for name, value in asdict(ending).items()},
        "levels": round(sum(each.level_db_hl for each in plays)),
        "ears": {str(ear.route): _told(ear) for ear in result.ears},
        "remarks": [str(each.code.word) for each in result.remarks],
    }


def _short(value: float | bool) -> float | bool:
    return round(value, 1) if isinstance(value, float) else value


def _told(ear: EarResult) -> str:
    numbers = " ".join(map(_number, ear.thresholds))
    return f"{ear.outcome}, {ear.verdict}, {ear.tones} tones: {numbers}"


def _number(found: ThresholdResult) -> str:
    level = found.threshold_db_hl
    ends = "" if found.low_db_hl is None else f"({found.low_db_hl:.1f}..{found.high_db_hl:.1f})"
    return f"{found.mark}{'' if level is None else f' {level:.1f}'}{ends}{found.masking or ''}"


def record(needs: Mapping[str, list[str]]) -> None:
    """Record the tests of these people; `needs`: the rules and constants that each is there for."""
    kept = {str(each): {"for": needs[str(each)], **how_it_went(each)} for each in people(needs)}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    record({name: of["for"] for name, of in recorded().items()})
