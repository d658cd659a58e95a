"""`gp-pta tune`: tune a hearing aid by what a person likes better, at this computer."""

import argparse
import json
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from device.simulator.serve import serve_in_thread
from device.sound_card.keyboard import Keyboard
from device.sound_card.local_board import LocalBoard
from device.sound_card.output import NoOutput
from firmware_py.link.messages import LOWEST_DBFS
from firmware_py.sessions.identity import Identity, Meeting, differences
from firmware_py.terms.calibration_states import UNCALIBRATED
from firmware_py.terms.person import Person
from firmware_py.terms.settings import SEED_MAX, SettingError
from host_tools.catalogue import ENGLISH, language_of
from host_tools.commands.prescribe.exports import AID_ENDINGS
from host_tools.devices.live import data_directory, show_verdict, teller
from host_tools.devices.processes import ConsoleLine, FirmwareProcess, HearingAidProcess, Operator
from host_tools.devices.tuning import finding_words, show_result, tune
from host_tools.devices.unfinished import check_tuning
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.files import check_name, write_text
from host_tools.recordings import replayed
from host_tools.recordings.newest import TUNINGS, newest_in
from host_tools.terminal import say, show

if TYPE_CHECKING:  # `gp-pta --help` can do without it
    from rich.console import Console

    from firmware_py.comparisons.result import TuningResult
    from host_tools.commands.replay.tuning import TuningVerdict

EXAMPLE = """\
example:
  gp-pta prescribe sessions/session-000001.journal -o aid.fit
  gp-pta tune --fit aid.fit --speech speech.wav --sound-card default --out sessions -o tuned.fit

The speech is heard at two settings, in turn. Press the space bar while the better one sounds, or p
if there is no difference. Who presses nothing hears both once more. It ends when the best setting
is known well enough, or after --count comparisons. The aid is left at that setting if it won
against the prescription, and else at the prescription.

A fit that names its person is tuned for that person only. One that was made of levels that are no
dB HL is refused without --uncalibrated. An unfinished tuning in --out goes on if person and fit are
the same; an unfinished test there is refused, and nothing is touched.

openMHA plays; make aid gets it. Without --sound-card nothing is heard, and --wav keeps what would
be. No setting exceeds the limits of the fit; how loud that is in the ear, nobody knows before it
was measured there. device/hearing_aid/README.md says what this is, and what it is not.

exit codes: 0 tuned, and the journal replays identically; 1 it does not; 2 something is not allowed
"""

NEEDS: Final = {
    "": ("soundfile",), "--picture": ("matplotlib",), "--sound-card": ("sounddevice",)
}  # fmt: skip
TUNE_PREFIX: Final = "gp-pta-tune-"


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--fit", type=Path, required=True, help="as gp-pta prescribe -o aid.fit wrote it"
    )
    p.add_argument("--speech", type=Path, required=True, help="1 to 30 s of speech, .wav")
    p.add_argument("--sound-card", metavar="NAME", help="plays there (default: nothing is heard)")
    p.add_argument("--wav", type=Path, metavar="FILE", help="keep what the aid plays, .wav")
    p.add_argument("--openmha", type=Path, metavar="DIR", help="where make aid put it")
    p.add_argument(
        "--id", metavar="WORD", help="of the person, for the journal (default: the fit's)"
    )
    p.add_argument(
        "--go-on", action="store_true",
        help="the same person sits there as in the unfinished tuning, after a long break",
    )  # fmt: skip
    p.add_argument("--count", type=int, help="comparisons at most, 5 to 40 (default: 25)")
    p.add_argument("--seed", type=int, help="of which is heard first (default: by chance)")
    p.add_argument(
        "--out", type=Path, metavar="DIR",
        help="directory of the journal; continues an unfinished tuning there "
        "(default: a new temporary directory)",
    )  # fmt: skip
    p.add_argument(
        "-o", "--write", type=Path, action="append", default=[], metavar="FILE",
        help=f"write the tuned fit: {', '.join(sorted(AID_ENDINGS))}; may be given several times",
    )  # fmt: skip
    p.add_argument(
        "--uncalibrated", action="store_true",
        help="tune a fit of levels that are no dB HL",
    )  # fmt: skip
    p.add_argument("--picture", type=Path, metavar="FILE", help="draw how it went, as .svg")
    p.add_argument("--force", action="store_true", help="overwrite files that are there")
    p.add_argument("--json", action="store_true", help="end with one line of JSON")


def run(arguments: argparse.Namespace) -> int:
    """Tune; the exit code is 0 if the replay was identical."""
    from rich.console import Console

    from host_tools.commands.replay.tuning import replay_tuning_journal

    _check(arguments)
    screen = Console(highlight=False)
    whose = _whose(arguments)
    check_tuning(arguments.out, whose, lambda line: show(screen, line, soft_wrap=True))
    data = data_directory(arguments.out, TUNE_PREFIX)
    _tell_for_whom(arguments, screen)
    show(screen, f"the journal is in {data}", soft_wrap=True)
    start = {"ID": arguments.id, "COUNT": arguments.count, "SEED": arguments.seed}
    with _start(arguments, data, screen) as (operator, aid):
        show(screen, "space bar: what sounds now is better; p: no difference; ^C ends")
        result = tune(operator, start, screen, aid, go_on=arguments.go_on)
    show_result(screen, result)
    verdict = replay_tuning_journal(newest_in(data, TUNINGS))
    show_verdict(screen, verdict)
    _write(arguments, result, verdict)
    if arguments.json:
        say(json.dumps({**replayed.as_json(verdict), "result": result.to_record()}))
    return verdict.code


def _write(arguments: argparse.Namespace, result: "TuningResult", verdict: "TuningVerdict") -> None:
    from device.hearing_aid.fit_file import read_fit
    from firmware_py.comparisons.space import Setting
    from host_tools.commands.prescribe.exports import fit_as
    from host_tools.commands.prescribe.remarks import fit_rows

    tuned = read_fit(arguments.fit).tune(Setting.of(result.setting_db))
    if tuned.of.person is None:
        tuned = replace(tuned, of=replace(tuned.of, person=verdict.header.identifier))
    for path in arguments.write:
        said = [
            f"{arguments.fit.name} as it was tuned: {verdict.journal.name}",
            *map(language_of(ENGLISH).say, fit_rows(tuned)),
        ]
        ending = next(each for each in AID_ENDINGS if path.name.endswith(each))
        write_text(path, fit_as(ending, tuned, said))
    if arguments.picture is not None:
        from host_tools.commands.replay.tuning_picture import draw_tuning

        title = f"{arguments.fit.name}, tuned: {finding_words(result)}"
        draw_tuning(verdict.steps, arguments.picture, title)


def _whose(arguments: argparse.Namespace) -> Identity:
    """Return who is to be tuned, and with which fit; `HostError` if that is somebody else's."""
    from device.hearing_aid.fit import FitError
    from device.hearing_aid.fit_file import fit_digest, read_fit

    try:
        fit = read_fit(arguments.fit)
        told = Identity(Person.enter(identifier=arguments.id).identifier)
    except SettingError as error:
        raise HostError(f"--id: {error}") from None
    except FitError as error:
        raise HostError(str(error)) from None
    if fit.of.calibration == UNCALIBRATED and not arguments.uncalibrated:
        raise HostError(
            f"{arguments.fit}: made of levels that are no dB HL ({UNCALIBRATED}); --uncalibrated "
            "tunes it all the same"
        )
    whose = fit.of.identity(fit_digest(fit))
    for each in differences(Meeting.TUNE, whose, told):
        raise HostError(f"{arguments.fit}: {each.words}: the fit is somebody else's; --id says who")
    return replace(whose, identifier=told.identifier or whose.identifier, device=None)


def _tell_for_whom(arguments: argparse.Namespace, screen: "Console") -> None:
    from device.hearing_aid.fit_file import read_fit
    from host_tools.commands.prescribe.remarks import fit_rows

    for row in fit_rows(read_fit(arguments.fit)):
        show(screen, language_of(ENGLISH).say(row), "yellow", soft_wrap=True)


def aid_options(arguments: argparse.Namespace) -> list[str]:
    named = {
        "--sound-card": arguments.sound_card, "--out": arguments.wav, "--openmha": arguments.openmha
    }  # fmt: skip
    return [
        word for name, value in named.items() if value is not None for word in (name, str(value))
    ]


def _check(arguments: argparse.Namespace) -> None:
    if arguments.sound_card is not None and arguments.wav is not None:
        raise HostError("--sound-card and --wav: one of them is allowed")
    if arguments.seed is not None and not 0 <= arguments.seed <= SEED_MAX:
        raise HostError(f"--seed is {arguments.seed}; allowed is 0 to {SEED_MAX}")
    for path in arguments.write:
        check_name(path, "-o", tuple(AID_ENDINGS), arguments.force)
    if arguments.picture is not None:
        need("--picture", *NEEDS["--picture"], use="tune --picture")
        check_name(arguments.picture, "--picture", (".svg", ".png", ".pdf"), arguments.force)


@contextmanager
def _start(
    arguments: argparse.Namespace, data: Path, screen: "Console"
) -> Iterator[tuple[Operator, HearingAidProcess]]:
    """Start the aid, a button that is this keyboard, and the firmware between them."""
    tell = teller(screen)
    with ExitStack() as stack:
        aid = HearingAidProcess(arguments.fit, arguments.speech, aid_options(arguments), tell)
        stack.callback(aid.end)
        keyboard = stack.enter_context(Keyboard())
        board = LocalBoard(NoOutput(), keyboard, LOWEST_DBFS, secrets.randbits(32))
        port = stack.enter_context(serve_in_thread(board))
        console = stack.enter_context(closing(ConsoleLine()))
        firmware = FirmwareProcess(port, console.port, data, 1.0, tell=tell, hearing_aid=aid.port)
        stack.callback(firmware.end)
        yield Operator(console, firmware), aid
