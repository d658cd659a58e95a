"""A simulated board behind a pty, so that a program can open it like any serial port."""

import os
import select
import signal
import threading
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType
from typing import Final

from device.simulator.faults import Board

WAIT_S_MAX: Final = 0.1  # how late a stop is noticed at most
READ_BYTES_MAX: Final = 4096  # what a pty holds


def serve(board: Board, speed: float = 1.0, announce: Callable[[str], None] = print) -> None:
    """Serve a board on a new pty until SIGTERM or SIGINT, in the main thread.

    The pty lasts as long as this function: a program that dies finds the same one again. What
    nobody reads stays in the board's bounded output, and beyond that is dropped. An `OSError` if
    there is no pty to be had.

    Parameters
    ----------
    board : Board
        A fresh one, whose ``host_silence_us`` the caller has multiplied by `speed`; with a bad
        cable or without.
    speed : float
        How many times faster than real the board's time passes, from 0 on.
    announce : callable
        Is called once with the name of the port (``/dev/pts/7``), when it can be opened.
    """
    stop = threading.Event()
    with stop_by_signals(stop), raw_pty() as (master, name):
        announce(name)
        carry(board, master, stop, speed)


@contextmanager
def serve_in_thread(board: Board, speed: float = 1.0) -> Iterator[str]:
    """Serve a board in a thread of its own; gives the name of the port. Errors as of `serve`."""
    stop = threading.Event()
    with raw_pty() as (master, name):
        thread = threading.Thread(target=carry, args=(board, master, stop, speed))
        thread.start()
        try:
            yield name
        finally:
            stop.set()
            thread.join()


def carry(board: Board, master: int, stop: threading.Event, speed: float = 1.0) -> None:
    """Carry bytes between a board and the master side of a raw pty until `stop`; see `serve`."""
    line = _Line(board, speed, master)
    while not stop.is_set():
        line.carry()


class _Line:
    # Carries bytes between a board and the master side of a pty.

    def __init__(self, board: Board, speed: float, master: int) -> None:
        self._board = board
        self._board_us_per_s = speed * 1e6
        self._master = master
        self._start_s = time.monotonic()
        self._unsent = b""  # the rest of one frame

    def carry(self) -> None:
        # Waits until something is to be done, but not for long, and does it.
        wanted = [self._master] if self._refill() else []
        readable, writable, _ = select.select([self._master], wanted, [], self._wait_s())
        if readable:
            self._read()
        self._board.advance(self._now_us())
        if writable:
            self._write()

    def _now_us(self) -> int:
        return int((time.monotonic() - self._start_s) * self._board_us_per_s)

    def _wait_s(self) -> float:
        deadline_us = self._board.next_deadline_us()
        if deadline_us is None:
            return WAIT_S_MAX
        wait_s = (deadline_us - self._now_us()) / self._board_us_per_s
        return min(max(wait_s, 0.0), WAIT_S_MAX)

    def _read(self) -> None:
        with suppress(BlockingIOError):
            self._board.receive(os.read(self._master, READ_BYTES_MAX), self._now_us())

    def _write(self) -> None:
        # Frame by frame, so that what the board wants to take back is still its own.
        with suppress(BlockingIOError):
            while self._refill():
                self._unsent = self._unsent[os.write(self._master, self._unsent) :]

    def _refill(self) -> bool:
        if not self._unsent:
            self._unsent = self._board.transmit(frames_max=1)
        return bool(self._unsent)


@contextmanager
def raw_pty() -> Iterator[tuple[int, str]]:
    """Open a pty without any line discipline; yield its master and the name of its slave."""
    # The slave stays open here: without it the pty would hang up whenever a program closes it.
    master, slave = os.openpty()
    try:
        tty.setraw(slave)
        os.set_blocking(master, False)
        yield master, os.ttyname(slave)
    finally:
        os.close(slave)
        os.close(master)


@contextmanager
def at_first_signal(numbers: Sequence[int], act: Callable[[int], None]) -> Iterator[None]:
    """Call `act` with the number of the first of these signals, and ignore those that follow it.

    A second one, from a parent that ends as well, would interrupt what the first one began, or wait
    for ever for a lock that it has.
    """

    def first(number: int, _frame: FrameType | None) -> None:
        for again in numbers:
            signal.signal(again, signal.SIG_IGN)
        act(number)

    handlers = [signal.signal(number, first) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)


def stop_by_signals(stop: threading.Event) -> AbstractContextManager[None]:
    """Have SIGTERM and SIGINT set an event."""
    return at_first_signal((signal.SIGTERM, signal.SIGINT), lambda _: stop.set())


def end_by_signals(*numbers: int) -> AbstractContextManager[None]:
    """Have these signals end this process in good order, with the exit code that a shell tells."""

    def end(number: int) -> None:
        raise SystemExit(128 + number)

    return at_first_signal(numbers, end)
