"""Take from Debian's packages what is kept on a card, and the libraries that it needs."""

import fnmatch
import io
import os
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Final

from device.card.errors import CardError

# Debian keeps these below /usr, and the old names are links; some packages still have the old ones.
MERGED: Final = ("bin", "lib", "sbin")
LIBRARIES: Final = "usr/lib/aarch64-linux-gnu/"


class Tree:
    """The files of some packages, in memory by their paths, as a system has them."""

    def __init__(self, packages: Iterable[Path]) -> None:
        self._members: dict[str, tuple[tarfile.TarInfo, bytes]] = {}
        for package in packages:
            for member, content in _members(package):
                self._members[member.name] = member, content
        self._libraries = {
            name.rpartition("/")[2]: name for name in self._members if name.startswith(LIBRARIES)
        }

    def matching(self, patterns: Iterable[str]) -> set[str]:
        """Return the paths that match, without those that match what begins with "- ".

        `CardError` if nothing matches a pattern: a package has changed.
        """
        found = set[str]()
        for pattern in patterns:
            glob = pattern.removeprefix("- ")
            some = {name for name in self._members if fnmatch.fnmatchcase(name, glob)}
            if not some:
                raise CardError(f"no package has {glob!r}")
            found = found - some if glob != pattern else found | some
        return found

    def with_libraries(self, names: set[str], others: Iterable[Path] = ()) -> set[str]:
        """Return these files, what their links mean, and the libraries that all are linked with.

        So are the others, libraries that no package has and that are there already.
        """
        there = {path.name: path for path in others}
        wanted, done = set(names), set[str]()
        for path in there.values():
            wanted |= self._needed_by(str(path), path.read_bytes(), there)
        while new := wanted - done:
            done |= new
            for name in new:
                member, content = self._members[name]
                if member.issym():
                    if (target := _target(member)) in self._members:
                        wanted.add(target)
                elif content.startswith(b"\x7fELF"):
                    wanted |= self._needed_by(name, content, there)
        return wanted

    def _needed_by(self, user: str, content: bytes, there: Container[str]) -> set[str]:
        """Return the libraries that a program or library needs, but for those that are there."""
        found = set[str]()
        for needed in _libraries_of(content):
            if needed in self._libraries:
                found.add(self._libraries[needed])
            elif needed not in there:
                raise CardError(f"{user} needs {needed}, which no package has")
        return found

    def write(self, names: Iterable[str], root: Path) -> None:
        """Write these below a directory, with links in the old places."""
        for name in MERGED:
            (root / "usr" / name).mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to(f"usr/{name}")
        for name in sorted(names):
            member, content = self._members[name]
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if member.issym():
                path.unlink(missing_ok=True)
                path.symlink_to(member.linkname)
            elif member.isfile() or member.islnk():
                path.write_bytes(content)
                path.chmod(member.mode & 0o755)


def _members(package: Path) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Yield the files and links of a package, with no setuid program among them."""
    packed = subprocess.run(
        ["dpkg-deb", "--fsys-tarfile", package], check=True, stdout=subprocess.PIPE
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        for member in tar:
            if member.isdir():
                continue
            linked = tar.extractfile(member) if member.isfile() or member.islnk() else None
            member.name = _merge(member.name)
            yield member, linked.read() if linked else b""


def _merge(name: str) -> str:
    name = name.removeprefix("./")
    return f"usr/{name}" if name.partition("/")[0] in MERGED else name


def _target(member: tarfile.TarInfo) -> str:
    where = os.path.join(os.path.dirname(f"/{member.name}"), member.linkname)
    return _merge(os.path.normpath(where).lstrip("/"))


def _libraries_of(content: bytes) -> list[str]:
    """Return the names of the libraries that a program or library is linked with."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        told = subprocess.run(
            ["readelf", "--dynamic", file.name], stdout=subprocess.PIPE, check=True
        ).stdout
    return [name.decode() for name in re.findall(rb"\(NEEDED\).*\[(.*)\]", told)]
