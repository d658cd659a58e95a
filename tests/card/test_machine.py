"""The emulated machine that the tests of a card use can itself be relied on."""

import array
import fcntl
import shutil
import termios
from pathlib import Path
from typing import Final

import pytest

from tests.card.machine import Machine, short_directory

WAITING_BYTES: Final = 300  # more than a socket holds of bytes that come one by one


@pytest.mark.every_time
def test_a_machine_is_seen_to_while_nobody_reads_its_console(card: Path) -> None:
    """A machine once stood still, monitor and all, when its console's socket was full."""
    waiting = array.array("i", [0])
    place = short_directory()
    with Machine(card, place) as machine:
        machine.switch_on()
        while waiting[0] < WAITING_BYTES:
            machine.is_read()
            fcntl.ioctl(machine.fileno(), termios.FIONREAD, waiting)
    shutil.rmtree(place)
