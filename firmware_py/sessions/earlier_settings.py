"""Settings that an earlier version recorded, with words that today's settings no longer have.

They are read and shown as they were recorded. A session with such a word is not replayed, nor gone
on with: only the version that recorded it can do what the word says.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Final

from firmware_py.terms.record_checks import refusal
from firmware_py.terms.settings import DEFAULT_PROFILE, PAPER_PROFILE, SettingError, Settings

RESPONSE_TIMES: Final = "response-times"
GONE_PROFILES: Final = ("annealed-laplace", RESPONSE_TIMES)


@dataclass(frozen=True)
class EarlierSettings(Settings):
    """Settings with every word that was ever recorded."""

    profile: Annotated[str, (DEFAULT_PROFILE, PAPER_PROFILE, *GONE_PROFILES)] = DEFAULT_PROFILE

    @property
    def honest(self) -> bool:
        """Return whether the bands of its profile could be trusted."""
        return self.profile in (DEFAULT_PROFILE, RESPONSE_TIMES)

    @property
    def gone(self) -> str:
        """Say which word of theirs is gone."""
        return f"profile {self.profile} is no more"


def recorded_settings(place: str, value: Any) -> Settings:
    """Return settings as they were recorded; `SettingError` if no version records such."""
    if not isinstance(value, dict):
        raise refusal(place, value, "is an object")
    for name in Settings.__dataclass_fields__:
        if name not in value:
            raise SettingError(f"{place} has no {name!r}")
    kind = EarlierSettings if value["profile"] in GONE_PROFILES else Settings
    return kind.from_record(value)
