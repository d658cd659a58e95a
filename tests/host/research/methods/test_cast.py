"""CAST: its posterior and its next tone against brute force, and its patterns against k-means."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from host_tools.research.methods.cast import (
    LEVEL_STEP_DB,
    SPREAD_MIN_DB,
    Cast,
    Patterns,
    clusters,
    learn_patterns,
)
from host_tools.research.methods.interface import (
    Array,
    Task,
    binary_entropy_bits,
    interpolate,
    tones_of,
)
from host_tools.research.methods.population import Population, balance
from tests.budget import quick
from tests.host.research.methods.listening import (
    TASK,
    Answered,
    EndlessCast,
    Listener,
    measure,
    population,
)

PATTERNS = Patterns(
    frequencies_hz=np.array([500.0, 1000.0, 4000.0, 8000.0]),
    thresholds_db_hl=np.array(
        [[5.0, 10, 10, 20], [10, 15, 40, 60], [40, 45, 55, 60], [60, 60, 65, 70], [20, 40, 80, 90]]
    ),
    spread_db=np.array([[2.0, 2, 3, 4], [3, 3, 6, 6], [5, 5, 5, 5], [8, 4, 4, 8], [0, 0, 2, 2]]),
    probability=np.array([0.5, 0.2, 0.15, 0.1, 0.05]),
)
NOISY = Listener([500.0, 1000.0, 4000.0], [12.0, 18.0, 37.0], 3.0, 0.02, 0.05)


def p_heard(frequency_hz: float, level_db_hl: float) -> Array:
    """The chance for each of `PATTERNS`, one by one."""
    chances = []
    for thresholds, spreads in zip(PATTERNS.thresholds_db_hl, PATTERNS.spread_db, strict=True):
        threshold = interpolate(PATTERNS.frequencies_hz, thresholds, [frequency_hz])[0]
        spread = interpolate(PATTERNS.frequencies_hz, spreads, [frequency_hz])[0]
        honest = stats.norm.cdf(level_db_hl, threshold, np.sqrt(3.0**2 + spread**2))
        chances.append(0.05 + (1.0 - 0.02 - 0.05) * honest)
    return np.array(chances)


def posterior(answered: list[Answered]) -> Array:
    weight = PATTERNS.probability.copy()
    for tone in answered:
        p = p_heard(tone.frequency_hz, tone.level_db_hl)
        weight = weight * (p if tone.heard else 1.0 - p)
    return weight / weight.sum()


def entropy_bits(probability: Array) -> float:
    return float(special.entr(probability).sum() / np.log(2.0))


@pytest.fixture(params=quick([0, 1, 5, 12], 0, 12), ids=lambda tones: f"{tones}-tones")
def measurement(request: pytest.FixtureRequest) -> tuple[Cast, list[Answered]]:
    method = EndlessCast(TASK, PATTERNS)
    return method, measure(method, NOISY, request.param)


# --- Bayes over patterns -------------------------------------------------------------------------


def test_the_patterns_are_weighed_as_by_brute_force(
    measurement: tuple[Cast, list[Answered]],
) -> None:
    method, answered = measurement

    assert method._probability == pytest.approx(posterior(answered), rel=1e-10)


def test_the_next_tone_leaves_the_least_uncertain_pattern_to_be_expected(
    measurement: tuple[Cast, list[Answered]],
) -> None:
    """By both answers to every tone: their chance times the entropy of the patterns after them."""
    method, answered = measurement
    prior = posterior(answered)
    tones = [(f, h) for f in (500.0, 1000.0, 4000.0) for h in np.arange(-10.0, 91.0, 5.0)]
    gain_bits = []
    for frequency_hz, level_db_hl in tones:
        p = p_heard(frequency_hz, level_db_hl)
        expected = 0.0
        for chance in (p, 1.0 - p):
            joint = prior * chance
            expected += joint.sum() * entropy_bits(joint / joint.sum())
        gain_bits.append(entropy_bits(prior) - expected)
    stimulus = method.next_stimulus()

    assert stimulus is not None
    assert method.information_bits == pytest.approx(gain_bits, abs=1e-12)
    assert (stimulus.frequency_hz, stimulus.level_db_hl) == tones[int(np.argmax(gain_bits))]


def test_the_threshold_is_that_of_the_ears_behind_the_patterns(
    measurement: tuple[Cast, list[Answered]],
) -> None:
    """Mean and SD over the patterns, and over the ears about each."""
    method, answered = measurement
    share, of_pattern = posterior(answered), PATTERNS.thresholds_db_hl[:, :3]

    mean_db_hl, sd_db = method.threshold([500.0, 1000.0, 4000.0])

    mean = share @ of_pattern
    assert mean_db_hl == pytest.approx(mean)
    square = share @ (of_pattern**2 + PATTERNS.spread_db[:, :3] ** 2)
    assert sd_db == pytest.approx(np.sqrt(square - mean**2))


def test_the_test_ends_when_a_pattern_passes_the_criterion_and_takes_no_more_answers() -> None:
    method = Cast(TASK, PATTERNS)
    history = []
    for _ in range(100):
        stimulus = method.next_stimulus()
        if stimulus is None:
            break
        history.append(method._probability.max())
        method.observe(stimulus.frequency_hz, stimulus.level_db_hl, stimulus.level_db_hl >= 62.0)

    assert method.next_stimulus() is None
    assert max(history) < 0.95 <= method._probability.max()
    with pytest.raises(ValueError, match="the test has ended; no answer is allowed any more"):
        method.observe(500.0, 50.0, True)


def test_an_answer_that_no_pattern_can_give_is_refused() -> None:
    sure = Task(response_noise_db=0.1, lapse_rate=0.0, false_alarm_rate=0.0)
    patterns = Patterns(np.array([1000.0]), np.array([[50.0]]), np.zeros((1, 1)), np.ones(1))
    method = EndlessCast(sure, patterns)

    with pytest.raises(ValueError, match="heard at 1000 Hz, 0 dB HL is impossible for every pat"):
        method.observe(1000.0, 0.0, True)


# --- Tones and entropies -------------------------------------------------------------------------


def test_tones_are_multiples_of_the_step_within_the_task() -> None:
    task = Task(level_limits_db_hl=(-3.0, 11.0), frequency_range_hz=(250.0, 8000.0))

    tones = tones_of(task, np.array([125.0, 250.0, 8000.0]), LEVEL_STEP_DB)

    assert tones.tolist() == [[f, h] for f in (250, 8000) for h in (0, 5, 10)]
    with pytest.raises(
        ValueError, match=r"there is no tone at \[9000\.0\] Hz and multiples of 5 dB"
    ):
        tones_of(task, np.array([9000.0]), 5.0)
    with pytest.raises(ValueError, match=r"dB within 250 to 8000 Hz .* and 1 to 4 dB HL"):
        tones_of(replace(task, level_limits_db_hl=(1.0, 4.0)), np.array([500.0]), 5.0)


def test_the_entropy_of_an_answer_is_that_of_scipy() -> None:
    p = np.concatenate(
        [[0.0, 1.0, 0.5, 1e-300], np.linspace(0.0, 1.0, 101), 10.0 ** -np.arange(16)]
    )

    expected = (special.entr(p) + special.entr(1.0 - p)) / np.log(2.0)
    assert binary_entropy_bits(p) == pytest.approx(expected, rel=1e-10, abs=1e-15)


# --- Patterns ------------------------------------------------------------------------------------


def three_groups(sizes: tuple[int, int, int]) -> Population:
    random = np.random.default_rng(9)
    centres = ([5.0, 5, 5, 10], [10.0, 20, 60, 90], [70.0, 70, 80, 80])
    return population(
        np.concatenate([random.normal(c, 2.0, (n, 4)) for c, n in zip(centres, sizes, strict=True)])
    )


def test_groups_of_ears_are_found_and_each_degree_of_loss_is_as_frequent() -> None:
    sizes = (900, 80, 20)
    ears = three_groups(sizes)

    patterns = learn_patterns(ears, 3)

    order = np.argsort(patterns.thresholds_db_hl[:, 0])
    groups = np.split(ears.thresholds_db_hl, np.cumsum(sizes)[:-1])
    assert patterns.probability == pytest.approx([1 / 3] * 3)
    assert patterns.thresholds_db_hl[order] == pytest.approx(
        np.array([group.mean(axis=0) for group in groups])
    )
    assert patterns.spread_db[order] == pytest.approx(
        np.array([group.std(axis=0) for group in groups])
    )


def test_k_means_comes_to_rest_where_no_ear_is_nearer_to_another_pattern() -> None:
    """A fixed point: every centre is the weighted mean of the points that are nearest to it."""
    random = np.random.default_rng(1)
    points, weight = random.normal(0.0, 20.0, (600, 4)), random.uniform(0.5, 2.0, 600)

    nearest = clusters(points, weight, 20)

    assert len(np.unique(nearest)) == 20
    centres = np.array(
        [np.average(points[nearest == k], axis=0, weights=weight[nearest == k]) for k in range(20)]
    )
    distance = ((points[:, None] - centres) ** 2).sum(axis=2)
    assert distance.argmin(axis=1).tolist() == nearest.tolist()


def test_there_are_no_more_patterns_than_different_ears() -> None:
    ears = np.repeat([[10.0, 10, 10, 10], [50, 50, 50, 50], [50, 50, 50, 70]], 4, axis=0)

    patterns = learn_patterns(population(ears), 8)

    assert sorted(patterns.thresholds_db_hl.tolist()) == np.unique(ears, axis=0).tolist()
    assert np.all(patterns.spread_db == SPREAD_MIN_DB)


def test_ears_that_are_not_complete_do_not_count() -> None:
    ears = three_groups((30, 30, 30))
    holed = population(ears.thresholds_db_hl.copy())
    holed.thresholds_db_hl[60:, 2] = np.nan

    patterns = learn_patterns(holed, 50)

    assert patterns.thresholds_db_hl[:, 0].max() < 30.0
    with pytest.raises(ValueError, match="3 patterns from 0 ears with all frequencies"):
        learn_patterns(holed.select(range(60, 90)), 3)


# --- Convergence ---------------------------------------------------------------------------------


def test_k_means_starts_with_points_far_apart_so_that_small_groups_are_not_missed() -> None:
    """k-means++: 20 tight groups, a large one among them, and 20 clusters that are those groups."""
    random = np.random.default_rng(5)
    sizes = [400] + [5] * 19
    centres = 40.0 * random.permutation(np.array(np.meshgrid(*[range(3)] * 4)).reshape(4, -1).T)
    points = np.repeat(centres[:20], sizes, axis=0) + random.normal(0.0, 0.5, (sum(sizes), 4))

    nearest = clusters(points, np.ones(len(points)), 20)

    groups = np.split(nearest, np.cumsum(sizes)[:-1])
    assert all(len(set(group.tolist())) == 1 for group in groups)
    assert len({int(group[0]) for group in groups}) == 20


def test_a_pattern_is_the_mean_of_its_ears_by_their_weight() -> None:
    ears = three_groups((100, 10, 10))

    pattern = learn_patterns(ears, 1)

    weight = balance(ears.stratum)
    mean = np.average(ears.thresholds_db_hl, axis=0, weights=weight)
    variance = np.average((ears.thresholds_db_hl - mean) ** 2, axis=0, weights=weight)
    assert pattern.thresholds_db_hl[0] == pytest.approx(mean)
    assert pattern.spread_db[0] == pytest.approx(np.sqrt(variance))
