"""Records of journals of earlier formats, read as today's: `journal/FORMATS.md` has the policy.

A reader knows one format, and turns its records into those of the format after it. So a journal is
read by the readers from its own format on, and a change of today's form adds one. They turn form
into form: nothing is computed, and what a format does not say stays unknown.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from firmware_py.journal import FORMAT_VERSION, Record, recorder_of
from firmware_py.sessions import format_1, format_2
from firmware_py.terms.record_checks import refusal
from firmware_py.terms.settings import DEFAULT_PROFILE, PAPER_PROFILE, SettingError, Settings


@dataclass(frozen=True)
class FormatReader:
    """How the records of a format become those of the one after it; JSON values in and out."""

    header: Callable[[Record], Record]  # the first record
    input: Callable[[Record], Record]  # what went in, with its event
    result: Callable[[Any], Any]  # what the action `finish` tells
    last_commit: str  # whose program writes this format, and so replays it


def _as_it_was(record: Record) -> Record:
    return record


READERS: Final[Mapping[int, FormatReader]] = {
    1: FormatReader(format_1.header, format_1.input_, format_1.result, "979db64f"),
    2: FormatReader(_as_it_was, _as_it_was, format_2.result, "347c7951"),
}


def header_today(record: Record, version: int) -> Record:
    for each in range(version, FORMAT_VERSION):
        record = READERS[each].header(record)
    return record


def input_today(record: Record, version: int) -> Record:
    for each in range(version, FORMAT_VERSION):
        record = READERS[each].input(record)
    return record


def result_today(result: Any, version: int) -> Any:
    for each in range(version, FORMAT_VERSION):
        result = READERS[each].result(result)
    return result


# Of a version that is no release, behind its number: the commit that it was made of.
_COMMIT: Final = re.compile(r"\+g([0-9a-f]{7,64})(\.changed)?")


def replay_words(header: Mapping[str, object]) -> str:
    """Say which version replays a journal that this one reads, and how to get it."""
    firmware, version = header.get("firmware"), header.get("journal")
    commit = _COMMIT.search(firmware) if isinstance(firmware, str) else None
    reader = READERS.get(version) if isinstance(version, int) else None
    name = commit[1] if commit else reader.last_commit if reader else ""
    by = f"it was recorded by {recorder_of(header)}"
    if not name or (commit and commit[2]):  # nobody else has those sources
        return f"{by}, and replays there"
    place = f"gp-pta-{name}"
    return (
        f"{by}, and replays with commit {name}; in a checkout: git worktree add {place} {name} "
        f"&& make -C {place} kernels && {place}/.venv/bin/gp-pta replay JOURNAL"
    )


# Settings with words that are gone are read and shown as they were recorded. Only the version that
# recorded such a session can do what the word says: it is neither replayed nor gone on with.
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
