"""USB sticks with updates, one after the other: the own scripts of a card, in a directory."""

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.card.card import SIGNATURE
from device.card.kernel import INIT
from device.card.root import FILES
from firmware_py.installation.card_system import CardSystem
from firmware_py.platform.data_directory import DataDirectory
from tests.strange_files import full, hollow, link

SCRIPTS: Final = FILES / "usr/lib/gp-pta"
# Programs of a card: a partition here is a directory, and a bundle a file that says its version.
PROGRAMS: Final = {
    "mount": 'for place; do from=$part part=$place; done; cp -r "$STICK/${from##*/}/." "$place"',
    "umount": 'rm -rf "$1"; mkdir "$1"',
    "rauc": 'for bundle; do :; done; said=$(cat "$bundle"); case $said in'
    " bad) echo verification failed; exit 1 ;; *) echo \"RAUC_MF_VERSION='$said'\" ;; esac",
    "chown": 'echo "$2" >> "$CHOWNED"',
    **dict.fromkeys(("modprobe", "sync", "systemctl"), ":"),
}
HERE: Final = {
    "/var/lib/gp-pta-update": "updates", "/var/lib/gp-pta": "data", "/run/gp-pta": "run",
    "/etc/os-release": "os-release", "/usr/lib/gp-pta": "lib", "/sys/class/block": "block",
    '"/dev/$': 'dev/$',
}  # fmt: skip
OLDER: Final = "gp-pta-older.txt"


@dataclass
class Stick:
    """Partitions, each of them files with their contents, or what it begins with."""

    sda1: dict[str, str] | bytes = field(default_factory=dict)
    sda2: dict[str, str] | bytes | None = None
    head: bytes = b""  # of the whole stick


class Card:
    """The part of a card that sees to updates."""

    def __init__(self, place: Path) -> None:
        self.place = place
        for name in ("bin", "run/told", "updates", "lib", "block", "dev"):
            (place / name).mkdir(parents=True)
        (place / "run/updates").symlink_to(place / "updates")
        (place / "run/card").write_text("pin=no\n")
        (place / "os-release").write_text("VERSION_ID=2.0\n")
        for name, does in PROGRAMS.items():
            program = place / "bin" / name
            program.write_text(f"#!/bin/sh\n{does}\n")
            program.chmod(0o755)
        of_card = re.compile("|".join(map(re.escape, HERE)))
        for script in SCRIPTS.iterdir():
            here = place / "lib" / script.name
            here.write_text(of_card.sub(self._here, script.read_text()))
            here.chmod(0o755)
        self.data = DataDirectory(place / "data", None)
        self.system = CardSystem(place / "run", self.data)

    def _here(self, found: re.Match[str]) -> str:
        quote = '"' if found[0].startswith('"') else ""
        return f"{quote}{self.place / HERE[found[0]]}"

    def plug_in(self, stick: Stick) -> None:
        (self.place / "dev/sda").write_bytes(stick.head)
        for name, content in (("sda1", stick.sda1), ("sda2", stick.sda2)):
            if content is None:
                continue
            (self.place / "block/sda" / name).mkdir(parents=True, exist_ok=True)
            (self.place / "block/sda" / name / "partition").touch()
            (self.place / "dev" / name).write_bytes(content if isinstance(content, bytes) else b"")
            if isinstance(content, dict):
                (self.place / "sticks" / name).mkdir(parents=True)
            for path, text in content.items() if isinstance(content, dict) else ():
                file = self.place / "sticks" / name / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        self.run("stick", "sda")
        for name in ("sticks", "block/sda"):
            subprocess.run(["rm", "-rf", self.place / name], check=True)

    def run(self, script: str, *arguments: str) -> None:
        path = f"{self.place / 'bin'}:{os.environ['PATH']}"
        told = {"STICK": str(self.place / "sticks"), "CHOWNED": str(self.place / "chowned")}
        subprocess.run(
            [self.place / "lib" / script, *arguments], check=True, timeout=60.0,
            env={**os.environ, "PATH": path, **told},
        )  # fmt: skip

    def updates(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in (self.place / "updates").iterdir()}

    def read_run_file(self, name: str) -> str:
        file = self.place / "run" / name
        return file.read_text() if file.exists() else ""


@pytest.fixture
def card(tmp_path: Path) -> Iterator[Card]:
    card = Card(tmp_path)
    yield card
    card.data.close()


NO: Final = "no update is taken from the USB stick: "
FAT: Final = "and this device reads FAT (FAT32, MS-DOS): copy the update to a stick with that"
# What is on a stick; the sentence it ends in; whether it is an error; what is offered.
KINDS: Final[dict[str, tuple[Stick, str, bool, str]]] = {
    "newer": (Stick({"a.raucb": "2.1"}), "2.1 is on the USB stick, and", False, "2.1"),
    "capitals": (Stick({"A.RAUCB": "2.1"}), "2.1 is on the USB stick", False, "2.1"),
    "runs": (Stick({"a.raucb": "2.0"}), f"{NO}2.0 is what runs here", False, ""),
    "older": (
        Stick({"a.raucb": "1.0"}),
        f"{NO}1.0 is older than 2.0; a file {OLDER} on the stick installs it", True, "",
    ),
    "older, asked for": (Stick({"a.raucb": "1.0", OLDER: ""}), "1.0 is on the USB", False, "1.0"),
    "tried": (
        Stick({"a.raucb": "3.0"}),
        f"{NO}3.0 was tried before; gp-pta update installs it again", True, "",
    ),
    "the running one first": (
        Stick({"a.raucb": "2.0", "b.raucb": "2.10", "c.raucb": "2.9", "d.raucb": "bad"}),
        "2.10 is on the USB stick", False, "2.10",
    ),
    "on the second partition": (
        Stick({"efi": ""}, {"b.raucb": "2.1"}), "2.1 is on the USB stick", False, "2.1",
    ),
    "a stranger's": (
        Stick({"a.raucb": "bad"}),
        f"{NO}a.raucb was refused: it is not signed by a key that this device believes", True, "",
    ),
    "in a folder": (
        Stick({"new/a.raucb": "2.1"}),
        f"{NO}new/a.raucb is in a folder, and is looked for outside of all", True, "",
    ),
    "packed": (Stick({"a.zip": "2.1"}), f"{NO}a.zip has to be unpacked: an update is a", True, ""),
    "an image of a card": (
        Stick({"gp-pta-card.img.xz": "2.1"}), f"{NO}gp-pta-card.img.xz is for writing a", True, "",
    ),
    "a card": (
        Stick({"gp-pta.toml": ""}, head=bytes(440) + SIGNATURE.to_bytes(4, "little")),
        f"{NO}a whole card was written to it", True, "",
    ),
    "empty": (Stick(), f"{NO}there is no file gp-pta-VERSION.raucb", True, ""),
    "NTFS": (Stick(b"\xeb\x52\x90NTFS    "), f"{NO}it has NTFS, {FAT}", True, ""),
    "exFAT": (Stick(b"\xeb\x76\x90EXFAT   "), f"{NO}it has exFAT, {FAT}", True, ""),
    "something": (Stick(b"ext4, perhaps"), f"{NO}it has no file system that is known", True, ""),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_stick_ends_in_one_sentence(card: Card, kind: str) -> None:
    (card.place / "updates-tried").write_text("3.0\n")
    stick, sentence, is_wrong, offered = KINDS[kind]
    card.plug_in(stick)

    says, silent = ("faults", "update") if is_wrong else ("update", "faults")
    assert card.read_run_file(says).startswith(sentence)
    assert card.read_run_file(says).count("\n") == 1
    assert card.read_run_file(silent) == ""
    assert [*card.updates().values()] == [offered] * bool(offered)
    assert card.system.look(idle=True) == card.read_run_file("faults").splitlines()
    assert card.read_run_file("update").strip() == card.system.update_words()


# How busybox sorts versions, of which a card has its sort.
SORT_OF_BUSYBOX: Final = f"""exec {sys.executable} -I -S -c '
import ctypes, functools, sys
compare = ctypes.CDLL(None).strverscmp
key = functools.cmp_to_key(lambda one, other: compare(one.encode(), other.encode()))
print(*sorted(sys.stdin.read().split(), key=key), sep="\\n")
'
"""
IN_ORDER: Final = (
    "0.1.0-20261231.235959", "0.2.0.dev0-20261128.181423", "0.2.0.dev0-20261129.000000",
    "0.2.0.dev10-20261128.000000", "0.2.0-20261127.000000", "0.2.1.dev0-20261126.000000",
    "0.2.1-20261125.000000", "0.10.0.dev0-20261124.000000", "0.10.0-20261123.000000",
)  # fmt: skip


@pytest.mark.parametrize("sort", ["", SORT_OF_BUSYBOX], ids=["coreutils", "busybox"])
def test_what_leads_to_a_release_is_older_than_the_release(card: Card, sort: str) -> None:
    if sort:
        (card.place / "bin/sort").write_text(f"#!/bin/sh\n{sort}")
        (card.place / "bin/sort").chmod(0o755)
    for older, newer in pairwise(IN_ORDER):
        (card.place / "os-release").write_text(f"VERSION_ID={older}\n")
        card.plug_in(Stick({"a.raucb": newer}))
        assert card.updates() == {"offered.raucb": newer}
        (card.place / "updates/offered.raucb").unlink()
        (card.place / "os-release").write_text(f"VERSION_ID={newer}\n")
        card.plug_in(Stick({"a.raucb": older}))
        assert card.updates() == {}
        assert f"{NO}{older} is older than {newer}" in card.read_run_file("faults")
        card.plug_in(Stick({"a.raucb": newer}))
        assert card.updates() == {}, "it runs already"


versions = st.sampled_from(["0.9", "1.10", "2.0", "2.0-1", "2.1", "2.10", "3.0", "bad"])
names = st.sampled_from(
    ["a.raucb", "B.RAUCB", "c d.Raucb", "._a.raucb", "in/e.raucb", "f.zip", "g"]
)
partition = st.dictionaries(names, versions, max_size=4) | st.sampled_from([b"NTFS", b""])


@pytest.mark.thorough
@given(partition, st.none() | partition, st.booleans(), st.booleans())
def test_of_any_stick_the_newest_that_may_be_is_offered(
    first: dict[str, str] | bytes, second: dict[str, str] | bytes | None, older: bool, pin: bool
) -> None:
    with TemporaryDirectory() as place:
        card = Card(Path(place))
        (card.place / "updates-tried").write_text("3.0\n")
        (card.place / "run/card").write_text(f"pin={'yes' if pin else 'no'}\n")
        parts = [part for part in (first, second) if isinstance(part, dict)]
        for part in parts if older else ():
            part[OLDER] = ""
        card.plug_in(Stick(first, second))
        card.data.close()
        tops = [(name, part[name]) for part in parts for name in part if "/" not in name]
        found = [told for name, told in tops if name.lower().endswith("raucb") and name[0] != "."]
        may_be = [told for told in found if told not in ("bad", "2.0", "3.0")]
        if pin or not older:
            may_be = [told for told in may_be if told not in ("0.9", "1.10")]
        order = ["0.9", "1.10", "2.0-1", "2.1", "2.10"]
        wanted = max(may_be, key=order.index, default="")

        assert [*card.updates().values()] == [wanted] * bool(wanted)
        assert (card.read_run_file("faults") + card.read_run_file("update")).count("\n") == 1
        assert bool(card.read_run_file("update")) == bool(wanted or "2.0" in found)


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True)])
def test_the_permission_to_go_back_is_that_of_one_stick(
    card: Card, first: bool, second: bool
) -> None:
    for version, older in (("1.0", first), ("1.1", second)):
        card.plug_in(Stick({"some.raucb": version} | ({OLDER: "yes\n"} if older else {})))
    card.system.look(idle=True)
    card.run("update")

    assert card.updates() == {}
    told = "1.1 is installed\n" if second else f"{NO}1.1 is older than 2.0"
    assert (
        card.read_run_file("update" if second else "faults")
        .splitlines()[-1]
        .startswith(told.strip())
    )


@pytest.mark.parametrize("told", ["console=uart\npin=yes\n", ""], ids=["a PIN", "nobody knows"])
def test_to_go_back_from_a_stick_is_refused_where_there_is_a_pin(card: Card, told: str) -> None:
    (card.place / "run/card").write_text(told)
    card.plug_in(Stick({"a.raucb": "1.0", OLDER: ""}))
    assert "gp-pta update --older installs it nevertheless, with the PIN" in card.read_run_file(
        "faults"
    )
    card.plug_in(Stick({"a.raucb": "2.1", OLDER: ""}))
    assert card.updates() == {"offered.raucb": "2.1"}


def test_a_stick_beside_an_update_that_is_being_installed_offers_nothing(card: Card) -> None:
    (card.place / "updates/bundle-older.raucb").write_text("1.0")
    card.plug_in(Stick({"a.raucb": "2.1"}))
    assert card.updates() == {"bundle-older.raucb": "1.0"}
    assert (
        card.read_run_file("faults")
        == "the USB stick is not looked at while an update is installed\n"
    )


def test_an_update_of_the_console_ends_the_offer_of_a_stick(card: Card) -> None:
    """It would undo it after the next start, perhaps with the permission to go back."""
    card.plug_in(Stick({"a.raucb": "1.0", OLDER: ""}))
    (card.data.path / "update.raucb").write_text("2.1")
    card.system.look(idle=True)
    card.run("update")
    assert card.updates() == {}
    assert card.read_run_file("update") == "2.1 is installed\n"


@pytest.mark.parametrize("make", [link, hollow, os.mkfifo, Path.mkdir, full])
def test_what_the_firmware_puts_in_place_of_an_update_leads_root_nowhere(
    card: Card, make: Callable[[Path], None]
) -> None:
    names = [card.place / each for each in ("data/update.raucb", "run/told/take")]
    for name in names:
        name.with_name("outside").write_text("somebody else's")
        make(name)
    card.run("update")

    assert not [name for name in names if os.path.lexists(name)], "or they are looked at for ever"
    assert {name.with_name("outside").read_text() for name in names} == {"somebody else's"}
    assert not (card.place / "chowned").exists()
    assert (
        card.read_run_file("faults") == "the update was refused: what was handed over is no file\n"
    )
    card.plug_in(Stick({"a.raucb": "2.1"}))
    card.system.look(idle=True)
    card.run("update")
    assert card.read_run_file("update") == "2.1 is installed\n"


def copied(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    script = (SCRIPTS / "stick").read_text()
    begin = script.index("copy() {")
    function = script[begin : script.index("\n}\n", begin) + 3]
    return subprocess.run(
        ["sh", "-c", f'{function}copy "$1" "$2"', "sh", source, target],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (5 << 19) + 1])
def test_an_update_is_copied_piece_by_piece(tmp_path: Path, size: int) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(random.Random(size).randbytes(size))
    done = copied(source, target)
    assert done.returncode == 0
    assert target.read_bytes() == source.read_bytes()
    assert done.stderr.count("records in") == -(-size // (1 << 20)), "each was on the card first"


def test_a_copy_without_room_is_told(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(bytes(10))
    done = copied(source, Path("/dev/full"))
    assert done.returncode != 0
    assert "dd: " in done.stderr


def test_root_opens_nothing_where_the_firmware_may_write() -> None:
    """Its directories are named by one script of root's, which moves what it is given."""
    data = re.compile(r"/var/lib/gp-pta(?!-update)|/var/cache/gp-pta|/run/gp-pta/told/")
    naming = {path.name for path in SCRIPTS.iterdir() if data.search(path.read_text())}
    assert naming == {"update", "seal-key", "good"}
    assert re.findall(r".*\$data.*", (SCRIPTS / "update").read_text()) == [
        '    [ -e "$data/$1" ] || [ -L "$data/$1" ] || return',
        '    mv -T "$data/$1" "$place/given" || return',
    ]
    card = (FILES / "etc/systemd/system/gp-pta-device.service.d/card.conf").read_text()
    assert "\nExecStartPre=-/usr/lib/gp-pta/seal-key\n" in card, "as the firmware's user"
    assert data.findall((SCRIPTS / "good").read_text()) == ["/run/gp-pta/told/"]
    assert "[ ! -e /run/gp-pta/told/well ]" in (SCRIPTS / "good").read_text()
    assert "/var/lib/gp-pta/" not in INIT.read_text().replace(
        "stat -c %Y /root/var/lib/gp-pta/*", ""
    )
