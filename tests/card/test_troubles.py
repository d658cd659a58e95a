"""What is wrong with a card, or plugged into it, is said at its console and in its status file."""

from pathlib import Path

import pytest

from device.card.card import CARD_BYTES
from firmware_py.board.board_report import TO_BE_SEEN
from tests.card.machine import BANNER, ROOM_BYTES, Kind
from tests.card.rig import Rig
from tests.card.variants import STATUS, boot_file, with_clock, with_configuration


@pytest.mark.on_a_pi
def test_without_a_tone_generator_the_firmware_waits_and_says_so(kind: Kind, card: Path) -> None:
    with Rig(kind, card) as rig:
        with_clock(rig.machine.card)
        rig.start(plugged_in=False)
        assert "board FAULT, does not answer" in rig.machine.ask("*TST?")
        assert any("tone generator: cannot open" in error for error in rig.errors())
        rig.plug_in()
        rig.wait_for("*TST?", lambda answer: answer.startswith("0,"))
        rig.machine.hear_for(5)
        rig.cut_power()
        assert "The firmware runs" in boot_file(rig.machine.card, STATUS)


def test_a_second_tone_generator_is_named(kind: Kind, card: Path) -> None:
    with Rig(kind, card) as rig:
        rig.start()
        second = rig.machine.plug_in(rig.served.port, second=True)
        rig.wait_for("SYST:ERR?", lambda error: "there are 2 tone generators" in error)
        second.pull()
        rig.machine.hear_for(5)
        rig.cut_power()
        assert "there are 2 tone generators" in boot_file(rig.machine.card, STATUS)


def test_a_typo_in_the_configuration_is_named(kind: Kind, card: Path) -> None:
    with Rig(kind, card) as rig:
        with_configuration(rig.machine.card, "[test]\nlevle_max_db_hl = 90\n")
        rig.machine.switch_on()
        line = rig.machine.until("ERROR -310")
        assert "[test] 'levle_max_db_hl' is not a known key" in line
        rig.machine.hear_for(8)
        rig.cut_power()
        assert "levle_max_db_hl" in boot_file(rig.machine.card, STATUS)
        with_configuration(rig.machine.card, "[test]\nlevel_max_db_hl = 90\n")
        rig.start()


def test_a_new_pin_is_replaced_by_its_hash(kind: Kind, card: Path) -> None:
    with Rig(kind, card) as rig:
        with_configuration(rig.machine.card, '[console]\nnew_pin = "2580"\n')
        rig.start(plugged_in=False)
        assert rig.machine.ask("SYST:PIN?") == "LOCKED"
        assert rig.machine.ask("SESS:LIST?").startswith("ERROR -203")
        assert rig.machine.ask("SYST:PIN 2580") == "OK"
        rig.cut_power()
        told = boot_file(rig.machine.card, "gp-pta.toml")
        assert "2580" not in told
        assert 'pin = "pbkdf2-sha256$' in told


@pytest.mark.on_a_pi
def test_a_report_on_the_board_is_written_if_asked_for(kind: Kind, card: Path) -> None:
    with Rig(kind, card) as rig:
        with_configuration(rig.machine.card, "[card]\nboard_report = true\n")
        rig.start(plugged_in=False)
        here = kind.board.words
        assert rig.machine.ask("SYST:VERS?").endswith(f",{here},slot A")
        rig.machine.hear_for(20)
        rig.cut_power()
        told = boot_file(rig.machine.card, "gp-pta-board-report.txt")
        for words in (
            f"machine: {here}", "slot: slot A", f"watchdog: {kind.board.watchdog}",
            f"data partition {kind.board.data}: errors_count 0", "USB usb1: idVendor 1d6b",
            "us after the kernel: its first process",
        ):  # fmt: skip
            assert words in told
        assert f"Machine: {here}" in boot_file(rig.machine.card, STATUS)
        assert told.count("[ ]") == len(TO_BE_SEEN)


def test_the_console_on_usb_is_what_the_next_start_is_told(kind: Kind, card: Path) -> None:
    with Rig(kind, card) as rig:
        with_configuration(rig.machine.card, '[card]\nconsole = "usb"\n')
        rig.machine.switch_on()
        rig.machine.until(BANNER)
        rig.machine.until(BANNER)
        rig.cut_power()
        with rig.machine.card.open("rb") as file:
            file.seek(0x8000)
            assert b"\0CONSOLE=usb\0" in file.read(512)


@pytest.mark.on_a_pi
def test_a_clock_that_was_never_set_is_named_and_set_by_the_configuration(
    kind: Kind, card: Path
) -> None:
    with Rig(kind, card) as rig:
        rig.start("-rtc", "base=1970-01-02", plugged_in=False)
        assert any("it says 1970" in error for error in rig.errors())
        rig.cut_power()
        with_configuration(rig.machine.card, "[card]\nclock = 2026-12-24T10:30:00\n")
        rig.start("-rtc", "base=1970-01-02")
        assert "clock ok, 2026-12-24T10:3" in rig.machine.ask("*TST?")


def test_a_card_that_is_too_small_is_named(kind: Kind, card: Path) -> None:
    with Rig(kind, card, card_bytes=CARD_BYTES) as rig:
        rig.start()
        assert any("the data partition cannot be" in error for error in rig.errors())


@pytest.mark.on_a_pi
def test_a_card_that_has_become_read_only_is_named(kind: Kind, card: Path) -> None:
    with Rig(kind, card) as rig:
        rig.start()
        rig.data()
        rig.machine.put_on_data("/", "mark", b"")  # with it ext4's journal is played back
        rig.machine.switch_on(read_only=True)
        assert "ERROR" in rig.machine.until("Read-only file system")


def test_a_read_only_card_without_a_data_directory_is_named(kind: Kind, card: Path) -> None:
    """After a power cut all that was written may be in a journal that cannot be played back."""
    with Rig(kind, card) as rig:
        rig.start()
        rig.cut_power()
        rig.machine.empty_data()
        rig.machine.switch_on(read_only=True)
        rig.machine.wait_for_firmware()
        assert any("what is measured now is lost with the power" in each for each in rig.errors())


def test_a_full_data_partition_is_named_and_keeps_what_was_recorded(kind: Kind, card: Path) -> None:
    with Rig(kind, card, card_bytes=CARD_BYTES + ROOM_BYTES) as rig:
        rig.start()
        assert rig.machine.ask("SESS:STAR RIGHT,SEED=5") == "OK"
        rig.wait_until_idle()
        journal = next(rig.data().glob("session-*.journal")).read_bytes()
        rig.machine.fill_data()
        rig.start(plugged_in=False)
        assert "disk FAULT" in rig.machine.ask("*TST?")
        assert next(rig.data().glob("session-*.journal")).read_bytes() == journal
