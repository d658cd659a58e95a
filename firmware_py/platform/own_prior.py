"""Priors that people bring, in the place of the one that ships: read, checked, kept by their hash.

A session under such a prior has its hash in the journal's first record, and the file itself stands
beside the journals: whoever replays one, or goes on with it after a power cut, finds it there.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from firmware_py.journal import Disk, JournalWriteError
from firmware_py.journal.disk import open_to_read, write_whole
from firmware_py.platform.named_file import TEXT, content_of
from firmware_py.terms.route import BY_AIR

if TYPE_CHECKING:  # it brings the kernels with it, and most of who reads a configuration has none
    from firmware_py.inference.mixture.population_prior import PopulationPrior

DIRECTORY: Final = "priors"  # beside the journals
BYTES_MAX: Final = 2**19  # one of as many components and knots as a test may have has less
# What a test takes is in proportion to them: 42 kB of memory each for an ear, and with a second
# button seven times that. The prior that ships has 16; learned by `auto` one has 22 at most.
COMPONENTS_MAX: Final = 32
DIGEST: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
DIGEST_CHARACTERS: Final = 8  # are shown to people


class OwnPriorError(ValueError):
    """A prior that cannot be read or found, or that no test can have; the message says which."""


@dataclass(frozen=True)
class OwnPrior:
    """A prior that somebody brought."""

    content: bytes = field(repr=False)  # of its file
    prior: "PopulationPrior" = field(repr=False)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the file, by which it is named."""
        return _sha256_of(self.content)

    @property
    def words(self) -> str:
        """Say of the next tests that they have it."""
        return f"prior {shorten(self.digest)} in the place of the one that ships"

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a prior that hearing tests can have.

        An `OwnPriorError` if it cannot be read, is no prior, or no test can have it.
        """
        try:
            content = content_of(path, BYTES_MAX)
        except OSError as error:
            raise OwnPriorError(f"{path}: cannot be read: {error.strerror}") from None
        return cls(content, prior_of_test(content, str(path)))

    def keep(self, directory: Path, disk: Disk) -> None:
        """Put it beside the journals of a directory, unless it is there.

        A `JournalWriteError` if the disk fails.
        """
        place = directory / DIRECTORY
        path = path_of(self.digest, directory)
        try:
            disk.make_directory(place)
            if not (disk.is_file(path) and _content(disk, path) == self.content):
                write_whole(disk, path, self.content)
            disk.fsync_directory(place)
            disk.fsync_directory(directory)
        except OSError as error:
            words = f"the prior of this test cannot be kept there: {error.strerror}"
            raise JournalWriteError(path, words) from error


# Returns the prior of this digest; `OwnPriorError` if it is not to be had.
FindPrior = Callable[[str], "PopulationPrior"]


def find_none(digest: str) -> "PopulationPrior":
    """Find no prior: nobody said where to look."""
    raise OwnPriorError(f"it was begun with the prior {digest}, which is not at hand")


def find_beside(
    directory: Path, disk: Disk | None = None, brought: Sequence[OwnPrior] = ()
) -> FindPrior:
    """Return what finds priors beside the journals of a directory, or among those brought."""
    own = {each.digest: each.prior for each in brought}

    def find(digest: str) -> "PopulationPrior":
        if digest in own:
            return own[digest]
        path = path_of(digest, directory)
        try:
            content = _content(disk or Disk(), path)
        except OSError as error:
            raise OwnPriorError(
                f"it was begun with the prior {digest}, and {path} cannot be read: "
                f"{error.strerror}; put that file there"
            ) from None
        if _sha256_of(content) != digest:
            raise OwnPriorError(
                f"it was begun with the prior {digest}, and {path} is not that file any more; put "
                "it there again"
            )
        return prior_of_test(content, str(path))

    return find


def path_of(digest: str, directory: Path) -> Path:
    """Return where the prior of this digest is kept, beside the journals of a directory."""
    return directory / DIRECTORY / f"{digest}.json"


def shorten(digest: str) -> str:
    """Return what people are shown of a digest."""
    return digest[:DIGEST_CHARACTERS]


def prior_of_test(content: bytes, name: str) -> "PopulationPrior":
    """Return the prior of a file, as hearing tests can have it; `name`: of the file.

    An `OwnPriorError` if it is no prior, or no test can have it.
    """
    from firmware_py.inference.mixture.population_prior import PopulationPrior
    from firmware_py.inference.mixture.prior_reading import PriorError

    try:
        prior = PopulationPrior.from_json(content.decode(TEXT), name)
    except UnicodeDecodeError:
        raise OwnPriorError(f"{name}: is no prior: it is not text in UTF-8") from None
    except PriorError as error:
        raise OwnPriorError(str(error)) from None
    if len(prior.components) > COMPONENTS_MAX:
        raise OwnPriorError(
            f"{name}: has {len(prior.components)} components; a hearing test takes "
            f"{COMPONENTS_MAX} at most, for its memory and its time"
        )
    asked_hz = BY_AIR.calibrated_hz
    knots_hz = [f for f in prior.knots_hz if asked_hz[0] <= f <= asked_hz[-1]]
    if knots_hz != [*asked_hz]:
        told = ", ".join(f"{f:g}" for f in knots_hz) or "none"
        raise OwnPriorError(
            f"{name}: knots_hz from {asked_hz[0]} to {asked_hz[-1]} are {told}; a hearing test "
            f"asks at the knots and allows exactly {', '.join(map(str, asked_hz))}"
        )
    return prior


def _sha256_of(content: bytes) -> str:
    import hashlib  # 4 MB that a device without such a prior does not need

    return hashlib.sha256(content).hexdigest()


def _content(disk: Disk, path: Path) -> bytes:
    with open_to_read(disk, path) as handle:
        return disk.read(handle, 0, BYTES_MAX + 1)
