"""From the options of a study to its ears, its methods, and a plan that can be compared."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from device.simulator.kinds import Kind
from device.simulator.odd_ears import ODD_EARS
from firmware_py import __version__
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.platform.own_prior import OwnPrior, OwnPriorError
from host_tools.errors import HostError
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
    sources,
)
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
    standard_ears,
)
from host_tools.research.study.listener import Ear
from host_tools.research.study.options import Options
from host_tools.research.study.session import Job, Setting

# A worker is given a chunk of sessions, and what is done is kept by the chunk. Their number depends
# on that of the sessions only, so the files do not depend on the workers.
CHUNK_SESSIONS_MIN: Final = 8
CHUNKS_MAX: Final = 4096

# The code that a result depends on; a study is continued only by the same program.
_CODE: Final = (
    "firmware_py/inference",
    "firmware_py/presenting/pace.py",
    "firmware_py/terms/randomness.py",
    "firmware_py/terms/settings.py",
    "device/simulator/audiogram.py",
    "device/simulator/courses.py",
    "device/simulator/kinds.py",
    "device/simulator/listener.py",
    "device/simulator/odd_ears.py",
    "device/simulator/traces.py",
    "host_tools/research/methods",
    "host_tools/research/study/session.py",
    "host_tools/research/study/ears.py",
    "host_tools/research/study/listener.py",
    "host_tools/research/study/plan.py",
    "host_tools/research/study/session.py",
)

Json = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Sessions that are run together."""

    index: int
    jobs: tuple[Job, ...]
    setting: Setting
    learned: Learned  # by their methods
    program: str  # digest of `program`; a worker with another program refuses them


@dataclass(frozen=True, eq=False)
class Study:
    """A study that can be run."""

    ears: tuple[Ear, ...]
    methods: tuple[str, ...]
    setting: Setting
    seeds: int  # the highest; they begin at 1
    training: Population | None  # what methods may learn from
    plan: Json  # JSON values: two studies with the same plan have the same results
    remarks: tuple[str, ...]  # what a reader of the results should know about the ears

    @property
    def sessions(self) -> int:
        return len(self.methods) * len(self.ears) * self.seeds

    @property
    def rows_per_session(self) -> int:
        """Return how many rows of the table a session has."""
        return self.setting.tones + 1

    @property
    def chunk_sessions(self) -> int:
        """Return how many sessions a chunk has; the last one may have fewer."""
        return max(CHUNK_SESSIONS_MIN, -(-self.sessions // CHUNKS_MAX))

    @property
    def chunks(self) -> range:
        return range(-(-self.sessions // self.chunk_sessions))

    def numbers_in(self, index: int) -> range:
        """Return the numbers of the sessions in a chunk."""
        first = index * self.chunk_sessions
        return range(first, min(first + self.chunk_sessions, self.sessions))

    def job(self, number: int) -> Job:
        """Return session 0, 1, 2 ...: by method, then by ear, then by seed."""
        rest, seed = divmod(number, self.seeds)
        method, ear = divmod(rest, len(self.ears))
        return Job(self.methods[method], self.ears[ear], seed + 1)

    def chunk(self, index: int, learned: Learned) -> Chunk:
        """Return a chunk, made when it is needed: a study may have millions of sessions."""
        jobs = tuple(self.job(number) for number in self.numbers_in(index))
        needed = any(job.method in METHODS_LEARNED for job in jobs)
        return Chunk(
            index, jobs, self.setting, learned if needed else NOTHING_LEARNED, digest(program())
        )

    def make(self, indices: range | list[int], learned: Learned) -> Iterator[Chunk]:
        return (self.chunk(index, learned) for index in indices)


@dataclass(frozen=True, eq=False)
class Measured:
    """Whose ears are measured."""

    ears: tuple[Ear, ...]
    jitter_db: float  # thresholds are moved within +- so much, by seed
    people: Population | None  # from whom they were drawn; None: they are no people's
    part: str | None  # of a table
    remarks: tuple[str, ...]


def ears_measured(options: Options, tables: Tables, learners: Sequence[str] = ()) -> Measured:
    """Find the ears of the options.

    Parameters
    ----------
    options : Options
    tables : Tables
        Those that they name.
    learners : sequence of str
        Methods that learn from people.

    Raises
    ------
    HostError
        The table has no ear that can be measured, or would be learned from.
    """
    count = EARS_PER_STRATUM if options.ears_per_stratum is None else options.ears_per_stratum
    if options.audiograms in ODD_EARS:
        return Measured(odd_ears(options.audiograms, count), 0.0, None, None, ())
    table = tables.measured
    if table is None:
        return Measured(standard_ears(), 0.0, None, None, ())
    prior = read_prior(options.prior)
    part = _part(options.part, table, tables.learned_from, learners, prior)
    people = table.part(part)
    ears, remarks = ears_of(people, count)
    return Measured(ears, JITTER_DB if options.jitter else 0.0, people, part, tuple(remarks))


def plan_study(options: Options, tables: Tables | None = None) -> Study:
    """Find the ears and the methods, and say what the study is.

    Parameters
    ----------
    options : Options
    tables : Tables, optional
        Those that they name; None: they are read here.

    Raises
    ------
    HostError
        A file cannot be read, or an option does not fit another.
    """
    tables = tables or Tables.read(options.audiograms, options.train, options.columns)
    table, train = tables.measured, tables.learned_from
    named = None if options.methods is None else check_method_names(options.methods)
    methods, remarks = _methods(named, learning=table is not None or train is not None)
    learners = [name for name in methods if name in METHODS_LEARNED]
    if learners and table is None and train is None:
        raise HostError(
            f"--methods has {learners[0]!r}, which learns from people, and {options.audiograms} "
            "are none "
            "(it would be given the very ears it is to find); give it some with --train FILE"
        )
    measured = ears_measured(options, tables, learners)
    prior = read_prior(options.prior)
    _check_uses(options, methods)
    own = {"prior": prior and prior.digest, "own": sources(methods, options.objective) or None}
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
            "listener": _listener(options.answering.kind),
            "trials": options.trials,
            "seeds": options.seeds,
            "conduct": options.conduct,
            "response-time": options.response_time_s,
            "program": program(),
            **({} if options.columns is None else {"columns": options.columns}),
            **{name: told for name, told in own.items() if told is not None},
        },
        remarks=(*remarks, *measured.remarks),
    )


def read_prior(path: Path | None) -> OwnPrior | None:
    """Return the prior of an option.

    Raises
    ------
    HostError
        It cannot be read, or no hearing test can have it.
    """
    try:
        return None if path is None else OwnPrior.read(path)
    except OwnPriorError as error:
        raise HostError(f"--prior {error}") from None


def _check_uses(options: Options, methods: Sequence[str]) -> None:
    """Refuse a prior or an objective that no method makes use of."""
    if options.objective:
        check_objective(options.objective)
    own = [name for name in methods if name not in METHODS]
    for option, users in (("--prior", USERS_OF_PRIOR), ("--objective", USERS_OF_OBJECTIVE)):
        if getattr(options, option[2:]) and not own and not {*users} & {*methods}:
            raise HostError(
                f"{option}: none of the methods {', '.join(methods)} makes use of it; allowed is "
                f"it beside one of {', '.join(users)}, or a method of your own"
            )


def differences(before: Json, now: Json) -> list[str]:
    """Say in words where two plans differ."""
    words = []
    for name in sorted(set(before) | set(now)):
        was, is_now = before.get(name), now.get(name)
        if isinstance(was, Mapping) and isinstance(is_now, Mapping):
            words += differences(was, is_now)
        elif was != is_now:
            words.append(f"{name} was {_show(was)} and is {_show(is_now)}")
    return words


def digest(values: Json) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


@cache
def program() -> dict[str, str]:
    """Return versions, and a digest of the code, that the bits of a result depend on."""
    root = Path(__file__).parents[3]
    code = hashlib.sha256()
    for name in _CODE:
        for path in sorted([root / name, *(root / name).rglob("*")]):
            if path.is_file() and "__pycache__" not in path.parts:
                code.update(path.relative_to(root).as_posix().encode() + b"\0")
                code.update(hashlib.sha256(path.read_bytes()).digest())
    return {
        "gp-pta": __version__,
        "numpy": version("numpy"),
        "numba": version("numba"),
        "code": code.hexdigest()[:16],
    }


def _listener(kind: Kind) -> str:
    """Return the kind as it is compared: recorded people by what they did, not by their file.

    One of somebody's own is compared by its code.
    """
    if kind.source:
        return f"{kind.text}=sha256:{kind.source}"
    if kind.traces is None:
        return kind.text
    return f"{kind.name}=sha256:{hashlib.sha256(repr(kind.traces).encode()).hexdigest()}"


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
    prior: OwnPrior | None,
) -> str:
    """Return the part of a table to measure: no ear that anything was learned from."""
    learned_here = bool(learners) and (train is None or train.sha256 == table.sha256)
    if wanted == AUTO:
        sha256 = table.sha256
        if prior is None:
            learned_here = learned_here or prior_was_learned_from(sha256)
        else:
            learned_here = learned_here or _was_learned_from(prior.prior, sha256)
        return HELD_OUT if learned_here else ALL
    if learned_here and wanted != HELD_OUT:
        raise HostError(
            f"--part is {wanted!r}, and {' and '.join(learners)} would learn from ears they are "
            f"then tried on; allowed is {HELD_OUT}, or another table with --train FILE"
        )
    return wanted


def prior_was_learned_from(sha256: str) -> bool:
    """Return whether the shipped prior of profile "default" was learned from this very file."""
    from firmware_py.inference.mixture.population_prior import shipped_prior

    return _was_learned_from(shipped_prior(), sha256)


def _was_learned_from(prior: PopulationPrior, sha256: str) -> bool:
    return sha256 in json.dumps(dict(prior.provenance))


def _training(table: Table | None, train: Table | None) -> tuple[Population, str]:
    """Return the population that methods learn from, and its name in the plan."""
    if train is not None and (table is None or train.sha256 != table.sha256):
        return train.population, f"sha256:{train.sha256}"
    assert table is not None
    return table.part(TRAIN), f"{TRAIN} part of sha256:{table.sha256}"


def _show(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
