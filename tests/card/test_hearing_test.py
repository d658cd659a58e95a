"""A hearing test of an emulated device, whose power is cut in the middle."""

import array
import fcntl
import random
import shutil
import termios
from pathlib import Path
from typing import Final

import pytest

from firmware_py.journal import SealKey, first_broken
from firmware_py.platform.keys import read_key_file
from firmware_py.platform.serial_number import DIGITS
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.card.machine import Kind, Machine, short_directory
from tests.card.rig import Rig, is_idle
from tests.card.variants import STATUS, boot_file, digests, with_clock
from tests.firmware.crash import Plan, assert_like_undisturbed
from tests.firmware.whole_sessions import a_listener, result_of

SEED: Final = 20
CUTS: Final = 10
LIFE_S_MAX: Final = 12.0
ANSWERS_BY_HALF: Final = 12


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return Plan.of(tmp_path_factory.mktemp("undisturbed"), "N3", "right", 5)


def read_journal(data: Path) -> bytes:
    journals = [*data.glob("session-*.journal")]
    return journals[0].read_bytes() if journals else b""


def check_over(rig: Rig, plan: Plan) -> None:
    rig.wait_until_idle()
    data = rig.data()
    (journal,) = data.glob("session-*.journal")
    assert_like_undisturbed(journal, plan.undisturbed)
    key = SealKey(read_key_file(data / "seal.key"))
    assert first_broken(key, journal.read_bytes().splitlines(keepends=True)) is None


@pytest.mark.on_a_pi
@pytest.mark.every_time
def test_after_a_power_cut_a_test_goes_on_and_comes_out_the_same(
    kind: Kind, card: Path, plan: Plan
) -> None:
    with Rig(kind, card, a_listener("N3")) as rig:
        made = digests(rig.machine.card)
        print(*(f"{name}: {digest}" for name, digest in made.items()), sep="\n")
        with_clock(rig.machine.card)
        _, _, serial, _ = rig.start().split(",")
        assert len(serial) == DIGITS
        print(f"from power on to *IDN?: {rig.machine.processor_s:.1f} s of processor time")
        assert rig.machine.ask("SYST:VERS?").endswith(",slot A")
        assert rig.machine.faults() == []
        assert rig.machine.ask(f"SESS:STAR {plan.asked}") == "OK"
        rig.hear_answers(ANSWERS_BY_HALF)
        before = read_journal(rig.data())
        assert before, "what was answered is on the card"
        rig.start()
        assert not is_idle(rig.machine.ask("SESS:STAT?"))
        check_over(rig, plan)
        assert read_journal(rig.data()).startswith(before)
        assert digests(rig.machine.card)["slot A"] == made["slot A"], "a root only reads"
        assert "The firmware runs" in boot_file(rig.machine.card, STATUS)


@pytest.mark.on_a_pi
def test_without_a_clock_the_operator_says_that_it_is_the_same_person(
    kind: Kind, card: Path, plan: Plan
) -> None:
    with Rig(kind, card, a_listener("N3")) as rig:
        rig.start("-rtc", "base=1970-01-02")
        assert rig.machine.ask(f"SESS:STAR {plan.asked}") == "OK"
        rig.hear_answers(ANSWERS_BY_HALF)
        rig.start("-rtc", "base=1970-01-02")
        state = rig.machine.ask("SESS:STAT?")
        assert "state=paused" in state
        assert "the clock does not say how long ago" in state
        assert rig.machine.ask("SESS:CONT") == "OK"
        rig.wait_until_idle()
        (journal,) = rig.data().glob("session-*.journal")
        # A tone may be asked again though it was answered just before the cut.
        assert replay_journal(journal).code == IDENTICAL
        assert result_of(journal)["ears"] == result_of(plan.undisturbed)["ears"]


def test_ten_power_cuts_at_random_moments_lose_nothing_recorded(
    kind: Kind, card: Path, plan: Plan
) -> None:
    chance, before = random.Random(SEED), b""
    print(f"seed {SEED}")
    with Rig(kind, card, a_listener("N3")) as rig:
        with_clock(rig.machine.card)
        rig.start()
        assert rig.machine.ask(f"SESS:STAR {plan.asked}") == "OK"
        for _ in range(CUTS):
            rig.machine.hear_for(chance.uniform(0.0, LIFE_S_MAX / CUTS))
            now = read_journal(rig.data())
            assert now.startswith(before)
            before = now
            rig.start()
        check_over(rig, plan)


# The emulated machine itself can be relied on

WAITING_BYTES: Final = 300  # more than a socket holds of bytes that come one by one


@pytest.mark.every_time
def test_a_machine_is_seen_to_while_nobody_reads_its_console(kind: Kind, card: Path) -> None:
    """A machine once stood still, monitor and all, when its console's socket was full."""
    waiting = array.array("i", [0])
    place = short_directory()
    with Machine(kind, card, place) as machine:
        machine.switch_on()
        while waiting[0] < WAITING_BYTES:
            machine.is_read()
            fcntl.ioctl(machine.fileno(), termios.FIONREAD, waiting)
    shutil.rmtree(place)
