"""USB sticks with updates, one after the other: the own scripts of a card, in a directory."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from device.card.root import FILES
from firmware_py.card_system import CardSystem
from firmware_py.platform.data_directory import DataDirectory

SCRIPTS = FILES / "usr/lib/gp-pta"
# Programs of a card: a bundle here is a file that says its version.
PROGRAMS = {
    "mount": 'for place; do :; done; cp "$STICK"/* "$place"',
    "umount": 'rm -f "$1"/*',
    "rauc": 'for bundle; do :; done; echo "RAUC_MF_VERSION=\'$(cat "$bundle")\'"',
    **dict.fromkeys(("chown", "modprobe", "sync", "systemctl"), ":"),
}


class Card:
    """The part of a card that sees to updates."""

    def __init__(self, place: Path) -> None:
        self.place = place
        for name in ("bin", "run/stick", "run/told", "data"):
            (place / name).mkdir(parents=True)
        (place / "os-release").write_text("VERSION_ID=2.0\n")
        for name, does in PROGRAMS.items():
            program = place / "bin" / name
            program.write_text(f"#!/bin/sh\n{does}\n")
            program.chmod(0o755)
        self.data = DataDirectory(place / "data", None)
        self.system = CardSystem(place / "run", self.data)

    def plug_in(self, version: str, *, older: bool) -> None:
        stick = self.place / "stick"
        stick.mkdir()
        (stick / "some.raucb").write_text(version)
        if older:
            (stick / "gp-pta-older.txt").write_text("yes\n")
        self.run("stick", "sda1", STICK=str(stick))
        for path in (*stick.iterdir(), stick):
            path.unlink() if path.is_file() else path.rmdir()

    def run(self, script: str, *arguments: str, **variables: str) -> None:
        lines = (SCRIPTS / script).read_text()
        for of_card, here in (
            ("/var/lib/gp-pta", "data"), ("/run/gp-pta", "run"), ("/etc/os-release", "os-release"),
        ):  # fmt: skip
            lines = lines.replace(of_card, str(self.place / here))
        path = f"{self.place / 'bin'}:{os.environ['PATH']}"
        subprocess.run(
            ["sh", "-c", lines, script, *arguments], check=True, timeout=60.0,
            env={**os.environ, "PATH": path, **variables},
        )  # fmt: skip

    def updates(self) -> list[str]:
        return sorted(path.name for path in self.system.updates.iterdir())


@pytest.fixture
def card(tmp_path: Path) -> Iterator[Card]:
    card = Card(tmp_path)
    yield card
    card.data.close()


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True)])
def test_the_permission_to_go_back_is_that_of_one_stick(
    card: Card, first: bool, second: bool
) -> None:
    card.plug_in("1.0", older=first)
    card.plug_in("1.1", older=second)
    (offer,) = card.updates()
    assert (card.system.updates / offer).read_text() == "1.1"
    card.system.look(idle=True)
    assert card.updates() == [f"bundle-stick{'-older' * second}.raucb"]
    card.run("update")
    told = (card.place / "run/update").read_text()

    assert card.updates() == []
    if second:
        assert told == "1.1 is installed\n"
    else:
        hint = "a file gp-pta-older.txt on the stick installs it nevertheless"
        assert told == f"refused: 1.1 is older than 2.0; {hint}\n"


def test_a_stick_beside_an_update_that_is_being_installed_offers_nothing(card: Card) -> None:
    card.system.updates.mkdir()
    (card.system.updates / "bundle-older.raucb").write_text("1.0")
    card.plug_in("2.1", older=False)
    assert card.updates() == ["bundle-older.raucb"]
