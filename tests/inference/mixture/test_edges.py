"""The information of an answer that may be unsure: two edges of a dead zone, and the search."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, special

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS
from firmware_py.inference.mixture.edges import LowerEdge, lower_edge, upper_edge
from firmware_py.inference.rate import Seconds
from tests.budget import either, quick, quick_rows
from tests.inference.mixture.population import POPULATION
from tests.inference.mixture.selection_problems import (
    HALF_WIDTHS_DB,
    NOISES_DB,
    SDS_DB,
    TIMES,
    found_bits,
    information,
)
from tests.inference.models import mixture_of
from tests.reference import FloatArray

SEED = 20260402
RATES = [(1e-4, 1e-4), (0.01, 0.01), (0.06, 0.02), (0.02, 0.06), (0.15, 0.15), (0.45, 0.225)]
SEARCHED_DB = HALF_WIDTHS_DB[either(1, 0) :: either(2, 1)]  # on a grid: quadrature takes long

# Quadrature takes long: of the rates the quick suite has those that are as far off as any.
EACH_RATES = pytest.mark.parametrize("rates", quick(RATES, (0.06, 0.02)))


def answers(
    margin_db: FloatArray, noise_db: float, lapse_rate: float, false_alarm_rate: float,
    half_width_db: float,
) -> FloatArray:  # fmt: skip
    """Return the probabilities of silence, "perhaps" and "heard", by level minus threshold."""
    c = 1.0 - lapse_rate - 2.0 * false_alarm_rate
    above_lower = special.ndtr((margin_db + half_width_db) / noise_db)
    above_upper = special.ndtr((margin_db - half_width_db) / noise_db)
    return np.array([
        lapse_rate + c * (1.0 - above_lower),
        false_alarm_rate + c * (above_lower - above_upper),
        false_alarm_rate + c * above_upper,
    ])  # fmt: skip


def entropy_bits(p: FloatArray) -> FloatArray:
    """Return the entropy over the first axis."""
    return np.asarray(np.sum(special.entr(p), axis=0) / np.log(2.0))


def expected_answers(
    level_db_hl: FloatArray, weight: FloatArray, mean_db_hl: FloatArray, sd_db: FloatArray,
    noise_db: float, lapse_rate: float, false_alarm_rate: float, half_width_db: float,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Return the probabilities of the answers, and their expected entropy, by quadrature."""
    u = np.linspace(-9.0, 9.0, 2401)
    density = np.exp(-0.5 * u**2) / np.sqrt(2.0 * np.pi)
    p, h = np.zeros((3, len(level_db_hl))), np.zeros_like(level_db_hl)
    for w, m, s in zip(weight, mean_db_hl, sd_db, strict=True):
        given = answers(
            level_db_hl[:, np.newaxis] - m - s * u, noise_db, lapse_rate, false_alarm_rate,
            half_width_db,
        )  # fmt: skip
        p += w * integrate.trapezoid(given * density, u, axis=2)
        h += w * integrate.trapezoid(entropy_bits(given) * density, u, axis=1)
    return p, h


def exact_bits(*args: object) -> FloatArray:
    """Return the mutual information of answer and threshold."""
    p, h = expected_answers(*args)  # type: ignore[arg-type]
    return entropy_bits(p) - h


def levels_about(sd_db: float, noise_db: float, half_width_db: float) -> FloatArray:
    """Return levels about a threshold of 50 dB HL, well beyond both edges."""
    reach_db = 5.0 * np.hypot(sd_db, noise_db) + half_width_db
    return np.asarray(50.0 + np.linspace(-reach_db, reach_db, 121))


def edge_of(rates: tuple[float, float], half_width_db: float) -> LowerEdge:
    return lower_edge(np.array([1.0, *rates, half_width_db]))


@pytest.mark.parametrize("half_width_db", HALF_WIDTHS_DB)
@pytest.mark.parametrize("rates", RATES)
def test_base_and_bumps_add_up_to_the_entropy(
    rates: tuple[float, float], half_width_db: float
) -> None:
    """Their areas are exact, the heights are those where the bumps are centred."""
    lower = edge_of(rates, half_width_db)
    upper = upper_edge(lower, 1.0)

    def above_base(margin: FloatArray) -> FloatArray:
        q = special.ndtr(margin + half_width_db)
        p = answers(margin, 1.0, *rates, half_width_db)
        return entropy_bits(p) - lower.silent_bits - q * (lower.loud_bits - lower.silent_bits)

    ends = above_base(np.array([-60.0, 60.0]))
    assert_allclose(ends, 0.0, atol=1e-12)  # the plateaus are those of the entropy
    reach = half_width_db + 12.0
    area, _ = integrate.quad(
        lambda x: float(above_base(np.array(x))), -reach, reach, limit=200,
        points=[-half_width_db, half_width_db],
    )  # fmt: skip
    of_bumps = (lower.height * lower.width + upper.height * upper.width) * np.sqrt(2.0 * np.pi)
    assert of_bumps == pytest.approx(area, rel=1e-6)
    at_lower = float(above_base(np.array(-half_width_db)))
    at_upper = float(above_base(np.array(half_width_db + upper.offset_db)))
    if half_width_db > 7.0:  # beyond that the edges do not touch
        assert lower.height == pytest.approx(at_lower, abs=1e-9)
        assert upper.height == pytest.approx(at_upper, abs=1e-9)
        assert upper.offset_db == pytest.approx(0.0, abs=0.01)
    assert -1e-12 <= upper.offset_db < 1.0


@pytest.mark.parametrize("noise_db", NOISES_DB)
def test_the_upper_bump_is_measured_in_noises(noise_db: float) -> None:
    lower = edge_of((0.01, 0.01), 3.0)
    one, other = upper_edge(edge_of((0.01, 0.01), 3.0 / noise_db), 1.0), upper_edge(lower, noise_db)
    assert_allclose(
        [other.height, other.width, other.offset_db],
        [one.height, one.width, one.offset_db * noise_db], rtol=1e-9,
    )  # fmt: skip


def test_without_a_dead_zone_there_is_no_upper_bump() -> None:
    assert upper_edge(edge_of((0.01, 0.01), 0.0), 2.0) == (0.0, 0.0, 0.0)


# Largest error over the grid in bits, measured (and printed) to be about nine tenths of it.
ERROR_BITS = {
    (1e-4, 1e-4): 0.0065, (0.01, 0.01): 0.016, (0.06, 0.02): 0.031, (0.02, 0.06): 0.037,
    (0.15, 0.15): 0.006, (0.45, 0.225): 0.0003,
}  # fmt: skip
LOSS_BITS = 0.0125  # two maxima are nearly as good as each other, and the lower one may be chosen


@EACH_RATES
def test_information_is_the_mutual_information_up_to_the_bumps(rates: tuple[float, float]) -> None:
    worst, at, loss, lost_at = 0.0, "", 0.0, ""
    for half_width_db in SEARCHED_DB:
        for sd_db in SDS_DB:
            for noise_db in NOISES_DB:
                level_db_hl = levels_about(sd_db, noise_db, half_width_db)
                args = (np.ones(1), np.array([50.0]), np.array([sd_db]), noise_db, *rates,
                        half_width_db)  # fmt: skip
                exact, bits = exact_bits(level_db_hl, *args), found_bits(level_db_hl, *args)
                error = float(np.max(np.abs(exact - bits)))
                lost = float(np.max(exact) - exact[np.argmax(bits)])
                case = f"half width {half_width_db} dB, SD {sd_db} dB, sigma {noise_db} dB"
                worst, at = max((worst, at), (error, case))
                loss, lost_at = max((loss, lost_at), (lost, case))
    print(f"\nrates {rates}: error at most {worst:.4f} bits ({at}); the level of the largest found "
          f"tells at most {loss:.5f} bits less than the best ({lost_at})")  # fmt: skip
    assert worst <= ERROR_BITS[rates]
    assert loss <= LOSS_BITS


@EACH_RATES
def test_so_it_is_under_mixtures(rates: tuple[float, float]) -> None:
    rng = np.random.default_rng([SEED, *(int(1e4 * r) for r in rates)])
    worst = 0.0
    for _ in range(30):
        k = int(rng.integers(2, 6))
        weight = rng.dirichlet(np.ones(k))
        mean_db_hl, sd_db = rng.uniform(-10.0, 100.0, k), np.exp(rng.uniform(-1.0, 3.2, k))
        noise_db, half_width_db = np.exp(rng.uniform([0.0, -1.0], [2.0, 3.0])).tolist()
        level_db_hl = np.linspace(-30.0, 130.0, 71)
        args = (weight, mean_db_hl, sd_db, noise_db, *rates, half_width_db)
        error = np.max(np.abs(exact_bits(level_db_hl, *args) - found_bits(level_db_hl, *args)))
        worst = max(worst, float(error))
    print(f"\nrates {rates}, mixtures: error at most {worst:.4f} bits")
    assert worst <= ERROR_BITS[rates]


@pytest.mark.parametrize("rates", RATES)
def test_either_press_has_the_probability_that_it_has(rates: tuple[float, float]) -> None:
    weight, mean_db_hl = np.array([0.2, 0.5, 0.3]), np.array([10.0, 48.0, 60.0])
    level_db_hl = np.linspace(-20.0, 100.0, 61)
    args = (weight, mean_db_hl, np.array([3.0, 9.0, 1.0]), 2.5, *rates, 6.0)
    p, _ = expected_answers(level_db_hl, *args)
    assert_allclose(information(level_db_hl, *args)[1], p[1] + p[2], rtol=1e-6)


@pytest.mark.parametrize(
    ("rates", "seconds"), quick_rows(product(RATES[:-1], TIMES), ((0.06, 0.02), TIMES[1]))
)
def test_the_level_found_is_worth_what_the_best_is(
    seconds: Seconds, rates: tuple[float, float]
) -> None:
    """In exact information over exact time, of a grid."""
    worst, at = 0.0, ""
    for half_width_db in SEARCHED_DB:
        for sd_db in SDS_DB:
            for noise_db in NOISES_DB:
                level_db_hl = levels_about(sd_db, noise_db, half_width_db)
                args = (np.ones(1), np.array([50.0]), np.array([sd_db]), noise_db, *rates,
                        half_width_db)  # fmt: skip
                p, h = expected_answers(level_db_hl, *args)
                taken = (1.0 - p[0]) * seconds.answered + p[0] * seconds.silent
                exact = (entropy_bits(p) - h) / taken
                chosen = int(np.argmax(found_bits(level_db_hl, *args) / taken))
                lost = float((np.max(exact) - exact[chosen]) * np.min(taken))
                case = f"half width {half_width_db} dB, SD {sd_db} dB, sigma {noise_db} dB"
                worst, at = max((worst, at), (lost, case))
    print(f"\n{seconds}, rates {rates}: at most {worst:.5f} bits are lost in the shortest time "
          f"({at})")  # fmt: skip
    assert worst <= LOSS_BITS


def test_edges_are_asked_where_the_dead_zone_is_wide_and_the_middle_where_it_is_not() -> None:
    level_db_hl = 50.0 + np.arange(-20.0, 21.0)
    for half_width_db, away_db in ((0.5, 0.0), (8.0, 8.0), (15.0, 15.0)):
        bits = found_bits(
            level_db_hl, np.ones(1), np.array([50.0]), np.array([2.0]), 2.0, 0.01, 0.01,
            half_width_db,
        )  # fmt: skip
        best_db_hl = level_db_hl[int(np.argmax(bits))]
        assert abs(abs(best_db_hl - 50.0) - away_db) <= 1.0


@pytest.mark.parametrize("half_width_db", [None, 2.0, 8.0])
def test_the_choice_is_the_best_of_a_whole_session(half_width_db: float | None) -> None:
    estimator = ThresholdEstimator(
        prior=POPULATION, unsure_half_width_db=half_width_db, frequency_weight=[(1000.0, 1.0)]
    )
    w, rng, away = mixture_of(estimator).workspace, np.random.default_rng([SEED, 8]), 0
    for _ in range(20):
        tone = BITS.choose(estimator)
        _, chosen_db_hl, bits, _ = w.choice.tolist()
        levels_db_hl = np.arange(-10.0, 121.0).tolist()
        whole = estimator.objective(levels_db_hl)
        assert bits == pytest.approx(float(np.max(whole)), rel=1e-9)
        mean_db_hl, sd_db = estimator.threshold([tone.frequency_hz])
        away += abs(chosen_db_hl - mean_db_hl[0]) > sd_db[0]
        margin_db = tone.level_db_hl - 45.0 + 2.0 * rng.standard_normal()
        answer = None if abs(margin_db) < 8.0 else margin_db > 0.0
        estimator.observe(tone.frequency_hz, tone.level_db_hl, answer)
    print(f"\nhalf width {half_width_db}: {away} of 20 levels more than an SD off the mean")
