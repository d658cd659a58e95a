"""How long to wait for a process: as long as it says something or works, and not for ever.

A line that it says is a sign of life, and so is processor time that it uses: on a busy machine a
step of a second takes a minute. A process with neither stands still.
"""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from host_tools.errors import HostError

SILENT_S_MAX: Final = 60.0  # without a line, and without work
LONGEST_S: Final = 3600.0  # for one thing, whatever is said and done meanwhile
# A process that only waits uses less of `SILENT_S_MAX` for looking up; one that computes gets more,
# even where fifty share a processor.
WORK_S: Final = 1.0
LOOK_S: Final = 1.0  # from one look at the processor time to the next
PROC: Final = Path("/proc")
NEXT: Final = "run the command again, and report it if it stops there again"


class Wait:
    """One wait until processes have done one thing: `what`, such as "answer '*IDN?'".

    `work_s` returns the processor time that they have used so far. `tell` is called when they have
    said nothing for long, but work. `silent_s_max` is how long they may do neither, and `longest_s`
    how long it may take in all.
    """

    def __init__(
        self,
        who: str,
        what: str,
        work_s: Callable[[], float],
        tell: Callable[[str], None] = lambda _: None,
        *,
        silent_s_max: float = SILENT_S_MAX,
        longest_s: float = LONGEST_S,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._who, self._what = who, what
        self._used_s, self._tell = work_s, tell
        self._silent_s_max, self._longest_s = silent_s_max, longest_s
        self._now_s = now_s
        self._last_line = ""
        self._began_s = self._said_s = self._told_s = self._worked_s = self._looked_s = now_s()
        self._look_s = min(LOOK_S, silent_s_max / 4)
        self._known_s: float | None = None  # of the processor time

    def hear(self, line: str) -> None:
        self._last_line = line
        self._said_s = self._told_s = self._now_s()

    def check(self) -> None:
        """Raise `HostError`, with the words of `in_vain`, if it makes no sense to go on waiting."""
        if why := self.in_vain():
            raise HostError(why)

    def in_vain(self) -> str:
        """Return why to wait no longer, what was said last, and what to do; "": go on waiting."""
        now_s = self._now_s()
        if self._works(now_s) and now_s - self._told_s > self._silent_s_max:
            self._told_s = now_s
            silent_s = now_s - self._said_s
            self._tell(f"{self._who} has said nothing for {silent_s:.0f} s, but it works; waiting")
        if now_s - max(self._said_s, self._worked_s) > self._silent_s_max:
            return self._why_given_up(now_s, " and does not work")
        if now_s - self._began_s > self._longest_s:
            return self._why_given_up(now_s, "")
        return ""

    def _works(self, now_s: float) -> bool:
        """Look, if it is time; return whether the processes have worked since."""
        if now_s - self._looked_s < self._look_s:
            return False
        self._looked_s = now_s
        used_s = self._used_s()
        if self._known_s is None:  # they may have worked before the first look
            self._known_s, self._worked_s = used_s, now_s
        self._known_s = min(self._known_s, used_s)  # one of them may have ended
        if used_s - self._known_s < WORK_S:
            return False
        self._known_s, self._worked_s = used_s, now_s
        return True

    def _why_given_up(self, now_s: float, works: str) -> str:
        last = f"last it said: {self._last_line}" if self._last_line else "it never said anything"
        return (
            f"{self._who} did not {self._what} within {now_s - self._began_s:.0f} s: it has said "
            f"nothing for {now_s - self._said_s:.0f} s{works} ({last}); {NEXT}"
        )


def processor_s(pids: Iterable[int]) -> float:
    """Return the processor time that these processes, and those they started, have used.

    Where the system does not tell, it is 0: then a line is the only sign of life.
    """
    used = _processor_times()
    family, added = set(pids), True
    while added:
        grown = family | {pid for pid, (parent, _) in used.items() if parent in family}
        added, family = len(grown) > len(family), grown
    return sum(used[pid][1] for pid in family if pid in used)


def _processor_times() -> dict[int, tuple[int, float]]:
    """Return parent and processor time by process; empty where there is no /proc."""
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    used = {}
    for status in PROC.glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            fields = status.read_text(errors="replace").rpartition(")")[2].split()
            # Its own in user and system mode, and that of its children which have ended.
            ticks = sum(map(int, fields[11:15]))
            used[int(status.parent.name)] = (int(fields[1]), ticks / ticks_per_s)
    return used
