"""The report on a board: what Linux says, what it does not, and a list to tick."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from firmware_py.board.board_report import TO_BE_SEEN, lines
from firmware_py.main import main
from tests.linux_files import write_files

NOW = datetime(2026, 11, 24, 23, 42, tzinfo=UTC)
CARD = "sys/class/block/mmcblk0/device"
USB = "sys/bus/usb/devices"
PI = {
    "proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.4\0",
    "proc/device-tree/compatible": "raspberrypi,4-model-b\0brcm,bcm2711\0",
    "proc/device-tree/system/linux,revision": "\0\xc0\x31\x14",
    "proc/cmdline": "smsc95xx.macaddr=B8:27:EB:34:56:78\n",
    "proc/meminfo": "MemTotal:        8000000 kB\nMemFree:  1 kB\n",
    "run/gp-pta/slot": "slot A\n",
    "run/gp-pta/power": "well so far, by class/gpio/gpio511/value\n",
    "run/gp-pta/board-facts": "us after the kernel: its first process 5, the firmware ready 9\n"
    "raspberrypi-firmware soc:firmware: Attached to firmware from 2023-01-05\n",
    "var/fake": "125000000 8000000\n",
    f"{CARD}/name": "SD64G\n",
    f"{CARD}/manfid": "0x000003\n",
    f"{CARD}/serial": "0x12345678\n",
    "sys/fs/ext4/mmcblk0p4/errors_count": "3\n",
    "sys/fs/ext4/mmcblk0p4/lifetime_write_kbytes": "777\n",
    f"{USB}/1-1/idVendor": "2e8a\n",
    f"{USB}/1-1/bMaxPower": "250mA\n",
    f"{USB}/1-1/serial": "e660583883000000\n",
    f"{USB}/1-1:1.0/bInterfaceClass": "02\n",
    f"{USB}/1-0:1.0/usb1-port1/over_current_count": "2\n",
    "dev/ttyACM1": "",
    "dev/ttyACM0": "",
}


def test_what_linux_says_is_told_and_what_it_does_not_say_is_named(tmp_path: Path) -> None:
    write_files(tmp_path, PI)
    told = [*lines(NOW, ["ok  disk  7 MB free"], tmp_path)]
    assert told[0].endswith("report on a board, 2026-11-24T23:42:00+00:00")
    assert {
        "  machine: Raspberry Pi 4 Model B Rev 1.4 (not tried yet)",
        "  revision: 00c03114",
        "  memory: MemTotal: 8000000 kB",
        "  slot: slot A",
        "  voltage: well so far, by class/gpio/gpio511/value",
        "  card device: name SD64G, manfid 0x000003",
        "  card, a fake: sectors it says, sectors it keeps: 125000000 8000000",
        "  data partition mmcblk0p4: errors_count 3, lifetime_write_kbytes 777",
        "  USB 1-1: idVendor 2e8a, bMaxPower 250mA",
        "  USB port usb1-port1: over_current_count 2",
        "  us after the kernel: its first process 5, the firmware ready 9",
        "  raspberrypi-firmware soc:firmware: Attached to firmware from 2023-01-05",
        "  tone generators: ttyACM0 ttyACM1",
        "  watchdog: is not told",
        "  ok  disk  7 MB free",
    } <= {*told}
    whole = "\n".join(told)
    assert "issue" in whole
    assert "12345678" not in whole, "the card's own number"
    assert "e660" not in whole, "the tone generator's"
    assert "34:56:78" not in whole, "the board's, by its network address"


def test_a_machine_that_says_nothing_gets_a_report_too(tmp_path: Path) -> None:
    told = [*lines(NOW, [], tmp_path)]
    assert {"  card: is not told", "  USB: is not told", "  voltage: is not told"} <= {*told}


def test_everything_to_be_seen_has_a_place_to_tick(tmp_path: Path) -> None:
    boxes = [line for line in lines(NOW, [], tmp_path) if line.startswith("  [ ] ")]
    assert [box[9:] for box in boxes] == [*TO_BE_SEEN]


def test_a_report_is_printed_whatever_is_at_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ports = ["--tone-generator", "/dev/none", "--console", "/dev/none"]
    assert main([*ports, "--data", str(tmp_path), "--board-report"]) == 0
    told = capsys.readouterr().out
    assert "cannot open '/dev/none'" in told
    assert told.count("[ ]") == len(TO_BE_SEEN)
