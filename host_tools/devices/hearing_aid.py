"""The hearing aid as a process of ours: openMHA with a fit, and the speech it plays."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from host_tools.devices.patience import Wait, processor_s
from host_tools.devices.processes import Voice, end_process, start_process
from host_tools.errors import HostError

PORT_MARK: Final = "socket://"  # how the line begins that says where it is


class HearingAidProcess:
    """`device.hearing_aid.serve` as a process.

    Parameters
    ----------
    fit, speech : Path
        What the aid is fitted with, and what it plays.
    options : sequence of str
        More of its command line.
    tell : callable
        Is called with every line that it says before it serves.

    Raises
    ------
    HostError
        If it does not serve; with its own words.
    """

    def __init__(
        self, fit: Path, speech: Path, options: list[str], tell: Callable[[str], None]
    ) -> None:
        command = [sys.executable, "-m", "device.hearing_aid.serve"]
        command += ["--fit", str(fit), "--speech", str(speech), *options]
        self._process = start_process(command)
        self._voice = Voice(self._process)
        try:
            self.port = self._wait_until_served(tell)
        except BaseException:
            self.end()
            raise

    def work_s(self) -> float:
        """Return the processor time it has used, with what it started."""
        return processor_s([self._process.pid])

    def check(self) -> None:
        """Raise `HostError` with its last words if it is not there any more."""
        if self._process.poll() is not None:
            words = [said.line for said in self._voice.last_lines() if said.line]
            why = words[-1].removeprefix("hearing aid: ") if words else "it said nothing"
            raise HostError(
                f"the hearing aid is lost: {why}; the journal is kept, and the same command goes "
                "on with it"
            )

    def end(self) -> None:
        """End it, and the engine with it."""
        end_process(self._process)

    def _wait_until_served(self, tell: Callable[[str], None]) -> str:
        wait = Wait("the hearing aid", "start", self.work_s, tell)
        last_words = ""
        while True:
            for said in self._voice.lines(0.1):
                wait.hear(said.line)
                if said.line.startswith(PORT_MARK):
                    return said.line.strip()
                if last_words:
                    tell(last_words)
                last_words = said.line.removeprefix("hearing aid: ")
            if self._process.poll() is not None:
                for said in self._voice.last_lines():
                    last_words = said.line.removeprefix("hearing aid: ") or last_words
                raise HostError(f"the hearing aid did not start: {last_words}")
            wait.check()
