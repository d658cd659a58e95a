"""A prior learned from people: a mixture of Gaussian processes over frequency, as numbers.

The threshold curve is a straight line over log2 frequency between knots. Each component of the
mixture is a Gaussian over the thresholds at the knots and the age of the listener, and a share of
women; between two knots the curve may leave the line by sqrt(4 u (1 - u)) sd z at the fraction u of
the interval, z standard normal and one for each interval. The curve is thus a Gaussian process over
continuous frequency in every component (Cox & de Vries 2021 learned such a mixture).

Age and sex of the listener condition the mixture: its weights by Bayes' rule, and the means and
covariances of its components by the rule for joint Gaussians.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pkgutil import get_data
from typing import Any, Final, Literal

from firmware_py.inference.elementary import exp, log
from firmware_py.inference.mixture.prior_reading import (
    NamesFile,
    PriorError,
    PriorReader,
    positive_definite,
    text_of,
)
from firmware_py.inference.model import FREQUENCY_LIMITS_HZ

FORMAT: Final = "gp-pta prior 1"
SHIPPED: Final = "nhanes_prior.json"

COMPONENTS_MAX: Final = 64
KNOTS_MAX: Final = 64
MEAN_LIMITS_DB_HL: Final = (-100.0, 300.0)
SD_LIMITS_DB: Final = (0.1, 200.0)
AGE_LIMITS_YEARS: Final = (0.0, 120.0)
AGE_SD_LIMITS_YEARS: Final = (0.1, 1000.0)
WEIGHT_SUM_ERROR: Final = 1e-3
NEGLIGIBLE_WEIGHT: Final = 1e-12  # of a component, once age and sex are known

Sex = Literal["F", "M"]


@dataclass(frozen=True)
class Component:
    """One Gaussian of the mixture, over the thresholds at D knots and age."""

    weight: float  # share of the mixture
    mean_db_hl: tuple[float, ...]
    covariance_db2: tuple[tuple[float, ...], ...]  # symmetric and positive definite
    age_mean_years: float
    age_sd_years: float
    age_covariance: tuple[float, ...]  # of threshold and age, dB times years
    share_female: float


@dataclass(frozen=True)
class PopulationPrior:
    """A mixture prior of threshold curves."""

    knots_hz: tuple[float, ...]  # rising
    # sd: of the deviation from the straight line in the middle of each interval
    between_knots_sd_db: tuple[float, ...]
    components: tuple[Component, ...]
    provenance: Mapping[str, Any]  # where the numbers come from, for people to read

    def condition(self, age_years: float | None, sex: Sex | None) -> "PopulationPrior":
        """Return the prior of a listener of this age and sex; None: not known.

        The result no longer depends on them (its age covariances are zero).

        Raises
        ------
        PriorError
            The prior has no listeners of this sex.
        """
        weights = [c.weight for c in self.components]
        components = list(self.components)
        if sex is not None:
            weights = [
                w * (c.share_female if sex == "F" else 1.0 - c.share_female)
                for w, c in zip(weights, components, strict=True)
            ]
            if not any(w > 0.0 for w in weights):
                raise PriorError(f"the prior knows nobody of sex {sex!r}")
        if age_years is not None:
            weights = _times_density(weights, components, age_years)
            components = [_given_age(c, age_years) for c in components]
        total = math.fsum(weights)
        kept = [
            replace(c, weight=w / total)
            for w, c in zip(weights, components, strict=True)
            if w > NEGLIGIBLE_WEIGHT * total
        ]
        return PopulationPrior(
            self.knots_hz, self.between_knots_sd_db, tuple(kept), self.provenance
        )

    def within(self, low_hz: float, high_hz: float) -> "PopulationPrior":
        """Return the prior without the knots that no frequency in this range depends on."""
        first = max((i for i, f in enumerate(self.knots_hz) if f <= low_hz), default=0)
        last = min(
            (i for i, f in enumerate(self.knots_hz) if f >= high_hz), default=len(self.knots_hz) - 1
        )
        kept = slice(min(first, last), max(first, last) + 1)
        return PopulationPrior(
            self.knots_hz[kept],
            self.between_knots_sd_db[kept.start : kept.stop - 1],
            tuple(_part(c, kept) for c in self.components),
            self.provenance,
        )

    def to_json(self) -> str:
        """Return the text of a prior file; one component a paragraph."""
        return text_of(self._head(), "components", self.components)

    def to_dict(self) -> dict[str, Any]:
        """Return the same as values."""
        return {**self._head(), "components": [dict(vars(c)) for c in self.components]}

    def _head(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "provenance": dict(self.provenance),
            "knots_hz": self.knots_hz,
            "between_knots_sd_db": self.between_knots_sd_db,
        }

    @classmethod
    def from_json(cls, text: str, name: str) -> "PopulationPrior":
        """Read the text of a prior file.

        Parameters
        ----------
        text : str
        name : str
            Of the file, for the error message.

        Raises
        ------
        PriorError
            The text is not that of a prior.
        """
        reader = _Reader(name)
        return reader.prior(reader.document(text, FORMAT))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], name: str) -> "PopulationPrior":
        """Return the prior of such values, with lists for tuples; `name` is for the error message.

        Raises
        ------
        PriorError
            They are not those of a prior.
        """
        reader = _Reader(name)
        return reader.prior(reader.of_kind(values, FORMAT))

    @classmethod
    def from_file(cls, path: str | NamesFile) -> "PopulationPrior":
        """Read a prior file, as `gp-pta learn-prior` writes it.

        Raises
        ------
        PriorError
            The file is none of a prior.
        OSError
            It cannot be read.
        """
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            return cls.from_json(file.read(), str(path))


@cache
def shipped_prior() -> PopulationPrior:
    """Return the prior that comes with the firmware: learned from NHANES 1999-2020."""
    content = get_data("firmware_py.inference.mixture", SHIPPED)
    if content is None:
        raise PriorError(f"{SHIPPED}: is missing from the installation")
    return PopulationPrior.from_json(content.decode(), SHIPPED)


def _times_density(
    weights: Sequence[float], components: Sequence[Component], age_years: float
) -> list[float]:
    """Return the weights times the density of this age, up to a common factor."""
    logs = []
    for c in components:
        z = (age_years - c.age_mean_years) / c.age_sd_years
        logs.append(-0.5 * z * z - log(c.age_sd_years))
    # Of components with a weight: one of the other sex must not make the others underflow.
    largest = max(x for w, x in zip(weights, logs, strict=True) if w > 0.0)
    return [w * exp(x - largest) for w, x in zip(weights, logs, strict=True)]


def _given_age(c: Component, age_years: float) -> Component:
    """Return the component with mean and covariance given the age: rule for joint Gaussians."""
    variance = c.age_sd_years * c.age_sd_years
    slope = [value / variance for value in c.age_covariance]
    off = age_years - c.age_mean_years
    return replace(
        c,
        mean_db_hl=tuple(m + s * off for m, s in zip(c.mean_db_hl, slope, strict=True)),
        covariance_db2=tuple(
            # (a b) / variance, so that a matrix that is symmetric to the bit stays so.
            tuple(value - a * b / variance for value, b in zip(row, c.age_covariance, strict=True))
            for row, a in zip(c.covariance_db2, c.age_covariance, strict=True)
        ),
        age_covariance=tuple(0.0 for _ in slope),
    )


def _part(c: Component, kept: slice) -> Component:
    return replace(
        c,
        mean_db_hl=c.mean_db_hl[kept],
        covariance_db2=tuple(row[kept] for row in c.covariance_db2[kept]),
        age_covariance=c.age_covariance[kept],
    )


class _Reader(PriorReader):
    # Reads one document; errors name the file and the place.

    def prior(self, document: Any) -> PopulationPrior:
        names = {"format", "provenance", "knots_hz", "between_knots_sd_db", "components"}
        self.names("the prior", document, names)
        knots = self.numbers("knots_hz", document["knots_hz"], None, FREQUENCY_LIMITS_HZ)
        if len(knots) < 2 or len(knots) > KNOTS_MAX or list(knots) != sorted(set(knots)):
            raise self.wrong("knots_hz", knots, f"2 to {KNOTS_MAX} rising frequencies")
        between = self.numbers(
            "between_knots_sd_db", document["between_knots_sd_db"], len(knots) - 1, (0.0, 100.0)
        )
        found = document["components"]
        if not isinstance(found, list) or not 1 <= len(found) <= COMPONENTS_MAX:
            raise self.wrong("components", found, f"a list of 1 to {COMPONENTS_MAX}")
        components = tuple(self._component(i + 1, c, len(knots)) for i, c in enumerate(found))
        total = math.fsum(c.weight for c in components)
        if abs(total - 1.0) > WEIGHT_SUM_ERROR:
            raise self.wrong("the sum of the weights", total, "1")
        provenance = document["provenance"]
        if not isinstance(provenance, dict):
            raise self.wrong("provenance", provenance, "an object")
        return PopulationPrior(knots, between, components, provenance)

    def _component(self, number: int, found: Any, knots: int) -> Component:
        place = f"component {number}"
        self.names(place, found, set(Component.__annotations__))
        rows = found["covariance_db2"]
        if not isinstance(rows, list) or len(rows) != knots:
            raise self.wrong(f"{place}, covariance_db2", rows, f"{knots} rows")
        bound = SD_LIMITS_DB[1] * SD_LIMITS_DB[1]
        covariance = tuple(
            self.numbers(f"{place}, covariance_db2", row, knots, (-bound, bound)) for row in rows
        )
        age_bound = SD_LIMITS_DB[1] * AGE_SD_LIMITS_YEARS[1]
        component = Component(
            self.number(f"{place}, weight", found["weight"], (0.0, 1.0)),
            self.numbers(f"{place}, mean_db_hl", found["mean_db_hl"], knots, MEAN_LIMITS_DB_HL),
            covariance,
            self.number(f"{place}, age_mean_years", found["age_mean_years"], (-200.0, 300.0)),
            self.number(f"{place}, age_sd_years", found["age_sd_years"], AGE_SD_LIMITS_YEARS),
            self.numbers(
                f"{place}, age_covariance", found["age_covariance"], knots, (-age_bound, age_bound)
            ),
            self.number(f"{place}, share_female", found["share_female"], (0.0, 1.0)),
        )
        # Positive definite even when the age is given.
        for c in (component, _given_age(component, component.age_mean_years)):
            if not positive_definite(c.covariance_db2, SD_LIMITS_DB[0]):
                raise PriorError(
                    f"{self.name}: {place}, covariance_db2 is not the covariance of anything; "
                    "allowed is a symmetric, positive definite matrix, also with the age given"
                )
        return component
