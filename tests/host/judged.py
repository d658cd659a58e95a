"""Golden sessions as if the verdict on their tests had been another one, and one of a deaf ear."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from device.simulator.world import World
from firmware_py.journal.records import TAIL_BYTES, chained_crc
from firmware_py.terms.events import OPERATOR, EquipmentHeard
from firmware_py.terms.outcomes import Verdict
from firmware_py.terms.reasons import Code, Reason, as_json, reason
from firmware_py.terms.results import SessionResult
from firmware_py.terms.settings import Settings
from host_tools.recordings.recorded_session import ReplayedSession
from tests.firmware.whole_sessions import a_listener
from tests.host.journals import BOTH, session_of

# By ear: the verdict, and why.
Verdicts = Mapping[str, tuple[Verdict, Sequence[Reason]]]

SILENT: Final = reason(Code.NEVER_ANSWERED)
AWAY: Final = reason(Code.MISSES, missed=3, asked=14)
DIFFERENT: Final[Verdicts] = {
    "right": (Verdict.DOUBTFUL, [AWAY]), "left": (Verdict.NOT_TESTED, [SILENT, AWAY]),
}  # fmt: skip
HALF: Final[Verdicts] = {"right": (Verdict.VALID, []), "left": (Verdict.NOT_TESTED, [SILENT])}
NOBODY: Final[Verdicts] = dict.fromkeys(("right", "left"), (Verdict.NOT_TESTED, [SILENT]))


def judge(result: SessionResult, verdicts: Verdicts) -> SessionResult:
    """Return a result with these verdicts, as a procedure would have found it."""
    ears = []
    for ear in result.ears:
        verdict, reasons = verdicts[ear.route.ear]
        ears.append(replace(ear, verdict=verdict, reasons=tuple(reasons)))
    return replace(result, ears=tuple(ears))


def a_session(verdicts: Verdicts, path: Path = BOTH) -> ReplayedSession:
    """Return a recorded session with these verdicts, which replays to what it records."""
    session = session_of(path)
    return replace(session, recorded=judge(session.result, verdicts))


def write_deaf_ear(directory: Path) -> Path:
    """Run a test of a left ear that hears nothing, in which the operator heard the equipment."""
    world = World(directory, a_listener(lapse_rate=1.0))
    world.begin(Settings(ears="left"))
    world.until(lambda: any(what == "equipment-check" for what, _ in world.told))
    world.runner.feed(EquipmentHeard(OPERATOR))
    return world.end()


def write_judged(path: Path, verdicts: Verdicts, golden: Path = BOTH) -> None:
    """Write a golden journal with these verdicts."""
    crc, lines = "", []
    for line in golden.read_bytes().splitlines(keepends=True):
        body = line[:-TAIL_BYTES]
        if b'"what": "finish"' in body:
            body = _with_verdicts(json.loads(line), verdicts)
        crc = chained_crc(crc, body)
        lines.append(body + f', "crc": "{crc}"}}\n'.encode())
    path.write_bytes(b"".join(lines))


def _with_verdicts(record: dict[str, Any], verdicts: Verdicts) -> bytes:
    del record["crc"]
    for ear in record["action"]["result"]["ears"]:
        ear["verdict"], reasons = verdicts[ear["ear"]]
        ear["reasons"] = as_json(reasons)
    return json.dumps(record).removesuffix("}").encode()
