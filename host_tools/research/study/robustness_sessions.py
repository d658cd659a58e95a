"""The sessions of the robustness table: their ears, and those of the estimator alone."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from device.simulator.kinds import kind_named
from device.simulator.listener import EARS
from device.simulator.odd_ears import ODD_EARS
from firmware_py.inference.estimator import InferenceError
from host_tools.research.methods.gp_pta import GpPta
from host_tools.research.methods.interface import Task
from host_tools.research.study.ears import (
    ALL,
    HELD_OUT,
    Table,
    every_ear,
    odd_ears,
    standard_ears,
)
from host_tools.research.study.listener import (
    Answering,
    Ear,
    Listener,
    place_in_draw,
    session_seed,
    uniforms,
)
from host_tools.research.study.plan import prior_was_learned_from
from host_tools.research.study.robustness import (
    ALL_HZ,
    BAND_DB,
    DEAD,
    ESTIMATOR,
    EVERYDAY,
    EXACT,
    EXACT_TONES,
    FLAT,
    MARKS_AT_TONES,
    MILDER,
    ODD,
    PROCEDURE,
    RATE,
    REAL,
    STANDARD,
    STEEP,
    STEP_DB,
    Case,
    SessionFound,
)
from host_tools.research.study.robustness_cases import BY_NAME
from host_tools.research.study.robustness_exact import run_exact
from host_tools.research.study.robustness_procedure import run_procedure
from host_tools.research.study.sitting import Change, Sitting

BAND: Final = 0.95
STANDARD_MOVED_DB: Final = 5.0  # a standard ear is so much better or worse as a whole at most
STANDARD_JITTER_DB: Final = 2.5  # and each threshold by so much more
NORMAL_DB_HL: Final = 5.0  # normal hearing, moved in the same way, and jittered by as much
FLAT_DB_HL: Final = (40.0, 50.0)
MILDER_MOST_DB_HL: Final = 60.0
_MOVE_STREAM: Final = 5
_THEN_STREAM: Final = 8


@dataclass(frozen=True)
class Unit:
    """A session to be run."""

    case_name: str
    ear: Ear
    seed: int
    other: Ear | None = None  # the left one, if it is not as the right
    then: Ear | None = None  # of who answers later, in both ears

    @property
    def case(self) -> Case:
        """Return the case, which processes do not hand over."""
        return BY_NAME[self.case_name]


def ears_of_case(case: Case, count: int, table: Table | None) -> tuple[Ear, ...]:
    """Return the ears of a case, fewer if there are no more; none if they need a table."""
    wanted = count * case.ears_factor
    if case.ears in {REAL, STEEP}:
        if table is None:
            return ()
        return _real(table, wanted) if case.ears == REAL else _steep(table, wanted)
    return _ears_named(case.ears, wanted)


def _ears_named(name: str, count: int) -> tuple[Ear, ...]:
    match name:
        case _ if name in ODD_EARS:
            return odd_ears(name, count)
        case _ if name == ODD:
            return _odd_in_turn(count)
        case _ if name == EVERYDAY:
            return _everyday(count)
        case _ if name == FLAT:
            return _flat(count)
        case _ if name == MILDER:
            milder = (e for e in standard_ears() if max(e.thresholds_db_hl) <= MILDER_MOST_DB_HL)
            return _standard(count, tuple(milder))
        case _ if name == DEAD:
            places = range(1, count + 1)
            return tuple(Ear(f"{DEAD}:{n}", DEAD, (1000.0,), (math.inf,)) for n in places)
        case _:
            originals = standard_ears()
            named = tuple(ear for ear in originals if name in {STANDARD, ear.name})
            return _standard(count, named)


def units_of(case: Case, ears: tuple[Ear, ...], seeds: int) -> Iterator[Unit]:
    others: tuple[Ear | None, ...] = (None,) * len(ears)
    if case.other is not None:
        others = _ears_named(case.other, len(ears))
    for ear, other in zip(ears, others, strict=True):
        for seed in range(1, seeds + 1):
            yield Unit(case.name, ear, seed, other, _then(case, ears, ear, seed))


def _then(case: Case, ears: tuple[Ear, ...], ear: Ear, seed: int) -> Ear | None:
    """Return the ear that answers later: another one, drawn by chance, or this one moved."""
    if case.changes_at is None:
        return None
    if case.moved_db is not None:
        moved = tuple(threshold + case.moved_db for threshold in ear.thresholds_db_hl)
        return dataclasses.replace(ear, name=f"{ear.name}:moved", thresholds_db_hl=moved)
    others = [each for each in ears if each.name != ear.name] or [ear]
    draw = float(uniforms(ear.name, seed, _THEN_STREAM, 1)[0])
    return others[int(draw * len(others))]


def answering_of(case: Case) -> Answering:
    """Return how the listeners of a case answer."""
    return Answering(case.noise_db, RATE, case.false_alarm_rate, kind_named(case.listener))


def run_unit(unit: Unit) -> SessionFound:
    """Run a session, and return what it gave."""
    return RUN[unit.case.run](unit)


def run_estimator(unit: Unit) -> SessionFound:
    """Let the estimator, which is told nothing, choose the tones."""
    tones = max(MARKS_AT_TONES)
    answering = answering_of(unit.case)
    listener = Listener(unit.ear, answering, unit.seed, tones)
    task = Task(audiogram_frequencies_hz=ALL_HZ, seed=unit.seed, tones_max=tones)
    button = unit.case.second_button
    method = GpPta(task, told=False, unsure_half_width_db=button.told_db if button else 0.0)
    truth_db_hl = np.array([unit.ear.audiogram.threshold_db_hl(f) for f in ALL_HZ])
    error_db, covered = {}, {}
    narrow_after = tones
    for tone in range(1, tones + 1):
        stimulus = method.next_stimulus()
        at = (stimulus.frequency_hz, stimulus.level_db_hl)
        with suppress(InferenceError):  # the answer is kept, and the bands are less exact
            pressed_within_db = button.pressed_within_db if button else 0.0
            method.observe(*at, listener.answers(tone - 1, *at, pressed_within_db))
        low_db_hl, high_db_hl = method.threshold_band(ALL_HZ, BAND)
        if np.max(high_db_hl[1:] - low_db_hl[1:]) <= 2.0 * BAND_DB:
            narrow_after = min(narrow_after, tone)
        if tone in MARKS_AT_TONES:
            mean_db_hl, _ = method.threshold(ALL_HZ)
            error_db[tone] = mean_db_hl - truth_db_hl
            inside = (low_db_hl <= truth_db_hl) & (truth_db_hl <= high_db_hl)
            covered[tone] = inside.astype(float)
    believed_db = method.estimator.hyperparameters.response_noise_db
    return SessionFound(error_db, covered, noise_db=believed_db, tones=narrow_after)


def _run_procedure(unit: Unit) -> SessionFound:
    return dataclasses.replace(run_procedure(sitting_of(unit)), family=unit.ear.stratum)


def sitting_of(unit: Unit) -> Sitting:
    """Return who sits there in a session of a whole procedure."""
    case, right = unit.case, unit.ear.audiogram
    left = right if unit.other is None else unit.other.audiogram
    return Sitting(
        {"right": right, "left": _poorer(left, case.poorer_db) if case.poorer_db else left},
        answering_of(case),
        session_seed(unit.ear.name, unit.seed),
        {"ears": case.tested, "masking": case.masking},
        case.response_time_s,
        head=Head({"right": case.air_bone_gap_db}),
        operator=case.operator,
        change=_change(unit),
    )


def _poorer(ear: Audiogram, by_db: float) -> Audiogram:
    return Audiogram(ear.frequencies_hz, tuple(level + by_db for level in ear.thresholds_db_hl))


def _change(unit: Unit) -> Change | None:
    if unit.then is None or unit.case.changes_at is None:
        return None
    return Change(unit.case.changes_at, dict.fromkeys(EARS, unit.then.audiogram))


def _run_exact(unit: Unit) -> SessionFound:
    answering = answering_of(unit.case)
    listener = Listener(unit.ear, answering, unit.seed, EXACT_TONES)
    told = answering.as_told() if unit.case.told else None
    return run_exact(unit.ear.name, unit.seed, listener, told)


RUN: Final[dict[str, Callable[[Unit], SessionFound]]] = {
    ESTIMATOR: run_estimator,
    PROCEDURE: _run_procedure,
    EXACT: _run_exact,
}


def _standard(count: int, originals: tuple[Ear, ...]) -> tuple[Ear, ...]:
    """Return ears like these, each of them as often as others."""
    return tuple(
        _move(originals[number % len(originals)], number // len(originals) + 1)
        for number in range(count)
    )


def _move(original: Ear, number: int, jitter_db: float = STANDARD_JITTER_DB) -> Ear:
    """Return an ear that is better or worse as a whole, and a little more at each frequency."""
    name = f"{original.name}:{number}"
    first, *each = uniforms(name, 1, _MOVE_STREAM, 1 + len(original.frequencies_hz)).tolist()
    moved = [
        threshold + STANDARD_MOVED_DB * (2 * first - 1) + jitter_db * (2 * draw - 1)
        for threshold, draw in zip(original.thresholds_db_hl, each, strict=True)
    ]
    return dataclasses.replace(original, name=name, thresholds_db_hl=tuple(moved))


def _everyday(count: int) -> tuple[Ear, ...]:
    """Return ears that hear normally and standard ones, by turns."""
    standard = _standard(count // 2, standard_ears())
    frequencies_hz = standard_ears()[0].frequencies_hz
    normal = Ear("normal", "normal", frequencies_hz, (NORMAL_DB_HL,) * len(frequencies_hz))
    return tuple(
        standard[number // 2] if number % 2 else _move(normal, number // 2 + 1, NORMAL_DB_HL)
        for number in range(count)
    )


def _odd_in_turn(count: int) -> tuple[Ear, ...]:
    """Return ears of all odd families, one after the other."""
    families = [odd_ears(family, -(-count // len(ODD_EARS))) for family in ODD_EARS]
    return tuple(ear for round_ in zip(*families, strict=True) for ear in round_)[:count]


def _flat(count: int) -> tuple[Ear, ...]:
    """Return ears with one threshold, drawn by number."""
    low_db_hl, high_db_hl = FLAT_DB_HL
    names = [f"{FLAT}:{number}" for number in range(1, count + 1)]
    draws = [float(uniforms(name, 1, _MOVE_STREAM, 1)[0]) for name in names]
    return tuple(
        Ear(name, FLAT, (1000.0,), (low_db_hl + draw * (high_db_hl - low_db_hl),))
        for name, draw in zip(names, draws, strict=True)
    )


def _unlearned_ears(table: Table) -> list[Ear]:
    """Return the ears of a table that the prior was not learned from."""
    part = HELD_OUT if prior_was_learned_from(table.sha256) else ALL
    return every_ear(table.part(part))


def _real(table: Table, count: int) -> tuple[Ear, ...]:
    ears = sorted(_unlearned_ears(table), key=lambda ear: place_in_draw(ear.name))
    return tuple(ear.jitter(1, STANDARD_JITTER_DB) for ear in ears[:count])


def _steep(table: Table, count: int) -> tuple[Ear, ...]:
    """Return ears of a table with a steep step, the steepest first."""
    steep = [ear for ear in _unlearned_ears(table) if _steepest_db(ear) >= STEP_DB]
    steep.sort(key=lambda ear: (-_steepest_db(ear), place_in_draw(ear.name)))
    return tuple(steep[:count])


def _steepest_db(ear: Ear) -> float:
    return float(np.abs(np.diff(ear.thresholds_db_hl)).max())
