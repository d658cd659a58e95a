"""`gp-pta prescribe`: a fit of a hearing aid from a recorded session."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from firmware_py.procedure.route import LEFT, RIGHT
from firmware_py.sessions.archive import COMPLETE
from firmware_py.sessions.identity import Meeting, Rule, differences
from host_tools.catalogue import add_language_argument
from host_tools.commands.prescribe.exports import AID_ENDINGS, AUTOEQ, FIT, check_ears, ear_ending
from host_tools.drawings.drawing import PICTURE_ENDINGS
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.files import check_name, write_text
from host_tools.recordings.heading import EXAMPLE as HEADING_EXAMPLE
from host_tools.recordings.heading import Heading, add_heading_argument, read_heading
from host_tools.recordings.newest import add_journal_argument, journal_or_newest
from host_tools.terminal import say, say_aside

if TYPE_CHECKING:  # they bring NumPy or Numba, which `gp-pta --help` can do without
    from device.hearing_aid.fit import Fit
    from host_tools.commands.prescribe.ear_prescription import EarPrescription
    from host_tools.commands.prescribe.taken import Waived
    from host_tools.recordings.recorded_session import RecordedSession

EXAMPLE = f"""\
example:
  gp-pta prescribe sessions/session-000001.journal --rule nal-r
  gp-pta prescribe sessions/session-000001.journal --rule camfit -o aid.fit -o aid.cfg -o aid.pdf
  gp-pta prescribe sessions/session-000001.journal --against nal-rp -o both.svg
  gp-pta prescribe sessions/session-000001.journal --tuning sessions/tuning-000001.journal -o t.pdf
  gp-pta prescribe --audiogram clinic.csv:17 --rule camfit -o aid.fit

-o takes .pdf, .svg and .png for paper with a picture of the insertion gain, .json for all figures,
.fit for the fit that gp-pta takes, .cfg for a fragment of an openMHA configuration, .txt for a
preset of Tympan (Preset_16_00.txt on its SD card), .librepods.json and .librepods-linux.json for
LibrePods; and for equalisers, which are no hearing aids, .easyeffects.json for EasyEffects and
.autoeq.csv, of one ear, for AutoEq.

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

{HEADING_EXAMPLE}
exit codes: 0 prescribed, 2 nothing can be prescribed from this journal, 6 a record of it says what
no session can have recorded
"""

NEEDS: Final = {"-o PICTURE": ("matplotlib", "typst")}
RULE_NAMES: Final = ("nal-r", "nal-rp", "camfit", "half-gain")
COUPLINGS: Final = ("closed", "open")
OUTPUT_ENDINGS: Final = (*PICTURE_ENDINGS, ".json", *AID_ENDINGS, Path(AUTOEQ).suffix)


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_journal_argument(p)
    p.add_argument(
        "--audiogram", metavar="FILE:ROW",
        help="of a table of audiograms, in place of a journal",
    )  # fmt: skip
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
    add_heading_argument(p)
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
    """Prescribe, print a table, and write what was asked for."""
    from host_tools.recordings.recorded_session import read_true_session

    if arguments.audiogram is not None:
        from host_tools.commands.prescribe.table_output import prescribe_table

        return prescribe_table(arguments)
    _check_tuning(arguments)
    for path in arguments.out:
        check_name(path, "-o", OUTPUT_ENDINGS, arguments.force)
        if path.suffix in PICTURE_ENDINGS:
            need(f"-o {path.name}", *NEEDS["-o PICTURE"], use="prescribe -o PICTURE")
    heading = read_heading(arguments.heading)
    session = read_true_session(journal_or_newest(arguments.journal))
    heading.check(arguments.heading, session.person, session.header.started)
    _check_ended(session, arguments.unfinished)
    made = _make(session, arguments)
    check_ears(arguments.out, [ear.ear for ear in made.ears])
    if arguments.tuning is not None:
        return made.write_tuned(arguments, heading)
    for path in arguments.out:
        said = made.write(path, heading, arguments.language)
        for line in (f"{path} written", *said):
            say_aside(line)
    if arguments.json:
        say(json.dumps(made.figures))
    else:
        made.print(_ears_asked(session, arguments))
    return 0


def _check_tuning(arguments: argparse.Namespace) -> None:
    """Refuse what does not go together with --tuning."""
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
    if (session.complete and outcome == COMPLETE) or unfinished_allowed:
        return
    state = f"the session was {outcome}" if outcome else "it is not finished"
    raise HostError(f"{session.path}: {state}; --unfinished prescribes from what there is")


def _make(session: "RecordedSession", arguments: argparse.Namespace) -> "_Prescription":
    from host_tools.commands.prescribe.ear_prescription import fit_of_ears, prescribe_session

    ears = prescribe_session(
        session, arguments.rule, arguments.coupling, arguments.ear,
        waived=_waiver(arguments),
    )  # fmt: skip
    fit = fit_of_ears(session, ears)
    against = _against(session, arguments, fit) if arguments.against else None
    return _Prescription(session, ears, fit, against)


def _waiver(arguments: argparse.Namespace) -> "Waived":
    from host_tools.commands.prescribe.taken import Waived

    return Waived(arguments.uncalibrated, arguments.unjudged)


def _against(session: "RecordedSession", arguments: argparse.Namespace, fit: "Fit") -> "Fit":
    """Return the fit to compare with; `HostError` if it cannot be read, or has no such ear."""
    from device.hearing_aid.fit import FitError
    from device.hearing_aid.fit_file import read_fit
    from host_tools.commands.prescribe.ear_prescription import fit_of_session
    from host_tools.commands.prescribe.figures import both

    if arguments.against in RULE_NAMES:
        return fit_of_session(
            session, arguments.against, arguments.coupling, arguments.ear,
            waived=_waiver(arguments),
        )  # fmt: skip
    path = Path(arguments.against)
    if path.suffix != FIT:
        raise HostError(
            f"--against is {arguments.against!r}; allowed is a file in {FIT}, or one of "
            f"{', '.join(RULE_NAMES)}"
        )
    try:
        other = read_fit(path)
    except FitError as error:
        raise HostError(str(error)) from None
    for each in differences(Meeting.FIT, other.of.identity(), fit.of.identity()):
        if each.rule == Rule.REFUSED:
            raise HostError(f"{path}: {each.words}: only fits of one person are compared")
        say_aside(f"{path}: {each.words}")
    if not both(fit, other):
        raise HostError(f"{path}: has the {other.ears[0].ear} ear only, and nothing else is fitted")
    return other


def _ears_asked(session: "RecordedSession", arguments: argparse.Namespace) -> list[str]:
    tested = dict.fromkeys(found.route.ear for found in session.result.ears)
    return [arguments.ear] if arguments.ear else [*tested]


class _Prescription:
    def __init__(
        self,
        session: "RecordedSession",
        ears: "Sequence[EarPrescription]",
        fit: "Fit",
        against: "Fit | None",
    ) -> None:
        from host_tools.commands.prescribe.figures import as_json
        from host_tools.commands.prescribe.words import remarks

        self.ears, self._session, self._fit, self._against = ears, session, fit, against
        self._remarks = remarks(session, ears, fit)
        figures = as_json(session, ears, fit, against)
        self.figures: dict[str, Any] = {**figures, "remarks": self._remarks}

    def print(self, asked: Sequence[str]) -> None:
        """Print it; of the ears that were asked for, those without a prescription are named."""
        from firmware_py.operator.replies import whose_line
        from host_tools.commands.prescribe.screen import print_prescription

        without = sorted({*asked} - {ear.ear for ear in self.ears})
        said = [f"{ear} ear: nothing prescribed" for ear in without]
        say(whose_line(self._session.header, named=True))
        print_prescription(self.ears, self._fit, self._against, [*said, *self._remarks])

    def write(self, path: Path, heading: Heading, language: str) -> list[str]:
        """Write what the ending of the name says, and return what has to be said with it.

        Paper has a heading and a language.
        """
        if path.suffix in PICTURE_ENDINGS:
            self._draw(path, heading, language)
            return []
        text, said = self._text(path)
        write_text(path, text)
        return said

    def write_tuned(self, arguments: argparse.Namespace, heading: Heading) -> int:
        """Write the sheet of the fit as it was tuned, and return the exit code."""
        from host_tools.commands.prescribe.tuned import TunedPaper, tuning_of

        header, result = tuning_of(arguments.tuning, self._fit, arguments.unfinished)
        paper = TunedPaper(
            self._session, self.ears, self._fit, header, result, heading, arguments.language
        )
        for path in arguments.out:
            paper.write(path)
            say_aside(f"{path} written")
        return 0

    def _text(self, path: Path) -> tuple[str, list[str]]:
        from device.hearing_aid.fit import FitError

        try:
            return self._text_of_kind(path)
        except FitError as error:
            raise HostError(f"-o {path}: {error}") from None

    def _text_of_kind(self, path: Path) -> tuple[str, list[str]]:
        from host_tools.commands.prescribe import exports

        said = [f"{self._fit.rule} from {self._fit.source}", *self._remarks]
        if (ending := ear_ending(path)) is not None:
            return exports.ears_as(ending, self.ears, said)
        if path.suffix in AID_ENDINGS:
            return exports.fit_as(path.suffix, self._fit, said), []
        return json.dumps(self.figures, indent=2) + "\n", []

    def _draw(self, path: Path, heading: Heading, language: str) -> None:
        from host_tools.commands.prescribe.paper import PrescriptionPaper

        paper = PrescriptionPaper(
            self._session, self.ears, self._fit, self._against, heading, language
        )
        paper.write(path)
