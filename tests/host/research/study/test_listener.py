"""The listener of a study: the chance it should have, and the same luck for every method."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import special

from device.simulator.audiogram import Audiogram
from device.simulator.kinds import kind_named
from host_tools.research.study.listener import Answering, Ear, Listener, uniforms
from tests.host.research.study.ears import CAREFUL, FLAT


def test_the_chance_is_that_of_a_probit_with_lapses_and_false_alarms() -> None:
    listener = Listener(FLAT, Answering(4.0, 0.03, 0.05), 1, 1)

    for level_db_hl in (-10.0, 26.0, 30.0, 33.5, 120.0):
        expected = 0.05 + 0.92 * special.ndtr((level_db_hl - 30.0) / 4.0)
        assert listener.probability_heard(1000.0, level_db_hl) == pytest.approx(expected, abs=1e-12)


def test_the_truth_is_linear_in_octaves_and_constant_outside() -> None:
    ear = Ear("slope", "some", (500.0, 2000.0), (20.0, 60.0))
    listener = Listener(ear, Answering(2.0, 0.0, 0.0), 1, 1)

    for frequency_hz, threshold_db_hl in ((125.0, 20.0), (1000.0, 40.0), (8000.0, 60.0)):
        assert listener.probability_heard(frequency_hz, threshold_db_hl) == pytest.approx(0.5)


@pytest.mark.parametrize("level_db_hl", [0.0, 29.0, 32.0, 60.0])
def test_answers_are_as_frequent_as_their_chance(level_db_hl: float) -> None:
    tones = 20_000
    listener = Listener(FLAT, Answering(3.0, 0.05, 0.1), 7, tones)
    heard = sum(listener.hears(n, 1000.0, level_db_hl) for n in range(tones))

    p = listener.probability_heard(1000.0, level_db_hl)
    assert abs(heard / tones - p) < 4.0 * math.sqrt(p * (1.0 - p) / tones)


@pytest.mark.parametrize("above_db", [-7.0, -3.0, 0.0, 2.0, 8.0])
def test_a_second_button_is_pressed_within_the_dead_zone_or_by_accident(above_db: float) -> None:
    tones, width_db, noise_db, lapse, alarm = 20_000, 4.0, 3.0, 0.05, 0.1
    listener = Listener(FLAT, Answering(noise_db, lapse, alarm), 7, tones)
    level_db_hl = FLAT.thresholds_db_hl[0] + above_db
    answers = [listener.answers(n, 1000.0, level_db_hl, width_db) for n in range(tones)]

    attends = 1.0 - lapse - 2.0 * alarm
    sure = alarm + attends * NormalDist().cdf((above_db - width_db) / noise_db)
    silent = lapse + attends * NormalDist().cdf((-above_db - width_db) / noise_db)
    for answer, share in ((True, sure), (False, silent), (None, 1.0 - sure - silent)):
        assert answers.count(answer) / tones == pytest.approx(share, abs=0.015)


def test_who_never_presses_the_second_button_answers_as_with_one() -> None:
    one, two = (Listener(FLAT, Answering(3.0, 0.05, 0.1), 7, 200) for _ in range(2))
    for n in range(200):
        assert two.answers(n, 1000.0, 31.0, 0.0) is one.hears(n, 1000.0, 31.0)


def test_the_luck_belongs_to_ear_seed_and_number_of_the_tone() -> None:
    def course(listener: Listener, levels: range) -> list[bool]:
        return [listener.hears(n, 1000.0, 30.0) for n in levels]

    first = course(Listener(FLAT, CAREFUL, 3, 200), range(200))

    assert course(Listener(FLAT, CAREFUL, 3, 200), range(199, -1, -1))[::-1] == first
    assert course(Listener(FLAT, CAREFUL, 4, 200), range(200)) != first
    other = Ear("other", FLAT.stratum, FLAT.frequencies_hz, FLAT.thresholds_db_hl)
    assert course(Listener(other, CAREFUL, 3, 200), range(200)) != first


def test_who_hears_the_softer_of_two_tones_of_one_number_hears_the_louder() -> None:
    soft, loud = (
        [Listener(FLAT, CAREFUL, 5, 500).hears(n, 1000.0, level) for n in range(500)]
        for level in (29.0, 31.0)
    )

    assert all(b for a, b in zip(soft, loud, strict=True) if a)
    assert sum(soft) < sum(loud)


def test_jitter_moves_every_threshold_evenly_within_its_bounds() -> None:
    moves = np.array(
        [
            np.array(Ear(str(i), "some", FLAT.frequencies_hz, FLAT.thresholds_db_hl)
            .jitter(seed, 2.5).thresholds_db_hl) - 30.0
            for i in range(100)
            for seed in range(1, 6)
        ]
    )  # fmt: skip

    assert np.abs(moves).max() <= 2.5
    assert np.abs(moves).max() > 2.4
    assert abs(moves.mean()) < 4.0 * 2.5 / math.sqrt(3.0 * moves.size)
    assert np.abs(np.corrcoef(moves.T) - np.eye(4)).max() < 0.2
    assert len(np.unique(moves)) == moves.size
    assert FLAT.jitter(2, 2.5) == FLAT.jitter(2, 2.5)


def test_streams_share_nothing() -> None:
    draws = [uniforms("ear", seed, stream, 1000) for seed in (1, 2) for stream in (1, 2)]

    assert len(np.unique(np.concatenate(draws))) == 4000
    assert uniforms("ear", 1, 1, 5).tolist() == draws[0][:5].tolist()


def test_a_kind_changes_answers_and_what_methods_are_told() -> None:
    noisy = Answering(2.0, 0.01, 0.01, kind_named("noisy=8"))
    assert noisy.as_told().response_noise_db == 8.0
    assert noisy.as_told().lapse_rate == 0.01
    assert Answering(2.0, 0.01, 0.01, kind_named("lapses=.2")).as_told().lapse_rate == 0.2
    assert CAREFUL.as_told() == CAREFUL
    assert noisy.words == "listeners: noisy=8; noise 8 dB, lapses 0.01, false alarms 0.01"
    assert noisy.about["response_noise_db"] == 8.0

    p = Listener(FLAT, noisy, 1, 1).probability_heard(1000.0, 38.0)
    assert p == pytest.approx(0.01 + 0.98 * special.ndtr(1.0))


def test_a_burst_is_missed_or_answered_whatever_is_played() -> None:
    bursts = Answering(2.0, 0.0, 0.0, kind_named("bursts"))
    clear, faint = (
        [Listener(FLAT, bursts, 5, 40).hears(n, 1000.0, level) for n in range(40)]
        for level in (120.0, -10.0)
    )

    assert sum(not a or b for a, b in zip(clear, faint, strict=True)) == 10


@pytest.mark.thorough
def test_a_drift_moves_the_answers_of_one_listener_together() -> None:
    """The luck is as before; only where the criterion lies has changed."""
    drifting = Answering(0.1, 0.0, 0.0, kind_named("drifting"))
    heard = np.array(
        [[Listener(FLAT, drifting, seed, 60).hears(n, 1000.0, 30.0) for n in (0, 1, 59)]
         for seed in range(200)]
    )  # fmt: skip

    near, far = np.corrcoef(heard.T)[0, 1:]
    assert near > 0.75
    assert far < 0.45


def test_a_finer_truth_is_heard_between_the_frequencies_and_not_jittered() -> None:
    truth = Audiogram((500.0, 1400.0, 1500.0, 4000.0), (30.0, 30.0, 80.0, 30.0))
    ear = Ear("fine", "some", FLAT.frequencies_hz, FLAT.thresholds_db_hl, truth=truth)

    listener = Listener(ear, Answering(1.0, 0.0, 0.0), 1, 1)
    assert listener.probability_heard(1500.0, 70.0) < 1e-9
    assert ear.jitter(1, 2.5) == ear
