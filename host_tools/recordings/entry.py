"""What is listed of one file: a session, or what is wrong with it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from firmware_py.findings.rows import Row, level_row, no_value
from firmware_py.terms.outcomes import DAMAGED, NEWER, UNFINISHED, Bound
from firmware_py.terms.route import BONE, LEFT, RIGHT, Route
from firmware_py.terms.shown_threshold import Kind, ShownThreshold
from host_tools.recordings.doubles import About

RIGHT_BONE, LEFT_BONE = (str(Route(ear, BONE)) for ear in (RIGHT, LEFT))

# In the place of an outcome, beside those of the archive.
FOREIGN: Final = "foreign"  # no journal, or not of a session
TUNING: Final = "tuning"  # of a hearing aid: no hearing test, and nothing is wrong with it
UNREADABLE: Final = "unreadable"
UNSTARTED: Final = "unstarted"  # the power went before its header was whole
# Of these there are words, and no row of a session.
BROKEN: Final = (DAMAGED, FOREIGN, NEWER, TUNING, UNREADABLE, UNSTARTED)


@dataclass(frozen=True)
class Entry:
    """What is listed of a file; texts are "" where nothing is known."""

    name: str  # below its directory, or below that where there are several
    outcome: str  # as in the result, `UNFINISHED`, or one of `BROKEN`
    words: str = ""  # what is wrong with a broken one, and whose a tuning is
    session: int | None = None
    started: str = ""  # ISO 8601
    ears: str = ""  # "both", "left" or "right"
    identifier: str = ""
    calibration: str = ""  # its state
    pta4_right_db_hl: float | None = None  # None: not tested, or not known
    pta4_left_db_hl: float | None = None
    # `at_least`, `at_most`, `inferred`: the ears, apart by a space, whose average is a bound, or
    # has a number in it that was not measured
    at_least: str = ""
    at_most: str = ""
    inferred: str = ""
    tones: int = 0  # of all ears
    # whether the test of an ear was one; "" if there is no result of it
    verdict_right: str = ""
    verdict_left: str = ""
    verdict_right_bone: str = ""
    verdict_left_bone: str = ""
    routes: str = ""  # by which it was to be tested: "air", or "air, bone"
    device: str = ""  # serial number of the fitting device
    prior: str = ""  # the hash of the prior that somebody brought; "": the one that ships
    content: str = ""  # digest of the file; "": it is broken, or was written to meanwhile
    recorded_by: str = ""  # the version and the format, of an earlier one
    path: str = ""  # to open it

    @property
    def broken(self) -> bool:
        return self.outcome in BROKEN

    @property
    def is_wrong(self) -> bool:
        """Return whether something is wrong with it; with a tuning nothing is."""
        return self.broken and self.outcome != TUNING

    @property
    def begun(self) -> str:
        """Return when it was begun, to the minute, with the offset that was recorded."""
        try:
            return datetime.fromisoformat(self.started).isoformat(" ", "minutes")
        except ValueError:
            return self.started

    @property
    def about(self) -> About:
        finished = self.outcome != UNFINISHED
        known = (self.content, self.device, self.session, self.started)
        return About(self.name, *known, finished, self.path)

    @property
    def verdicts(self) -> dict[str, str]:
        """Return the verdicts that there are, by route, those by air first."""
        told = {
            RIGHT: self.verdict_right,
            LEFT: self.verdict_left,
            RIGHT_BONE: self.verdict_right_bone,
            LEFT_BONE: self.verdict_left_bone,
        }
        return {route: verdict for route, verdict in told.items() if verdict}

    def mean_of(self, ear: str) -> Row:
        db_hl = self.pta4_db_hl.get(ear)
        if db_hl is None:
            return no_value()
        bound = Bound.AT_MOST if ear in self.at_most.split() else Bound.NONE
        bound = Bound.AT_LEAST if ear in self.at_least.split() else bound
        return mean_row(db_hl, bound, ear in self.inferred.split())

    @property
    def pta4_db_hl(self) -> dict[str, float]:
        """Return the averages that are known, by ear."""
        known = {RIGHT: self.pta4_right_db_hl, LEFT: self.pta4_left_db_hl}
        return {ear: db_hl for ear, db_hl in known.items() if db_hl is not None}


def mean_row(db_hl: float, bound: Bound, inferred: bool) -> Row:
    """Return the mean threshold of an ear; `inferred`: a number in it was not measured."""
    return level_row(
        ShownThreshold(Kind.INFERRED if inferred else Kind.MEASURED, db_hl, limit=bound)
    )
