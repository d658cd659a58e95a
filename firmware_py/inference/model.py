"""The interface between the estimator and its models, and the types of both."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from firmware_py.inference.curves import Curves
from firmware_py.inference.kernel import Array, hold
from firmware_py.inference.rate import Seconds
from firmware_py.inference.scales import Scale

FREQUENCY_LIMITS_HZ: Final = (20.0, 20000.0)
LEVEL_LIMITS_DB_HL: Final = (-30.0, 130.0)

# A frequency and a value there, for curves given by points.
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Hyperparameters:
    """The hyperparameters that were inferred with the threshold."""

    # `length`, `sd_db`: of the kernel, in units of the frequency scale and dB; None: the prior has
    # no such kernel
    length: float | None
    sd_db: float | None
    # `response_noise_db`, `lapse_rate`, `false_alarm_rate`, `unsure_half_width_db`: of the
    # listener: the values used for inference, or their posterior means
    response_noise_db: float
    lapse_rate: float = 0.0
    false_alarm_rate: float = 0.0
    unsure_half_width_db: float = 0.0


@dataclass(frozen=True)
class Choice:
    """The next tone: which candidate, at which level, what is expected from it, and its time."""

    candidate: int
    level_db_hl: float
    information_bits: float
    seconds: float


class Memory:
    """The arrays of a model, allocated once: its attributes are arrays, or groups of them."""

    def arrays(self) -> Iterator[Array]:
        """Yield every array."""
        for value in vars(self).values():
            yield from value if isinstance(value, tuple) else (value,)

    @property
    def nbytes(self) -> int:
        """Return the size of all arrays in bytes."""
        return sum(array.nbytes for array in self.arrays())

    def claim(self) -> None:
        """Write every array: the system gives memory when it is written, and not before."""
        for array in self.arrays():
            array.fill(0)
        self._hold_groups()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin to live as a copy of another one."""
        vars(self).update(state)
        self._hold_groups()

    def _hold_groups(self) -> None:
        hold((value for value in vars(self).values() if isinstance(value, tuple)), self)


class Model(Protocol):
    """A posterior over threshold curves in memory that is allocated once."""

    candidates_hz: Array
    converged: bool

    @property
    def log_evidence(self) -> float:
        """Return the log evidence of the answers, nats."""

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Return the hyperparameters that were inferred with the threshold."""

    @property
    def nbytes(self) -> int:
        """Return the size of the workspace in bytes."""

    def attention(self, n: int) -> Array:
        """Return the probability that each of the first n answers was given with attention."""

    def answer_probabilities(self, n: int) -> Array:
        """Return the probability of each of the first n answers given the others; NaN: unknown."""

    def listener_shares(self) -> Array:
        """Return the posterior probability of each kind of listener."""

    def expect_listener(self, shares: Array) -> None:
        """Begin with these probabilities of the kinds of listeners, before any answer."""

    @property
    def knots_hz(self) -> tuple[float, ...]:
        """Return the frequencies whose thresholds the prior is of; none: it is of no such."""

    def expect_threshold(self, curves: Curves) -> None:
        """Begin with this mixture over the thresholds at the knots, before any answer."""

    def reset(self) -> None:
        """Forget all answers."""

    def observe(self, n: int, frequency_hz: float, level_db_hl: float, answer: int) -> int:
        """Take in answer number n, counted from 0; return a status."""

    def observe_silence(self, answered: bool) -> None:
        """Take in a catch trial: nothing was played, and it was answered all the same or not."""

    def predict(self, frequencies_hz: Array) -> tuple[Array, Array]:
        """Return mean (dB HL) and SD (dB) of the threshold."""

    def band(self, frequencies_hz: Array, probability: float) -> tuple[Array, Array]:
        """Return the central band of the threshold with this probability, dB HL."""

    def joint(self, frequencies_hz: Array) -> Curves:
        """Return weights, means (dB HL) and covariances (dB^2) of a mixture of Gaussians."""

    def log_ratio_otherwise(self, n: int, softer_db: Array, pressed_unheard: Array) -> float:
        """Return by how much the evidence of n answers rises, nats, had they been of other tones.

        Each `softer_db` than it was played, and of the unheard a share that was pressed.
        """

    def threshold_otherwise(
        self, n: int, softer_db: Array, pressed_unheard: Array, frequencies_hz: Array
    ) -> Array:
        """Return about what the mean of the threshold would be then, dB HL."""

    def gain_by_shifts(self, among: Array, sd_db: float) -> tuple[Array, Array]:
        """Return about how much it rises by a shift from each answer on, and by which, dB.

        `among`: (rows, n) 1 for the tones of a row; the shift is N(0, `sd_db`) beforehand.
        """

    def probability_heard(self, frequency_hz: float, level_db_hl: float) -> float:
        """Return the probability that this tone would be heard."""

    def rate(self, levels_db_hl: Array, seconds: Seconds) -> Array:
        """Return (candidates, levels) the information expected over the time, bits per second."""

    def choose(
        self, weight: Array, level_min_db_hl: Array, level_max_db_hl: Array, seconds: Seconds,
        strides_db: Sequence[float],
    ) -> Choice:  # fmt: skip
        """Return the best tone; each candidate has a weight, a floor and a ceiling."""


def spread(frequency_range_hz: tuple[float, float], count: int, scale: Scale) -> list[float]:
    """Return whole-hertz frequencies, evenly spread over the range on the scale."""
    low_hz, high_hz = frequency_range_hz
    low, high = scale.warp(low_hz), scale.warp(high_hz)
    step = (high - low) / (count - 1)
    inner = {float(round(scale.unwarp(low + i * step))) for i in range(1, count - 1)}
    return sorted({low_hz, high_hz} | {f for f in inner if low_hz < f < high_hz})


def on_line(points: Points, at: float) -> float:
    """Interpolate linearly between points of rising x, constantly beyond them.

    In Python, where every operation is rounded by itself: NumPy's may fuse two on some machines.
    """
    after = bisect_right([x for x, _ in points], at)
    if after in (0, len(points)):
        return points[min(after, len(points) - 1)][1]
    (x_0, y_0), (x_1, y_1) = points[after - 1], points[after]
    return y_0 + (at - x_0) / (x_1 - x_0) * (y_1 - y_0)
