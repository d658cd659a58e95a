"""An emulated Pico behind a pty, so that a program can open it like any serial port."""

import os
import select
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Final

from device.emulator.pico import EmulatedPico
from device.simulator.serve import raw_pty

STEP_US: Final = 1000.0  # between looks at the port
READ_BYTES_MAX: Final = 4096
STEP_LATE_S_MAX: Final = 0.01


def serve(
    pico: EmulatedPico,
    stop: threading.Event,
    announce: Callable[[str], None],
    speed: float | None = None,
) -> None:
    """Serve a board on a new pty until `stop`.

    Parameters
    ----------
    pico : EmulatedPico
        Nobody else may use it meanwhile.
    stop : threading.Event
    announce : callable
        Is called once with the name of the port, when it can be opened.
    speed : float, optional
        How many times faster than real the board's time may pass; where it computes it is slower,
        and does not catch up. By default as fast as it can.
    """
    with raw_pty() as (master, name):
        announce(name)
        step_s = 0.0 if speed is None else STEP_US / 1e6 / speed
        unsent = b""
        next_s = time.monotonic()
        while not stop.is_set():
            if select.select([master], [], [], max(next_s - time.monotonic(), 0.0))[0]:
                with suppress(BlockingIOError):
                    pico.send(os.read(master, READ_BYTES_MAX))
            next_s = max(next_s, time.monotonic() - STEP_LATE_S_MAX) + step_s
            pico.run(STEP_US)
            unsent += pico.received()
            if unsent:
                with suppress(BlockingIOError):
                    unsent = unsent[os.write(master, unsent) :]


@contextmanager
def served(pico: EmulatedPico, speed: float | None = None) -> Iterator[str]:
    """Serve a board in a thread of its own; gives the name of the port.

    Raises
    ------
    OSError
        There is no pty to be had.
    """
    stop, name = threading.Event(), Future[str]()

    def run() -> None:
        try:
            serve(pico, stop, name.set_result, speed)
        except OSError as error:
            if name.done():
                raise
            name.set_exception(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield name.result()
    finally:
        stop.set()
        thread.join()
