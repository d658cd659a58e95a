"""A session: a method measures an ear, and its error is noted after every tone.

Its clock says what each tone takes, by the same rule for every method. Before a tone is a pause, as
a test of that conduct draws it. A tone that is heard lasts until the press, one that is not until
the end of its window, which follows the response times so far where the conduct's does. Nothing
else takes time: no method pays for thinking.
"""

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

from device.simulator.listener import response_time_s
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.presenting.pace import Pace
from firmware_py.terms.settings import BRISK, Settings
from host_tools.research.methods.interface import FAILURES, Array, Banded, Method, Task
from host_tools.research.methods.registry import Learned, make_method, objective_named
from host_tools.research.study.listener import (
    Answering,
    Ear,
    Listener,
    response_speeds,
    session_seed,
)

if TYPE_CHECKING:
    import pyarrow as pa


class SessionClock:
    """The clock of one session, of at most so many tones.

    Pauses and response times depend on the name of the ear, the seed and the number of the tone, so
    all methods have the same.
    """

    def __init__(
        self, name: str, seed: int, tones: int, conduct: str, response_time_s: float
    ) -> None:
        self._pace = Pace(Settings(conduct=conduct, seed=session_seed(name, seed)))
        self._speeds = response_speeds(name, seed, tones)
        self._median_s = response_time_s
        self._us = 0

    @property
    def seconds(self) -> float:
        return 1e-6 * self._us

    def play(self, tone: int, heard: bool) -> None:
        """Let tone number 0, 1, 2 ... pass, with the pause before it."""
        self._us += self._pace.pause_us(tone + 1)
        if not heard:
            self._us += self._pace.window_us
            return
        response_us = round(1e6 * response_time_s(self._median_s, self._speeds[tone]))
        self._us += response_us
        self._pace.take_answer(response_us)


# What is noted, in this order; NaN where a method gives no SD.
METRICS: Final = (
    "rmse_db",
    "mean_error_db",
    "worst_error_db",
    "covered_95",
    "covered_50",
    "mean_sd_db",
    "mean_half_width_db",
)
WIDE: Final = 0.95
NARROW: Final = 0.5


@dataclass(frozen=True)
class Setting:
    """What is the same for all sessions of a study."""

    answering: Answering  # of every listener; the methods are told
    tones: int  # played in each session
    jitter_db: float  # thresholds are moved within +- so much, by seed
    conduct: str = BRISK  # whose pauses and windows the seconds are
    response_time_s: float = 0.4  # median of every listener
    # Of the estimator of this product; None and "": as it ships.
    prior: PopulationPrior | None = None
    objective: str = ""


@dataclass(frozen=True)
class Job:
    """A session to be run."""

    method: str
    ear: Ear
    seed: int


@dataclass(frozen=True, eq=False)
class Session:
    """A session that was run."""

    job: Job
    # (tones + 1, len(METRICS)) before the first tone and after each; once it ended, the last ones.
    metrics: Array
    seconds: Array  # (tones + 1,) that have passed; once it ended, the last ones
    ended_after: int | None  # tones after which the method had ended, or could not go on
    failed: bool  # it could not go on


def run_session(job: Job, setting: Setting, learned: Learned) -> Session:
    """Run a session: always the same for the same arguments."""
    ear = job.ear.jitter(job.seed, setting.jitter_db) if setting.jitter_db else job.ear
    listener = Listener(ear, setting.answering, job.seed, setting.tones)
    task = task_of(ear, job.seed, setting.answering, setting.tones)
    objective = objective_named(setting.objective) if setting.objective else None
    task = replace(task, prior=setting.prior, objective=objective)
    method = make_method(job.method, task, learned)
    metrics = np.empty((setting.tones + 1, len(METRICS)))
    metrics[0] = metrics_of(method, ear)
    clock = SessionClock(
        ear.name, job.seed, setting.tones, setting.conduct, setting.response_time_s
    )
    seconds = np.zeros(setting.tones + 1)
    for tone in range(setting.tones):
        try:
            stimulus = method.next_stimulus()
            if stimulus is not None:
                at = (stimulus.frequency_hz, stimulus.level_db_hl)
                heard = listener.hears(tone, *at)
                method.observe(*at, heard)
                clock.play(tone, heard)
                metrics[tone + 1] = metrics_of(method, ear)
            failed = False
        except FAILURES:
            stimulus, failed = None, True
        if stimulus is None:
            metrics[tone + 1 :] = metrics[tone]
            seconds[tone + 1 :] = seconds[tone]
            return Session(job, metrics, seconds, tone, failed)
        seconds[tone + 1] = clock.seconds
    return Session(job, metrics, seconds, None, failed=False)


def metrics_of(method: Method, ear: Ear) -> Array:
    """Return `METRICS` of what a method knows about an ear, at the ear's own frequencies.

    Bands are those of the method (`Banded`), or else the mean and so many SDs. A truth on the edge
    of a band is covered.
    """
    truth_db_hl = np.array(ear.thresholds_db_hl)
    mean_db_hl, sd_db = method.threshold(ear.frequencies_hz)
    error_db = mean_db_hl - truth_db_hl
    metrics = [
        np.sqrt(np.mean(error_db**2)),
        np.mean(error_db),
        np.max(np.abs(error_db)),
    ]
    if np.isnan(sd_db).any():
        return np.array([*metrics, *[np.nan] * (len(METRICS) - len(metrics))])
    low_db_hl, high_db_hl = _band(method, ear, mean_db_hl, sd_db, WIDE)
    narrow = _band(method, ear, mean_db_hl, sd_db, NARROW)
    return np.array(
        [
            *metrics,
            np.mean((low_db_hl <= truth_db_hl) & (truth_db_hl <= high_db_hl)),
            np.mean((narrow[0] <= truth_db_hl) & (truth_db_hl <= narrow[1])),
            np.mean(sd_db),
            np.mean(0.5 * (high_db_hl - low_db_hl)),
        ]
    )


def _band(
    method: Method, ear: Ear, mean_db_hl: Array, sd_db: Array, probability: float
) -> tuple[Array, Array]:
    if isinstance(method, Banded):
        return method.threshold_band(ear.frequencies_hz, probability)
    half_width_db = NormalDist().inv_cdf(0.5 + 0.5 * probability) * sd_db
    return mean_db_hl - half_width_db, mean_db_hl + half_width_db


def task_of(ear: Ear, seed: int, answering: Answering, tones: int) -> Task:
    told = answering.as_told()
    return Task(
        response_noise_db=told.response_noise_db,
        lapse_rate=told.lapse_rate,
        false_alarm_rate=told.false_alarm_rate,
        audiogram_frequencies_hz=ear.frequencies_hz,
        seed=seed,
        age_years=ear.age_years,
        sex=ear.sex,
        tones_max=tones,
    )


def schema() -> "pa.Schema":
    """Return the columns of a study of methods: a row per method, ear, seed and number of tones."""
    import pyarrow as pa

    return pa.schema(
        [
            *[(name, pa.string()) for name in ("method", "ear", "stratum")],
            ("seed", pa.uint64()),
            ("tones", pa.uint16()),
            ("seconds", pa.float64()),
            ("ended", pa.bool_()),
            ("failed", pa.bool_()),
            *[(name, pa.float64()) for name in METRICS],
        ]
    )


def table_of(sessions: list[Session]) -> "pa.Table":
    """Return the rows of sessions; a metric that a method does not give is null."""
    import pyarrow as pa

    rows = [len(session.metrics) for session in sessions]
    tones = np.concatenate([np.arange(count) for count in rows])
    ended_after = [np.inf if s.ended_after is None else s.ended_after for s in sessions]
    ended = tones >= np.repeat(ended_after, rows)
    failed = ended & np.repeat([session.failed for session in sessions], rows)
    metrics = np.concatenate([session.metrics for session in sessions])
    jobs = [session.job for session in sessions for _ in session.metrics]
    return pa.table(
        [
            [job.method for job in jobs],
            [job.ear.name for job in jobs],
            [job.ear.stratum for job in jobs],
            [job.seed for job in jobs],
            tones,
            np.concatenate([session.seconds for session in sessions]),
            ended,
            failed,
            *[pa.array(column, from_pandas=True) for column in metrics.T],
        ],
        schema=schema(),
    )
