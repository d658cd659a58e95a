"""Kinds of listeners: what is unusual about them, the same for the same seed and number."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.courses import (
    BURST_TONES,
    CLEAR_DB,
    DRIFT_SD_DB,
    DRIFT_TONES,
    HUMAN_AFTER_PRESS,
    NUMBERS_MAX,
    TIRING_TONES,
)
from device.simulator.kinds import KINDS, KINDS_WORDS, Course, KindError, kind_named
from device.simulator.listener import EARS, SimulatedListener, Tone, number_of
from device.simulator.traces import TraceError, read_traces

FLAT = dict.fromkeys(EARS, Audiogram((1000.0,), (50.0,)))
Table = Callable[..., Path]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Answers of two listeners whose criterion swings, by so many SDs, once in 200 answers."""

    def write(swing: float = 0.8, answers: int = 1000) -> Path:
        rng = np.random.default_rng(5)
        lines = ["listener,block,condition,amplitude,signal,answer"]
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
    return SimulatedListener(FLAT, seed=seed, kind=kind_named(kind), **parameters)  # type: ignore[arg-type]


def attentive(kind: str, seed: int = 3) -> SimulatedListener:
    return listener(kind, seed, lapse_rate=0.0, false_alarm_rate=0.0)


def silences(someone: SimulatedListener, after: int, slots: int = 1000) -> float:
    """Return the share of the slots of a silence after a tone in which the button is pressed."""
    presses = [someone.spontaneous_press(f"a-{after}", slot) for slot in range(slots)]
    return float(np.mean([press is not None for press in presses]))


def criteria_of(kind: str, numbers: Sequence[int]) -> list[float]:
    course = Course(kind_named(kind), 3, 2.0)
    return [course.at(number).criterion_db for number in numbers]


def hears(someone: SimulatedListener, numbers: range, level_db_hl: float = 50.0) -> list[bool]:
    return [bool(someone.answer(Tone(f"a-{n}", "right", 1000.0, level_db_hl))) for n in numbers]


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
        ("silent", "listener 'silent': allowed are numbers from 1 to 4096 as the number of a tone"),
        ("nobody=1", "listener 'nobody=1': nobody has no value"),
        ("presser=.5", "listener 'presser=.5': allowed are numbers from 0 to 1 of the silences"),
        ("presser=.5/2", "allowed are numbers from 0 to 1 of the silences"),
        ("presser=1/0/20/3", "listener 'presser=1/0/20/3': allowed are 3 numbers at most"),
        ("uneven=1", "listener 'uneven=1': allowed are numbers from 0.1 to 30 dB"),
        ("exaggerating=15/", "listener 'exaggerating=15/': allowed are numbers from 0 to 60 dB"),
        ("moved=1", "listener 'moved=1': allowed are numbers from -40 to 40 dB"),
        ("moved=1/50", "listener 'moved=1/50': allowed are numbers from -40 to 40 dB"),
        ("tinnitus=50/.5", "allowed are numbers from 125 to 16000 Hz"),
        ("cue=2", "listener 'cue=2': allowed are numbers from 0 to 1 of the tones"),
        ("rising=1", "listener 'rising=1': rising has no value"),
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

    assert hears(listener("honest"), range(300)) == hears(plain, range(300))


@pytest.mark.parametrize(
    ("kind", "level_db_hl", "wanted"),
    [("noisy=8", 58.0, 0.01 + 0.98 * 0.8413), ("lapses=.15", 90.0, 0.85)],
)
def test_noise_and_lapses_of_a_kind_stand_in_place_of_others(
    kind: str, level_db_hl: float, wanted: float
) -> None:
    share = np.mean(hears(listener(kind), range(4000), level_db_hl))

    assert share == pytest.approx(wanted, abs=4 * math.sqrt(wanted * (1 - wanted) / 4000))


@pytest.mark.parametrize("seed", range(1, 9))
def test_two_bursts_of_five_tones_are_missed_or_answered_whatever_they_are(seed: int) -> None:
    clear = hears(listener("bursts", seed, lapse_rate=0.0, false_alarm_rate=0.0), range(200), 120.0)
    faint = hears(listener("bursts", seed, lapse_rate=0.0, false_alarm_rate=0.0), range(200), -10.0)

    odd = [n for n, (a, b) in enumerate(zip(clear, faint, strict=True)) if not a or b]
    first, second = odd[:BURST_TONES], odd[BURST_TONES:]
    for burst in (first, second):
        assert burst == list(range(burst[0], burst[0] + 5))
        assert len({clear[n] for n in burst}) == 1
    assert 6 <= first[0] <= 11
    assert 16 <= second[0] <= 21


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


@pytest.mark.parametrize(
    "kind",
    [
        "drifting", "bursts", "noisy=8", "lapses=.15", "human", "presser=.5/.5", "repeating=.3",
        "uneven=1/8", "exaggerating=5/20",
    ],
)  # fmt: skip
def test_a_tone_that_is_played_again_gets_its_old_answer(kind: str) -> None:
    someone = listener(kind)
    first = hears(someone, range(60))

    assert hears(someone, range(40, 60)) == first[40:]
    assert hears(listener(kind), range(60)) == first
    assert hears(listener(kind, seed=4), range(60)) != first
    if not KINDS[kind.partition("=")[0]].remembers:
        assert hears(listener(kind), range(59, -1, -1)) == first[::-1], "in any order"


def test_every_kind_is_among_the_words_and_can_be_named() -> None:
    words = KINDS_WORDS.split(", ")

    assert {word.partition("=")[0] for word in words} == {*KINDS, "package.module:Class"}
    values = {
        "[/DB]": "/9", "[/K]": "/5", "[/K[/TONES[/HZ/HZ]]]": "/5/2/500/900", "DB": "10",
        "HZ": "500", "P": ".5", "K": "5", "S": "2",
    }  # fmt: skip
    for word in words[:-1]:
        for placeholder, value in values.items():
            word = word.replace(placeholder, value)  # noqa: PLW2901 - one after the other
        if not word.endswith(".csv"):
            assert kind_named(word).text == word


@pytest.mark.parametrize(
    ("kind", "level_db_hl", "heard"),
    [
        ("silent=12", 120.0, [True] * 11 + [False] * 19),  # for good
        ("silent=12/20", 120.0, [True] * 11 + [False] * 8 + [True] * 11),
        ("late=8", 120.0, [False] * 8 + [True] * 22),
        ("nobody", 120.0, [False] * 30),
        ("presser=1/0", -10.0, [True] * 30),
    ],
)
def test_which_tones_are_answered(kind: str, level_db_hl: float, heard: list[bool]) -> None:
    assert hears(attentive(kind), range(1, 31), level_db_hl) == heard


@pytest.mark.parametrize(
    ("kind", "after", "share"),
    [("silent=12", 10, 0.3), ("silent=12", 11, 0.0), ("nobody", 0, 0.0), ("presser=1/0", 3, 0.0),
     ("presser=.9/.5/20", 18, 0.3), ("presser=.9/.5/20", 19, 0.5)],
)  # fmt: skip
def test_in_which_silences_is_pressed(kind: str, after: int, share: float) -> None:
    someone = listener(kind, false_alarm_rate=0.3)
    assert silences(someone, after) == pytest.approx(share, abs=0.07 if share else 0.0)


def test_a_presser_answers_so_many_tones_whatever_they_are() -> None:
    someone = attentive("presser=.9/.5/20")
    faint = hears(someone, range(1, 2020), -10.0)

    assert faint.index(True) >= 19
    assert np.mean(faint[19:]) == pytest.approx(0.9, abs=0.03)


def test_a_repeated_answer_is_the_last_one() -> None:
    someone = attentive("repeating=.3")
    levels_db_hl = [-10.0, 120.0] * 500
    given = [
        bool(someone.answer(Tone(str(n), "right", 1000.0, level)))
        for n, level in enumerate(levels_db_hl)
    ]

    repeated = [n for n in range(1, 1000) if given[n] != (levels_db_hl[n] > 0)]
    # What repeats a wrong answer is right: x = .3 (1 - x) are wrong.
    assert len(repeated) == pytest.approx(231, abs=45)
    assert all(given[n] == given[n - 1] for n in repeated)


@pytest.mark.parametrize(
    ("kind", "numbers", "criteria_db"),
    [
        ("tiring=10", (0, TIRING_TONES // 2, TIRING_TONES, 300), [0.0, 5.0, 10.0, 10.0]),
        ("exaggerating=15", range(500), [15.0] * 500),
    ],
)
def test_a_criterion_goes_evenly_or_stays(
    kind: str, numbers: Sequence[int], criteria_db: list[float]
) -> None:
    assert criteria_of(kind, numbers) == criteria_db


def test_uneven_noise_goes_from_the_low_value_to_the_high_one() -> None:
    course = Course(kind_named("uneven=1/8"), 3, 2.0)
    noise_db = [course.at(5, f).response_noise_db for f in (125.0, 250.0, 8000.0, 500.0)]

    assert noise_db == pytest.approx([1.0, 1.0, 8.0, 1.0 + 7.0 / 5.0])
    someone = attentive("uneven=1/8")
    missed = [
        1.0 - np.mean([bool(someone.answer(Tone(str(n), "left", f, 55.0))) for n in range(1000)])
        for f in (250.0, 8000.0)
    ]
    assert missed == pytest.approx([0.0, 0.266], abs=0.06)


def test_one_who_exaggerates_by_chance_does_so_within_two_bounds() -> None:
    criteria_db = criteria_of("exaggerating=5/20", range(500))
    assert 5.0 < min(criteria_db) < 6.0
    assert 24.0 < max(criteria_db) < 25.0


def test_an_accident_is_one_clear_tone_and_the_same_one_again() -> None:
    someone = attentive("accident=4")
    clear, faint = 50.0 + CLEAR_DB, -10.0

    assert hears(someone, range(1, 4), clear) == [True] * 3
    assert hears(someone, range(4, 6), faint) == [False] * 2
    assert hears(someone, range(6, 40), clear) == [False] + [True] * 33
    assert hears(someone, range(6, 8), clear) == [False, True]


def test_those_who_press_twice_do_so_soon_after_the_first_press() -> None:
    once, twice = listener("honest"), listener("twice")
    for n in range(200):
        tone = Tone(str(n), "right", 1000.0, 50.0)
        first, both = once.answer(tone), twice.answer(tone)
        if first is None:
            assert both is None
            continue
        assert both is not None
        assert replace(both, again_us=0) == first
        assert 300_000 <= both.again_us <= 600_000
    assert silences(twice, 5) == silences(once, 5)


def test_after_a_press_people_press_sooner() -> None:
    kind = kind_named("human")
    after = {True: [], False: []}  # type: dict[bool, list[float]]
    for seed in range(50):
        for pressed, criteria in after.items():
            course = Course(kind, seed, 4.0)
            course.take_answer(7, pressed)
            criteria.append(course.at(8).criterion_db)
            assert Course(kind, seed, 4.0).at(8).criterion_db != criteria[-1]

    difference_db = np.array(after[False]) - np.array(after[True])
    assert difference_db == pytest.approx(np.full(50, 2 * 4.0 * HUMAN_AFTER_PRESS))


def test_the_criterion_of_people_wanders_in_units_of_their_noise() -> None:
    kind = kind_named("human")
    spread = [
        np.std([Course(kind, seed, noise_db).at(9).criterion_db for seed in range(150)])
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


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("listener,", "who,", "answers.csv: column listener is missing, wanted are"),
        ("A,1,1,", "A,1,1,0.0,1,maybe\nA,1,1,", "row 1: answer is 'maybe', allowed are 0 and 1"),
        ("A,1,1,", "\udcff", "is not a CSV file in UTF-8"),
        ("", None, "column listener, block, condition, amplitude, answer is missing"),
    ],
)
def test_what_is_no_table_of_answers_is_refused(
    table: Table, old: str, new: str | None, words: str
) -> None:
    path = table()
    text = "" if new is None else path.read_text("utf-8").replace(old, new, 1)
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(TraceError, match=words):
        read_traces(path)


def test_a_table_without_a_block_of_answers_is_refused(table: Table) -> None:
    with pytest.raises(TraceError, match="no block of 100 answers, wanted is at least one"):
        read_traces(table(answers=90))


@pytest.mark.parametrize(
    ("kind", "wanted_db"),
    [
        ("moved=3/12", [0.0, 0.0, 12.0, 12.0, 12.0]),
        ("moved=3/-12/5", [0.0, 0.0, -12.0, -12.0, 0.0]),
        ("moved=2/12/9/3", [0.0, 4.0, 8.0, 12.0, 12.0]),
        ("moved=1/12/9/1/0/999", [0.0] * 5),  # at others only
        ("moved=1/12/9/1/0/1000", [12.0] * 5),
    ],
)
def test_an_earphone_moves_until_it_is_put_back(kind: str, wanted_db: list[float]) -> None:
    course = Course(kind_named(kind), 3, 2.0)

    assert [course.at(n).criterion_db for n in range(1, 6)] == wanted_db
    course.seat()
    assert [course.at(n).criterion_db for n in range(1, 6)] == [0.0] * 5


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("tinnitus=1000/.4", 0.4), ("tinnitus=1415/.4", 0.0), ("tinnitus=1413/.4", 0.4),
     ("cue=.4", 0.4)],
)  # fmt: skip
def test_a_share_of_unheard_tones_is_pressed_and_no_silence_more(kind: str, wanted: float) -> None:
    """Within half an octave of a pitch, or everywhere."""
    someone = attentive(kind)

    assert np.mean(hears(someone, range(4000), 0.0)) == pytest.approx(wanted, abs=0.03)
    assert silences(someone, after=5) == 0.0
    assert all(hears(someone, range(100), 100.0))


def test_of_faint_tones_only_those_louder_than_the_one_before_are_noticed() -> None:
    course = Course(kind_named("rising"), 3, 2.0)
    above_db = [0.0, 1.0, 1.0, 5.0, 4.0, -11.0, -3.0, 11.0, 9.0]

    noticed = [course.at(n, above_db=each).pressed is None for n, each in enumerate(above_db)]

    # What is louder, the first tone, and what is not faint.
    assert noticed == [True, True, False, True, False, True, True, True, False]
