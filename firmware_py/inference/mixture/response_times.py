"""Response times as evidence: a tone that is answered late was near the threshold.

Of a tone at level h that was heard, with response noise sigma and threshold g,

log t = a - beta f((h - g) / sigma) + e,   f(u) = min(u, u_0),   e normal with SD s.

In six people (lights, the same task: McKendrick, Denniss & Turpin 2014, in the R package OPI) beta
is 0.07 to 0.10 and s is 0.20 to 0.30; farther than u_0 above the threshold the time hardly falls.
Without that bend the model takes a median answer for one near the threshold, however far it was.

f is replaced by its linear regression on g, under what is believed of g when the tone has been
answered and its time is not yet known; what is not linear counts as noise. Then a time is linear in
the threshold and in the listener's intercept a. So a is one more unknown beside the knots, with a
wide prior, and a time is one more site, which is known. The intercept is learned together with the
thresholds, and what is not known of it is in the posterior. The slope beta and the SD s are the
listener's: a few values of each, nought among the slopes, make kinds of listeners, which the
evidence weighs as it does noise and rates. Where times tell nothing the slope of nought wins; until
then its share keeps the bands wide.
"""

import math
from typing import Final

from firmware_py.inference.elementary import log
from firmware_py.inference.kernel import CONVERGED, Matrix, Vector, kernel
from firmware_py.inference.mixture.arrays import TIME_SD, TIME_SLOPE, Likelihood, Tones
from firmware_py.inference.psychometric import normal

TYPICAL_S: Final = 0.5  # the prior median at the threshold
INTERCEPT_SD: Final = 0.5  # of the logarithm: from 0.2 to 1.3 s, whatever the tone's rise is
FLAT_FROM_SDS: Final = 3.0  # u_0

# Rows of what is kept of every time under a hypothesis.
TIME, SCALE, PRECISION = range(3)
TIME_ROWS: Final = 3

LOG_2PI: Final = math.log(2.0 * math.pi)


@kernel
def hinge(mean: float, sd: float) -> tuple[float, float, float]:
    """E[f], E[f'] and what of Var[f] is not linear, f(u) = min(u, u_0), u normal.

    With d = u_0 - u, f = u_0 - max(d, 0), and the moments of a rectified normal are in closed form.
    """
    z = (FLAT_FROM_SDS - mean) / sd
    below, bell = normal(z)
    short = sd * (z * below + bell)
    square = sd * sd * ((1.0 + z * z) * below + z * bell)
    rest = square - short * short - below * below * sd * sd
    return FLAT_FROM_SDS - short, below, max(rest, 0.0)


@kernel
def linearise(
    i: int, tones: Tones, listener: Vector, mean: float, variance: float, likelihood: Likelihood
) -> int:
    """Write k, y and the precision of answer i: y = a + k g + e'.

    k = beta E[f'] / sigma, y = log t + beta E[f] + k m, and beta**2 times what is not linear is
    added to s**2. Without a time, the precision is 0.

    Parameters
    ----------
    mean, variance : of the threshold at this tone, given the answers with this one; the mean is a
        deviation from the prior mean, as g is.
    """
    likelihood.time[i], likelihood.time_scale[i], likelihood.time_precision[i] = 0.0, 0.0, 0.0
    if math.isnan(tones.log_time[i]):
        return CONVERGED
    noise_db = math.sqrt(likelihood.noise_db2[i])
    expected, slope, rest = hinge(
        (likelihood.margin_db[i] - mean) / noise_db, math.sqrt(variance) / noise_db
    )
    beta, sd = listener[TIME_SLOPE], listener[TIME_SD]
    scale = beta * slope / noise_db
    likelihood.time_scale[i] = scale
    likelihood.time[i] = tones.log_time[i] + beta * expected + scale * mean
    likelihood.time_precision[i] = 1.0 / (sd * sd + beta * beta * rest)
    return CONVERGED


@kernel
def keep_time(i: int, likelihood: Likelihood, times: Matrix) -> int:
    """Keep what `linearise` wrote of answer i."""
    times[TIME, i] = likelihood.time[i]
    times[SCALE, i] = likelihood.time_scale[i]
    times[PRECISION, i] = likelihood.time_precision[i]
    return CONVERGED


@kernel
def recall_times(n: int, times: Matrix, likelihood: Likelihood) -> int:
    """Recall what was kept of a hypothesis."""
    for i in range(n):
        likelihood.time[i] = times[TIME, i]
        likelihood.time_scale[i] = times[SCALE, i]
        likelihood.time_precision[i] = times[PRECISION, i]
    return CONVERGED


@kernel
def add_intercept(
    n: int, size: int, tones: Tones, likelihood: Likelihood, precision: Matrix, natural: Vector
) -> int:
    """Add the intercept's part of sum x x^T / s**2 and sum y x / s**2, x = (k b, 1).

    The intercept is the last unknown; of the matrix, only the upper triangle is written.
    """
    last = size - 1
    for i in range(n):
        j, u = tones.left[i], tones.fraction[i]
        shared = likelihood.time_precision[i] * likelihood.time_scale[i]
        natural[last] += likelihood.time_precision[i] * likelihood.time[i]
        precision[last, last] += likelihood.time_precision[i]
        precision[j, last] += (1.0 - u) * shared
        if u > 0.0:
            precision[j + 1, last] += u * shared
        if tones.bow_db[i] > 0.0:
            precision[tones.bend[i], last] += tones.bow_db[i] * shared
    return CONVERGED


@kernel
def log_of_times(n: int, likelihood: Likelihood) -> float:
    """Sum of log N(y | 0, s**2): what the factors of the times are where all unknowns are 0."""
    total = 0.0
    for i in range(n):
        precision = likelihood.time_precision[i]
        if precision > 0.0:
            y = likelihood.time[i]
            total += 0.5 * (log(precision) - LOG_2PI - precision * y * y)
    return total
