"""Whether an unfinished session goes on by itself at a start, or waits for the operator.

After a power cut the person still sits there, and the test goes on. After a longer time, or beside
another tone generator or calibration, only the operator can say whether all is as it was.
"""

from collections.abc import Iterable
from typing import Any, Final

from firmware_py.board.self_check import clock_part
from firmware_py.platform.clock import SteadyClock
from firmware_py.sessions.identity import Identity, Meeting, Rule, differences
from firmware_py.sessions.session import Session
from firmware_py.terms.reasons import Code, Reason, Reasons, reason
from firmware_py.terms.words import say

RESUME_WITHIN_S: Final = 900.0  # unless the configuration says otherwise
CLOCK_S_MAX: Final = 120.0  # by so much a clock may be set back when it is put right


def why_to_wait(
    session: Session[Any, Any],
    before: Identity,
    here: Identity,
    clock: SteadyClock,
    within_s: float,
) -> Reasons:
    """Return why a session has to wait for the operator's word; nothing: it may go on."""
    away_s = away_for_s(session, clock)
    why = []
    known = -CLOCK_S_MAX <= away_s <= clock.date_known_s()
    dates = (session.last_input_at(clock.speed), clock.date())
    if not (known and all(clock_part(date).works for date in dates)):
        why.append(reason(Code.WAITS_CLOCK))
    elif away_s > within_s:
        why.append(reason(Code.WAITS_LONG, ago=duration(away_s)))
    why += [
        reason(Code.WAITS_DIFFERS, differs=each.reason)
        for each in differences(Meeting.RESUME, before, here)
        if each.rule != Rule.SAID
    ]
    return tuple(why)


def away_for_s(session: Session[Any, Any], clock: SteadyClock) -> float:
    return (clock.date() - session.last_input_at(clock.speed)).total_seconds()


def board_of(session: Session[Any, Any]) -> str:
    """Return the tone generator that answered last, or before that the one it was begun with.

    "": neither is known. When another one answers, that is a difference by itself.
    """
    board: str = session.test.board or session.header.first_board
    return board


class Absence:
    """How long a session was without its tone generator, its firmware, or somebody to go on.

    One of more than `within_s` is told by `why`, whose part is `ago`.
    """

    def __init__(self, clock: SteadyClock, within_s: float, why: Code = Code.WAITS_LONG) -> None:
        self.within_s = within_s
        self._clock = clock
        self._why = why
        self._since_s: float | None = None  # None: it is not away

    def begins(self, before_s: float = 0.0) -> None:
        """Take in that it is away now, and has been for so long, unless it is known to be away."""
        if self._since_s is None:
            self._since_s = self._clock.world_s() - before_s

    @property
    def why(self) -> Reasons:
        """Return why the session would have to wait for the operator; nothing: it may go on."""
        away_s = 0.0 if self._since_s is None else self._clock.world_s() - self._since_s
        return (reason(self._why, ago=duration(away_s)),) if away_s > self.within_s else ()

    def ends(self) -> Reasons:
        """Return why the session has to wait for the operator, as `why`: it is back."""
        why, self._since_s = self.why, None
        return why


def duration(seconds: float) -> Reason:
    for unit, size_s in ((Code.DAYS, 86400.0), (Code.HOURS, 3600.0)):
        if seconds >= 2.0 * size_s:
            return reason(unit, count=int(seconds // size_s))
    return reason(Code.MINUTES, count=int(seconds // 60.0))


def waits_words(session: Session[Any, Any] | None) -> str:
    """Say which session waits for the operator's word, and why; "": none does."""
    if session is None or not session.test.waits_why:
        return ""
    return f"{session.header.KIND} {session.number} waits: {say(session.test.waits_why)}"


def doing_words(sessions: Iterable[Session[Any, Any]]) -> str:
    """Say what is under way, and what waits behind it; of a session only its number."""
    names = [f"{each.header.KIND} {each.number}" for each in sessions]
    if not names:
        return "no test under way"
    return "; ".join([f"{names[0]} under way", *(f"{name} waits" for name in names[1:])])
