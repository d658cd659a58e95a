"""From the options of a study to its ears, its methods, and a plan that can be compared."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from firmware_py import __version__
from host_tools.errors import HostError
from host_tools.research.methods.interface import RESPONSE_NOISE_LIMITS_DB, TONES_MAX
from host_tools.research.methods.names import METHODS_LEARNED, METHODS_USUAL
from host_tools.research.methods.population import Population
from host_tools.research.methods.registry import (
    NOTHING_LEARNED,
    Learned,
    check_method_names,
)
from host_tools.research.study.ears import (
    ALL,
    ALL_EARS,
    AUTO,
    BISGAARD,
    EARS_MAX,
    EARS_PER_STRATUM,
    HELD_OUT,
    JITTER_DB,
    PARTS,
    TRAIN,
    Table,
    ears_of,
    read_table,
    standard_ears,
)
from host_tools.research.study.listener import Answering, Ear
from host_tools.research.study.session import Job, Setting

SEEDS_MAX: Final = 1_000_000

# A worker is given a chunk of sessions, and what is done is kept by the chunk. Their number depends
# on that of the sessions only, so the files do not depend on the workers.
CHUNK_SESSIONS_MIN: Final = 8
CHUNKS_MAX: Final = 4096

# The code that a result depends on; a study is continued only by the same program.
_CODE: Final = (
    "firmware_py/inference",
    "device/simulator/listener.py",
    "host_tools/research/methods",
    "host_tools/research/study/ears.py",
    "host_tools/research/study/listener.py",
    "host_tools/research/study/plan.py",
    "host_tools/research/study/session.py",
)

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Options:
    """What a study is asked to do; None: the usual value."""

    audiograms: str  # `bisgaard`, or the path of a table
    methods: tuple[str, ...] | None = None
    ears_per_stratum: int | None = None  # of a table: of each degree of loss; 0: all
    part: str = AUTO  # of a table: one of `PARTS`
    jitter: bool = True  # of a table: undo the rounding of thresholds to 5 dB
    train: Path | None = None  # a table that methods may learn from
    response_noise_db: float = 2.0  # of the listeners, as the rates; the methods are told
    lapse_rate: float = 0.01
    false_alarm_rate: float = 0.01
    trials: int = 40  # tones a session
    seeds: int = 20  # sessions an ear

    def __post_init__(self) -> None:
        """Check what can be checked without reading a file.

        Raises
        ------
        HostError
            An option is not allowed; the message names it.
        """
        _check_whole("--trials", self.trials, 1, TONES_MAX)
        _check_whole("--seeds", self.seeds, 1, SEEDS_MAX)
        if self.part not in PARTS:
            raise HostError(f"--part is {self.part!r}; allowed are {', '.join(PARTS)}")
        low_db, high_db = RESPONSE_NOISE_LIMITS_DB
        if not low_db <= self.response_noise_db <= high_db:
            raise HostError(
                f"--noise is {self.response_noise_db:g}; allowed is {low_db:g} to {high_db:g} dB"
            )
        rates = {"--lapse-rate": self.lapse_rate, "--false-alarm-rate": self.false_alarm_rate}
        for name, rate in rates.items():
            if not 0.0 <= rate < 1.0:
                raise HostError(f"{name} is {rate:g}; allowed is 0 to less than 1")
        if sum(rates.values()) >= 1.0:
            raise HostError(f"{' and '.join(rates)} are together 1 or more; allowed is less than 1")
        if self.ears_per_stratum is not None:
            _check_whole("--ears", self.ears_per_stratum, ALL_EARS, EARS_MAX)
        if self.audiograms == BISGAARD:
            for name, usual in {
                "--ears": self.ears_per_stratum is None,
                "--part": self.part == AUTO,
                "--no-jitter": self.jitter,
            }.items():
                if not usual:
                    raise HostError(
                        f"{name} is for a table of ears; of {BISGAARD} all ten are measured as "
                        "they are"
                    )


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
        """Return how many sessions there are."""
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
        """Return the indices of all chunks."""
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

    def made(self, indices: range | list[int], learned: Learned) -> Iterator[Chunk]:
        """Return chunks one by one."""
        return (self.chunk(index, learned) for index in indices)


def planned(options: Options) -> Study:
    """Find the ears and the methods, and say what the study is.

    Raises
    ------
    HostError
        A file cannot be read, or an option does not fit another.
    """
    named = None if options.methods is None else check_method_names(options.methods)
    standard = options.audiograms == BISGAARD
    table = None if standard else read_table(Path(options.audiograms), "--audiograms")
    train = None if options.train is None else read_table(options.train, "--train")
    methods, remarks = _methods(named, learning=table is not None or train is not None)
    learners = [name for name in methods if name in METHODS_LEARNED]
    part = None if table is None else _part(options.part, table, train, learners)
    if learners and standard and train is None:
        raise HostError(
            f"--methods has {learners[0]!r}, which learns from people, and {BISGAARD} are none "
            "(it would be given the very ears it is to find); give it some with --train FILE"
        )
    per_stratum = EARS_PER_STRATUM if options.ears_per_stratum is None else options.ears_per_stratum
    if table is None or part is None:
        ears = standard_ears()
    else:
        ears, about_ears = ears_of(table.part(part), per_stratum)
        remarks += about_ears
    jitter_db = JITTER_DB if options.jitter and table is not None else 0.0
    answering = Answering(options.response_noise_db, options.lapse_rate, options.false_alarm_rate)
    training, training_name = _training(table, train) if learners else (None, None)
    return Study(
        ears=ears,
        methods=methods,
        setting=Setting(answering, options.trials, jitter_db),
        seeds=options.seeds,
        training=training,
        plan={
            "audiograms": BISGAARD if table is None else f"sha256:{table.sha256}",
            "part": part,
            "ears": None if table is None else per_stratum,
            "jitter_db": jitter_db,
            "train": training_name,
            "methods": list(methods),
            "noise": options.response_noise_db,
            "lapse-rate": options.lapse_rate,
            "false-alarm-rate": options.false_alarm_rate,
            "trials": options.trials,
            "seeds": options.seeds,
            "program": program(),
        },
        remarks=tuple(remarks),
    )


def differences(before: Json, now: Json) -> list[str]:
    """Say in words where two plans differ."""
    words = []
    for name in sorted(set(before) | set(now)):
        was, is_now = before.get(name), now.get(name)
        if isinstance(was, Mapping) and isinstance(is_now, Mapping):
            words += differences(was, is_now)
        elif was != is_now:
            words.append(f"{name} was {_shown(was)} and is {_shown(is_now)}")
    return words


def digest(values: Json) -> str:
    """Return a digest of JSON values."""
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


def _methods(named: tuple[str, ...] | None, *, learning: bool) -> tuple[tuple[str, ...], list[str]]:
    """Return the methods, and, if they were not named, which of the usual ones are left out."""
    if named is not None:
        return named, []
    if learning:
        return METHODS_USUAL, []
    left_out = METHODS_LEARNED
    kept = tuple(name for name in METHODS_USUAL if name not in left_out)
    return kept, [f"{' and '.join(left_out)} left out: they learn from people (--train FILE)"]


def _part(wanted: str, table: Table, train: Table | None, learners: list[str]) -> str:
    """Return the part of a table to measure: no ear that anything was learned from."""
    learned_here = bool(learners) and (train is None or train.sha256 == table.sha256)
    if wanted == AUTO:
        return HELD_OUT if learned_here or prior_was_learned_from(table.sha256) else ALL
    if learned_here and wanted != HELD_OUT:
        raise HostError(
            f"--part is {wanted!r}, and {' and '.join(learners)} would learn from ears they are "
            f"then tried on; allowed is {HELD_OUT}, or another table with --train FILE"
        )
    return wanted


def prior_was_learned_from(sha256: str) -> bool:
    """Return whether the shipped prior of profile "default" was learned from this very file."""
    from firmware_py.inference.mixture.population_prior import shipped_prior

    return sha256 in json.dumps(dict(shipped_prior().provenance))


def _training(table: Table | None, train: Table | None) -> tuple[Population, str]:
    """Return the population that methods learn from, and its name in the plan."""
    if train is not None and (table is None or train.sha256 != table.sha256):
        return train.population, f"sha256:{train.sha256}"
    assert table is not None
    return table.part(TRAIN), f"{TRAIN} part of sha256:{table.sha256}"


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _check_whole(option: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise HostError(f"{option} is {value}; allowed are whole numbers {low} to {high}")
