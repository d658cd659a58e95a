"""Watch a session at the firmware's console: by its unasked lines, and by queries."""

import queue
import time
from contextlib import ExitStack

from firmware_py.calibration.in_force import UNCALIBRATED
from firmware_py.console.grammar import COMMAND_PROTECTED
from firmware_py.presenting.presenter import FINISHED
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.tells import AnswerTold, CatchTold, ToneTold
from host_tools.commands.console.command import Talk
from host_tools.commands.console.visit import events_as_found
from host_tools.commands.watch.view import Answered, View, under_way
from host_tools.devices.device_answers import told_pairs, told_result, told_unasked


class PortWatch:
    """Follows the session of a firmware at its console.

    Parameters
    ----------
    url : str
        The console's port; no other program may have it open meanwhile.

    Raises
    ------
    HostError
        If no firmware answers there.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._lines: queue.Queue[str] = queue.Queue()
        self._talk = Talk(url, self._lines.put)
        self._answers: list[Answered] = []
        self._tone: ToneTold | None = None
        self._refused = False  # what was found in this session, for want of the PIN
        self._began_s = time.monotonic()
        with ExitStack() as undo:
            undo.callback(self._talk.close)
            self._talk.wake()
            undo.enter_context(events_as_found(self._talk))
            self._talk.insist("SYST:EVEN ON")
            self._view = self._look_anew()
            self._undo = undo.pop_all()

    def look(self) -> View:
        """Return what there is to see now; `HostError` if the firmware does not answer any more."""
        self._talk.check()
        changed = False
        while not self._lines.empty():
            changed |= self._take(self._lines.get())
        if changed:
            self._view = self._look_anew()
        return self._view

    def close(self) -> None:
        """Leave the console as it was found, and hang up."""
        self._undo.close()

    def _look_anew(self) -> View:
        about = told_pairs("SESS:STAT?", self._talk.insist("SESS:STAT?"))
        lost = about.get("board") == "lost"
        if about["state"] == "idle":
            return View(self._url, under_way("no session yet", lost=lost), about["calibration"])
        # Each refusal is one more error that the operator finds in the queue.
        answer = "" if self._refused else self._talk.ask("SESS:RES?")[-1]
        self._refused = self._refused or answer.startswith(f"ERROR {COMMAND_PROTECTED},")
        if self._refused:
            over = about["state"] == FINISHED
            state = under_way(about["state"], lost=lost and not over)
            state += "; what was found needs the operator's PIN"
            return View(self._url, state, about["calibration"], over=over)
        found = told_result(answer)
        return View(
            name=self._url,
            state=found.outcome or under_way(f"{about['state']}, {about.route.words}", lost=lost),
            calibration=about["calibration"],
            nominal=about["calibration"] == UNCALIBRATED,
            result=found,
            answers=list(self._answers),
            elapsed_s=time.monotonic() - self._began_s,
            seconds_to_go=None if found.outcome or lost else about.number("seconds_to_go"),
            over=found.outcome != "",
            check=about.get("why", ""),
            resumed=about.whole("resumed") if "resumed" in about else 0,
        )

    def _take(self, line: str) -> bool:
        """Take in what was told; return whether there is something new to look at."""
        what, told = told_unasked(line)
        if isinstance(told, ToneTold | CatchTold):
            self._tone = told if isinstance(told, ToneTold) else None
            return False
        if isinstance(told, AnswerTold):
            self._answers.append(_as_answered(self._tone, told))
        elif what == "session":
            self._answers = []
            self._refused = False
            self._began_s = time.monotonic()
        return True


def _as_answered(tone: ToneTold | None, answer: AnswerTold) -> Answered:
    of = None if answer.purpose == Purpose.CATCH else tone
    return Answered(
        number=answer.number,
        route=answer.route,
        purpose=answer.purpose,
        frequency_hz=of.frequency_hz if of else None,
        level_db_hl=of.level_db_hl if of else None,
        heard=answer.heard,
        information_bits=of.information_bits if of else None,
        half_width_db=answer.half_width_db,
    )
