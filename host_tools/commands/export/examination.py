"""What is exported of a session: its recorded result, and what has to be known to read it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from firmware_py.archive import COMPLETE, UNFINISHED, ArchiveError, recorded_result
from firmware_py.calibration.file import CalibrationError
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.journal import Record
from firmware_py.procedure.outcomes import INCOMPLETE, MEASURED
from firmware_py.procedure.settings import Settings
from host_tools.bands import is_wide
from host_tools.errors import HostError
from host_tools.pta4 import pta4_of

# What every threshold has; anything else in it is a mark, such as of masking.
THRESHOLD_KEYS: Final = (
    "frequency_hz", "mark", "threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl", "limit_db_hl",
)  # fmt: skip
_NO_NUMBER: Final = dict.fromkeys(("threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl"))
NOTHING: Final = (None, False, "", "none")  # to say of a mark


# Of an ear whose test did not end, a band wider than so many times what was wanted is not of what
# it answered but of what is known of other people.
GUESS_WIDTHS: Final = 2.0


@dataclass(frozen=True)
class Examination:
    """One session, to be exported.

    Attributes
    ----------
    journal : str
        Its name, without the directory.
    header : dict
        The journal's first record.
    result : dict
        As recorded, or so far as an unfinished session goes; of ears whose test did not end,
        without the thresholds that are guesses (`without_guesses`).
    """

    journal: str
    header: Record
    result: dict[str, Any]

    @property
    def outcome(self) -> str:
        """Return what came of the session, in a word."""
        return self.result["outcome"] or UNFINISHED

    @property
    def final(self) -> bool:
        """Return whether the session came to its own end."""
        return self.outcome == COMPLETE

    @property
    def person(self) -> Mapping[str, Any]:
        """Return who was tested: `identifier`, `age_years`, `sex`; what is not there is None."""
        told = self.header.get("person") or {}
        return {key: told.get(key) for key in ("identifier", "age_years", "sex")}

    @property
    def ears(self) -> dict[str, dict[str, Any]]:
        """Return what was found, by ear."""
        return {ear["ear"]: ear for ear in self.result["ears"]}

    @cached_property
    def calibration(self) -> CalibrationInForce:
        """Return the calibration under which it was found."""
        return CalibrationInForce.from_record(self.header.get("calibration"))

    def as_json(self) -> dict[str, Any]:
        """Return all of it as JSON values, in the form of the schema."""
        return {
            "journal": self.journal,
            "session": self.header.get("session"),
            "started": self.header.get("started"),
            "firmware": self.header.get("firmware"),
            "outcome": self.outcome,
            "person": dict(self.person),
            "calibration": {"state": self.calibration.state, "words": self.calibration.headline},
            "settings": self.header.get("settings"),
            **{key: value for key, value in self.result.items() if key not in ("outcome", "ears")},
            "ears": [_ear_as_json(ear) for ear in self.result["ears"]],
        }


def read_examination(path: Path, unfinished: bool = False) -> Examination:
    """Read what a session found: its recorded result, from a journal that is checked whole.

    Parameters
    ----------
    path : Path
        The journal.
    unfinished : bool
        Of a session without a result, take what is known so far: its inputs are fed through the
        procedure again.

    Raises
    ------
    HostError
        It is no journal, damaged, or not finished; or what is known so far does not replay to what
        was recorded.
    """
    try:
        found = recorded_result(path)
        examination = _examination(path, found.header, found.result)
        _ = examination.calibration
    except ArchiveError as error:
        if unfinished:
            return _so_far(path)
        raise HostError(_named(path, str(error), "--unfinished exports what is known")) from None
    except CalibrationError as error:
        raise HostError(f"{path}: its calibration is not one of this version: {error}") from None
    return examination


def without_guesses(ear: Mapping[str, Any], wanted_db: float) -> dict[str, Any]:
    """Mark as incomplete the thresholds of an ear that its answers say little about.

    Parameters
    ----------
    ear : dict
        Of a result. One whose test came to its end is left as it is, however wide its bands.
    wanted_db : float
        How far a 95 % band was to reach to either side.
    """
    if ear["outcome"] != INCOMPLETE:
        return dict(ear)
    thresholds = [
        {**t, **_NO_NUMBER, "mark": INCOMPLETE} if is_wide(t, GUESS_WIDTHS * wanted_db) else t
        for t in ear["thresholds"]
    ]
    return {**ear, "thresholds": thresholds}


def marks_of(threshold: Mapping[str, Any]) -> list[str]:
    """Return what is to be said of a threshold beside its level: its mark, and any other."""
    marks = [] if threshold["mark"] == MEASURED else [str(threshold["mark"])]
    for name, value in threshold.items():
        if name not in THRESHOLD_KEYS and value not in NOTHING:
            marks.append(name if value is True else f"{name}: {value}")
    return marks


def _so_far(path: Path) -> Examination:
    # Only this needs the procedure, and with it Numba.
    from host_tools.recorded import read_true_session

    session = read_true_session(path)
    return _examination(path, session.header, session.result)


def _examination(path: Path, header: Record, result: dict[str, Any]) -> Examination:
    settings = header.get("settings") or {}
    wanted_db = settings.get("stop_half_width_db", Settings.stop_half_width_db)
    ears = [without_guesses(ear, wanted_db) for ear in result["ears"]]
    # A byte that is not UTF-8 is spelt out, as every format is.
    name = path.name.encode(errors="backslashreplace").decode()
    return Examination(name, header, {**result, "ears": ears})


def _named(path: Path, error: str, remedy: str) -> str:
    """Return an error that names the file once; what is not finished can be helped."""
    if error.startswith(str(path)):
        return error
    return f"{path}: {error}; {remedy}"


def _ear_as_json(ear: Mapping[str, Any]) -> dict[str, Any]:
    average = pta4_of(ear["thresholds"])
    return {
        **ear,
        "pta4_db_hl": average and average.db_hl,
        "pta4_at_least": average is not None and average.at_least,
    }
