"""The packages of Debian that are on a card: their list, and getting them.

`python -m device.card.packages` asks apt which versions are the newest and writes the list anew.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import sleep
from typing import Final

from device.card.errors import CardError
from device.image.checksums import sha256_of
from firmware_py.platform.program import run_program

HERE: Final = Path(__file__).parent
WANTED: Final = HERE / "packages.txt"
LOCK: Final = HERE / "packages.lock"
RELEASE: Final = "bookworm"
ARCHITECTURE: Final = "arm64"
KEYS: Final = "/usr/share/keyrings/debian-archive-keyring.gpg"
# What the boot ROM of a Raspberry Pi starts is not free.
FIRMWARE_OF_THE_PI: Final = "raspi-firmware"
MIRROR: Final = "http://deb.debian.org"
# Debian keeps what it had on every day; a version that is on no mirror any more is there.
SNAPSHOT: Final = "https://snapshot.debian.org/archive"
TRIES: Final = 3  # of both: a name may not resolve for a moment
PAUSE_S: Final = 5.0
DOWNLOADS_AT_ONCE: Final = 4
TIMEOUT_S: Final = 60.0


@dataclass(frozen=True)
class Package:
    """One line of the list."""

    sha256: str
    archive: str  # debian or debian-security
    day: str  # and time when it was the newest, in the archive of snapshots: 20261123T210000Z
    path: str  # below the archive: pool/main/...

    @property
    def name(self) -> str:
        return self._file.partition("_")[0]

    @property
    def version(self) -> str:
        return self._file.split("_")[1]

    @property
    def _file(self) -> str:
        return urllib.parse.unquote(Path(self.path).name)


def read_packages(lock: Path = LOCK) -> list[Package]:
    lines = lock.read_text(encoding="ascii").splitlines()
    return [Package(*line.split()) for line in lines if not line.startswith("#")]


def fetch(packages: list[Package], place: Path) -> dict[str, Path]:
    """Have these packages in a directory, and return the file of each by its name."""
    place.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(DOWNLOADS_AT_ONCE) as pool:
        files = pool.map(lambda package: _fetch_one(package, place), packages)
        return {p.name: file for p, file in zip(packages, files, strict=True)}


def _fetch_one(package: Package, place: Path) -> Path:
    file = place / f"{package.sha256[:16]}-{package.name}.deb"
    if file.exists() and sha256_of(file) == package.sha256:
        return file
    mirror = os.environ.get("DEBIAN_MIRROR", MIRROR).rstrip("/")
    where = (
        f"{mirror}/{package.archive}/{package.path}",
        f"{SNAPSHOT}/{package.archive}/{package.day}/{package.path}",
    )
    faults = []
    for number, url in enumerate(where * TRIES):
        if number and number % len(where) == 0:
            sleep(PAUSE_S)
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
                part = file.with_suffix(".part")
                with part.open("wb") as out:
                    shutil.copyfileobj(answer, out)
        except (OSError, urllib.error.URLError) as error:
            faults.append(f"{url}: {error}")
            continue
        if (found := sha256_of(part)) == package.sha256:
            return part.rename(file)
        faults.append(f"{url}: its SHA-256 is {found}, and not {package.sha256}")
    raise CardError(
        f"the package {package.name} {package.version} cannot be had: {faults[-len(where) :]}"
    )


# --- the list anew


def newest(day: str) -> Iterator[Package]:
    """Yield the newest versions of what is wanted, and of what it depends on.

    apt checks them by Debian's signatures; it is told nothing of the system it runs on.
    """
    wanted, unwanted = wanted_and_unwanted()
    with tempfile.TemporaryDirectory() as place:
        apt = _apt(Path(place))
        subprocess.run([*apt, "update", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        install = [*apt, "install", "--yes", "--download-only", *wanted]
        told = subprocess.run(
            [*install, "--print-uris"], check=True, capture_output=True, text=True
        ).stdout
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
        for url, file in re.findall(r"^'(\S+)' (\S+) ", told, re.MULTILINE):
            archive, path = re.findall(r"/(debian|debian-security)/(pool/.*)$", url)[0]
            got = Path(place, "var/cache/apt/archives", file)
            package = Package(sha256_of(got), archive, day, path)
            if package.name not in unwanted:
                yield package


def wanted_and_unwanted() -> tuple[list[str], set[str]]:
    """Return the names in packages.txt, and those that it refuses."""
    wanted, unwanted = [FIRMWARE_OF_THE_PI], set[str]()
    for line in WANTED.read_text(encoding="ascii").splitlines():
        match line.split():
            case ["-", *names]:
                unwanted.update(names)
            case [name, *_] if name != "#":
                wanted.append(name)
    return wanted, unwanted


def _apt(place: Path) -> list[str]:
    """Return the beginning of a command of apt that has a system of its own."""
    for directory in (
        "etc/apt/apt.conf.d", "etc/apt/preferences.d", "var/lib/apt/lists/partial", "var/lib/dpkg",
        "var/cache/apt/archives/partial",
    ):  # fmt: skip
        (place / directory).mkdir(parents=True)
    status = place / "var/lib/dpkg/status"
    status.touch()
    mirror = os.environ.get("DEBIAN_MIRROR", MIRROR).rstrip("/")
    parts = "main non-free-firmware"
    (place / "etc/apt/sources.list").write_text(
        f"deb [signed-by={KEYS}] {mirror}/debian {RELEASE} {parts}\n"
        f"deb [signed-by={KEYS}] {mirror}/debian-security {RELEASE}-security {parts}\n"
    )
    options = {
        "Dir": place, "Dir::State::status": status, "APT::Architecture": ARCHITECTURE,
        "APT::Architectures": ARCHITECTURE, "APT::Install-Recommends": "false",
        "Debug::NoLocking": "true", "APT::Sandbox::User": "root",
    }  # fmt: skip
    return ["apt-get", *(f"-o{name}={value}" for name, value in options.items())]


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()  # --help writes nothing
    day = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    packages = sorted(newest(day), key=lambda package: package.path)
    lines = [f"{p.sha256} {p.archive} {p.day} {p.path}\n" for p in packages]
    head = "# From packages.txt, by python -m device.card.packages: SHA-256, archive, day, path\n"
    LOCK.write_text(head + "".join(lines), encoding="ascii")
    print(f"{LOCK}: {len(lines)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
