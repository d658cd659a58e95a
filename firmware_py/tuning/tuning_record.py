"""What a tuning says in its journal, `tuning-000001.journal`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from firmware_py.comparisons.events import AidEvent
from firmware_py.comparisons.result import TuningResult
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.platform.data_directory import TUNING
from firmware_py.platform.own_prior import FindPrior, find_none
from firmware_py.sessions.identity import Identity, kind_and_name
from firmware_py.sessions.session_record import Header
from firmware_py.terms.record_checks import optional, text

if TYPE_CHECKING:  # who only reads what was found needs no kernels
    from firmware_py.comparisons.tuning import Tuning


def _settings(_place: str, value: Any) -> TuningSettings:
    return TuningSettings.from_record(value)


@dataclass(frozen=True)
class TuningHeader(Header["Tuning", TuningResult]):
    """The first record of the journal of a tuning."""

    KIND = TUNING
    PROCEDURE = "tuning"
    EVENTS = AidEvent.KINDS
    RESULT = TuningResult

    settings: Annotated[TuningSettings, _settings]
    aid: Annotated[str, text]  # name and version of the engine
    identifier: Annotated[str | None, optional(text)]  # who was asked

    def new_test(self, _find_prior: FindPrior = find_none) -> "Tuning":
        from firmware_py.comparisons.tuning import Tuning

        return Tuning(self.settings)

    def identity(self, board: str = "") -> Identity:
        """Return who and what it is of; `board`: which one, with its button, answered last."""
        kind, name = kind_and_name(board)
        return Identity(
            identifier=self.identifier,
            device=self.device or None,
            board_kind=kind,
            board=name,
            aid=self.aid,
            fit=self.settings.fit,
        )


def is_tuning(header: dict[str, Any]) -> bool:
    """Return whether this is the header of a tuning, of whatever version."""
    return header.get("procedure") == TuningHeader.PROCEDURE
