"""What an estimator says of the threshold, and whether that is enough."""

import math
from collections.abc import Sequence
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Final, overload

import numpy as np

from firmware_py.inference import enough
from firmware_py.inference.between import known_hz, wider_db
from firmware_py.inference.checks import integer, number, numbers
from firmware_py.inference.curves import Curves
from firmware_py.inference.diagnostics import Diagnostics
from firmware_py.inference.elementary import log
from firmware_py.inference.kernel import Array
from firmware_py.inference.model import LEVEL_LIMITS_DB_HL, spread
from firmware_py.inference.profiles import LaplaceProfile, MixtureProfile
from firmware_py.inference.record import Answer
from firmware_py.inference.scales import SCALES, scale_named

if TYPE_CHECKING:
    from firmware_py.inference.plotting import Axes

HALF_WIDTH_LIMITS_DB: Final = (0.1, 100.0)
PTA4_HZ: Final = (500.0, 1000.0, 2000.0, 4000.0)
NORMAL_975: Final = 1.959963984540054  # quantile of the normal distribution
POINTS: Final = 100  # of a picture's curve

_octaves = SCALES["log2"].warp


class Thresholds(Diagnostics):
    """The part of `ThresholdEstimator` that tells the threshold."""

    _profile: LaplaceProfile | MixtureProfile
    max_trials: int
    level_limits_db_hl: tuple[float, float]
    frequency_range_hz: tuple[float, float]

    def __repr__(self) -> str:
        low_hz, high_hz = self.frequency_range_hz
        shown = [f"{self.profile!r}", f"{self.trial_count} of {self.max_trials} answers"]
        if low_hz <= PTA4_HZ[0] and PTA4_HZ[-1] <= high_hz:
            mean_db_hl, covariance_db2 = self.joint_threshold(PTA4_HZ).moments()
            half_width_db = NORMAL_975 * math.sqrt(covariance_db2.sum()) / len(PTA4_HZ)
            shown.append(f"PTA4 {mean_db_hl.mean():.1f} ± {half_width_db:.1f} dB HL (95 %)")
        return f"<{type(self).__name__} {', '.join(shown)}>"

    @property
    def profile(self) -> str:
        return self._profile.name

    @overload
    def threshold(self, frequencies_hz: float) -> tuple[float, float]: ...
    @overload
    def threshold(self, frequencies_hz: Sequence[float] | Array) -> tuple[Array, Array]: ...
    def threshold(
        self, frequencies_hz: float | Sequence[float] | Array
    ) -> tuple[float, float] | tuple[Array, Array]:
        """Return posterior mean (dB HL) and SD (dB) of the threshold.

        Parameters
        ----------
        frequencies_hz : float or sequence of float, (m,)
            Any within `frequency_range_hz`.

        Returns
        -------
        mean_db_hl, sd_db : two floats, or two (m,) arrays
            As many as were asked for.
        """
        at, single = self._frequencies_of(frequencies_hz)
        return _copy_of(self._predicted(at), single)

    def _predicted(self, at_hz: list[float]) -> tuple[Array, Array]:
        return self._known.once(tuple(at_hz), partial(self._model.predict, np.array(at_hz)))

    @overload
    def threshold_band(
        self, frequencies_hz: float, probability: float = ...
    ) -> tuple[float, float]: ...
    @overload
    def threshold_band(
        self, frequencies_hz: Sequence[float] | Array, probability: float = ...
    ) -> tuple[Array, Array]: ...
    def threshold_band(
        self,
        frequencies_hz: float | Sequence[float] | Array,
        probability: float = enough.BAND_PROBABILITY,
    ) -> tuple[float, float] | tuple[Array, Array]:
        """Return the band (low, high), dB HL, with this probability of the threshold.

        It is `posterior_band`, and wider where nothing was asked between two frequencies of an
        audiogram, or two where a tone was heard and another was not: there it reaches towards both
        neighbours, and up to 20 dB further off a knot of the prior, for an ear may have a notch
        there. That grows with the probability as the band of a double exponential does.

        Parameters
        ----------
        frequencies_hz : float or sequence of float, (m,)
            Any within `frequency_range_hz`; of one frequency the ends are two floats.
        probability : float
            From 0.000001 to 0.999999.
        """
        probability = number("probability", probability, 1e-6, 1.0 - 1e-6)
        at, single = self._frequencies_of(frequencies_hz)
        told = partial(self._told_band, at, probability)
        return _copy_of(self._known.once(("told", probability, *at), told), single)

    def posterior_band(
        self, frequencies_hz: Sequence[float] | Array, probability: float = enough.BAND_PROBABILITY
    ) -> tuple[Array, Array]:
        """Return the central band of the posterior: of ears that are smooth as people's are.

        The device's procedure chooses and ends by it. Parameters are those of `threshold_band`.
        """
        probability = number("probability", probability, 1e-6, 1.0 - 1e-6)
        at = self._checked_frequencies(frequencies_hz)
        band = partial(self._model.band, np.array(at), probability)
        return _copies_of(self._known.once((probability, *at), band))

    def _told_band(self, at_hz: list[float], probability: float) -> tuple[Array, Array]:
        low_db_hl, high_db_hl = self.posterior_band(at_hz, probability)
        if not self.knots_hz:  # the paper's: its curves are as smooth as its kernel
            return low_db_hl, high_db_hl
        known = known_hz(self.knots_hz, self._record.answers())
        known_db_hl, _ = self._predicted(known)
        neighbours = [*zip(map(_octaves, known), known_db_hl.tolist(), strict=True)]
        knots = [*map(_octaves, self.knots_hz)]
        share = log(1.0 - probability) / log(1.0 - enough.BAND_PROBABILITY)
        for i, mean_db_hl in enumerate(self._predicted(at_hz)[0].tolist()):
            fall_db, rise_db = wider_db(_octaves(at_hz[i]), mean_db_hl, neighbours, knots)
            low_db_hl[i] -= share * fall_db
            high_db_hl[i] += share * rise_db
        return low_db_hl, high_db_hl

    def joint_threshold(self, frequencies_hz: Sequence[float] | Array) -> Curves:
        """Return the joint posterior of the threshold at m frequencies, as c Gaussians.

        For what depends on several of them, as a mean over frequencies does. `threshold` has the
        means and SDs of this, `posterior_band` its bands at each frequency.

        Parameters
        ----------
        frequencies_hz : (m,)
            Any frequencies within `frequency_range_hz`.

        Returns
        -------
        Curves
            `weight` (c,), `mean_db_hl` (c, m) and `covariance_db2` (c, m, m); the sum of the
            weights is 1.
        """
        return self._model.joint(np.array(self._checked_frequencies(frequencies_hz)))

    def probability_heard(self, frequency_hz: float, level_db_hl: float) -> float:
        """Return the probability that this tone would be heard (paper, equation 9)."""
        frequency_hz = number("frequency_hz", frequency_hz, *self.frequency_range_hz)
        level_db_hl = number("level_db_hl", level_db_hl, *LEVEL_LIMITS_DB_HL)
        return self._model.probability_heard(frequency_hz, level_db_hl)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Return the answers so far in their order, those of silences too.

        There is room for `max_trials` tones and as many silences; of more silences the estimator
        has learned, and they are not among these.
        """
        return tuple(self._record.answers())

    def done(
        self, half_width_db: float = enough.HALF_WIDTH_DB, max_trials: int | None = None
    ) -> bool:
        """Return whether the answers are enough, by the device's rule without its procedure.

        They are after 8 answers, some heard and some not, if at 250 (there it is a quarter more),
        500, 1000, 2000, 3000, 4000, 6000 and 8000 Hz within `frequency_range_hz` the 95 % band
        reaches at most so far to either side, or the threshold lies beyond `level_limits_db_hl`:
        above with 95 %, or by its mean below. They are, too, if nothing but 6 tones at the highest
        level was asked and nothing heard, or all heard and 6 of them at the lowest.

        Parameters
        ----------
        half_width_db : float
            Wanted; that of a brisk test of the device, 8 dB in a clinical one.
        max_trials : int, optional
            So many answers are enough in any case. None: those that there is room for.

        Raises
        ------
        ValueError
            If `half_width_db` is not from 0.1 to 100, or `max_trials` from 1 to the estimator's.
        """
        half_width_db = number("half_width_db", half_width_db, *HALF_WIDTH_LIMITS_DB)
        most = self.max_trials
        if max_trials is not None:
            most = integer("max_trials", max_trials, 1, self.max_trials)
        if self.trial_count >= most:
            return True
        tones = [each for each in self._record.answers() if each.level_db_hl is not None]
        heard = {each.heard is not False for each in tones}
        if len(heard) < 2:
            low, high = self.level_limits_db_hl
            end = low if True in heard else high
            return sum(each.level_db_hl == end for each in tones) >= enough.LIMIT_ANSWERS
        return len(tones) >= enough.ANSWERS_MIN and self._narrow(half_width_db)

    def _narrow(self, half_width_db: float) -> bool:
        """Return whether all bands that decide are narrow enough."""
        low_hz, high_hz = self.frequency_range_hz
        at = [f for f in enough.FREQUENCIES_HZ if low_hz <= f <= high_hz]
        at = at or self._model.candidates_hz.tolist()
        floor_db_hl, limit_db_hl = self.level_limits_db_hl
        both = 1.0 - 2.0 * (1.0 - enough.NO_RESPONSE_PROBABILITY)
        (mean, _), (low, high) = self.threshold(at), self.posterior_band(at)
        above, _ = self.posterior_band(at, both)
        wanted = [enough.wanted_half_width_db(f, half_width_db) for f in at]
        beyond = (above >= limit_db_hl) | (mean <= floor_db_hl)
        return bool((beyond | (0.5 * (high - low) <= wanted)).all())

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the audiogram: mean, 95 % band and answers; low levels are at the top.

        Needs Matplotlib, which is in the extra `gp-pta[report]`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            To draw into. None: those of a new figure of `matplotlib.pyplot`.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If Matplotlib is not installed.
        ValueError
            If `ax` is none of Matplotlib's.
        """
        from firmware_py.inference.plotting import Curve, draw

        at = spread(self.frequency_range_hz, POINTS, scale_named("log2"))
        curve = Curve(at, self.threshold(at)[0], *self.threshold_band(at))
        return draw(curve, self.answers, self.level_limits_db_hl, ax)

    def _frequencies_of(
        self, frequencies_hz: float | Sequence[float] | Array
    ) -> tuple[list[float], bool]:
        """Return the frequencies, and whether it was one and no sequence."""
        if isinstance(frequencies_hz, Real) and not isinstance(frequencies_hz, bool):
            return self._checked_frequencies([frequencies_hz]), True  # type: ignore[list-item]
        return self._checked_frequencies(frequencies_hz), False  # type: ignore[arg-type]

    def _checked_frequencies(self, frequencies_hz: Sequence[float] | Array) -> list[float]:
        return numbers("frequencies_hz", frequencies_hz, Sequence, *self.frequency_range_hz)


def _copy_of(
    figures: tuple[Array, Array], single: bool
) -> tuple[float, float] | tuple[Array, Array]:
    """Return floats, or copies: whoever changes what is returned does not change what is known."""
    first, second = figures
    if single:
        return float(first[0]), float(second[0])
    return _copies_of(figures)


def _copies_of(figures: tuple[Array, Array]) -> tuple[Array, Array]:
    first, second = figures
    return first.copy(), second.copy()
