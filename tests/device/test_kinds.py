"""Kinds of listeners: what is unusual about them, the same for the same seed and number."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.kinds import (
    BURST_TONES,
    DRIFT_SD_DB,
    DRIFT_TONES,
    HUMAN_AFTER_PRESS,
    NUMBERS_MAX,
    Course,
    KindError,
    kind_named,
)
from device.simulator.listener import EARS, SimulatedListener, number_of
from device.simulator.traces import TraceError, read_traces

FLAT = dict.fromkeys(EARS, Audiogram((1000.0,), (50.0,)))
Table = Callable[..., Path]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Answers of two listeners whose criterion swings, by so many SDs, once in 200 answers."""

    def write(swing: float = 0.8, answers: int = 1000, header: str = "") -> Path:
        rng = np.random.default_rng(5)
        lines = [header or "listener,block,condition,amplitude,signal,answer"]
        for listener in ("A", "B"):
            for block in (1, 2):
                z = rng.choice([-1.0, 0.0, 1.0], answers)
                criterion = swing * np.sin(2 * np.pi * np.arange(answers) / 200)
                yes = rng.standard_normal(answers) < z - criterion
                lines += [f"{listener},{block},1,{a},1,{y:d}" for a, y in zip(z, yes, strict=True)]
        path = tmp_path / "answers.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def listener(kind: str, seed: int = 3, **parameters: float) -> SimulatedListener:
    return SimulatedListener(FLAT, seed=seed, kind=kind_named(kind), **parameters)


def heard(someone: SimulatedListener, numbers: range, level_db_hl: float = 50.0) -> list[bool]:
    return [someone.answer(f"a-{n}", "right", 1000.0, level_db_hl) is not None for n in numbers]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no kind of listener is called ''"),
        ("deaf", "no kind of listener is called 'deaf', allowed are honest, drifting, bursts, "),
        ("Honest", "no kind of listener is called 'Honest'"),
        ("bursts=2", "listener 'bursts=2': bursts has no value"),
        ("noisy", "listener 'noisy': allowed are numbers from 0.1 to 30 dB"),
        ("noisy=0", "listener 'noisy=0': allowed are numbers from 0.1 to 30 dB"),
        ("noisy=nan", "allowed are numbers from 0.1 to 30 dB"),
        ("lapses=1", "listener 'lapses=1': allowed are numbers from 0 to 0.99 of the tones"),
        ("lapses=many", "allowed are numbers from 0 to 0.99"),
        ("human=nowhere.csv", "listener 'human=nowhere.csv': nowhere.csv: cannot be read: No such"),
    ],
)
def test_what_names_no_kind_is_refused(text: str, words: str) -> None:
    with pytest.raises(KindError) as error:
        kind_named(text)
    assert words in str(error.value)


def test_the_number_of_a_tone_is_what_its_id_ends_in() -> None:
    assert [number_of(tone_id) for tone_id in ("s7-12", "12", "t", "a1b", "x-007")] == [
        12, 12, 0, 0, 7,
    ]  # fmt: skip


def test_an_honest_listener_is_the_one_without_a_kind() -> None:
    plain = SimulatedListener(FLAT, seed=3)

    assert heard(listener("honest"), range(300)) == heard(plain, range(300))


@pytest.mark.parametrize(
    ("kind", "level_db_hl", "wanted"),
    [("noisy=8", 58.0, 0.01 + 0.98 * 0.8413), ("lapses=.15", 90.0, 0.85)],
)
def test_noise_and_lapses_of_a_kind_stand_in_place_of_others(
    kind: str, level_db_hl: float, wanted: float
) -> None:
    share = np.mean(heard(listener(kind), range(4000), level_db_hl))

    assert share == pytest.approx(wanted, abs=4 * math.sqrt(wanted * (1 - wanted) / 4000))


@pytest.mark.parametrize("seed", range(1, 9))
def test_two_bursts_of_five_tones_are_missed_or_answered_whatever_they_are(seed: int) -> None:
    clear = heard(listener("bursts", seed, lapse_rate=0.0, false_alarm_rate=0.0), range(200), 120.0)
    faint = heard(listener("bursts", seed, lapse_rate=0.0, false_alarm_rate=0.0), range(200), -10.0)

    odd = [n for n, (a, b) in enumerate(zip(clear, faint, strict=True)) if not a or b]
    first, second = odd[:BURST_TONES], odd[BURST_TONES:]
    for burst in (first, second):
        assert burst == list(range(burst[0], burst[0] + 5))
        assert len({clear[n] for n in burst}) == 1
    assert 6 <= first[0] <= 11
    assert 16 <= second[0] <= 21


def test_bursts_differ_between_seeds() -> None:
    courses = {tuple(heard(listener("bursts", seed), range(30), 120.0)) for seed in range(20)}

    assert len(courses) > 10


def test_a_drift_is_slow_of_the_size_said_and_about_the_truth() -> None:
    kind = kind_named("drifting")
    drift = np.array(
        [
            [course.at(n).criterion_db for n in range(0, 161, 40)]
            for course in (Course(kind, seed, 2.0) for seed in range(400))
        ]
    )

    assert drift.std() == pytest.approx(DRIFT_SD_DB, rel=0.1)
    assert abs(drift[:, 0].mean()) < 4 * DRIFT_SD_DB / 20
    correlation = np.corrcoef(drift[:, 0], drift[:, 1])[0, 1]
    assert correlation == pytest.approx(math.exp(-40 / DRIFT_TONES), abs=0.15)
    course = Course(kind, 1, 2.0)
    steps = np.diff([course.at(n).criterion_db for n in range(1000)])
    assert np.abs(steps).max() < 2.5


@pytest.mark.parametrize("kind", ["drifting", "bursts", "noisy=8", "lapses=.15", "human"])
def test_a_tone_that_is_played_again_gets_its_old_answer(kind: str) -> None:
    someone = listener(kind)
    first = heard(someone, range(60))

    assert heard(someone, range(40, 60)) == first[40:]
    assert heard(listener(kind), range(60)) == first
    assert heard(listener(kind, seed=4), range(60)) != first


@pytest.mark.parametrize("kind", ["drifting", "bursts"])
def test_in_which_order_a_listener_is_asked_does_not_matter(kind: str) -> None:
    backwards = heard(listener(kind), range(59, -1, -1))

    assert backwards[::-1] == heard(listener(kind), range(60))


def test_after_a_press_people_press_sooner() -> None:
    kind = kind_named("human")
    after = {True: [], False: []}  # type: dict[bool, list[float]]
    for seed in range(50):
        for pressed, criteria in after.items():
            course = Course(kind, seed, 4.0)
            course.answered(7, pressed)
            criteria.append(course.at(8).criterion_db)
            assert Course(kind, seed, 4.0).at(8).criterion_db != criteria[-1]

    difference_db = np.array(after[False]) - np.array(after[True])
    assert difference_db == pytest.approx(np.full(50, 2 * 4.0 * HUMAN_AFTER_PRESS))


def test_the_criterion_of_people_wanders_in_units_of_their_noise() -> None:
    kind = kind_named("human")
    spread = [
        np.std([Course(kind, seed, noise_db).at(9).criterion_db for seed in range(400)])
        for noise_db in (1.0, 5.0)
    ]

    assert spread[0] == pytest.approx(math.hypot(0.17, 0.21), rel=0.15)
    assert spread[1] == pytest.approx(5 * spread[0])


def test_traces_of_recorded_people_follow_their_criterion(table: Table) -> None:
    traces = read_traces(table()).traces
    swing = np.sin(2 * np.pi * np.arange(1000) / 200)

    assert len(traces) == 4
    for trace in traces:
        assert np.corrcoef(trace, swing)[0, 1] > 0.8
        assert 0.3 < np.std(trace) < 0.8


def test_people_who_do_not_wander_leave_flat_traces(table: Table) -> None:
    assert np.std(read_traces(table(swing=0.0)).traces) < 0.05


def test_a_listener_with_recorded_traces_is_as_they_were(table: Table) -> None:
    kind = kind_named(f"human={table()}")
    courses = [[Course(kind, seed, 2.0).at(n).criterion_db for n in range(200)] for seed in (1, 2)]

    assert kind.traces is not None
    assert np.std(courses) == pytest.approx(2.0 * np.std(kind.traces.traces), rel=0.3)
    assert courses[0] != courses[1]
    assert Course(kind, 1, 2.0).at(NUMBERS_MAX).criterion_db == courses[0][0]


def words_of_error(path: Path) -> str:
    with pytest.raises(TraceError) as error:
        read_traces(path)
    return str(error.value)


def test_what_is_no_table_of_answers_is_refused(table: Table) -> None:
    header = "who,block,condition,amplitude,signal,answer"
    assert "answers.csv: column listener is missing, wanted are" in words_of_error(
        table(header=header)
    )
    assert "no block of 100 answers, wanted is at least one" in words_of_error(table(answers=90))

    path = table()
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines[:2], "A,1,1,0.0,1,maybe", *lines[3:]]), encoding="utf-8")
    assert "row 2: answer is 'maybe', allowed are 0 and 1" in words_of_error(path)

    path.write_bytes(b"\xff\xfe")
    assert "is not a CSV file in UTF-8" in words_of_error(path)
    path.write_text("", encoding="utf-8")
    assert "column listener, block, condition, amplitude, answer is missing" in words_of_error(path)
