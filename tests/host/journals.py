"""Journals that nobody recorded: golden ones under other headers, or changed; every CRC right."""

import datetime
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from firmware_py.calibration import simulated
from firmware_py.calibration.file import calibration_from
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.journal import JournalWriter, Record, SealKey, read_journal
from firmware_py.journal.records import TAIL_BYTES, chained_crc, encode_line
from firmware_py.platform.version import full_version
from firmware_py.session.boards import serial_of
from firmware_py.sessions.archive import recorded_result
from firmware_py.sessions.session_course import RESUMED
from firmware_py.terms.calibration_states import SIMULATED, UNCALIBRATED
from firmware_py.terms.reasons import Reason
from host_tools.commands.report.history import History
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from tests.calibration import calibrations

GOLDEN: Final = Path(__file__).parents[1] / "golden"
LEFT_S2: Final = GOLDEN / "left-ear-s2.journal"
BOTH: Final = GOLDEN / "both-ears-n3.journal"
MASKED: Final = GOLDEN / "masked.journal"
# The fixtures of these names.
GpPta = Callable[..., tuple[int, str, str]]
Refused = Callable[..., str]

KINDS: Final = ("left-ear-s2", "both-ears-n3", "disturbed", "silent-ear")


def write_journals(directory: Path, count: int, device: str = "") -> None:
    """Write sessions 1 to `count`: of another day, and of another person every fourth."""
    for number in range(1, count + 1):
        path = directory / f"session-{number:06d}.journal"
        path.write_bytes(journal(KINDS[number % len(KINDS)], number, device))


def journal(kind: str, number: int, device: str = "") -> bytes:
    """Return the journal of a golden session as if it had been session `number` of a device."""
    header, bodies = _parts(kind)
    day = f"{2016 + number % 10}-{1 + number % 12:02d}-{1 + number % 28:02d}"
    # Age and sex are a part of the prior: with others its journal would not replay.
    person = {"identifier": f"P-{number // 4}", "age_years": None, "sex": None}
    changes = {**on_day(header, day), "session": number, "person": person, "device": device}
    line, crc = encode_line(0, 0, changes, "")
    lines = [line]
    for body in bodies:
        crc = chained_crc(crc, body)
        lines.append(body + f', "crc": "{crc}"}}\n'.encode())
    return b"".join(lines)


def rewrite(path: Path, change: dict[str, Any]) -> None:
    """Write a journal of this version anew, CRCs and all, a played tone changed."""
    header, *records = read_journal(path).records
    play = next(r["action"] for r in records if r.get("action", {}).get("what") == "play")
    play.update(change)
    path.unlink()
    write_again(path, {**header, "firmware": full_version()}, records)


def write_again(
    path: Path, header: Record, records: Iterable[Record], seal_key: SealKey | None = None
) -> None:
    """Write what was read of a journal, and perhaps changed, to a new one, CRCs and all."""
    told = {key: value for key, value in header.items() if key not in ("kind", "journal")}
    with JournalWriter.create(path, told, seal_key=seal_key) as writer:
        for record in records:
            writer.append(record)


def go_on_with(records: Sequence[Record], resumed: str, why: Reason) -> tuple[Record, ...]:
    """Return records as if the session had been broken off, and waited for the operator's word."""
    inputs = [place for place, record in enumerate(records) if record["kind"] == "input"]
    middle = inputs[len(inputs) // 2]
    event = {"what": "paused", "why": [why.to_record()]}
    told = {"kind": "input", "at_us": records[middle]["at_us"], "event": event, RESUMED: resumed}
    return (*records[:middle], told, *records[middle:])


# What no session records, by name: where in header or result, what instead, and what is said of it.
_THRESHOLD: Final = ("result", "ears", 0, "thresholds", 3)
_ONE: Final = {
    "frequency_hz": 250, "mark": "measured", "threshold_db_hl": 20, "sd_db": 2, "low_db_hl": 16,
    "high_db_hl": 24, "limit_db_hl": None, "masking": None, "air_bone_gap_db": None,
    "floor_db_hl": -10.0, "ceiling_db_hl": 100.0,
}  # fmt: skip
SIMULATED_ONE: Final = NO_CALIBRATION.judge(datetime.date.min, simulated.BOARD).as_record()
NONSENSE: Final[dict[str, tuple[tuple[str | int, ...], Any, str]]] = {
    "no result": (("result",), None, "result is None; allowed is an object of outcome, ears, "),
    "an outcome": (("result", "outcome"), "won", "result.outcome is 'won'; allowed are complete, "),
    "no outcome": (("result", "outcome"), "", "result.outcome is ''; allowed are complete, "),
    "ears of text": (("result", "ears"), "left", "result.ears is 'left'; allowed is a list of 1"),
    "no ears": (("result", "ears"), [], "result.ears is []; allowed is a list of 1 to 4"),
    "many ears": (("result", "ears"), [{}] * 2500, "result.ears is [{}, {}, "),
    "an ear": (("result", "ears", 0), 7, "result.ears[0] is 7; allowed is an object of ear, "),
    "no ear": (("result", "ears", 0, "ear"), "both", "result.ears[0].ear is 'both'; allowed are "),
    "another ear": (("result", "ears", 0, "ear"), "right", "result.ears are right; allowed left"),
    "an ear's outcome": (
        ("result", "ears", 0, "outcome"), "good", "result.ears[0].outcome is 'good'; allowed are "
    ),
    "tones": (("result", "ears", 0, "tones"), -1, "result.ears[0].tones is -1; allowed are whole"),
    "half a tone": (("result", "ears", 0, "tones"), 1.5, "result.ears[0].tones is 1.5; allowed "),
    "why": (("result", "ears", 0, "why"), "a\x1b[2J", "why is 'a\\x1b[2J'; allowed is a list of"),
    "remarks": (("result", "remarks"), [None], "result.remarks[0].code is None; allowed are the "),
    "a time": (("result", "response_time_mean_ms"), "1 s", "result.response_time_mean_ms is '1 s'"),
    "a threshold": ((*_THRESHOLD,), [], "thresholds[3] is []; allowed is an object of frequency_"),
    "a frequency": ((*_THRESHOLD, "frequency_hz"), 1001, "frequency_hz is 1001; allowed are 250, "),
    "a frequency again": ((*_THRESHOLD, "frequency_hz"), 250, "frequency_hz is 250; allowed is ea"),
    "a mark": ((*_THRESHOLD, "mark"), "loud", "thresholds[3].mark is 'loud'; allowed are measured"),
    "masking": ((*_THRESHOLD, "masking"), True, "thresholds[3].masking is True; allowed are none"),
    "no level": ((*_THRESHOLD, "high_db_hl"), None, "high_db_hl is None; allowed is a number "),
    "a negative SD": ((*_THRESHOLD, "sd_db"), -1.0, "sd_db is -1.0; allowed are numbers from 0 to"),
    "one too many": ((*_THRESHOLD, "bone"), 1, "thresholds[3] is ['frequency_hz', 'mark', "),
    "few frequencies": (
        ("result", "ears", 0, "thresholds"), [_ONE], "thresholds are of [250] Hz; allowed are [25"
    ),
    "an age of text": (("person", "age_years"), "=1+1", "age_years is '=1+1'; allowed are numbers"),
    "a formula": (("person", "identifier"), "=cmd|' /C calc'!A0", "identifier is \"=cmd|' /C"),
    "a start of lines": (("started",), "2026-01-31T00:00Z\n12,complete", "started is '2026-01-3"),
    "a direction": (
        ("calibration", "why"), {"code": "nominal-since", "told": 5}, "its why.told is 5; allowed"
    ),
    "an identifier": (("person", "identifier"), "a\x1b[2J", "identifier is 'a\\x1b[2J'; allowed "),
    "a name": (("person", "name"), "Ada", "the header: person is {'age_years': None, "),
    "an age": (("person", "age_years"), 200, "the header: age_years is 200; allowed are numbers"),
    "a setting": (("settings", "tones_max"), 0, "the header: tones_max is 0; allowed are whole"),
    "settings": (("settings",), {}, "the header: settings has no 'conduct'"),
    "a session": (("session",), "1", "the header: session is '1'; allowed are whole numbers"),
    "a number of a session": (("session",), 2**63, "session is 9223372036854775808; allowed are "),
    "a huge age": (("person", "age_years"), 10**400, "the header: age_years is 10000000000"),
    "a list of sessions": (("started",), "2026-01-31;00:00:00+00:00", "started is '2026-01-31;00:"),
    "a day": (("started",), "today", "the header: started is 'today'; allowed is a time with its"),
    "a version": (("firmware",), 1, "the header: firmware is 1; allowed is a text that can be"),
    "a board": (
        ("calibration",), SIMULATED_ONE, "is SIMULATED and tone_generator is 'sim 51b0000",
    ),
    "a calibration of another board": (
        ("calibration",), calibrations.on_file().judge(calibrations.MADE).as_record(),
        "calibration is CALIBRATED and tone_generator is 'sim 51b0000000000002': it is not of that",
    ),
    "a calibration of another day": (
        ("calibration",),
        calibrations.on_file({"calibration.tone_generator_serial": "51b0000000000002"})
        .judge(calibrations.DUE).as_record(),
        "calibration was judged on 2026-12-31, and started is 2026-01-02T03:04:05+00:00; allowed ",
    ),
    "a seed": (("seed",), 8, "the header: seed is 8, and a header of this kind has no such field"),
    "a speed": (("speed",), 0, "header: speed is 0; allowed are numbers from 0.1 to 1000 and null"),
    "a calibration": (("calibration", "state"), "GOOD", "the header: calibration: its state is 'G"),
}  # fmt: skip


def cut(journal: Path, directory: Path, records: int) -> Path:
    """Return a copy of a journal that ends after so many records."""
    short = directory / "session-000001.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    short.write_bytes(b"".join(lines[:records]))
    return short


@cache
def session_of(path: Path) -> ReplayedSession:
    """Return a session that is read once for all who ask; none of them may change it."""
    return replay_session(path)


@cache
def recorded_calibrated(path: Path) -> ReplayedSession:
    """Return a session as `session_of`; one without a calibration as if it had had one."""
    session = session_of(path)
    if session.calibration.state != UNCALIBRATED:
        return session
    serial = serial_of(session.header.tone_generator)
    file = calibrations.on_file({"calibration.tone_generator_serial": serial})
    in_force = file.judge(calibrations.MADE)
    header = replace(session.header, calibration=in_force)
    return replace(session, header=header)


class NoSteps(History):
    """Nothing of what was known after each answer: to draw that takes its time."""

    def as_json(self, _session: ReplayedSession) -> dict[str, Any]:
        return {}


@cache
def recorded_remarks() -> set[Reason]:
    """Return every reason that the golden sessions recorded."""
    results = [recorded_result(each).result for each in GOLDEN.glob("*.journal")]
    ears = [ear for result in results for ear in result.ears]
    return {
        *(remark for result in results for remark in result.remarks),
        *(why for ear in ears for why in ear.why),
    }


def write_nonsense(path: Path, name: str) -> str:
    """Write a short journal that is whole, and has this nonsense; return what is said of it."""
    (*way, last), value, words = NONSENSE[name]
    header, *records = read_journal(LEFT_S2).records
    finish = records[-2]["action"]
    inner: Any = finish if (way or [last])[0] == "result" else header
    for key in way:
        inner = inner[key]
    inner[last] = value
    write_again(path, header, records[-2:])
    return words


def on_day(header: Mapping[str, Any], day: str) -> dict[str, Any]:
    """Return the header of a session that began on another day, its calibration judged then."""
    told = header["calibration"]
    if told["state"] == SIMULATED:
        told = {**told, "judged_on": day}
    elif "content" in told:
        file = CalibrationOnFile(calibration_from(told["content"]))
        board = header["tone_generator"]
        told = file.judge(datetime.date.fromisoformat(day), board).as_record()
    return {**header, "started": f"{day}T09:30:00+00:00", "calibration": told}


@cache
def _parts(kind: str) -> tuple[dict[str, object], list[bytes]]:
    """Return the header, and the other lines without their CRCs."""
    first, *lines = (GOLDEN / f"{kind}.journal").read_bytes().splitlines(keepends=True)
    header = json.loads(first)
    for key in ("n", "synced", "crc"):
        del header[key]
    return header, [line[:-TAIL_BYTES] for line in lines]
