"""`gp-pta study --robustness`: the sessions of its cases, and the table."""

import argparse
import dataclasses
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from device.simulator.kinds import kind_named
from device.simulator.listener import EARS
from firmware_py.inference.estimator import InferenceError
from firmware_py.inference.mixture.population_prior import PopulationPrior
from host_tools.research.methods.gp_pta import GpPta
from host_tools.research.methods.interface import Task
from host_tools.research.study.arguments import kind_asked, names_in, whole_number
from host_tools.research.study.ears import (
    ALL,
    HELD_OUT,
    REAL,
    STEEP,
    Tables,
    ears_of_kind,
    real_ears,
)
from host_tools.research.study.ears import Table as EarTable
from host_tools.research.study.listener import Answering, Ear, Listener, session_seed, uniforms
from host_tools.research.study.plan import NOT_KNOWN, prior_in, prior_was_learned_from
from host_tools.research.study.robustness import (
    ALL_HZ,
    BAND,
    BAND_DB,
    BETWEEN_HZ,
    EARS_USUAL,
    ESTIMATOR,
    EXACT,
    EXACT_TONES,
    MARKS_AT_TONES,
    PROCEDURE,
    RATE,
    Case,
    SessionFound,
    read_off,
    told_between,
)
from host_tools.research.study.robustness_cases import BY_NAME, CASES
from host_tools.research.study.robustness_exact import run_exact
from host_tools.research.study.robustness_judged import run_procedure
from host_tools.research.study.sessions import Table
from host_tools.research.study.sitting import Change, Sitting
from host_tools.terminal import markdown, say_aside

SEEDS_MAX: Final = 10_000
_THEN_STREAM: Final = 8


@dataclass(frozen=True)
class Unit:
    """A session to be run."""

    case_name: str
    ear: Ear
    seed: int
    other: Ear | None = None  # the left one, if it is not as the right
    then: Ear | None = None  # of who answers later, in both ears
    prior: PopulationPrior | None = field(default=None, repr=False)  # None: the one that ships

    @property
    def case(self) -> Case:
        """Return the case, which processes do not hand over."""
        return BY_NAME[self.case_name]


def ears_of_case(
    case: Case, count: int, table: EarTable | None, prior: PopulationPrior | None = None
) -> tuple[Ear, ...]:
    """Return the ears of a case, fewer if there are no more; none if they need a table."""
    wanted = count * case.ears_factor
    if case.ears not in {REAL, STEEP}:
        return ears_of_kind(case.ears, wanted)
    if table is None:
        return ()
    learned = prior_was_learned_from(table.sha256, prior)
    return real_ears(case.ears, wanted, table.part(HELD_OUT if learned else ALL))


def units_of(
    case: Case, ears: tuple[Ear, ...], seeds: int, prior: PopulationPrior | None = None
) -> Iterator[Unit]:
    others: tuple[Ear | None, ...] = (None,) * len(ears)
    if case.other is not None:
        others = ears_of_kind(case.other, len(ears))
    for ear, other in zip(ears, others, strict=True):
        for seed in range(1, seeds + 1):
            yield Unit(case.name, ear, seed, other, _then(case, ears, ear, seed), prior)


def _then(case: Case, ears: tuple[Ear, ...], ear: Ear, seed: int) -> Ear | None:
    """Return the ear that answers later: another one, drawn by chance."""
    if case.changes_at is None:
        return None
    others = [each for each in ears if each.name != ear.name] or [ear]
    draw = float(uniforms(ear.name, seed, _THEN_STREAM, 1)[0])
    return others[int(draw * len(others))]


def answering_of(case: Case) -> Answering:
    kind = kind_named(case.listener, ours=True)
    return Answering(case.noise_db, RATE, case.false_alarm_rate, kind)


def run_unit(unit: Unit) -> SessionFound:
    return RUN[unit.case.run](unit)


def run_estimator(unit: Unit) -> SessionFound:
    """Let the estimator, which is told nothing, choose the tones."""
    tones = max(MARKS_AT_TONES)
    answering = answering_of(unit.case)
    listener = Listener(unit.ear, answering, unit.seed, tones)
    task = Task(audiogram_frequencies_hz=ALL_HZ, seed=unit.seed, tones_max=tones, prior=unit.prior)
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
    held, half_width_db = told_between(method.threshold_band(BETWEEN_HZ, BAND), unit.ear.audiogram)
    return SessionFound(
        error_db, covered, believed_db, narrow_after, between=held, between_db=half_width_db,
        family=unit.ear.stratum,
    )  # fmt: skip


def _run_procedure(unit: Unit) -> SessionFound:
    return dataclasses.replace(run_procedure(sitting_of(unit)), family=unit.ear.stratum)


def sitting_of(unit: Unit) -> Sitting:
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
        prior=unit.prior,
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
    return run_exact(unit.ear.name, unit.seed, listener, told, unit.prior)


RUN: Final[dict[str, Callable[[Unit], SessionFound]]] = {
    ESTIMATOR: run_estimator,
    PROCEDURE: _run_procedure,
    EXACT: _run_exact,
}


def table(arguments: argparse.Namespace, tables: Tables) -> Table[Unit, SessionFound]:
    """Return the table that is asked for; real ears are those of the table that is named."""
    names = names_in("--cases", arguments.cases, BY_NAME)
    cases = [case for case in CASES if case.name in names]
    count = whole_number("--ears", arguments.ears, EARS_USUAL)
    seeds = whole_number("--seeds", arguments.seeds, kind_asked(arguments).seeds, high=SEEDS_MAX)
    measured = tables.measured
    prior = prior_in(arguments.prior)
    if measured is not None and not prior_was_learned_from(measured.sha256, prior):
        say_aside(NOT_KNOWN)
    units = [
        unit
        for case in cases
        for ears in [ears_of_case(case, count, measured, prior)]
        for unit in sorted(units_of(case, ears, seeds, prior), key=_place)
    ]
    return Table(
        units,
        run_unit,
        SessionFound,
        lambda found: [
            row
            for case in cases
            for row in read_off(
                case,
                [each for u, each in zip(units, found, strict=True) if u.case_name == case.name],
            )
        ],
        {"ears": count, "seeds": seeds},
        lambda rows: table_lines(rows, count, seeds),
    )


def table_lines(rows: list[dict[str, Any]], ears: int, seeds: int) -> list[str]:
    cells = [["case", "number", "wanted", "found", "met"]]
    before = ""
    for row in rows:
        cells.append(
            [
                "" if row["title"] == before else row["title"],
                row["what"],
                row["wanted"],
                row["shown"],
                _say_met(row),
            ]
        )
        before = row["title"]
    return [f"{ears} ears x {seeds} seeds a row", "", *markdown(cells)]


def _place(unit: Unit) -> tuple[str, int]:
    return unit.ear.name, unit.seed


def _say_met(row: dict[str, Any]) -> str:
    if not row["sessions"]:
        return "needs --audiograms FILE"
    return {True: "yes", False: "no", None: ""}[row["met"]]
