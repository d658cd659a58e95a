"""How the console's answers about tests, sessions and calibrations are written."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from firmware_py.board.board_connection import BoardConnection
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.console.audiogram_text import axis_unit, draw_audiogram, legend
from firmware_py.console.wording import figure, readable
from firmware_py.ear.levels import AudiogramHz, Highest
from firmware_py.findings.convention import in_convention
from firmware_py.findings.result_json import result_as_json
from firmware_py.findings.statements import is_final
from firmware_py.journal import Disk
from firmware_py.link.messages import WIRE_VERSION
from firmware_py.paper.session_paper import paper_of
from firmware_py.paper.source import Source
from firmware_py.paper.words import lines_of
from firmware_py.platform.data_directory import session_number
from firmware_py.platform.own_prior import shorten
from firmware_py.platform.version import full_version
from firmware_py.presenting.presenter import FINISHED
from firmware_py.session.boards import serial_of
from firmware_py.session.ear_result import verdict_so_far
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions.archive import Entry, glance
from firmware_py.sessions.attendance import check_of, why_checked
from firmware_py.sessions.session_record import SessionHeader
from firmware_py.terms.outcomes import DAMAGED, MaskingMark
from firmware_py.terms.reasons import Reason, as_json
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.route import EAR, Route
from firmware_py.terms.settings import OFF
from firmware_py.terms.shown_threshold import as_shown
from firmware_py.terms.verdicts import has_thresholds
from firmware_py.terms.words import say

UNKNOWN: Final = "-"
QUALITY: Final = "quality"  # section of the details that tells of tones, and why ears ended
ABOVE: Final = ("verdict", "alarms")  # sections of a paper that stand above its audiograms
SPACE: Final = "\\u0020"  # in JSON that stands as one word in a line
QUOTED: Final = frozenset(" \"'\\")  # what has one of these is no word of a line by itself


def version_words(board: BoardConnection, of_card: str) -> str:
    serial = serial_of(board.client.board) or UNKNOWN
    hears = ",hears the room" * board.client.hears_room
    return (
        f"firmware {full_version()},wire {WIRE_VERSION},tone generator {board.board or UNKNOWN},"
        f"serial number {serial}{hears}{of_card and f',{of_card}'}"
    )


def state_words(test: HearingTest, resumed: int, header: SessionHeader, *, lost: bool) -> str:
    """Return where the test of a session is.

    `resumed`: how many times it was taken up again. `lost`: the tone generator does not answer.
    """
    ear = test.ear
    state = f"{FINISHED} outcome={test.outcome}" if test.state == FINISHED else test.state
    widest = ear.audiogram.widest()
    to_go = UNKNOWN if lost else str(round(test.time_to_go.seconds()))
    seconds_to_go = "0" if test.state == FINISHED else to_go
    silences, false_positives = _silences(test)
    return (
        f"state={state} {pairs(ear.route.parts())} "
        f"presentation={test.number} tones={ear.tally.tones} "
        f"heard={ear.tally.heard} unsure={ear.tally.unsure} "
        f"half_width_db={widest.half_width_db:.1f} widest_hz={widest.frequency_hz} "
        f"masking={_masking(test)} resumed={resumed} seconds_to_go={seconds_to_go} "
        f"silences={silences} false_positives={false_positives} so_far={verdict_so_far(ear)} "
        f"calibration={header.calibration.state}{_prior(header)} session={header.session}"
        f"{_board(lost=lost)}{_check(test)}"
    )


def _prior(header: SessionHeader) -> str:
    return f" prior={shorten(header.prior)}" if header.prior else ""


def idle_words(calibration: CalibrationInForce, *, lost: bool) -> str:
    return f"state=idle calibration={calibration.state}{_board(lost=lost)}"


def _board(*, lost: bool) -> str:
    return " board=lost" if lost else ""


def _silences(test: HearingTest) -> tuple[int, int]:
    ears = test.ears.values()
    pauses = [ear.evidence.pauses for ear in ears]
    catches = [ear.catch_trials for ear in ears]
    return (
        sum(each.count for each in pauses) + sum(each.count for each in catches),
        sum(each.pressed for each in pauses) + sum(each.false_alarms for each in catches),
    )


def _check(test: HearingTest) -> str:
    check = check_of(test)
    return f" check={check} {pairs({'why': why_checked(test)})}" if check else ""


def _masking(test: HearingTest) -> str:
    """Return the level of the noise, or whether there can be any, or that nobody looks."""
    if not test.cross_hearing.watched:
        return OFF
    if test.presenter.noise.due is not None:
        return f"{test.presenter.noise.due.level_db_hl:g}"
    return "ready" if test.cross_hearing.can_mask else "none"


def session_words(journal: Path, disk: Disk) -> str:
    number = session_number(journal)
    seen = glance(journal, disk)
    if seen.session != number:  # it has the name of another one
        seen = Entry(DAMAGED)
    words = (seen.outcome, seen.started, seen.ears, seen.identifier)
    return ",".join((str(number), *(word or UNKNOWN for word in words)))


def result_words(result: SessionResult, header: SessionHeader, *, named: bool) -> str:
    """Return a result as JSON, between its verdict and whose it is; `named`: with the person."""
    calibration, simulated = header.calibration, header.is_simulated(result)
    about = {
        "verdict": result.verdict,
        "calibration": calibration.state,
        "calibration_words": calibration.headline,
        "session": header.session,
        "started": header.started,
        "simulated": simulated,
        "speed": header.speed,
        "nominal": calibration.nominal,
        "final": is_final(
            result.outcome, result.ears, nominal=calibration.nominal, simulated=simulated
        ),
    }
    about |= {"person": header.person.as_record()} if named else {}
    return json.dumps({**about, **_result_as_set(result, header)})


def mean_words(result: SessionResult, header: SessionHeader) -> str:
    told = _result_as_set(result, header)
    means = {ear[EAR]: ear["pta4"] for ear in told["ears"] if "transducer" not in ear}
    about = {"session": header.session, "started": header.started}
    return json.dumps({"ears": means, "grade": told["grade"], **about})


def _result_as_set(result: SessionResult, header: SessionHeader) -> dict[str, Any]:
    convention = header.settings.threshold_convention
    return result_as_json(
        in_convention(result, convention),
        header.settings,
        convention,
        uncertainty=header.calibration.uncertainty(result),
    )


def threshold_words(ears: Sequence[EarResult], header: SessionHeader) -> str:
    """Return every threshold of these ears with SD and marks, which session, and the verdicts."""
    words = [f"{ear.route}=" + ";".join(map(_figures, ear.thresholds)) for ear in ears]
    verdicts = ";".join(f"{ear.route},{ear.verdict}" for ear in ears)
    which = [f"session={header.session}", f"started={header.started}"]
    calibration = f"calibration={header.calibration.state}"
    return " ".join([*words, *which, f"verdict={verdicts}", calibration])


def _figures(found: ThresholdResult) -> str:
    reading, sd = as_shown(found), found.sd_db
    figures = "-,-" if sd is None else f"{reading.level_db_hl:.1f},{sd:.1f}"
    marks = (m for m in (found.mark, found.masking) if m and m != MaskingMark.NOT_MASKED)
    return f"{found.frequency_hz},{figures},{','.join(marks)}"


def whose_line(header: SessionHeader, *, named: bool) -> str:
    """Say whose result it is; `named`: by the identifier, too."""
    identifier = header.person.identifier if named else None
    of = f" of {identifier}" if identifier else ""
    return f"session {header.session}{of}, begun {header.started}"


def audiogram_lines(source: Source) -> list[str]:
    """Return a paper for the console: its audiograms in characters, all else in lines."""
    found = {ear.route: ear.thresholds for ear in source.result.ears if has_thresholds(ear)}
    axis = axis_unit(nominal=source.nominal)
    drawn = [*draw_audiogram(found, unit=axis), legend(found)] if found else []
    paper = paper_of(source)
    sections = [*paper["sections"], *(e for e in paper["details"] if e["name"] == QUALITY)]
    above = lines_of(each for each in sections if each["name"] in ABOVE)
    below = lines_of(each for each in sections if each["name"] not in ABOVE)
    return [*above, *drawn, *below, source.calibration.headline]


def calibration_words(in_force: CalibrationInForce) -> str:
    words: dict[str, Any] = {"state": in_force.state}
    if in_force.why is not None:
        words["why"] = in_force.why.to_record()
    if in_force.calibration is not None:
        words |= {"digest": in_force.calibration.digest}
        for table in ("calibration", "transducer"):
            about = in_force.calibration.content.get(table, {})  # simulated, it has no meter
            words |= {name: value for name, value in about.items() if not isinstance(value, dict)}
    return json.dumps(words)


def limit_words(highest_db_hl: Highest, audiogram_hz: AudiogramHz, routes: Iterable[Route]) -> str:
    def limits(route: Route) -> str:
        levels = ((f, highest_db_hl(route, f)) for f in audiogram_hz(route))
        return ";".join(f"{frequency_hz},{level:g}" for frequency_hz, level in levels)

    return " ".join(f"{each}={limits(each)}" for each in routes)


def pairs(about: Mapping[str, Any]) -> str:
    told = [f"{name}={_word(value)}" for name, value in about.items()]
    for value in about.values():
        if value and isinstance(value, Reason | tuple):
            several = (value,) if isinstance(value, Reason) else value
            spaceless = json.dumps(as_json(several), separators=(",", ":")).replace(" ", SPACE)
            told.append(f"reasons={spaceless}")
    return " ".join(told)


def unasked_line(what: str, about: Mapping[str, Any]) -> str:
    return f"! {what} {pairs(about)}".rstrip()


def _word(value: Any) -> str:
    """Return a value for an unasked line: without spaces and quotes, or in quotes."""
    if isinstance(value, Reason | tuple):
        value = say(value)
    if isinstance(value, float):
        return figure(value)
    text = str(value).lower() if isinstance(value, bool) else readable(str(value))
    bare = text != "" and not QUOTED.intersection(text)
    return text if bare else json.dumps(text, ensure_ascii=False)
