"""Whose a fit is, and where the thresholds come from that it rests on; no sound depends on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from firmware_py.platform.data_directory import SESSION_NUMBER_MAX
from firmware_py.sessions.identity import Identity
from firmware_py.sessions.start_time import start
from firmware_py.terms.person import Person
from firmware_py.terms.record_checks import optional, refusal, text, whole


def _person(_place: str, value: Any) -> str | None:
    return Person(identifier=value).identifier


def _boards(place: str, value: Any) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(value, Mapping) or not all(isinstance(b, list) for b in value.values()):
        raise refusal(place, value, "is a list for each ear")
    return {
        text("ear", ear): tuple(text("board", name) for name in names)
        for ear, names in value.items()
    }


@dataclass(frozen=True)
class Whose:
    """Person, session, device and tone generators of a fit; None where that is not known."""

    person: Annotated[str | None, _person] = None
    session: Annotated[int | None, optional(whole(1, SESSION_NUMBER_MAX))] = None
    started: Annotated[str | None, optional(start)] = None
    device: Annotated[str | None, optional(text)] = None
    boards: Annotated[Mapping[str, tuple[str, ...]], _boards] = field(
        default_factory=dict, hash=False
    )
    calibration: Annotated[str | None, optional(text)] = None  # its state, as the session had it
    thresholds: Annotated[str | None, optional(text)] = None  # those given to the rule: "50 %"

    def identity(self, fit: str | None = None) -> Identity:
        """Return it as what is compared; `fit`: the digest."""
        return Identity(identifier=self.person, device=self.device, fit=fit)

    def as_record(self) -> dict[str, Any]:
        return {**vars(self), "boards": {ear: list(names) for ear, names in self.boards.items()}}


UNKNOWN: Final = Whose()
