"""The number of components, chosen by the log likelihood of people who were held out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from firmware_py.inference.kernel import Array
from host_tools.research.learn_prior.em import Learner, Mixture, log_density, usual_shrinkage
from host_tools.research.learn_prior.sample import Sample
from host_tools.research.methods.population import uniform

SIZES: Final = (1, 2, 3, 4, 6, 8, 10, 12)
FOLDS: Final = 4
PEOPLE_PER_COMPONENT_MIN: Final = 20  # a larger mixture is not tried
_FOLD_STREAM: Final = 301  # of the Philox key, beside the seed


@dataclass(frozen=True)
class Size:
    """How well a mixture of this size fits people it was not learned from."""

    components: int
    thresholds_alone: float  # mean log density an ear (nats), strata balanced
    given_age_and_sex: float  # the same of listeners whose age and sex are told, where known
    score: float  # the mean of both, as a session may begin either way
    below_best: float  # score of the best size less this one's
    standard_error: float  # of this difference, between people


def sizes_for(sample: Sample) -> list[int]:
    """Return the sizes to compare; one component is always among them."""
    most = max(sample.effective_people / PEOPLE_PER_COMPONENT_MIN, 1.0)
    return [size for size in SIZES if size <= most]


def compare_sizes(
    sample: Sample, sizes: Sequence[int], seed: int, tick: Callable[[int], None] = lambda _: None
) -> list[Size]:
    """Cross-validate mixtures of these sizes: `FOLDS` folds, split by person.

    `tick` is called with the size after every one of the FOLDS x len(sizes) fits.
    """
    fold = folds(sample, seed)
    found = []
    for components in sizes:
        alone, given = np.empty(len(sample)), np.empty(len(sample))
        for k in range(FOLDS):
            held = np.flatnonzero(fold == k)
            taught = sample.select(np.flatnonzero(fold != k))
            learner = Learner(taught, usual_shrinkage(sample.frequencies_hz))
            mixture = learner.fit(components, seed).mixture
            alone[held], given[held] = scores(sample.select(held), mixture)
            tick(components)
        found.append((components, alone, given))
    return _table(sample, found)


def chosen_size(table: Sequence[Size]) -> int:
    """Return the smallest size whose score is within one standard error of the best one's."""
    return min(row.components for row in table if row.below_best <= row.standard_error)


def scores(sample: Sample, mixture: Mixture) -> tuple[Array, Array]:
    """Return (n,) log densities of the thresholds alone, and given age and sex, in nats."""
    alone = log_density(sample.without_age(), mixture)
    given = log_density(sample, mixture) - log_density(sample.only_age(), mixture)
    return alone, given


def folds(sample: Sample, seed: int) -> Array:
    """Return (n,) the fold of each ear; folds have as many people, give or take one."""
    people = int(sample.person.max()) + 1
    of_person = np.empty(people)
    of_person[np.argsort(uniform(seed, _FOLD_STREAM, people), kind="stable")] = (
        np.arange(people) % FOLDS
    )
    of_ear: Array = of_person[sample.person]
    return of_ear


def _table(sample: Sample, found: Sequence[tuple[int, Array, Array]]) -> list[Size]:
    weight = sample.weight
    ears = [0.5 * (alone + given) for _, alone, given in found]
    best = max(ears, key=lambda score: float(weight @ score))
    rows = []
    for (components, alone, given), score in zip(found, ears, strict=True):
        below = best - score
        mean = float(weight @ below)
        per_person = np.bincount(sample.person, weight * (below - mean))
        rows.append(
            Size(
                components,
                float(weight @ alone),
                float(weight @ given),
                float(weight @ score),
                mean,
                float(np.sqrt(np.sum(per_person**2))),
            )
        )
    return rows
