"""`gp-pta protect`: encrypt journals for people whose key is elsewhere."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_py.journal import JOURNAL_BYTES_MAX
from firmware_py.platform.named_file import open_named
from host_tools.errors import HostError
from host_tools.files import check_name, write_bytes
from host_tools.terminal import say

if TYPE_CHECKING:
    from pyrage import x25519

EXAMPLE = """\
example:
  gp-pta protect --make-identity clinic.agekey
  gp-pta protect sessions/*.journal -r age1...
  gp-pta unprotect sessions/session-000001.journal.age -i clinic.agekey

JOURNAL.age is written beside each, as age and rage read it. JOURNAL itself stays: remove it when
there is a copy of the other. --make-identity writes a secret key, prints its recipient, and ends.
"""

NEEDS: Final = {"": ("pyrage",)}
ENDING: Final = ".age"
FILE_BYTES_MAX: Final = JOURNAL_BYTES_MAX + 1024 * 1024  # an encrypted one is somewhat longer


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    p.add_argument("journals", type=Path, nargs="*", metavar="JOURNAL", help="of a session")
    p.add_argument(
        "-r", "--recipient", action="append", default=[], metavar="AGE1...",
        help="a public key; each of several can decrypt alone",
    )  # fmt: skip
    p.add_argument("--make-identity", type=Path, metavar="FILE", help="make a secret key, and end")


def run(arguments: argparse.Namespace) -> int:
    """Encrypt, or make a key."""
    if arguments.make_identity is not None:
        say(str(make_identity(arguments.make_identity)))
        return 0
    if not arguments.journals or not arguments.recipient:
        raise HostError("protect needs journals and a recipient: JOURNAL... -r AGE1...")
    recipients = [_recipient(text) for text in arguments.recipient]
    for journal in arguments.journals:
        say(str(protect(journal, recipients)))
    return 0


def protect(journal: Path, recipients: "list[x25519.Recipient]") -> Path:
    """Encrypt a file, and return the new one.

    Raises
    ------
    HostError
        If it cannot be read, or the new one is there or cannot be written.
    """
    import pyrage

    path = journal.with_name(journal.name + ENDING)
    content = read_bytes(journal)
    check_name(path, "JOURNAL.age", [ENDING])
    write_bytes(path, pyrage.encrypt(content, recipients))
    return path


def make_identity(path: Path) -> str:
    """Write a new secret key into a file for its owner alone; return its recipient."""
    from pyrage import x25519

    if os.path.lexists(path):
        raise HostError(f"--make-identity {str(path)!r} is there already; it is not overwritten")
    identity = x25519.Identity.generate()
    recipient = str(identity.to_public())
    write_bytes(path, f"# public key: {recipient}\n{identity}\n".encode())
    return recipient


def read_bytes(path: Path) -> bytes:
    """Return the content of a file no larger than a journal; `HostError` if it cannot be read."""
    try:
        with open_named(path) as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise HostError(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > FILE_BYTES_MAX:
        raise HostError(f"{path}: has more than {FILE_BYTES_MAX} bytes, which no journal has")
    return content


def _recipient(text: str) -> "x25519.Recipient":
    import pyrage

    try:
        return pyrage.x25519.Recipient.from_str(text)
    except pyrage.RecipientError:
        raise HostError(
            f"-r is {text!r}; allowed is a public key of age, age1 and 58 letters and digits"
        ) from None
