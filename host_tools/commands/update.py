"""`gp-pta update`: a new system for a device that runs from a card, over the console's cable."""

import argparse
import hashlib
import math
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from getpass import getpass
from pathlib import Path
from typing import Final

from firmware_py.operator.update_desk import BUNDLE_BYTES_MAX, PIECE_BYTES_MAX
from firmware_py.platform.named_file import content_of
from host_tools.commands.console.command import Talk
from host_tools.devices.device_answers import told_values
from host_tools.errors import HostError
from host_tools.terminal import say, show_progress

EXAMPLE = """\
example:
  gp-pta update /dev/ttyACM0 gp-pta-0.1.0-20261124.082100.raucb
exit codes: 0 the new system is good, 1 the device refused it or went back to the old one, 2 there
was no answer, or the file is no update
"""

NEEDS: Final[dict[str, tuple[str, ...]]] = {}
MAGIC: Final = b"hsqs"  # of a squashfs, which a bundle of RAUC is
PIECES_AHEAD: Final = 16  # less than a port's buffer
ANSWERS_AGAIN_S_MAX: Final = 900.0  # to install, to start, and three trials of those that do not
ASK_AGAIN_S: Final = 2.0
STATE: Final = "SYST:UPD?"
NONE: Final = "none"
RECEIVING: Final = "receiving"
STATES: Final = (NONE, RECEIVING, "installing", "trial")
EXIT_GOOD: Final = 0
EXIT_REFUSED: Final = 1


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("port", metavar="PORT", help="the console's serial port, or a URL of pyserial")
    p.add_argument("file", metavar="FILE", type=Path, help="the update, *.raucb, of make card")
    p.add_argument(
        "--older", action="store_true", help="install it even if the device's system is newer"
    )


def run(arguments: argparse.Namespace) -> int:
    bundle = read_bundle(arguments.file)
    with ExitStack() as at_the_end:
        talk = Talk(arguments.port, lambda _: None)
        at_the_end.callback(talk.leave)
        say(talk.wake())
        talk.unlock(getpass)
        begun = begin(talk, bundle)
        pieces = math.ceil((len(bundle) - begun) / PIECE_BYTES_MAX)
        words = f"{arguments.file.name} to {arguments.port}"
        send(talk, show_progress(pieces_of(bundle, begun), pieces, words))
        talk.insist(f"SYST:UPD:END {'OLDER' if arguments.older else 'NEWER'}")
    say("sent; the device checks it, installs it and starts again")
    code, words = outcome(arguments.port)
    say(words)
    return code


def read_bundle(path: Path) -> bytes:
    try:
        bundle = content_of(path, BUNDLE_BYTES_MAX)
    except OSError as error:
        raise HostError(f"{path}: {error.strerror}") from None
    if not bundle.startswith(MAGIC):
        raise HostError(
            f"{path} is no update: it begins with {bundle[:4]!r}, and one with {MAGIC!r}"
        )
    return bundle


def begin(talk: Talk, bundle: bytes) -> int:
    """Announce an update; return how many bytes of it the device has already."""
    if talk.ask(STATE)[-1].startswith("ERROR -113"):
        raise HostError("this firmware does not run from a card: its system is updated otherwise")
    talk.insist(f"SYST:UPD:BEG {len(bundle)},{hashlib.sha256(bundle).hexdigest()}")
    told = told_values(STATE, talk.insist(STATE), "state", "offset", "size")
    if told.one_of("state", STATES) != RECEIVING:
        raise HostError(f"the device says {told['state']!r} where it would receive an update")
    told.whole("size", len(bundle), len(bundle))
    return told.whole("offset", high=len(bundle))


def pieces_of(bundle: bytes, begun: int) -> Iterator[str]:
    for offset in range(begun, len(bundle), PIECE_BYTES_MAX):
        piece = b64encode(bundle[offset : offset + PIECE_BYTES_MAX]).decode("ascii")
        yield f"SYST:UPD:DATA {offset},{piece}"


def send(talk: Talk, lines: Iterable[str]) -> None:
    """Send commands, some of them before the first is answered."""
    for answer in talk.stream(lines, PIECES_AHEAD):
        if answer != "OK":
            raise HostError(f"the device refused a piece of the update: {answer}; send it again")


def outcome(port: str) -> tuple[int, str]:
    """Wait until the device says how an update went; return the exit code, and words."""
    until_s = time.monotonic() + ANSWERS_AGAIN_S_MAX
    while time.monotonic() < until_s:
        time.sleep(ASK_AGAIN_S)
        try:
            with closing(Talk(port, lambda _: None)) as talk:
                talk.wake()
                answer = talk.insist(STATE)
                version = talk.insist("SYST:VERS?")
        except HostError:  # it starts again
            continue
        told = told_values(STATE, answer, "state", "words")
        if told.one_of("state", STATES) == NONE:
            words = told.get("words", "")
            return (EXIT_GOOD if "is good" in words else EXIT_REFUSED), f"{words}; {version}"
    raise HostError(f"the device at {port!r} did not answer within {ANSWERS_AGAIN_S_MAX:.0f} s")
