"""`gp-pta unprotect`: decrypt what `gp-pta protect` encrypted."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_py.platform.named_file import TEXT
from host_tools.commands.protect import ENDING, read_bytes
from host_tools.errors import HostError
from host_tools.files import write_bytes
from host_tools.terminal import say

if TYPE_CHECKING:
    from pyrage import x25519

EXAMPLE = """\
example:
  gp-pta unprotect sessions/session-000001.journal.age -i clinic.agekey
"""

NEEDS: Final = {"": ("pyrage",)}


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    p.add_argument("files", type=Path, nargs="+", metavar="FILE.age", help="by gp-pta protect")
    p.add_argument(
        "-i", "--identity", type=Path, required=True, metavar="FILE",
        help="with the secret key, by gp-pta protect --make-identity or age-keygen",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    identity = read_identity(arguments.identity)
    for path in arguments.files:
        say(str(unprotect(path, identity)))
    return 0


def unprotect(path: Path, identity: "x25519.Identity") -> Path:
    """Decrypt a file beside itself, and return the new one.

    Raises
    ------
    HostError
        If it cannot be read, is for another key, was changed, or the new one is there already.
    """
    import pyrage

    plain = path.with_suffix("")
    if path.suffix != ENDING:
        raise HostError(f"{path}: is not a name in {ENDING}")
    if plain.exists() or plain.is_symlink():
        raise HostError(f"{plain} is there already; it is not overwritten")
    try:
        content = pyrage.decrypt(read_bytes(path), [identity])
    except pyrage.DecryptError as error:
        raise HostError(f"{path}: cannot be decrypted: {error}") from None
    write_bytes(plain, content)
    return plain


def read_identity(path: Path) -> "x25519.Identity":
    """Read a file with one secret key, and comments.

    Raises
    ------
    HostError
        If it has none; the message does not tell what it has.
    """
    import pyrage

    lines = read_bytes(path).decode(TEXT, "replace").splitlines()
    keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    try:
        (key,) = keys
        return pyrage.x25519.Identity.from_str(key)
    except (ValueError, pyrage.IdentityError):
        raise HostError(f"{path}: is not a file with one secret key of age") from None
