"""`gp-pta prescribe`: hearing-aid gains from a recorded session."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from firmware_py.archive import COMPLETE
from firmware_py.calibration.in_force import CALIBRATED
from firmware_py.console.words import readable
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.settings import LEFT, RIGHT
from host_tools.drawing import PICTURE_ENDINGS, WIDE_SIGN
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.files import check_name, write_text
from host_tools.newest import add_journal_argument, journal_or_newest
from host_tools.terminal import say, say_aside, show

if TYPE_CHECKING:  # they bring NumPy or Numba, which `gp-pta --help` can do without
    from rich.console import Console

    from host_tools.commands.prescribe.ears import EarPrescription
    from host_tools.recorded import RecordedSession

NAME = "prescribe"
SUMMARY = "prescribe hearing-aid gains from a session, by a published rule"
EXAMPLE = """\
example:
  gp-pta prescribe sessions/session-000001.journal --rule nal-r
  gp-pta prescribe sessions/session-000001.journal --rule camfit -o aid.cfg -o aid.pdf

-o takes .svg, .png and .pdf for a picture, .json for all figures, and .cfg for a fragment of an
openMHA configuration.

The gain is that for speech at 65 dB SPL, with the 95 % band that follows from how well the
thresholds are known. It ends in * at a frequency the rule was not published for, and begins with
>= where there was no response: the threshold was taken to be the limit. ~ is before what follows
from a threshold whose 95 % band is wider than the test wanted. In brackets stands what no tone was
asked for: the threshold is inferred from other frequencies and other people.

exit codes: 0 prescribed, 2 nothing can be prescribed from this journal, 6 a record of it says what
no session can have recorded
"""

NEEDS: Final = {"-o PICTURE": ("matplotlib",)}
RULE_NAMES: Final = ("nal-r", "nal-rp", "camfit", "half-gain")
CONFIGURATION: Final = ".cfg"
OUTPUT_ENDINGS: Final = (*PICTURE_ENDINGS, ".json", CONFIGURATION)
INFERRED_SIGN: Final = "("  # and a closing one behind
# Before the threshold and the gain.
MARKS: Final[dict[str, str]] = {
    Outcome.NO_RESPONSE: ">=",
    Outcome.HEARS_ALL: "<=",
    Outcome.INCOMPLETE: "?",
    Outcome.INFERRED: INFERRED_SIGN,
}


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_journal_argument(p)
    p.add_argument("--rule", default="nal-r", choices=RULE_NAMES, help="default: nal-r")
    p.add_argument("--ear", choices=(LEFT, RIGHT), help="default: both, or the one that was tested")
    p.add_argument(
        "-o", "--out", type=Path, action="append", default=[], metavar="FILE",
        help="write a picture, .json or .cfg; may be given several times",
    )  # fmt: skip
    p.add_argument("--force", action="store_true", help="overwrite files that are there")
    p.add_argument(
        "--unfinished", action="store_true", help="prescribe from a session that came to no end"
    )
    p.add_argument("--json", action="store_true", help="print all figures as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Prescribe, print a table, and write what was asked for."""
    from host_tools.recorded import read_true_session

    for path in arguments.out:
        check_name(path, "-o", OUTPUT_ENDINGS, arguments.force)
        if path.suffix in PICTURE_ENDINGS:
            need(f"-o {path.name}", *NEEDS["-o PICTURE"], use=f"{NAME} -o")
    session = read_true_session(journal_or_newest(arguments.journal))
    _check_ended(session, arguments.unfinished)
    ears = _prescribed(session, arguments)
    _check_configuration(arguments.out, ears)
    figures = as_json(session, ears)
    for path in arguments.out:
        _write(path, session, ears, figures)
        say_aside(f"{path} written")
    if arguments.json:
        say(json.dumps(figures))
    else:
        done = {ear.ear for ear in ears}
        _print(session, ears, sorted(set(_asked(session, arguments)) - done))
    return 0


def as_json(session: "RecordedSession", ears: "Sequence[EarPrescription]") -> dict[str, Any]:
    """Return a prescription as JSON values."""
    from device.hearing_aid.rules import rule_named

    return {
        "journal": str(session.path),
        "rule": ears[0].rule,
        "source": rule_named(ears[0].rule).source,
        "calibration": session.calibration.headline,
        "outcome": session.result.outcome,
        "ears": [_ear_as_json(ear) for ear in ears],
    }


def _ear_as_json(ear: "EarPrescription") -> dict[str, Any]:
    from device.hearing_aid.rules import within_publication

    c = ear.compression
    columns = {
        "threshold_db_hl": ear.threshold_db_hl,
        "gain_db": ear.gain_db,
        "gain_low_db": ear.gain_low_db,
        "gain_high_db": ear.gain_high_db,
        "compression_ratio": c.ratio,
        "knee_db_spl": c.knee_db_spl,
        "speech_db_spl": c.speech_db_spl,
    }
    bands = [
        {
            "frequency_hz": frequency_hz,
            "mark": mark,
            "wide": frequency_hz in ear.wide_db,
            "published": within_publication(ear.rule, frequency_hz),
            **{name: round(float(column[k]), 2) for name, column in columns.items()},
        }
        for k, (frequency_hz, mark) in enumerate(zip(ear.frequencies_hz, ear.marks, strict=True))
    ]
    return {"ear": ear.ear, "bands": bands}


def _check_ended(session: "RecordedSession", unfinished_allowed: bool) -> None:
    outcome = session.result.outcome
    if (session.complete and outcome == COMPLETE) or unfinished_allowed:
        return
    state = f"the session was {outcome}" if outcome else "it is not finished"
    raise HostError(f"{session.path}: {state}; --unfinished prescribes from what there is")


def _prescribed(
    session: "RecordedSession", arguments: argparse.Namespace
) -> "list[EarPrescription]":
    """Prescribe for the ears asked for; one that cannot be is an error if it is the only one."""
    from host_tools.commands.prescribe.ears import NothingToPrescribeError, prescribe_ear

    ears, refused = [], []
    for ear in _asked(session, arguments):
        try:
            ears.append(prescribe_ear(session, ear, arguments.rule))
        except NothingToPrescribeError as error:
            refused.append(error)
    if refused and (arguments.ear or not ears):
        raise refused[0]
    return ears


def _check_configuration(out: Sequence[Path], ears: "Sequence[EarPrescription]") -> None:
    """Refuse a configuration of one ear, before anything is written."""
    missing = {LEFT, RIGHT} - {ear.ear for ear in ears}
    if missing and any(path.suffix == CONFIGURATION for path in out):
        raise HostError(
            f"-o: {CONFIGURATION} has gains of both ears, and the {missing.pop()} ear has none"
        )


def _asked(session: "RecordedSession", arguments: argparse.Namespace) -> list[str]:
    return [arguments.ear] if arguments.ear else [*session.result.by_ear]


def _print(
    session: "RecordedSession", ears: "Sequence[EarPrescription]", without: Sequence[str]
) -> None:
    from rich.console import Console

    from device.hearing_aid.rules import rule_named

    screen = Console(highlight=False)
    rule = rule_named(ears[0].rule)
    screen.print(f"[bold]{rule.name}[/bold] ({rule.source})", soft_wrap=True)
    for ear in ears:
        _print_ear(screen, ear)
    for word in without:
        screen.print(f"{word} ear: nothing prescribed", style="yellow")
    for remark in remarks(session, ears):
        show(screen, remark, "yellow", soft_wrap=True)


def _print_ear(screen: "Console", ear: "EarPrescription") -> None:
    from rich.table import Table

    from device.hearing_aid.rules import within_publication

    table = Table(title=f"{ear.ear} ear", title_justify="left", box=None, pad_edge=False)
    headings = ("Hz", "dB HL", "gain, dB", "95 % band", "at 50 dB SPL", "at 80 dB SPL", "ratio")
    for heading in headings:
        table.add_column(heading, justify="right")
    soft_db, loud_db = (ear.compression.gain_of_speech(level) for level in (50.0, 80.0))
    for k, frequency_hz in enumerate(ear.frequencies_hz):
        mark = MARKS.get(ear.marks[k], WIDE_SIGN if frequency_hz in ear.wide_db else "")
        star = "" if within_publication(ear.rule, frequency_hz) else "*"
        end = ")" if mark == INFERRED_SIGN else ""
        table.add_row(
            str(frequency_hz),
            f"{mark}{ear.threshold_db_hl[k]:.0f}{end}",
            f"{mark}{ear.gain_db[k]:.0f}{end}{star}",
            f"{ear.gain_low_db[k]:.0f} to {ear.gain_high_db[k]:.0f}",
            f"{soft_db[k]:.0f}",
            f"{loud_db[k]:.0f}",
            f"{ear.compression.ratio[k]:.1f}",
        )
    screen.print(table)


def remarks(session: "RecordedSession", ears: "Sequence[EarPrescription]") -> list[str]:
    """Return what whoever fits an aid has to know beside the gains."""
    said = []
    if session.calibration.state != CALIBRATED:
        said.append(session.calibration.headline)
    if session.result.outcome != COMPLETE:
        said.append("from a session that came to no end")
    marks = {mark for ear in ears for mark in ear.marks}
    if Outcome.NO_RESPONSE in marks:
        said.append(">=: no response at the limit; the gain is the least the rule can mean")
    if Outcome.INCOMPLETE in marks:
        said.append("?: the threshold lies perhaps beyond the limit")
    for ear in ears:
        pairs = zip(ear.frequencies_hz, ear.marks, strict=True)
        inferred = ", ".join(str(f) for f, mark in pairs if mark == Outcome.INFERRED)
        if inferred:
            said.append(
                f"( ): {ear.ear} ear not measured at {inferred} Hz: threshold and gain are inferred"
            )
    wanted_db = session.settings.wanted_half_width_db
    for ear in ears:
        wide = ", ".join(
            f"{f} Hz ±{half_db:.0f} dB, ±{wanted_db(f):g} wanted"
            for f, half_db in ear.wide_db.items()
        )
        if wide:
            said.append(f"{WIDE_SIGN}: {ear.ear} ear wide: {wide}")
    said += map(readable, session.result.remarks)
    said.append("Air conduction only; a start for a fitting, to be verified on the ear.")
    return said


def _write(
    path: Path,
    session: "RecordedSession",
    ears: "Sequence[EarPrescription]",
    figures: dict[str, Any],
) -> None:
    if path.suffix == ".json":
        write_text(path, json.dumps(figures, indent=2) + "\n")
    elif path.suffix == CONFIGURATION:
        write_text(path, _configuration(session, ears))
    else:
        from host_tools.commands.prescribe.picture import draw_prescription

        warning = "" if session.calibration.state == CALIBRATED else session.calibration.headline
        day = session.header.started[:10]
        title = ", ".join(filter(None, [figures["rule"], day]))
        draw_prescription(ears, title, warning, path)


def _configuration(session: "RecordedSession", ears: "Sequence[EarPrescription]") -> str:
    from host_tools.commands.prescribe.openmha import configuration

    by_ear = {ear.ear: ear.compression for ear in ears}
    said = [f"{ears[0].rule} from {session.name}", *remarks(session, ears)]
    return configuration(by_ear[LEFT], by_ear[RIGHT], said)
