"""`gp-pta cable`: a serial cable between two programs of this machine, where no real one is."""

import argparse
import os
import select
import threading
from contextlib import ExitStack, suppress
from typing import Final

from device.simulator.serve import raw_pty, stop_by_signals
from host_tools.errors import HostError
from host_tools.terminal import say, say_aside

EXAMPLE = """\
example:
  gp-pta cable
  gp-pta-device --tone-generator /dev/pts/5 --console /dev/pts/6 --data sessions
  gp-pta console /dev/pts/7

/dev/pts/6 and 7 are what the first command printed. What nobody reads at one end waits there, as
much as a port holds, and then at the other. The ports stay when a program ends, and go with the
cable.
"""

NEEDS: Final[dict[str, tuple[str, ...]]] = {}
STOP_S_MAX: Final = 0.1  # how late a stop is noticed at most
BYTES_MAX: Final = 4096  # on the way in one direction


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add no options: there are none."""


def run(arguments: argparse.Namespace) -> int:
    """Carry bytes until interrupted."""
    stop = threading.Event()
    with stop_by_signals(stop), ExitStack() as ptys:
        try:
            (one, port), (other, far_port) = (ptys.enter_context(raw_pty()) for _ in range(2))
        except OSError as error:
            raise HostError(f"there is no pty to be had: {error.strerror}") from None
        say(port, far_port)
        say_aside("a cable joins these two ports; end with ^C")
        carry(one, other, stop)
    return 0


def carry(one: int, other: int, stop: threading.Event) -> None:
    """Carry bytes between the masters of two raw ptys, both ways, until `stop`."""
    far = {one: other, other: one}
    on_the_way = {one: b"", other: b""}  # to this end
    while not stop.is_set():
        empty = [end for end in far if not on_the_way[far[end]]]
        full = [end for end in far if on_the_way[end]]
        readable, writable, _ = select.select(empty, full, [], STOP_S_MAX)
        for end in readable:
            on_the_way[far[end]] = os.read(end, BYTES_MAX)
        for end in writable:
            with suppress(BlockingIOError):  # the room it had is taken
                on_the_way[end] = on_the_way[end][os.write(end, on_the_way[end]) :]
