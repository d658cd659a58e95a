"""The prior of gaps as a file has it: every bone frequency, and the rare ears of textbooks."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from device.lines import line_weights
from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture.gap_prior import GapClass, GapPrior
from host_tools.research.learn_prior.routes import GapMixture

# Of a bone audiogram.
FREQUENCIES_HZ: Final = (250.0, 500.0, 750.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0)
LEARNED_NAMES: Final = ("no gap", "conductive", "more conductive")
DIGITS: Final = 3
# So much more variance than its neighbours has a frequency without bone thresholds: between two
# frequencies, and beyond the last.
MORE_BETWEEN: Final = 0.5
MORE_BEYOND: Final = 1.0
FILLED: Final = (
    "a frequency without bone thresholds lies on the line over log2 frequency between its "
    "neighbours, with half more than their variance; one beyond them has the mean of the nearest "
    "and twice its variance"
)
# Over so many octaves the correlation of a published class falls to 1/e.
OCTAVES: Final = 3.0


class Published(NamedTuple):
    """A class of ears that a clinic of hearing aids seldom sees."""

    name: str
    weight: float
    mean_db: tuple[float, ...]  # at FREQUENCIES_HZ
    sd_db: tuple[float, ...]
    source: str


PUBLISHED: Final = (
    Published(
        "otosclerosis",
        0.03,
        (41.0, 38.0, 35.0, 32.0, 27.0, 22.0, 27.0, 31.0),
        (12.0, 11.0, 11.0, 11.0, 12.0, 13.0, 14.0, 14.0),
        "Roychowdhury et al. 2021, Laryngoscope Investig Otolaryngol 6:824-831 (46 ears before "
        "surgery: 36.9, SD 11.0 dB over 250, 500 and 1000 Hz; 31.1, SD 14.4 dB at 4 kHz); between "
        "them Carhart's notch, by which bone is poorer by 5, 10, 15 and 5 dB at 0.5, 1, 2 and "
        "4 kHz and the gap smaller (Carhart 1950, Arch Otolaryngol 51:798-808)",
    ),
    Published(
        "fluid",
        0.02,
        (27.0, 27.0, 27.0, 27.0, 24.0, 20.0, 24.0, 27.0),
        (9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 10.0),
        "Fria, Cantekin & Eichler 1985, Arch Otolaryngol 111:10-16 (540 children with effusion: "
        "27 dB HL by air, 7 dB less at 2 kHz, below 10 dB HL by bone); the spread is assumed",
    ),
    Published(
        "largest",
        0.01,
        (55.0,) * len(FREQUENCIES_HZ),
        (6.0,) * len(FREQUENCIES_HZ),
        "Peake, Rosowski & Lynch 1992, Hear Res 57:245-268: without the ossicles sound reaches the "
        "cochlea 50 to 60 dB weaker; flat over frequency when the chain is broken (Farahmand et "
        "al. 2016, Ear Hear 37:206-215)",
    ),
)


def gap_prior_of(
    learned: GapMixture, frequencies_hz: Array, provenance: Mapping[str, Any]
) -> GapPrior:
    """Return learned classes at the frequencies of a bone audiogram, and the published ones.

    The learned ones go from no gap to the largest, at rising frequencies. To their provenance is
    added how frequencies were filled, and the sources.
    """
    people = 1.0 - sum(each.weight for each in PUBLISHED)
    weights = np.round(people * learned.weight, DIGITS)
    weights[0] = np.round(people - weights[1:].sum(), DIGITS)
    onto, more = _line_to(frequencies_hz)
    classes = []
    for c, name in enumerate(LEARNED_NAMES):
        covariance = onto @ learned.covariance_db2[c] @ onto.T
        wider = (1.0 + more) * (onto @ np.diag(learned.covariance_db2[c]))
        np.fill_diagonal(covariance, wider)
        classes.append(_class_of(name, weights[c], onto @ learned.mean_db[c], covariance))
    x = np.log2(FREQUENCIES_HZ)
    likeness = np.exp(-np.abs(x[:, None] - x) / OCTAVES)
    for each in PUBLISHED:
        covariance = np.outer(each.sd_db, each.sd_db) * likeness
        classes.append(_class_of(each.name, each.weight, np.array(each.mean_db), covariance))
    about = {
        **provenance,
        "filled": FILLED,
        "published": {each.name: each.source for each in PUBLISHED},
    }
    return GapPrior(FREQUENCIES_HZ, tuple(classes), about)


def _line_to(frequencies_hz: Array) -> tuple[Array, Array]:
    """Return (f, m) the line from measured frequencies, and (f,) how much wider it is."""
    at, x = np.log2(FREQUENCIES_HZ), np.log2(frequencies_hz)
    onto = line_weights(FREQUENCIES_HZ, frequencies_hz)
    beyond = (at < x[0]) | (at > x[-1])
    more = np.where(beyond, MORE_BEYOND, MORE_BETWEEN)
    return onto, np.where(np.isin(FREQUENCIES_HZ, frequencies_hz), 0.0, more)


def _class_of(name: str, weight: float, mean_db: Array, covariance_db2: Array) -> GapClass:
    return GapClass(
        name,
        float(weight),
        tuple(float(value) for value in np.round(mean_db, DIGITS)),
        tuple(tuple(float(v) for v in row) for row in np.round(covariance_db2, DIGITS)),
    )
