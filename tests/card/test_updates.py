"""An emulated device takes updates, refuses what is none, and goes back to the system before."""

import hashlib
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from device.card.bundle import keyring, make_keys
from firmware_py import __version__
from firmware_py.installation.card_system import PART
from firmware_py.operator.update_desk import SYNCED_BYTES
from host_tools.commands.update import EXIT_GOOD
from tests.card.cable import Cable
from tests.card.machine import BANNER, Kind
from tests.card.rig import Rig
from tests.card.variants import BUILT, STATUS, Workshop, boot_file, nothing
from tests.firmware.whole_sessions import a_listener

SEED: Final = 20
CUTS: Final = 10
# The longest time from the stick to the new system, at which the power is cut.
UPDATE_S_MAX: Final = 60.0
OLD: Final = f"{__version__}-20200101.000000"
NEW: Final = f"{__version__}-20300101.000000"
NEWEST: Final = f"{__version__}-20310101.000000"
INSTALLED_S_MAX: Final = 2400.0  # an emulated SD card takes 0.7 MB a second
STICK_MB: Final = 100
SENT_NOW_BYTES: Final = 300_000
PIECES_BY_THE_CUT: Final = 1200  # 150 kB
ASK_S: Final = 0.5


def stick_with(*bundles: Path, older: bool = False) -> Path:
    """Return a USB stick with updates on it: in its one partition, as most sticks have them."""
    stick = bundles[0].with_suffix(".stick")
    stick.unlink(missing_ok=True)
    with stick.open("wb") as file:
        file.truncate(STICK_MB * len(bundles) << 20)
    subprocess.run(
        ["/usr/sbin/sfdisk", "--quiet", stick], input="label: dos\nstart=2048, type=c\n",
        text=True, check=True,
    )  # fmt: skip
    inside = f"{stick}@@{2048 * 512}"
    sectors = str((STICK_MB * len(bundles) << 11) - 2048)
    subprocess.run(["mformat", "-F", "-T", sectors, "-i", inside, "::"], check=True)
    subprocess.run(["mcopy", "-i", inside, *bundles, "::"], check=True)
    if older:
        subprocess.run(
            ["mcopy", "-i", inside, "-", "::gp-pta-older.txt"], check=True, input=b"yes\n"
        )
    return stick


@pytest.fixture(scope="module")
def good(workshop: Workshop) -> Path:
    return workshop.slot("good", nothing, NEW)


@pytest.fixture(scope="module")
def newer(workshop: Workshop, good: Path) -> Path:
    return workshop.bundle(good, version=NEW, name="newer")


@pytest.fixture
def rig(kind: Kind, card: Path) -> Iterator[Rig]:
    with Rig(kind, card, a_listener("N3")) as rig:
        rig.start()
        assert rig.machine.ask("SESS:STAR RIGHT,SEED=5") == "OK"
        rig.wait_until_idle()
        yield rig


def read_journal(rig: Rig) -> bytes:
    return next(rig.data().glob("session-*.journal")).read_bytes()


def slot_of(rig: Rig) -> str:
    return rig.machine.ask("SYST:VERS?").rpartition(",")[2]


def wait_for_words(rig: Rig, *words: str) -> str:
    return rig.wait_for("SYST:ERR?", lambda error: all(word in error for word in words))


def wait_for_update(rig: Rig) -> str:
    """Wait until an update is over, and the machine is up again; return what is said of it."""
    began_s = rig.machine.processor_s
    rig.machine.until(BANNER, seconds=INSTALLED_S_MAX)
    print(f"installed after {rig.machine.processor_s - began_s:.0f} s of processor time")
    rig.plug_in_again()
    rig.machine.wait_for_firmware()
    return rig.wait_for("SYST:UPD?", lambda answer: answer.startswith("none,"))


@contextmanager
def updating(cable: Cable, bundle: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "host_tools.main", "update", cable.url, bundle],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        yield process
        process.kill()


@pytest.mark.on_a_pi
def test_an_update_on_a_stick_is_installed_after_the_test_and_keeps_everything(
    rig: Rig, newer: Path
) -> None:
    assert rig.machine.ask("SESS:STAR RIGHT,SEED=6") == "OK"
    rig.machine.plug_in_stick(stick_with(newer, *BUILT.glob("*.raucb")))  # it runs, and sorts first
    rig.wait_until_idle()
    assert wait_for_update(rig) == f"none,{NEW} is good: it was installed, and has passed its trial"
    assert slot_of(rig) == "slot B"
    assert len(rig.machine.ask("SESS:LIST?").split(";")) == 2
    assert len([*rig.data().glob("session-*.journal")]) == 2
    assert f"GP-PTA {NEW}, slot B" in boot_file(rig.machine.card, STATUS)
    rig.start()
    assert slot_of(rig) == "slot B"


def test_what_is_no_update_for_this_device_is_refused(
    rig: Rig, workshop: Workshop, good: Path, newer: Path, tmp_path: Path
) -> None:
    changed = bytearray(newer.read_bytes())
    changed[len(changed) // 2] ^= 1
    (workshop.place / "changed.raucb").write_bytes(changed)
    make_keys(tmp_path)
    (workshop.place / "photo.raucb").write_bytes(b"no update at all")
    stranger = workshop.bundle(good, tmp_path, version=NEW, name="stranger")
    older = workshop.bundle(good, version=OLD, name="older")
    bundles = {
        workshop.place / "photo.raucb": "photo.raucb was refused: it is no update",
        workshop.place / "changed.raucb": "was refused: it has changed since it was signed",
        stranger: "was refused: it is not signed by a key that this device believes",
        workshop.bundle(good, compatible="other-board", name="other"): "it is for another device",
        older: f"no update is taken from the USB stick: {OLD} is older than",
    }
    for bundle, words in bundles.items():
        rig.machine.plug_in_stick(stick_with(bundle))
        print(wait_for_words(rig, words))
        rig.machine.pull_stick()
    (empty := workshop.place / "empty.stick").write_bytes(bytes(1 << 20))
    rig.machine.plug_in_stick(empty)
    print(wait_for_words(rig, "it has no file system that is known"))
    rig.machine.pull_stick()
    assert slot_of(rig) == "slot A"
    rig.machine.hear_for(5)
    rig.cut_power()
    assert "it has no file system that is known" in boot_file(rig.machine.card, STATUS)
    rig.start()
    assert slot_of(rig) == "slot A"
    rig.machine.plug_in_stick(stick_with(older, older=True))
    assert "is good" in wait_for_update(rig)
    assert slot_of(rig) == "slot B"


def test_an_update_over_the_cable_is_gone_on_with_after_a_power_cut(rig: Rig, newer: Path) -> None:
    content = newer.read_bytes()
    part = f"{PART}-{hashlib.sha256(content).hexdigest()[:16]}"
    before = read_journal(rig)
    # So much came earlier: the whole of it takes an hour in this machine.
    rig.machine.put_on_data("/lib/gp-pta", part, content[:-SENT_NOW_BYTES])
    rig.start()
    with Cable(rig.machine) as cable, updating(cable, newer) as sending:
        while rig.machine.heard.count(b"OK\r\n") < PIECES_BY_THE_CUT:
            assert sending.poll() is None
            time.sleep(ASK_S)
        sending.kill()
    kept = (rig.data() / part).read_bytes()
    written = len(kept) - 2 * SYNCED_BYTES  # at least; behind it may be zeros
    assert written >= len(content) - SENT_NOW_BYTES - 4 * SYNCED_BYTES
    assert content.startswith(kept[:written])
    print(f"{len(content) - written} bytes are left to send")
    rig.start()
    with Cable(rig.machine) as cable, updating(cable, newer) as sending:
        while rig.machine.heard.count(BANNER.encode()) < 2:  # it started again
            assert sending.poll() is None
            time.sleep(ASK_S)
        rig.plug_in_again()
        words = sending.communicate()[0]
    assert sending.returncode == EXIT_GOOD, words
    assert f"{NEW} is good: it was installed, and has passed its trial" in words
    assert words.rstrip().endswith("slot B")
    assert read_journal(rig) == before


def test_a_key_that_came_with_an_update_signs_the_next_one(
    rig: Rig, workshop: Workshop, tmp_path: Path
) -> None:
    make_keys(tmp_path)
    both = keyring(BUILT / "keys") + keyring(tmp_path)
    for name, version, keys in (("old", NEW, BUILT / "keys"), ("new", NEWEST, tmp_path)):
        slot = workshop.slot(f"signed-by-{name}", nothing, version, both)
        rig.start()
        rig.machine.plug_in_stick(
            stick_with(workshop.bundle(slot, keys, version=version, name=f"{name}-key"))
        )
        assert wait_for_update(rig).startswith(f"none,{version} is good")


def hangs(root: Path) -> None:
    """Have the first process hang, so that only the watchdog can help."""
    systemd = root / "usr/lib/systemd/systemd"
    systemd.unlink()
    systemd.write_text("#!/usr/bin/sh\nwhile :; do sleep 1000; done\n")
    systemd.chmod(0o755)


def does_not_start(root: Path) -> None:
    python = root / "opt/gp-pta/bin/python"
    python.unlink()
    python.symlink_to("/usr/bin/false")


def fails_self_test(root: Path) -> None:
    (source,) = root.glob("opt/gp-pta/**/firmware_py/board/self_check.py")
    text = source.read_text()
    source.unlink()
    source.write_text(
        f"{text}\n\ndef disk_part(*_, **__):\n    return Part('disk', False, 'bad')\n"
    )
    for compiled in source.parent.glob("__pycache__/self_check.*"):
        compiled.unlink()


@pytest.mark.parametrize(
    "change",
    [pytest.param(does_not_start, marks=pytest.mark.on_a_pi), hangs, fails_self_test],
)
def test_a_system_that_is_not_good_is_rolled_back_by_itself(
    rig: Rig, workshop: Workshop, change: Callable[[Path], None]
) -> None:
    before = read_journal(rig)
    rig.start()
    slot = workshop.slot(change.__name__, change, NEWEST)
    bundle = workshop.bundle(slot, version=NEWEST, name=change.__name__)
    began_s = rig.machine.processor_s
    rig.machine.plug_in_stick(stick_with(bundle))
    for _ in range(3):
        rig.machine.until(BANNER, seconds=INSTALLED_S_MAX)
        rig.plug_in_again()
    rig.machine.until(BANNER)
    rig.plug_in_again()
    rig.machine.wait_for_firmware()
    assert slot_of(rig) == "slot A"
    assert "slot B did not pass its trial" in wait_for_words(rig, "trial")
    print(f"rolled back after {rig.machine.processor_s - began_s:.0f} s of processor time")
    assert read_journal(rig) == before


def test_ten_power_cuts_at_random_moments_of_an_update(
    rig: Rig, workshop: Workshop, good: Path
) -> None:
    chance = random.Random(SEED)
    print(f"seed {SEED}")
    before = read_journal(rig)
    states = set()
    rig.start()
    for cut in range(CUTS):
        # Each is new to the device: what was tried once is not taken from a stick again.
        version = f"{NEWEST[:-2]}{cut:02}"
        bundle = workshop.bundle(good, version=version, name="cut")
        rig.machine.plug_in_stick(stick_with(bundle))
        rig.machine.hear_for(chance.uniform(0.0, UPDATE_S_MAX))
        assert read_journal(rig) == before
        rig.start()
        state = rig.machine.ask("SYST:UPD?")
        states.add(state.partition(",")[0])
        print(f"cut {cut}: {slot_of(rig)}, {state}")
    assert states & {"installing", "trial"}, "some of the cuts were in the middle of an update"
    assert read_journal(rig) == before
