"""The connection to the hearing aid: its port, its greeting, and what is done at a loss."""

from contextlib import suppress

from firmware_py.board.board_connection import Reopening
from firmware_py.link.aid import AidClient, AidGone, AidGreeted, AidNotice
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.ports import Port, PortError


class AidConnection:
    """The connection to the hearing aid by a port that is not open yet."""

    def __init__(self, port: Port, clock: SteadyClock) -> None:
        self.port = port
        self.client = AidClient()
        self.greeted: AidGreeted | None = None  # by the one that answers now
        self.why = "it was not reached yet"  # it does not answer
        self._clock = clock.of_wire()  # never faster than real
        self._reopening = Reopening(port, clock)

    def receive(self) -> list[AidNotice]:
        if self._reopening.try_again():
            self.client.connect()
        try:
            told = self.client.receive(self.port.read(), self._clock.now_us())
        except PortError as error:
            told = [AidGone(str(error))]
        for notice in told:
            self._notice(notice)
        return told

    def send(self) -> list[AidNotice]:
        try:
            self.port.write(self.client.transmit(self._clock.now_us()))
        except PortError as error:
            gone = AidGone(str(error))
            self._notice(gone)
            return [gone]
        return []

    def seconds_to_wait(self) -> float | None:
        deadline_us = self.client.next_deadline_us()
        if deadline_us is None or not self.port.is_open:
            return None
        return self._clock.seconds_until(deadline_us)

    def close(self, *, stop: bool = True) -> None:
        if stop and self.client.connected and not self.client.busy:
            self.client.stop()
            with suppress(PortError):
                self.port.write(self.client.transmit(self._clock.now_us()))
        self.port.close()

    def _notice(self, notice: AidNotice) -> None:
        match notice:
            case AidGreeted():
                self.greeted = notice
            case AidGone(why):
                self.greeted, self.why = None, why
                self.client.disconnect()
                self.port.close()
                self._reopening.delay()
