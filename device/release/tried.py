"""Whether a release works for people: in an environment that has nothing else, and after 0.1.0.

Packages come from the index. What is installed runs without any network, where this system allows
it, and without the checkout.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from device.image.checksums import sha256_of
from device.release.contents import ReleaseError, run
from firmware_py.platform.version import ROOT

DEMO: Final = ("gp-pta", "demo", "--ear", "left", "--speed", "100")
# The last commit that wrote journals of format 1; what it wrote then is in the tests.
LAST_OF_0_1: Final = "979db64f"
OF_THEN: Final = "tests/formats/1"
_NO_NETWORK: Final = ("unshare", "--map-root-user", "--net")


@dataclass(frozen=True)
class Environment:
    """An environment of Python with nothing in it, and a home without files."""

    place: Path

    @classmethod
    def empty(cls, place: Path) -> "Environment":
        shutil.rmtree(place, ignore_errors=True)
        run(*_uv("venv"), "--quiet", "--python", sys.executable, place / "venv")
        (place / "home").mkdir()
        return cls(place)

    @property
    def python(self) -> Path:
        return self.place / "venv/bin/python"

    def install(self, what: Path, *options: str) -> None:
        """Install a wheel, a source archive or a directory with what it needs, from the index."""
        run(*_uv("pip", "install"), "--quiet", *options, "--python", self.python, what)

    def run(self, program: str, *words: str | Path) -> str:
        """Run a command as a person who has nothing else; return what it says."""
        home = self.place / "home"
        nothing = {"HOME": str(home), "PATH": os.defpath, "LC_ALL": "C.UTF-8"}
        command = [*without_network(), self.place / "venv/bin" / program, *words]
        return run(*command, at=home, env=nothing)

    def thresholds(self, *journals: Path) -> dict[str, Any]:
        """Return what its `gp-pta export` says that journals found, by name, ear and frequency."""
        told = json.loads(self.run("gp-pta", "export", *journals, "--format", "json"))
        return {
            f"{session['journal']} {ear['ear']} {each['frequency_hz']} Hz": [
                each[key] for key in ("mark", "threshold_db_hl", "low_db_hl", "high_db_hl")
            ]
            for session in told["sessions"]
            for ear in session["ears"]
            for each in ear["thresholds"]
        }


@cache
def without_network() -> Sequence[str]:
    """Return what runs a command without a network; nothing, where nobody may do that."""
    if shutil.which(_NO_NETWORK[0]):
        tried = subprocess.run([*_NO_NETWORK, "true"], capture_output=True, check=False)
        if tried.returncode == 0:
            return _NO_NETWORK
    return ()


def try_package(package: Path, place: Path) -> Environment:
    """Install a wheel or a source archive alone, and measure a simulated listener with it."""
    environment = Environment.empty(place)
    environment.install(package)
    environment.run("gp-pta-device", "--version")
    environment.run(*DEMO)
    return environment


def try_upgrade(wheel: Path, place: Path) -> None:
    """Record with 0.1.0, beside what it recorded in its time; upgrade; read all of it and go on."""
    sources = place / "sources"
    environment = Environment.empty(place)
    sources.mkdir()
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", LAST_OF_0_1], capture_output=True, check=False
    )
    if archive.returncode != 0:
        raise ReleaseError(f"0.1.0 is made of its commit: {archive.stderr.decode().strip()}")
    subprocess.run(["tar", "-x", "-C", str(sources)], input=archive.stdout, check=True)
    environment.install(sources)
    data, left = environment.place / "home/data", environment.place / "home/left"
    shutil.copytree(ROOT / OF_THEN, data)
    shutil.copytree(ROOT / OF_THEN, left)  # with a test that 0.1.0 never finished
    environment.run(*DEMO, "--out", data)  # 0.1.0 goes on with it here, and finishes it
    journals = sorted(data.glob("session-*.journal"))
    before = environment.thresholds(*journals)
    as_recorded = _digests(data)
    environment.install(wheel, "--upgrade")
    after = environment.thresholds(*journals)
    changed = [key for key, value in before.items() if after.get(key) != value]
    if changed or not before:
        raise ReleaseError(f"after the upgrade another threshold is told of: {changed or 'none'}")
    environment.run("gp-pta", "report", journals[0], "-o", environment.place / "home/report.html")
    environment.run(*DEMO, "--out", data)  # a new test among the old ones
    for directory, expected in ((data, len(journals) + 1), (left, len(journals))):
        told = json.loads(environment.run("gp-pta", "sessions", directory, "--json"))["sessions"]
        listed = {each["name"] for each in told}
        missing = {f"session-{each + 1:06d}.journal" for each in range(expected)} - listed
        if missing:
            raise ReleaseError(f"after the upgrade these are not listed: {sorted(missing)}")
    if not as_recorded.items() <= _digests(data).items():
        raise ReleaseError("the upgrade changed what 0.1.0 had recorded")


def _digests(place: Path) -> Mapping[str, str]:
    return {path.name: sha256_of(path) for path in place.glob("*.journal")}


def _uv(*words: str) -> list[str | Path]:
    return [Path(sys.executable).with_name("uv"), *words, "--no-config", "--system-certs"]
