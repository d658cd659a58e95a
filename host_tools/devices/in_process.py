"""A simulated device in this process: the real firmware and a board with its listener, in threads.

Both speak the real protocols over ptys: the wire, and the console at the port that is returned. So
whoever opens that port finds what a device has.
"""

import argparse
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING, Final

from device.simulator.serve import raw_pty, serve_in_thread
from firmware_py.platform.ports import READ_BYTES_MAX, UNSENT_BYTES_MAX, Port, PortError
from firmware_py.platform.supervisor import Supervisor
from host_tools.devices.simulation import board_of, routes_of, settings_of
from host_tools.errors import HostError

if TYPE_CHECKING:  # it brings the kernels
    from firmware_py.firmware import Firmware
    from firmware_py.platform.data_directory import DataDirectory

NONCE_BYTES: Final = 4


@contextmanager
def device_in_process(
    arguments: argparse.Namespace, stop: threading.Event, tell: Callable[[str], None]
) -> Iterator[str]:
    """Run a simulated device in threads; gives the port of its console, and ends it afterwards.

    `arguments` are as `check_board` leaves them, with `routes`, `speed` and `data`; `stop` is set
    when the firmware has ended; `tell` is given what happens before it runs.
    """
    board = board_of(arguments, tell)
    with ExitStack() as stack:
        try:
            wire = stack.enter_context(serve_in_thread(board, arguments.speed))
            master, console = stack.enter_context(raw_pty())
        except OSError as error:
            raise HostError(f"there is no pty to be had: {error.strerror}") from None
        data = stack.enter_context(closing(_data_in(arguments)))
        ready = threading.Event()
        supervisor = Supervisor({}, lambda _: ready.set())
        end = NearEnd(master, console)
        with _running(_firmware(arguments, data, wire, end, supervisor), ready, stop):
            ready.wait()
            if not stop.is_set():
                yield console


class NearEnd(Port):
    """The master of a raw pty, as the port of whoever serves there; `url` names the slave.

    The descriptor stays open when the port is closed.
    """

    is_open = False  # set here, not found out as that of a real port

    def __init__(self, master: int, url: str) -> None:
        super().__init__(url, "console")
        self._master = master

    def open(self) -> None:
        self.is_open = True

    def close(self) -> None:
        super().close()
        self.is_open = False

    def fileno(self) -> int | None:
        return self._master if self.is_open else None

    def read(self) -> bytes:
        with suppress(BlockingIOError):
            return os.read(self._master, READ_BYTES_MAX)
        return b""

    def write(self, data: bytes) -> None:
        """Send bytes; what the other end does not take yet is kept.

        Up to a limit: if nobody reads there, the port is closed, and that is a `PortError`.
        """
        if not self.is_open:
            return
        self._unsent += data
        with suppress(BlockingIOError):
            while self._unsent:
                del self._unsent[: os.write(self._master, self._unsent)]
        if len(self._unsent) > UNSENT_BYTES_MAX:
            self.close()
            raise PortError(f"{self.role}: nobody reads at {self.url!r}")


@contextmanager
def _running(firmware: "Firmware", *ended: threading.Event) -> Iterator[None]:
    """Run a firmware in a thread; the events are set when it has ended, and its error is raised."""
    from firmware_py.firmware import FirmwareError

    wrong: list[Exception] = []

    def run() -> None:
        try:
            firmware.run()
        except Exception as error:  # it is raised where somebody sees it
            wrong.append(error)
        finally:
            for each in ended:
                each.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        firmware.stop()
        thread.join()
    for error in wrong:
        if isinstance(error, FirmwareError):
            raise HostError(str(error)) from None
        raise error


def _data_in(arguments: argparse.Namespace) -> "DataDirectory":
    from firmware_py.platform.data_directory import DataDirectory, DataDirectoryError

    try:
        return DataDirectory(arguments.data)
    except DataDirectoryError as error:
        raise HostError(str(error)) from None


def _firmware(
    arguments: argparse.Namespace,
    data: "DataDirectory",
    wire: str,
    console: Port,
    supervisor: Supervisor,
) -> "Firmware":
    from firmware_py.firmware import Firmware, Ports
    from firmware_py.inference import kernel
    from firmware_py.installation.configuration import Configuration
    from firmware_py.platform.clock import SteadyClock
    from firmware_py.terms.settings import Settings

    kernel.prepare()
    settings = {**settings_of(arguments), **routes_of(arguments), "seed": arguments.seed}
    configuration = Configuration(Settings.from_record(settings), seed=arguments.seed)
    ports = Ports(Port(wire, "tone generator"), console)
    clock = SteadyClock(arguments.speed)
    return Firmware(
        configuration, ports, data, clock, lambda: secrets.token_hex(NONCE_BYTES), supervisor
    )
