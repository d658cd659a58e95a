"""`gp-pta prescribe`: a fit of a hearing aid from a recorded session, or a row of a table."""

import argparse
import json
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from device.audiogram_tables.mapping import ARGUMENT, OPTION
from firmware_py.terms.outcomes import SessionOutcome
from firmware_py.terms.route import LEFT, RIGHT
from host_tools.catalogue import add_language_argument
from host_tools.commands.prescribe.exports import AID_ENDINGS, FIT, TARGETS, check_ears, target_of
from host_tools.drawings.drawing import PICTURE_ENDINGS
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.files import check_name
from host_tools.recordings.heading import EXAMPLE as HEADING_EXAMPLE
from host_tools.recordings.heading import Heading, add_heading_argument, read_heading
from host_tools.recordings.newest import add_journal_argument, journal_or_newest
from host_tools.terminal import say, say_aside

if TYPE_CHECKING:  # they bring NumPy or Numba, which `gp-pta --help` can do without
    from host_tools.commands.prescribe.prescription import Prescription
    from host_tools.commands.prescribe.source import Source
    from host_tools.recordings.recorded_session import RecordedSession

OUTPUTS: Final = textwrap.fill(
    "-o takes .pdf, .svg and .png for paper with a picture of the insertion gain, .json for all "
    f"figures, {', '.join(f'{each.ending} for {each.words}' for each in TARGETS)}.",
    100,
)
EXAMPLE = f"""\
example:
  gp-pta prescribe sessions/session-000001.journal --rule nal-r
  gp-pta prescribe sessions/session-000001.journal --rule camfit -o aid.fit -o aid.cfg -o aid.pdf
  gp-pta prescribe sessions/session-000001.journal --against nal-rp -o both.svg
  gp-pta prescribe sessions/session-000001.journal --tuning sessions/tuning-000001.journal -o t.pdf
  gp-pta prescribe --audiogram clinic.csv:17 --rule camfit -o aid.fit
  gp-pta prescribe sessions/session-000001.journal --discomfort "left 500:100 1000:>110"

{OUTPUTS}

The gain is that for speech at 65 dB SPL, with the 95 % band that follows from how well the
thresholds are known. What the marks beside it mean stands below the table, and for whom the fit is.
A session without a calibration is refused: its levels are no dB HL. --uncalibrated takes them for
such, and the paper, the fit and all else say so. So is a session of journal format 1, of which
nobody judged whether there was a test; --unjudged takes it.

--tuning makes paper of the fit as it was tuned: its gains, the setting, what that was found by. The
tuning has to be of this person and of this very fit, so give --rule and --coupling as they were.

--audiogram takes thresholds that were measured elsewhere, from a row of a table, by its number or a
person's name; two rows, FILE:ROW,FILE:ROW, are right and left ear. Such numbers have no bands, and
neither have the gains; what is not known gets none. There are .json, .fit, .cfg, .txt and LibrePods
of it, and no paper.

--discomfort takes from which levels on tones were uncomfortable, HZ:DBHL of each ear, in dB HL as
the audiometer shows it; 1000:>110 is "not up to 110". "(Dr Cox, 2026-11-02)" at the end says who
measured them, and when. The most output then follows from them, at all frequencies of both ears.

{HEADING_EXAMPLE}
exit codes: 0 prescribed, 2 nothing can be prescribed from this journal, 6 a record of it says what
no session can have recorded
"""

NEEDS: Final = {"-o PICTURE": ("matplotlib", "typst")}
RULE_NAMES: Final = ("nal-r", "nal-rp", "camfit", "half-gain")
COUPLINGS: Final = ("closed", "open")
OUTPUT_ENDINGS: Final = (*PICTURE_ENDINGS, ".json", *AID_ENDINGS)
# What is made of a table: equalisers rest on bands, and paper on those and on a test.
OF_A_TABLE: Final = (*(each.ending for each in TARGETS if each.of_a_table), ".json")
# Of a session, and not of a table: options with what they are when nobody gives them.
OF_A_SESSION: Final = {
    "journal": None, "against": None, "tuning": None, "heading": None, "unfinished": False,
}  # fmt: skip


def add_arguments(p: argparse.ArgumentParser) -> None:
    add_journal_argument(p)
    p.add_argument(
        "--audiogram", metavar="FILE:ROW",
        help="of a table of audiograms, in place of a journal",
    )  # fmt: skip
    p.add_argument(OPTION, **ARGUMENT)
    p.add_argument(
        "--discomfort", metavar="LEVELS|FILE:ROW",
        help="levels of discomfort that somebody measured, see below; or a row of a table with "
        "columns ucl500 ...",
    )  # fmt: skip
    p.add_argument(
        "--discomfort-anyway",
        action="store_true",
        help="take levels that are below the threshold, or far above what is usual",
    )
    p.add_argument("--rule", default="nal-r", choices=RULE_NAMES, help="default: nal-r")
    p.add_argument(
        "--coupling", default="closed", choices=COUPLINGS,
        help="how the aid sits in the ear, which limits its gain; default: closed",
    )  # fmt: skip
    p.add_argument("--ear", choices=(LEFT, RIGHT), help="default: both, or the one that was tested")
    p.add_argument(
        "--against", metavar="OTHER",
        help="compare with another fit: a .fit file, or a rule for the same session",
    )  # fmt: skip
    p.add_argument(
        "--tuning", type=Path, metavar="JOURNAL",
        help="write the sheet of this fit as it was tuned; needs -o, on paper",
    )  # fmt: skip
    p.add_argument(
        "-o", "--out", type=Path, action="append", default=[], metavar="FILE",
        help="write a picture, figures or what an aid reads; may be given several times",
    )  # fmt: skip
    p.add_argument("--force", action="store_true", help="overwrite files that are there")
    add_heading_argument(p, "paper (.pdf, .png, .svg)")
    add_language_argument(p, "of the picture")
    p.add_argument(
        "--unfinished", action="store_true", help="prescribe from a session that came to no end"
    )
    p.add_argument(
        "--uncalibrated", action="store_true",
        help="prescribe from levels that are no dB HL, and say so",
    )  # fmt: skip
    p.add_argument(
        "--unjudged", action="store_true",
        help="prescribe from a test that the version that recorded it did not judge, and say so",
    )  # fmt: skip
    p.add_argument("--json", action="store_true", help="print all figures as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    if arguments.audiogram is not None:
        _check_of_table(arguments)
    elif arguments.columns is not None and arguments.discomfort is None:
        raise HostError(f"{OPTION} is of a table; allowed is --audiogram or --discomfort with it")
    _check_tuning(arguments)
    for path in arguments.out:
        check_name(path, "-o", OUTPUT_ENDINGS, arguments.force)
        if path.suffix in PICTURE_ENDINGS:
            need(f"-o {path.name}", *NEEDS["-o PICTURE"], use="prescribe -o PICTURE")
    heading = read_heading(arguments.heading)
    source = _source(arguments, heading)
    if arguments.discomfort is not None or source.told:
        from host_tools.commands.prescribe.own_discomfort import with_levels

        columns, anyway = arguments.columns, arguments.discomfort_anyway
        source = with_levels(source, arguments.discomfort, columns, anyway=anyway)
    made = _prescription(source, arguments)
    check_ears(arguments.out, [ear.ear for ear in made.ears])
    if arguments.tuning is not None:
        made.write_tuned(arguments, heading)
        return 0
    for path in arguments.out:
        said = made.write(path, heading, arguments.language)
        for line in (f"{path} written", *said):
            say_aside(line)
    if arguments.json:
        say(json.dumps(made.figures))
    else:
        made.print([arguments.ear] if arguments.ear else source.ears)
    return 0


def _check_of_table(arguments: argparse.Namespace) -> None:
    for name, usual in OF_A_SESSION.items():
        if getattr(arguments, name) != usual:
            option = "a journal" if name == "journal" else f"--{name}"
            raise HostError(f"--audiogram and {option}: one of them is allowed")
    for path in arguments.out:
        target = target_of(path)
        if (target.ending if target else path.suffix) not in OF_A_TABLE:
            raise HostError(
                f"-o is {str(path)!r}; with --audiogram allowed are {', '.join(OF_A_TABLE)}: paper "
                "and equalisers need to know how sure a threshold is, and a table does not say it"
            )


def _check_tuning(arguments: argparse.Namespace) -> None:
    if arguments.tuning is None:
        return
    others = {"--against": arguments.against is not None, "--json": arguments.json}
    for other, given in others.items():
        if given:
            raise HostError(f"--tuning and {other}: one of them is allowed")
    wrong = [str(path) for path in arguments.out if path.suffix not in PICTURE_ENDINGS]
    if wrong or not arguments.out:
        named = ", ".join(wrong) or "missing"
        raise HostError(f"-o is {named}; with --tuning allowed are {', '.join(PICTURE_ENDINGS)}")


def _check_ended(session: "RecordedSession", unfinished_allowed: bool) -> None:
    outcome = session.result.outcome
    if (session.complete and outcome == SessionOutcome.COMPLETE) or unfinished_allowed:
        return
    state = f"the session was {outcome}" if outcome else "it is not finished"
    raise HostError(f"{session.path}: {state}; --unfinished prescribes from what there is")


def _source(arguments: argparse.Namespace, heading: Heading) -> "Source":
    """Return what to prescribe from; a session with an end, of the person of the heading."""
    from host_tools.commands.prescribe.from_session import Waived, source_of_session
    from host_tools.commands.prescribe.from_table import source_of_table
    from host_tools.recordings.recorded_session import read_true_session

    if arguments.audiogram is not None:
        return source_of_table(
            arguments.audiogram, arguments.ear, arguments.columns,
            uncalibrated=arguments.uncalibrated,
        )  # fmt: skip
    session = read_true_session(journal_or_newest(arguments.journal))
    heading.check(arguments.heading, session.person, session.header.started)
    _check_ended(session, arguments.unfinished)
    return source_of_session(session, Waived(arguments.uncalibrated, arguments.unjudged))


def _prescription(source: "Source", arguments: argparse.Namespace) -> "Prescription":
    from host_tools.commands.prescribe.prescription import Prescription, fit_to_compare

    coupling, ear, other = arguments.coupling, arguments.ear, arguments.against
    made = Prescription.of(source, arguments.rule, coupling, ear)
    if other is None:
        return made
    if other in RULE_NAMES:
        return replace(made, against=Prescription.of(source, other, coupling, ear).fit)
    if Path(other).suffix != FIT:
        raise HostError(
            f"--against is {other!r}; allowed is a file in {FIT}, or one of {', '.join(RULE_NAMES)}"
        )
    return replace(made, against=fit_to_compare(Path(other), made.fit))
