"""The system of a card is told what the firmware reads, however it is written."""

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from firmware_py.board.pi_models import Machine
from firmware_py.console import pin as pins
from firmware_py.console.pin import SALT_BYTES, PinHash
from firmware_py.installation.card_settings import card_lines, with_hash_of_pin
from firmware_py.installation.configuration import (
    ConfigurationError,
    check_card,
    read_configuration,
)

PREPARE: Final = Path(__file__).parents[2] / "device/card/files/root/usr/lib/gp-pta/prepare"
SALT: Final = bytes(SALT_BYTES)
OLD: Final = str(PinHash.of("1234", SALT))
MARK: Final = "\ufeff"  # with which some editors begin a file
SECONDS: Final = 1798108200  # 2026-12-24T10:30:00Z


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Be where the time of day is another one than UTC, which a clock without a zone tells."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "XXX-9")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "pin=no console=uart"),
        ('[card]\nconsole = "usb"', "pin=no console=usb"),
        ('card = { console = "usb" }', "pin=no console=usb"),
        ('card.console = "usb"', "pin=no console=usb"),
        ("\t[card]\n\tconsole\t=\t'usb'\t# mine", "pin=no console=usb"),
        ('[test]\nears = "left"\n# [card]\n# console = "usb"', "pin=no console=uart"),
        (
            '[card]\r\n"console" = "usb"\r\nboard_report=true\r\n',
            "pin=no board_report=yes console=usb",
        ),
        ("[card]\nclock = 2026-12-24T10:30:00", f"pin=no clock={SECONDS} console=uart"),
        ("[card]\nclock = 2026-12-24 10:30:00Z", f"pin=no clock={SECONDS} console=uart"),
        ("[card]\nclock = 2026-12-24T12:30:00+02:00", f"pin=no clock={SECONDS} console=uart"),
        ("console.new_pin = 2580", "new_pin=yes pin=yes console=uart"),
        (f'[console]\npin = "{OLD}"', "pin=yes console=uart"),
        ('[card]\nconsole = "both"', "pin=no"),  # the firmware says so
    ],
)
def test_the_card_is_told_what_the_firmware_reads(
    tmp_path: Path, elsewhere: None, text: str, told: str
) -> None:
    path = tmp_path / "gp-pta.toml"
    for mark in ("", MARK):
        path.write_bytes((mark + text).encode())
        assert card_lines(path) == told.split()


@pytest.mark.parametrize(
    "written",
    [
        "[console]\n{}\n",
        "[console]\n# new_pin = 1111 # 4 to 12\n\t{}   # mine\n",
        "[console]\n{}",
        "console.{}\n",
        "console = {{ {} }}\n",
        f'[console]\npin = "{OLD}"\n{{}}\n',
        f'[console]\n{{}}\n  pin="{OLD}" # old\n[test]\ntones_max = 50\n',
    ],
)
def test_a_new_pin_is_replaced_wherever_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setattr(pins, "ITERATIONS", pins.ITERATIONS_LIMITS[0])
    path = tmp_path / "gp-pta.toml"
    spellings = ("new_pin = 2580", 'new_pin="2580"', "'new_pin'\t= '2580'")
    for spelling, mark, end in itertools.product(spellings, ("", MARK), ("\n", "\r\n")):
        text = mark + 'device.events = true # "ü"\n' + written.format(spelling)
        path.write_bytes(text.replace("\n", end).encode())
        content = with_hash_of_pin(path, SALT)
        path.write_bytes(content)

        assert content.decode().startswith(mark + 'device.events = true # "ü"' + end)
        assert "2580" not in content.decode().replace(PinHash.of("2580", SALT).digest.hex(), "")
        assert read_configuration(path).pin == PinHash.of("2580", SALT)
        assert read_configuration(path).events


def test_where_usb_cannot_be_the_operators_it_is_the_uart_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "gp-pta.toml"
    path.write_text('[card]\nconsole = "usb"\nboard_report = true\n')
    can, cannot = (Machine(f"raspberrypi,{m}", "Pi") for m in ("4-model-b", "3-model-b"))
    assert card_lines(path, can) == ["pin=no", "board_report=yes", "console=usb"]
    assert card_lines(path, cannot) == ["pin=no", "console=uart"]
    told = """\\[card\\] console is 'usb', and a Pi has no USB port .*; allowed is "uart\""""
    with pytest.raises(ConfigurationError, match=told):
        check_card({"console": "usb"}, cannot)
    check_card({"console": "uart"}, cannot)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[console]\nnew_pin = 258", "a PIN has 4 to 12 digits"),
        ("[console]\nnew_pin = 2580.5", "new_pin is no PIN; allowed are 4 to 12 digits"),
        ('[console]\nnew_pin = """2580"""', "cannot be replaced where it stands"),
        (f'console = {{ pin = "{OLD}", new_pin = 2580 }}', "and no pin beside it"),
        ("[console]\nnew_pin = 0258", "is not TOML"),
        ("", "new_pin is no PIN"),
    ],
)
def test_a_new_pin_that_is_not_taken_is_not_told(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "gp-pta.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=words) as error:
        with_hash_of_pin(path, SALT)
    assert "258" not in str(error.value)


def test_before_the_firmware_starts_the_card_takes_in_what_it_is_told(tmp_path: Path) -> None:
    """The script of the card, with programs that only say what they were told."""
    programs = {
        "fw_printenv": "echo uart", "usleep": ":", "cmp": "exit 1", "sync": ":", "mount": ":",
        "device": f'exec {sys.executable} -c "import sys; from firmware_py.main import main;'
        ' sys.exit(main())" "$@"',
    }  # fmt: skip
    for name in ("date", "fw_setenv", "systemctl"):
        programs[name] = f'echo {name} "$@" >> {tmp_path}/did'
    for name, does in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    for script in ("prepare", "write-boot-file", "common"):
        text = (PREPARE.parent / script).read_text()
        text = text.replace("/boot", f"{tmp_path}/boot")
        for of_card in ("/usr/lib/gp-pta", "/run/gp-pta"):
            text = text.replace(of_card, str(tmp_path))
        text = text.replace("/opt/gp-pta/bin/gp-pta-device", f"{tmp_path}/device")
        (tmp_path / script).write_text(text.replace("$(date +%s)", "0").replace("modprobe", ":"))
        (tmp_path / script).chmod(0o755)
    (tmp_path / "boot").mkdir()
    toml = tmp_path / "boot/gp-pta.toml"
    toml.write_text(
        f"{MARK}card = {{ console = 'usb', clock = 2026-12-24T12:30:00+02:00 }}\n"
        "[console]\nnew_pin = 2580   # mine\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run([tmp_path / "prepare"], check=True, env=environment, cwd=PREPARE.parents[7])

    assert (tmp_path / "did").read_text().splitlines() == [
        f"date -s @{SECONDS}", "fw_setenv CONSOLE usb", "systemctl --force reboot",
    ]  # fmt: skip
    assert read_configuration(toml).pin is not None
    assert not (tmp_path / "faults").exists()
    toml.write_text("[console]\nnew_pin = 25\n")
    subprocess.run([tmp_path / "prepare"], check=True, env=environment, cwd=PREPARE.parents[7])
    assert "a PIN has 4 to 12 digits" in (tmp_path / "faults").read_text()
