"""What is known of air-bone gaps before a tone by bone: classes of ears, as numbers.

A gap is the threshold by air minus that by bone of the same ear at the same frequency. Each class
is a Gaussian over the gaps at some frequencies; most ears are of a class whose gaps are those of
the reference levels alone. Classes of people were learned by `gp-pta learn-prior --routes`, rarer
ones typed in from what was published.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pkgutil import get_data
from typing import Any, Final

from firmware_py.inference.mixture.prior_reading import (
    PriorError,
    PriorReader,
    positive_definite,
    text_of,
)
from firmware_py.inference.model import FREQUENCY_LIMITS_HZ

FORMAT: Final = "gp-pta gap prior 1"
SHIPPED: Final = "gap_prior.json"

CLASSES_MAX: Final = 16
FREQUENCIES_MAX: Final = 64
NAME_LENGTH_MAX: Final = 40
MEAN_LIMITS_DB: Final = (-60.0, 100.0)
SD_LIMITS_DB: Final = (0.1, 100.0)
WEIGHT_SUM_ERROR: Final = 1e-3
# Of a gap above the last frequency, where nobody had thresholds by bone: a conductive loss, what
# the reference level is off, and of an open ear the vibrator's sound in the air, which alone makes
# 10 dB at 6 kHz, up to 31 (`../../MASKING.md`).
BEYOND_SD_DB: Final = 15.0


@dataclass(frozen=True)
class GapClass:
    """Ears whose gaps have one cause or size: a Gaussian over the gaps."""

    name: str
    weight: float  # share of ears
    mean_db: tuple[float, ...]
    covariance_db2: tuple[tuple[float, ...], ...]  # symmetric and positive definite


@dataclass(frozen=True)
class GapPrior:
    """A mixture prior of air-bone gaps."""

    frequencies_hz: tuple[float, ...]  # rising
    classes: tuple[GapClass, ...]
    provenance: Mapping[str, Any]  # where the numbers come from, for people to read

    def usual_db(self, frequency_hz: float) -> float:
        """Return the mean gap of ears without a conductive loss, at one of the frequencies.

        The reference levels of air and bone make it, not the ears.
        """
        return self.classes[0].mean_db[self.frequencies_hz.index(min(frequency_hz, self.last_hz))]

    @property
    def last_hz(self) -> float:
        return self.frequencies_hz[-1]

    def reaching(self, frequencies_hz: Sequence[float]) -> "GapPrior":
        """Return the same with those of the frequencies that lie above its last one.

        Nobody measured there: a gap is the usual one of the last frequency in the mean, the same in
        all classes, and neither tells of the others nor they of it.
        """
        more_hz = tuple(f for f in frequencies_hz if f > self.last_hz)
        if not more_hz:
            return self
        usual_db = self.usual_db(self.last_hz)
        classes = (
            replace(
                each,
                mean_db=(*each.mean_db, *(usual_db for _ in more_hz)),
                covariance_db2=_with_apart(each.covariance_db2, len(more_hz), BEYOND_SD_DB**2),
            )
            for each in self.classes
        )
        return replace(self, frequencies_hz=(*self.frequencies_hz, *more_hz), classes=(*classes,))

    @staticmethod
    def usual() -> "GapPrior":
        """Return the one that comes with the firmware."""
        return shipped_gap_prior()

    def to_json(self) -> str:
        """Return the text of a file of gaps; one class a paragraph."""
        head = {
            "format": FORMAT,
            "provenance": dict(self.provenance),
            "frequencies_hz": self.frequencies_hz,
        }
        return text_of(head, "classes", self.classes)

    @classmethod
    def from_json(cls, text: str, name: str) -> "GapPrior":
        """Read the text of a file of this name; a `PriorError` says what is wrong with it."""
        reader = _Reader(name)
        return reader.prior(reader.document(text, FORMAT))


Rows = tuple[tuple[float, ...], ...]


def _with_apart(matrix: Rows, count: int, variance_db2: float) -> Rows:
    """Return a covariance with so many more, which are independent of all others."""
    old = tuple((*row, *(0.0,) * count) for row in matrix)
    size = len(matrix) + count
    units = (tuple(float(k == n) for k in range(size)) for n in range(len(matrix), size))
    return (*old, *(tuple(variance_db2 * each for each in unit) for unit in units))


@cache
def shipped_gap_prior() -> GapPrior:
    """Return the prior of gaps that comes with the firmware; its provenance names the sources."""
    content = get_data("firmware_py.inference.mixture", SHIPPED)
    if content is None:
        raise PriorError(f"{SHIPPED}: is missing from the installation")
    return GapPrior.from_json(content.decode(), SHIPPED)


class _Reader(PriorReader):
    # Reads one document; errors name the file and the place.

    def prior(self, document: Any) -> GapPrior:
        names = {"format", "provenance", "frequencies_hz", "classes"}
        self.names("the prior", document, names)
        frequencies_hz = self.numbers(
            "frequencies_hz", document["frequencies_hz"], None, FREQUENCY_LIMITS_HZ
        )
        count = len(frequencies_hz)
        rising = list(frequencies_hz) == sorted(set(frequencies_hz))
        if not (2 <= count <= FREQUENCIES_MAX and rising):
            allowed = f"2 to {FREQUENCIES_MAX} rising frequencies"
            raise self.wrong("frequencies_hz", frequencies_hz, allowed)
        found = document["classes"]
        if not isinstance(found, list) or not 1 <= len(found) <= CLASSES_MAX:
            raise self.wrong("classes", found, f"a list of 1 to {CLASSES_MAX}")
        classes = tuple(self._class(i + 1, each, count) for i, each in enumerate(found))
        listed = [each.name for each in classes]
        if len(set(listed)) != len(listed):
            raise self.wrong("the names of the classes", listed, "each name once")
        total = math.fsum(each.weight for each in classes)
        if abs(total - 1.0) > WEIGHT_SUM_ERROR:
            raise self.wrong("the sum of the weights", total, "1")
        provenance = document["provenance"]
        if not isinstance(provenance, dict):
            raise self.wrong("provenance", provenance, "an object")
        return GapPrior(frequencies_hz, classes, provenance)

    def _class(self, number: int, found: Any, count: int) -> GapClass:
        place = f"class {number}"
        self.names(place, found, set(GapClass.__annotations__))
        name = found["name"]
        if not isinstance(name, str) or not 1 <= len(name) <= NAME_LENGTH_MAX:
            raise self.wrong(f"{place}, name", name, f"1 to {NAME_LENGTH_MAX} characters")
        rows = found["covariance_db2"]
        if not isinstance(rows, list) or len(rows) != count:
            raise self.wrong(f"{place}, covariance_db2", rows, f"{count} rows")
        bound = SD_LIMITS_DB[1] * SD_LIMITS_DB[1]
        covariance = tuple(
            self.numbers(f"{place}, covariance_db2", row, count, (-bound, bound)) for row in rows
        )
        if not positive_definite(covariance, SD_LIMITS_DB[0]):
            raise PriorError(
                f"{self.name}: {place}, covariance_db2 is not the covariance of anything; "
                "allowed is a symmetric, positive definite matrix"
            )
        return GapClass(
            name,
            self.number(f"{place}, weight", found["weight"], (0.0, 1.0)),
            self.numbers(f"{place}, mean_db", found["mean_db"], count, MEAN_LIMITS_DB),
            covariance,
        )
