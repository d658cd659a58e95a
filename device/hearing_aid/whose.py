"""Whose a fit is, and where the thresholds come from that it rests on; no sound depends on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from firmware_py.procedure.person import Person
from firmware_py.sessions.identity import Identity
from firmware_py.sessions.session_record import checked_number, checked_start, checked_text

FIELDS: Final = (
    "person", "session", "started", "device", "boards", "calibration", "thresholds"
)  # fmt: skip


@dataclass(frozen=True)
class Whose:
    """Person, session, device and tone generators of a fit; None where that is not known.

    Attributes
    ----------
    person : str or None
        The identifier, as the session recorded it.
    session : int or None
        Its number.
    started : str or None
        When that began, ISO 8601.
    device : str or None
        Serial number of the fitting device.
    boards : mapping of str to tuple of str
        The tone generators that each ear was tested with.
    calibration : str or None
        Its state as the session had it, such as "UNCALIBRATED".
    thresholds : str or None
        Which thresholds the rule was given, such as "50 %".
    """

    person: str | None = None
    session: int | None = None
    started: str | None = None
    device: str | None = None
    boards: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    calibration: str | None = None
    thresholds: str | None = None

    def identity(self, fit: str | None = None) -> Identity:
        """Return it as what is compared; `fit`: the digest."""
        return Identity(identifier=self.person, device=self.device, fit=fit)

    def as_record(self) -> dict[str, Any]:
        """Return it as JSON values."""
        told = {name: getattr(self, name) for name in FIELDS}
        return {**told, "boards": {ear: list(names) for ear, names in self.boards.items()}}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Check what `as_record` wrote, and take it; `ValueError` names what is wrong.

        It has the fields, `FIELDS`.
        """
        person, session, started, device, boards, calibration, thresholds = (
            record[name] for name in FIELDS
        )
        if not isinstance(boards, Mapping) or not all(isinstance(b, list) for b in boards.values()):
            raise ValueError(f"boards is {str(boards)[:60]!r}; allowed is a list for each ear")
        return cls(
            Person(identifier=person).identifier,
            None if session is None else checked_number(session),
            None if started is None else checked_start(started),
            None if device is None else checked_text("device", device),
            {
                checked_text("ear", ear): tuple(checked_text("board", name) for name in names)
                for ear, names in boards.items()
            },
            None if calibration is None else checked_text("calibration", calibration),
            None if thresholds is None else checked_text("thresholds", thresholds),
        )


UNKNOWN: Final = Whose()
