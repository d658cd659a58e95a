"""A prior learned from people: conditioning, cutting, reading and writing, and what is refused."""

import copy
import functools
import json
import math
import operator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal, norm

from firmware_py import ThresholdEstimator
from firmware_py.inference.mixture.population_prior import (
    COMPONENTS_MAX,
    KNOTS_MAX,
    Component,
    PopulationPrior,
    Sex,
    shipped_prior,
)
from firmware_py.inference.mixture.prior_reading import PriorError
from tests.inference.mixture.population import KNOTS_HZ, POPULATION, moments

# --- what is known of the listener ---------------------------------------------------------------


@pytest.mark.parametrize("age_years", [None, 0.0, 25.0, 67.5, 120.0])
@pytest.mark.parametrize("sex", [None, "F", "M"])
def test_conditioning_is_that_of_a_joint_gaussian(age_years: float | None, sex: Sex | None) -> None:
    found = POPULATION.condition(age_years, sex)
    weights, expected = [], []
    for c in POPULATION.components:
        # Thresholds and age together; the age comes last.
        mean = np.array([*c.mean_db_hl, c.age_mean_years])
        joint = np.zeros((len(mean), len(mean)))
        joint[:-1, :-1] = c.covariance_db2
        joint[-1, :-1] = joint[:-1, -1] = c.age_covariance
        joint[-1, -1] = c.age_sd_years**2
        weight = c.weight
        if sex is not None:
            weight *= c.share_female if sex == "F" else 1.0 - c.share_female
        if age_years is not None:
            weight *= norm.pdf(age_years, mean[-1], np.sqrt(joint[-1, -1]))
            gain = joint[:-1, -1] / joint[-1, -1]
            mean = np.r_[mean[:-1] + gain * (age_years - mean[-1]), 0.0]
            joint[:-1, :-1] -= np.outer(gain, joint[-1, :-1])
        weights.append(weight)
        expected.append((mean[:-1], joint[:-1, :-1]))
    weights = [w / sum(weights) for w in weights]
    kept = [i for i, w in enumerate(weights) if w > 1e-12]

    assert len(found.components) == len(kept)
    assert math.fsum(c.weight for c in found.components) == pytest.approx(1.0, rel=1e-14)
    for i, c in zip(kept, found.components, strict=True):
        assert c.weight == pytest.approx(weights[i], rel=1e-9)
        assert_allclose(c.mean_db_hl, expected[i][0], rtol=1e-12)
        assert_allclose(c.covariance_db2, expected[i][1], rtol=1e-10, atol=1e-10)
        assert np.array_equal(np.array(c.covariance_db2), np.array(c.covariance_db2).T)
        if age_years is not None:
            assert set(c.age_covariance) == {0.0}


def test_nothing_known_changes_nothing_but_negligible_components() -> None:
    assert POPULATION.condition(None, None) == POPULATION
    twice = POPULATION.condition(70.0, "M").condition(None, None)
    assert [c.mean_db_hl for c in twice.components] == [
        c.mean_db_hl for c in POPULATION.condition(70.0, "M").components
    ]


def test_a_sex_that_is_not_among_them_is_an_error() -> None:
    men = PopulationPrior(
        KNOTS_HZ,
        POPULATION.between_knots_sd_db,
        (Component(**{**vars(POPULATION.components[0]), "weight": 1.0, "share_female": 0.0}),),
        {},
    )
    assert len(men.condition(40.0, "M").components) == 1
    with pytest.raises(PriorError, match="nobody of sex 'F'"):
        men.condition(40.0, "F")
    with pytest.raises(ValueError, match="nobody of sex 'F'"):
        ThresholdEstimator(prior=men, sex="F")


def test_a_component_of_the_other_sex_says_nothing_of_the_age() -> None:
    """However well it would fit: only those that are possible are compared."""
    young = Component(**{
        **vars(POPULATION.components[0]), "weight": 0.5, "share_female": 0.0,
        "age_mean_years": 20.0, "age_sd_years": 0.5,
    })  # fmt: skip
    old = Component(**{
        **vars(POPULATION.components[1]), "weight": 0.5, "share_female": 1.0,
        "age_mean_years": 80.0, "age_sd_years": 0.5, "age_covariance": (0.0,) * len(KNOTS_HZ),
    })  # fmt: skip
    prior = PopulationPrior(KNOTS_HZ, POPULATION.between_knots_sd_db, (young, old), {})
    (found,) = prior.condition(20.0, "F").components
    assert found.mean_db_hl == old.mean_db_hl
    assert found.weight == 1.0


# --- a part of the frequencies -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low_hz", "high_hz", "kept"),
    [
        (20.0, 20000.0, KNOTS_HZ),
        (125.0, 8000.0, KNOTS_HZ),
        (250.0, 4000.0, (250.0, 500.0, 1000.0, 2000.0, 3000.0, 4000.0)),
        (251.0, 3999.0, (250.0, 500.0, 1000.0, 2000.0, 3000.0, 4000.0)),
        (1100.0, 1200.0, (1000.0, 2000.0)),
        (1000.0, 1000.5, (1000.0, 2000.0)),
        (20.0, 100.0, (125.0,)),
        (9000.0, 10000.0, (8000.0,)),
        (100.0, 130.0, (125.0, 250.0)),
    ],
)
def test_within_keeps_what_the_range_makes_use_of(
    low_hz: float, high_hz: float, kept: tuple[float, ...]
) -> None:
    part = POPULATION.within(low_hz, high_hz)
    at = [KNOTS_HZ.index(f) for f in kept]

    assert part.knots_hz == kept
    assert part.between_knots_sd_db == POPULATION.between_knots_sd_db[at[0] : at[-1]]
    _, mean, covariance = moments(POPULATION)
    _, part_mean, part_covariance = moments(part)
    assert np.array_equal(part_mean, mean[:, at])
    assert np.array_equal(part_covariance, covariance[:, at][:, :, at])
    assert [c.weight for c in part.components] == [c.weight for c in POPULATION.components]


# --- files ---------------------------------------------------------------------------------------


def test_the_shipped_prior_is_one() -> None:
    """Its format, not its numbers."""
    prior = shipped_prior()
    assert PopulationPrior.from_json(prior.to_json(), "again.json") == prior
    assert prior is shipped_prior()
    assert prior.knots_hz[0] <= 250.0
    assert prior.knots_hz[-1] >= 8000.0
    weight, mean, covariance = moments(prior)
    for m, c in zip(mean, covariance, strict=True):
        assert np.isfinite(multivariate_normal(m, c).logpdf(m))
    assert math.fsum(weight) == pytest.approx(1.0)


DOCUMENT: dict[str, Any] = json.loads(POPULATION.to_json())
_D = len(KNOTS_HZ)


def _change(*path: Any, value: Any = None, without: bool = False) -> str:
    document = copy.deepcopy(DOCUMENT)
    place = functools.reduce(operator.getitem, path[:-1], document)
    place[path[-1]] = value
    if without:
        del place[path[-1]]
    return json.dumps(document)


NAN = math.nan
_ASYMMETRIC = copy.deepcopy(DOCUMENT["components"][1]["covariance_db2"])
_ASYMMETRIC[0][1] += 1e-9
_SINGULAR = [[1.0] * _D for _ in range(_D)]

# text, what the message says
REFUSED: list[tuple[str, str]] = [
    ("", "is not JSON"), ("{", "is not JSON"), ("[1,", "is not JSON"),
    ("[" * 100000, "is not JSON"),
    ("null", "format is None; allowed is 'gp-pta prior 1'"), ("[]", "format is None"),
    ('"gp-pta prior 1"', "format is None"),
    (_change("format", value="gp-pta prior 2"), "format is 'gp-pta prior 2'; allowed is"),
    (_change("format", value=[1]), r"format is \[1\]"),
    (_change("provenance", without=True), "the prior has no 'provenance'; allowed"),
    (_change("colour", value=1), "the prior has an unknown 'colour'; allowed"),
    (_change("provenance", value=[]), r"provenance is \[\]; allowed is an object"),
    (_change("knots_hz", value=5), "knots_hz is 5; allowed is a list of  ?numbers"),
    (_change("knots_hz", value=[1000.0]), "knots_hz is .*; allowed is 2 to 64 rising"),
    (_change("knots_hz", value=list(range(100, 100 + KNOTS_MAX + 1))), "2 to 64 rising"),
    (_change("knots_hz", value=[*KNOTS_HZ[:-1], KNOTS_HZ[0]]), "2 to 64 rising"),
    (_change("knots_hz", 3, value=KNOTS_HZ[2]), "2 to 64 rising"),
    (_change("knots_hz", 0, value=19.9), "knots_hz is 19.9; allowed is a number from 20 to 20000"),
    (_change("knots_hz", 0, value="125"), "knots_hz is '125'; allowed is a number"),
    (_change("knots_hz", 0, value=NAN), "knots_hz is nan"),
    (_change("knots_hz", 0, value=True), "knots_hz is True"),
    (_change("between_knots_sd_db", value=[1.0]), "between_knots_sd_db is .* list of 8 numbers"),
    (_change("between_knots_sd_db", 2, value=-0.1), "between_knots_sd_db is -0.1; .* 0 to 100"),
    (_change("components", value={}), r"components is \{\}; allowed is a list of 1 to 64"),
    (_change("components", value=[]), r"components is \[\]; allowed is a list of 1 to 64"),
    (_change("components", value=[1] * (COMPONENTS_MAX + 1)), "a list of 1 to 64"),
    (_change("components", 1, value=None), "component 2 is None; allowed is an object with"),
    (_change("components", 2, "weight", without=True),
     "component 3 has no 'weight'; allowed"),
    (_change("components", 0, "knots", value=1), "component 1 has an unknown 'knots'; allowed"),
    (_change("components", 0, "weight", value=0.6), "the sum of the weights is 1.1; allowed is 1"),
    (_change("components", 0, "weight", value=-0.1), "component 1, weight is -0.1; .* 0 to 1"),
    (_change("components", 3, "weight", value="1"), "component 4, weight is '1'"),
    (_change("components", 1, "mean_db_hl", value=[0.0]), "component 2, .* list of 9"),
    (_change("components", 1, "mean_db_hl", 4, value=301), "component 2, .* is 301; .* -100"),
    (_change("components", 1, "mean_db_hl", 4, value=10**400), "component 2, mean_db_hl is 1000"),
    (_change("components", 1, "covariance_db2", value=[]), "allowed is 9 rows"),
    (_change("components", 1, "covariance_db2", 3, value=[1.0]), "covariance_db2 is .* list of 9"),
    (_change("components", 1, "covariance_db2", 3, 3, value=4.1e4), "covariance_db2 is 41000.0"),
    (_change("components", 1, "covariance_db2", 3, 3, value=NAN), "covariance_db2 is nan"),
    (_change("components", 1, "covariance_db2", value=_ASYMMETRIC),
     "component 2, covariance_db2 is not the covariance of anything; allowed is a symmetric"),
    (_change("components", 1, "covariance_db2", value=_SINGULAR), "not the covariance"),
    (_change("components", 0, "covariance_db2", 0, 0, value=-1.0), "not the covariance"),
    (_change("components", 2, "age_covariance", value=[400.0] * _D), "component 3, .* age given"),
    (_change("components", 2, "age_covariance", 1, value=None), "age_covariance is None"),
    (_change("components", 2, "age_mean_years", value=301), "component 3, age_mean_years is 301"),
    (_change("components", 2, "age_sd_years", value=0.0), "age_sd_years is 0.0; .* 0.1"),
    (_change("components", 2, "share_female", value=1.01), "component 3, share_female is 1.01"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), REFUSED, ids=lambda v: v[-40:])
def test_what_is_no_prior_is_refused_with_file_and_place(text: str, said: str) -> None:
    with pytest.raises(PriorError, match=f"^a.json: .*{said}") as refused:
        PopulationPrior.from_json(text, "a.json")
    assert len(str(refused.value)) < 400


def test_the_document_of_that_table_is_read() -> None:
    """So that what is refused is refused for what was changed."""
    assert PopulationPrior.from_json(json.dumps(DOCUMENT), "a.json") == POPULATION
