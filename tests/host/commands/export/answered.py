"""Sessions with their answers, of several devices and people, without a journal for each."""

import copy
import random
from functools import cache
from pathlib import Path
from typing import Any, Final

from host_tools.commands.export.document_session import DocumentSession
from host_tools.commands.export.examination import read_examination
from host_tools.recordings.answers import ANSWERS, Answers, findings_of
from tests.host.journals import GOLDEN

SESSIONS: Final = 56
KINDS: Final = (
    "masked", "two-buttons", "silent-ear", "disturbed", "clinical", "always-answering", "masked",
)  # fmt: skip
DEVICES: Final = ("box-1", "box-2", None)
CALIBRATIONS: Final = {"box-1": "a1" * 32, "box-2": "b2" * 32, None: "c3" * 32}
ALIKE: Final = (5, 8)  # of no device that is known, in one second, with one name
ALIKE_STARTED: Final = "2026-01-05T10:00:00+01:00"
DUE: Final = {"box-1": "2027-01-31", "box-2": "2026-06-30"}


@cache
def fleet() -> list[DocumentSession]:
    """Return golden sessions as if persons had been tested in a year, each a little different."""
    draw = random.Random(3)
    sessions = []
    for number in range(1, SESSIONS + 1):
        path = GOLDEN / f"{KINDS[number % len(KINDS)]}.journal"
        record = copy.deepcopy(_record(path))
        _change_head(record, number, draw)
        for ear in record["ears"]:
            _change_ear(ear, draw)
        sessions.append(DocumentSession(record, answers_of(path), content=f"{number:064x}"))
    return sessions


def _change_head(record: dict[str, Any], number: int, draw: random.Random) -> None:
    device = DEVICES[number % len(DEVICES)]
    year = 2016 if number % 11 == 0 else 2026  # of a clock that was never set
    day, hour = 1 + number % 28, 8 + draw.randrange(9)
    record |= {
        "journal": f"session-{number:06d}.journal",
        "session": number,
        "device": device,
        "started": f"{year}-{1 + number // 12:02d}-{day:02d}T{hour:02d}:10:00+01:00",
        "firmware": f"0.{number // 10}.0",
        # Format 1 does not say it.
        "simulated": None if number % 10 == 0 else number % 13 == 0,
        "prior": "5" * 64 if number % 7 == 0 else None,
        "outcome": "unfinished" if number % 9 == 0 else "complete",
        "waits": [{"at": "2026-01-02T03:04:05+00:00", "why": []}] if number % 4 == 0 else [],
        "person": {"identifier": draw.choice(["P-1", "P-2", None]), "sex": None,
                   "age_years": draw.choice([18.0, 30.0, 31.0, None])},
    }  # fmt: skip
    if number == ALIKE[1]:  # another box without a serial number tested another person then
        record |= {"journal": f"session-{ALIKE[0]:06d}.journal", "started": ALIKE_STARTED}
    elif number == ALIKE[0]:
        record["started"] = ALIKE_STARTED
    record["calibration"]["transducer"] = "DD45" if number % 5 == 0 else "TDH39"
    if device is None and number > SESSIONS - 5:
        record["calibration"] |= {"state": "UNCALIBRATED", "words": "UNCALIBRATED: nominal"}
    elif number % 6:
        made = {"state": "CALIBRATED", "digest": CALIBRATIONS[device]}
        due = DUE.get(device or "", "2027-03-01")
        record["calibration"] |= made | {"words": f"CALIBRATED: 2026-01-02, due {due}"}
    else:
        record["calibration"] |= {
            "state": "OVERDUE",
            "words": "OVERDUE: 2025-01-02, due 2026-01-01",
        }
    if number == ALIKE[1]:
        record["calibration"]["digest"] = "d4" * 32


def _change_ear(ear: dict[str, Any], draw: random.Random) -> None:
    if ear["verdict"] == "valid" and draw.random() < 0.2:
        ear["verdict"] = "doubtful"
    if draw.random() < 0.25:
        ear["transducer"] = "bone"
    shift_db = draw.choice([-45.0, -42.0, -2.0, 14.0])
    if ear["pta4"] is not None:
        ear["pta4"]["level_db_hl"] += shift_db
    for found in ear["thresholds"]:
        if found["reading"]["kind"] == "measured":
            found["threshold_db_hl"] += shift_db + draw.uniform(-3.0, 3.0)
            if draw.random() < 0.1:  # it heard everything
                found["reading"]["kind"] = "at-most"
                found |= {"threshold_db_hl": None, "limit_db_hl": -10.0}


@cache
def _record(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = read_examination(path).in_document().record  # type: ignore[assignment]
    return record


@cache
def answers_of(path: Path) -> Answers:
    return Answers.from_record(findings_of(path)[ANSWERS])
