"""From the options of a study to its ears, its methods, and a plan that can be compared."""

import argparse
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.mapping import in_full
from device.simulator.kinds import Kind, kind_named
from device.simulator.odd_ears import ODD_EARS
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.platform.named_file import content_of
from firmware_py.platform.own_prior import OwnPrior, OwnPriorError
from host_tools.errors import HostError
from host_tools.files import write_text
from host_tools.research.methods.names import (
    METHODS,
    METHODS_LEARNED,
    METHODS_USUAL,
    USERS_OF_OBJECTIVE,
    USERS_OF_PRIOR,
)
from host_tools.research.methods.population import Population
from host_tools.research.methods.registry import (
    NOTHING_LEARNED,
    Learned,
    check_method_names,
    check_objective,
    learn,
    learns,
    sources,
)
from host_tools.research.study.arguments import usual_options
from host_tools.research.study.ears import (
    ALL,
    AUTO,
    BISGAARD,
    EARS_PER_STRATUM,
    HELD_OUT,
    JITTER_DB,
    TRAIN,
    Table,
    Tables,
    ears_of,
    odd_ears,
    readings_of,
    standard_ears,
)
from host_tools.research.study.listener import Ear
from host_tools.research.study.options import Options
from host_tools.research.study.pieces import program
from host_tools.research.study.session import Job, Session, Setting, run_session, schema, table_of
from host_tools.research.study.sessions import Chunk, Json, Sessions

if TYPE_CHECKING:
    import pyarrow as pa

LEARNED: Final = "learned.json"
LEARNED_BYTES_MAX: Final = 1 << 28
NOT_KNOWN: Final = (
    "whether the prior has learned from these ears is not known: only the very file that it has "
    "learned from is recognised, by its SHA-256, and this is another"
)


@dataclass(frozen=True, eq=False)
class Study(Sessions[Job, Session]):
    """A study of methods that can be run."""

    ears: tuple[Ear, ...]
    methods: tuple[str, ...]
    setting: Setting
    seeds: int  # the highest; they begin at 1
    training: Population | None  # what methods may learn from
    plan: Json  # JSON values: two studies with the same plan have the same results
    remarks: tuple[str, ...]  # what a reader of the results should know about the ears
    learned: Learned = NOTHING_LEARNED  # by the methods

    @property
    def sessions(self) -> int:
        return len(self.methods) * len(self.ears) * self.seeds

    @property
    def rows_per_session(self) -> int:  # type: ignore[override]
        """Return how many rows of the table a session has."""
        return self.setting.tones + 1

    @property
    def about(self) -> Json:  # type: ignore[override]
        """Return what else a reader should know."""
        return {"ears": len(self.ears), "remarks": list(self.remarks)}

    @property
    def schema(self) -> "pa.Schema":
        return schema()

    def rows_of(self, made: list[Session]) -> "pa.Table":
        return table_of(made)

    def job(self, number: int) -> Job:
        """Return session 0, 1, 2 ...: by method, then by ear, then by seed."""
        rest, seed = divmod(number, self.seeds)
        method, ear = divmod(rest, len(self.ears))
        return Job(self.methods[method], self.ears[ear], seed + 1)

    def make(self, indices: Iterable[int]) -> Iterator[tuple[int, Chunk[Job, Session]]]:
        """Yield chunks with their indices; a worker is given what was learned if it needs it."""
        for index in indices:
            jobs = [self.job(number) for number in self.numbers_in(index)]
            needed = any(learns(job.method) for job in jobs)
            learned = self.learned if needed else NOTHING_LEARNED
            yield index, (partial(run_session, setting=self.setting, learned=learned), jobs)

    def ready_in(self, directory: Path) -> "Study":
        """Return the study with what its methods have learned, from the file or learned now."""
        if self.training is None:
            return self
        path = directory / LEARNED
        try:
            learned = Learned.from_json(json.loads(content_of(path, LEARNED_BYTES_MAX)))
        except FileNotFoundError:
            learned = learn(self.methods, self.training)
            write_text(path, json.dumps(learned.as_json()) + "\n", for_all=True)
        except (KeyError, TypeError, ValueError):
            raise HostError(f"{path} is damaged; remove it, and it is made again") from None
        return replace(self, learned=learned)


@dataclass(frozen=True, eq=False)
class Measured:
    """Whose ears are measured."""

    ears: tuple[Ear, ...]
    jitter_db: float  # thresholds are moved within +- so much, by seed
    people: Population | None  # from whom they were drawn; None: they are no people's
    part: str | None  # of a table
    remarks: tuple[str, ...]


def ears_measured(options: Options, tables: Tables, learners: Sequence[str] = ()) -> Measured:
    """Find the ears of the options; `learners` are methods that learn from people."""
    count = EARS_PER_STRATUM if options.ears_per_stratum is None else options.ears_per_stratum
    if options.audiograms in ODD_EARS:
        return Measured(odd_ears(options.audiograms, count), 0.0, None, None, ())
    table = tables.measured
    if table is None:
        return Measured(standard_ears(), 0.0, None, None, ())
    prior = prior_in(options.prior)
    part = _part(options.part, table, tables.learned_from, learners, prior)
    people = table.part(part)
    told = [NOT_KNOWN] if (options.part, part) == (AUTO, ALL) else []
    if learners and options.part == AUTO:
        people, left_out = _not_taught(people, table, tables.learned_from)
        told += left_out
    ears, remarks = ears_of(people, count)
    jitter_db = JITTER_DB if options.jitter else 0.0
    return Measured(ears, jitter_db, people, part, (*told, *remarks))


def plan_study(options: Options, tables: Tables | None = None) -> Study:
    """Find the ears and the methods, and say what the study is; without tables they are read."""
    tables = tables or Tables.read(options.audiograms, options.train, options.columns)
    table, train = tables.measured, tables.learned_from
    named = None if options.methods is None else check_method_names(options.methods)
    methods, remarks = _methods(named, learning=table is not None or train is not None)
    learners = [name for name in methods if learns(name)]
    if learners and table is None and train is None:
        raise HostError(
            f"--methods has {learners[0]!r}, which learns from people, and {options.audiograms} "
            "are none "
            "(it would be given the very ears it is to find); give it some with --train FILE"
        )
    measured = ears_measured(options, tables, learners)
    prior = read_prior(options.prior)
    _check_uses(options, methods)
    own = {
        "prior": prior and prior.digest,
        "own": sources(methods, options.objective) or None,
        "columns": columns_compared(options.columns),
    }
    per_stratum = EARS_PER_STRATUM if options.ears_per_stratum is None else options.ears_per_stratum
    training, training_name = _training(table, train) if learners else (None, None)
    return Study(
        ears=measured.ears,
        methods=methods,
        setting=Setting(
            options.answering,
            options.trials,
            measured.jitter_db,
            options.conduct,
            options.response_time_s,
            None if prior is None else prior.prior,
            options.objective,
        ),
        seeds=options.seeds,
        training=training,
        plan={
            "audiograms": options.audiograms if table is None else f"sha256:{table.sha256}",
            "part": measured.part,
            "ears": None if options.audiograms == BISGAARD else per_stratum,
            "jitter_db": measured.jitter_db,
            "train": training_name,
            "methods": list(methods),
            "noise": options.response_noise_db,
            "lapse-rate": options.lapse_rate,
            "false-alarm-rate": options.false_alarm_rate,
            "listener": listener_compared(options.answering.kind),
            "trials": options.trials,
            "seeds": options.seeds,
            "conduct": options.conduct,
            "response-time": options.response_time_s,
            "program": program(),
            **{name: told for name, told in own.items() if told is not None},
        },
        remarks=(*remarks, *measured.remarks),
    )


def read_prior(path: Path | None) -> OwnPrior | None:
    try:
        return None if path is None else OwnPrior.read(path)
    except OwnPriorError as error:
        raise HostError(f"--prior {error}") from None


def prior_in(path: Path | None) -> PopulationPrior | None:
    """Return the prior of --prior; None: the one that ships."""
    own = read_prior(path)
    return None if own is None else own.prior


def _check_uses(options: Options, methods: Sequence[str]) -> None:
    if options.objective:
        check_objective(options.objective)
    own = [name for name in methods if name not in METHODS]
    for option, users in (("--prior", USERS_OF_PRIOR), ("--objective", USERS_OF_OBJECTIVE)):
        if getattr(options, option[2:]) and not own and not {*users} & {*methods}:
            raise HostError(
                f"{option}: none of the methods {', '.join(methods)} makes use of it; allowed is "
                f"it beside one of {', '.join(users)}, or a method of your own"
            )


def listener_compared(kind: Kind) -> str:
    """Return the kind as it is compared: recorded people by what they did, not by their file.

    One of somebody's own is compared by its code.
    """
    if kind.source:
        return f"{kind.text}=sha256:{kind.source}"
    if kind.traces is None:
        return kind.text
    return f"{kind.name}=sha256:{hashlib.sha256(repr(kind.traces).encode()).hexdigest()}"


def columns_compared(text: str | None) -> str | None:
    """Return what columns have as it is compared: in full, whatever file says it."""
    try:
        return in_full(text)
    except AudiogramError as error:
        raise HostError(str(error)) from None


def _methods(named: tuple[str, ...] | None, *, learning: bool) -> tuple[tuple[str, ...], list[str]]:
    """Return the methods, and, if they were not named, which of the usual ones are left out."""
    if named is not None:
        return named, []
    if learning:
        return METHODS_USUAL, []
    left_out = METHODS_LEARNED
    kept = tuple(name for name in METHODS_USUAL if name not in left_out)
    return kept, [f"{' and '.join(left_out)} left out: they learn from people (--train FILE)"]


def _part(
    wanted: str,
    table: Table,
    train: Table | None,
    learners: Sequence[str],
    prior: PopulationPrior | None,
) -> str:
    """Return the part of a table to measure: no ear that anything was learned from."""
    learned_here = bool(learners) and (train is None or train.readings == table.readings)
    if wanted == AUTO:
        learned_here = learned_here or prior_was_learned_from(table.sha256, prior)
        return HELD_OUT if learned_here else ALL
    if learned_here and wanted != HELD_OUT:
        raise HostError(
            f"--part is {wanted!r}, and {' and '.join(learners)} would learn from ears they are "
            f"then tried on; allowed is {HELD_OUT}, or another table with --train FILE"
        )
    return wanted


def _not_taught(
    people: Population, table: Table, train: Table | None
) -> tuple[Population, list[str]]:
    """Return who is in no other table that methods learn from, and how many ears are left out."""
    if train is None or train.readings == table.readings:
        return people, []
    new = np.array([each not in train.readings for each in readings_of(people)])
    if not new.any():
        raise HostError(
            "--train has every ear of --audiograms; allowed are other ears, and --part all"
        )
    left_out = len(new) - int(new.sum())
    told = [f"{left_out} of {len(new)} ears left out: --train has them, too"] if left_out else []
    return people.select(new), told


def prior_was_learned_from(sha256: str, prior: PopulationPrior | None = None) -> bool:
    """Return whether a prior, or the one that ships, was learned from this very file."""
    from firmware_py.inference.mixture.population_prior import shipped_prior

    return sha256 in json.dumps(dict((prior or shipped_prior()).provenance))


def _training(table: Table | None, train: Table | None) -> tuple[Population, str]:
    """Return the population that methods learn from, and its name in the plan."""
    if train is not None and (table is None or train.readings != table.readings):
        return train.population, f"sha256:{train.sha256}"
    assert table is not None
    return table.part(TRAIN), f"{TRAIN} part of sha256:{table.sha256}"


def plan_of_table(table: str, arguments: argparse.Namespace, units: Sequence[Any]) -> Json:
    """Return the plan of a table that is kept: its options, and who is tested."""
    of_no_matter = {"audiograms", "out", "json", "workers", "dask"}
    options = {
        name: getattr(arguments, name) for name in usual_options() if name not in of_no_matter
    }
    tested = hashlib.sha256()
    for unit in units:
        tested.update(repr(unit).encode())
    prior = read_prior(arguments.prior)
    return {
        **options,
        "table": table,
        "columns": columns_compared(arguments.columns),
        "tested": tested.hexdigest(),
        "listener": listener_compared(kind_named(arguments.listener)),
        "prior": prior and prior.digest,
        "own": sources((), arguments.objective) or None,
        "program": program(),
    }
