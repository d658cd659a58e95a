"""The sessions of a study in chunks, as a runner runs and a store keeps them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

# A worker is given a chunk of sessions, and what is done is kept by the chunk. Their number depends
# on that of the sessions only, so the files do not depend on the workers.
CHUNK_SESSIONS_MIN: Final = 8
CHUNKS_MAX: Final = 4096

Json = Mapping[str, Any]
Given = TypeVar("Given")
Made = TypeVar("Made")


class Sessions(ABC, Generic[Given, Made]):
    """The sessions of a study, in chunks.

    Attributes
    ----------
    plan : mapping
        JSON values: two studies with the same plan have the same results.
    about : mapping
        JSON values: what else a reader should know.
    rows_per_session : int
        Of the parts in which they are kept.
    """

    plan: Json
    about: Json
    rows_per_session: int = 1

    @property
    @abstractmethod
    def sessions(self) -> int:
        """Return how many there are."""

    @abstractmethod
    def chunk(self, index: int) -> Given:
        """Return what a worker is given of a chunk, made when it is needed."""

    @staticmethod
    @abstractmethod
    def run_chunk(chunk: Given) -> list[Made]:
        """Run the sessions of a chunk."""

    @property
    @abstractmethod
    def schema(self) -> "pa.Schema":
        """Return what columns the rows of a part have."""

    @abstractmethod
    def rows_of(self, made: list[Made]) -> "pa.Table":
        """Return the rows of sessions, each `rows_per_session`."""

    def ready_in(self, directory: Path) -> Self:
        """Return the study with what has to be known before its first session."""
        return self

    @property
    def chunk_sessions(self) -> int:
        """Return how many sessions a chunk has; the last one may have fewer."""
        return max(CHUNK_SESSIONS_MIN, -(-self.sessions // CHUNKS_MAX))

    @property
    def chunks(self) -> range:
        return range(-(-self.sessions // self.chunk_sessions))

    def numbers_in(self, index: int) -> range:
        """Return the numbers of the sessions in a chunk."""
        first = index * self.chunk_sessions
        return range(first, min(first + self.chunk_sessions, self.sessions))

    def make(self, indices: Iterable[int]) -> Iterator[tuple[int, Given]]:
        return ((index, self.chunk(index)) for index in indices)


def differences(before: Json, now: Json) -> list[str]:
    """Say in words where two plans differ."""
    words = []
    for name in sorted(set(before) | set(now)):
        was, is_now = before.get(name), now.get(name)
        if isinstance(was, Mapping) and isinstance(is_now, Mapping):
            words += differences(was, is_now)
        elif was != is_now:
            words.append(f"{name} was {_show(was)} and is {_show(is_now)}")
    return words


def _show(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
