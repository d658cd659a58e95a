"""The table with an answer a row: what its columns are, and what stands there."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from firmware_py.terms.route import ROUTES
from host_tools.commands.export.document_session import DocumentSession
from host_tools.commands.export.long_table import (
    COUNT,
    NUMBER,
    TEXT,
    YES_OR_NO,
    LongTable,
    Row,
    session_columns,
)

OF_SESSION: Final = {
    "journal": TEXT, "session": COUNT, "started": TEXT, "firmware": TEXT, "device": TEXT,
    "identifier": TEXT, "outcome": TEXT, "conduct": TEXT, "calibration": TEXT,
    "calibration_digest": TEXT, "level_unit": TEXT, "simulated": YES_OR_NO, "prior": TEXT,
}  # fmt: skip
COLUMNS: Final = {
    **OF_SESSION, "journal_sha256": TEXT,
    # of the ear
    "ear": TEXT, "side": TEXT, "conduction": TEXT, "transducer": TEXT, "verdict": TEXT,
    # of the answer
    "number": COUNT, "purpose": TEXT, "frequency_hz": NUMBER, "level_db_hl": NUMBER,
    "noise_db_hl": NUMBER, "heard": YES_OR_NO, "response_ms": NUMBER,
    "at_us": COUNT, "answered": TEXT,
}  # fmt: skip
_ROUTES: Final = {str(route): route for route in ROUTES}


def _rows(session: DocumentSession) -> Iterator[Row]:
    told = session_columns(session)
    of_session = {name: told[name] for name in OF_SESSION} | {"journal_sha256": session.content}
    verdicts = {str(ear.route): str(ear.verdict) for ear in session.ears}
    calibration = session.record["calibration"]
    for answer in session.answers.each:
        route = _ROUTES[answer.ear]
        yield {
            **of_session,
            **asdict(answer),
            "side": route.ear,
            "conduction": route.transducer,
            "transducer": calibration["vibrator" if route.by_bone else "transducer"],
            "verdict": verdicts.get(answer.ear),
        }


ANSWERS: Final = LongTable(COLUMNS, _rows)
