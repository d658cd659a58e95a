"""A card in an emulated machine, with a tone generator at its USB port and a listener."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self

from device.simulator.listener import Listener
from host_tools.devices.live import IDLE_STATES
from tests.card.boards import MachineError, Plug
from tests.card.machine import Kind, Machine, data_of, short_directory
from tests.firmware.rig import Served
from tests.firmware.whole_sessions import a_listener

WAIT_S_MAX: Final = 600.0  # for anything at all, on a very busy machine
ASK_S: Final = 1.0
ANSWER: Final = "! answer"


class Rig:
    """The device with a copy of a card, used in a `with` statement; its power is off."""

    def __init__(
        self,
        kind: Kind,
        card: Path,
        listener: Listener | None = None,
        card_bytes: int | None = None,
    ) -> None:
        self.machine = Machine(kind, card, short_directory(), card_bytes)
        self.served = Served(listener or a_listener(), speed=1.0)
        self._plugs: list[Plug] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut_power()
        self.served.stop()
        shutil.rmtree(self.machine.place)

    def start(self, *options: str, plugged_in: bool = True) -> str:
        """Switch the power on, wait for the firmware, and return who it is."""
        self.cut_power()
        self.machine.switch_on(*options)
        if plugged_in:
            self.plug_in()
        who = self.machine.wait_for_firmware()
        if plugged_in:
            self.wait_for("*TST?", lambda answer: "board ok" in answer)
        return who

    def plug_in(self) -> None:
        self._plugs.append(self.machine.plug_in(self.served.port))

    def plug_in_again(self) -> None:
        """Have the tone generator come up anew, as its power does with the machine's."""
        while self._plugs:
            self._plugs.pop().pull()
        self.plug_in()

    def cut_power(self) -> None:
        """Cut the power: what was not flushed to the card is lost."""
        self.machine.cut_power()
        while self._plugs:
            self._plugs.pop().pull()

    def wait_for(self, query: str, holds: Callable[[str], bool]) -> str:
        until_s = time.monotonic() + WAIT_S_MAX
        while time.monotonic() < until_s:
            answer = self.machine.ask(query)
            if holds(answer):
                return answer
            time.sleep(ASK_S)
        raise MachineError(f"{query} was answered by {answer!r} at last")

    def hear_answers(self, number: int) -> None:
        self.machine.ask("SYST:EVEN ON")
        for _ in range(number):
            self.machine.until(ANSWER)

    def wait_until_idle(self) -> None:
        self.wait_for("SESS:STAT?", is_idle)

    def errors(self) -> list[str]:
        """Return what the firmware has to say, and has not said yet."""
        errors = []
        while not (error := self.machine.ask("SYST:ERR?")).startswith("0,"):
            errors.append(error)
        return errors

    def data(self) -> Path:
        """Return what the firmware has on the card, whose power is cut for this."""
        self.cut_power()
        return data_of(self.machine.card, self.machine.place)


def is_idle(state: str) -> bool:
    return state.startswith(IDLE_STATES)
