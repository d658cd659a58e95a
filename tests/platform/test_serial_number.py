"""The serial number of the box."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.platform.serial_number import DIGITS, serial_number, sha256


def test_a_board_has_its_own_and_a_system_one_that_is_not_told_as_it_is(tmp_path: Path) -> None:
    assert serial_number(tmp_path) == ""
    (tmp_path / "etc").mkdir()
    system = "0123456789abcdef0123456789abcdef"
    (tmp_path / "etc/machine-id").write_text(f"{system}\n")
    made = serial_number(tmp_path)
    assert (len(made), made in system) == (DIGITS, False)
    assert made == hashlib.sha256(f"gp-pta device {system}".encode()).hexdigest()[:DIGITS]
    assert serial_number(tmp_path) == made
    (tmp_path / "etc/machine-id").write_text(system.replace("0", "1"))
    assert serial_number(tmp_path) != made

    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "proc/device-tree/serial-number").write_bytes(b"10000000abcdef01\0")
    assert serial_number(tmp_path) == "10000000abcdef01"


@pytest.mark.parametrize("content", [b"", b"\0\0", b"\xff\xfe\n"])
def test_what_is_no_number_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "proc/device-tree/serial-number").write_bytes(content)
    assert serial_number(tmp_path) == ""


@given(data=st.binary(max_size=200))
def test_the_hash_is_that_of_everybody(data: bytes) -> None:
    assert sha256(data) == hashlib.sha256(data).digest()
