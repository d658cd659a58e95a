"""The statistical model once more, written for the eye: NumPy, SciPy, dense matrices, no shortcuts.

This is what the product's kernels are measured against.  It shares no code with them.

The model: ``x = scale(frequency)``, the threshold ``g(x) = m(x) + f(x)`` in dB HL with ``m`` a
straight line and ``f ~ GP(0, k)``, ``k(x, x') = s^2 exp(-(x - x')^2 / (2 l^2))``, and an answer
``y = +1`` (heard) or ``-1`` (not heard) to a tone at level ``h`` with

    P(y | x, h, g) = Phi(z),    z = y (h - g(x)) / sigma.

Sources
-------
[CV]    Cox & de Vries 2015, arXiv 1511.08670.  Its derivatives of log P belong to Phi(y(g-h)/sigma)
        and lose a 1/sigma^2, and its predictive mean uses g_hat for f_hat: ours are derived anew.
[RW]    Rasmussen & Williams 2006, Gaussian Processes for Machine Learning, chapters 3 and 5.
[H]     Houlsby et al. 2011, arXiv 1112.5745 (the entropy approximation in BALD).

Errors: 1e-10 relative or better for z from -1e4 to 1e4, as ``test_reference.py`` shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import linalg, special

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
MeanFunction = Callable[[FloatArray], FloatArray]
Scale = Literal["bark", "traunmuller", "mel", "log2"]

# Bisgaard, Vlaming & Dahlquist 2010, Trends in Amplification 14, 113-120; IEC 60118-15.
AUDIOGRAM_FREQUENCIES_HZ = (
    250.0, 375.0, 500.0, 750.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0, 6000.0,
)  # fmt: skip
STANDARD_AUDIOGRAMS_DB_HL = {
    "N1": (10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 15.0, 20.0, 30.0, 40.0),
    "N2": (20.0, 20.0, 20.0, 22.5, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0),
    "N3": (35.0, 35.0, 35.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0),
    "N4": (55.0, 55.0, 55.0, 55.0, 55.0, 60.0, 65.0, 70.0, 75.0, 80.0),
    "N5": (65.0, 67.5, 70.0, 72.5, 75.0, 80.0, 80.0, 80.0, 80.0, 80.0),
    "N6": (75.0, 77.5, 80.0, 82.5, 85.0, 90.0, 90.0, 95.0, 100.0, 100.0),
    "N7": (90.0, 92.5, 95.0, 100.0, 105.0, 105.0, 105.0, 105.0, 105.0, 105.0),
    "S1": (10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 15.0, 30.0, 55.0, 70.0),
    "S2": (20.0, 20.0, 20.0, 22.5, 25.0, 35.0, 55.0, 75.0, 95.0, 95.0),
    "S3": (30.0, 30.0, 35.0, 47.5, 60.0, 70.0, 75.0, 80.0, 80.0, 85.0),
}

LENGTH_BOUNDS_BARK = (0.5, 40.0)
SD_BOUNDS_DB = (1.0, 80.0)

RESPONSE_NOISE_DB = 2.0

TAIL_MARGIN = 3.0  # below z = -3 the difference r + z is taken from its continued fraction,
TAIL_FRACTION_TERMS = 60  # which at z = -3 has converged to 1e-16 in well under 60 terms

NEWTON_STEPS_MAX = 200  # 10 are usual; far more than any concave problem here has needed
STEP_HALVINGS_MAX = 60  # 2^-60 of a step is no step
ROUNDING = 1e-14  # of a sum, relative to the size of its terms: 45 units in the last place
NEWTON_TOLERANCE = 1e-10  # of a step; convergence is quadratic, so the error left is rounding


# --- frequency scales and the prior mean ---------------------------------------------------------


def warp(frequency_hz: npt.ArrayLike, scale: Scale = "bark") -> FloatArray:
    """Place frequencies on a psychoacoustic scale.

    Parameters
    ----------
    frequency_hz : array_like
        Frequencies in Hz, positive.
    scale : {"bark", "traunmuller", "mel", "log2"}
        Bark after Wang et al. 1991, Bark after Traunmueller 1990, mel after O'Shaughnessy 1987,
        octaves re 1 kHz.

    Returns
    -------
    ndarray
        ``x``, in Bark, Bark, mel or octaves; same shape as `frequency_hz`.
    """
    f = np.asarray(frequency_hz, dtype=np.float64)
    if scale == "bark":
        return np.asarray(6.0 * np.arcsinh(f / 600.0))
    if scale == "traunmuller":
        return np.asarray(26.81 * f / (1960.0 + f) - 0.53)
    if scale == "mel":
        return np.asarray(2595.0 * np.log1p(f / 700.0) / np.log(10.0))
    if scale == "log2":
        return np.asarray(np.log2(f / 1000.0))
    raise ValueError(f"scale {scale!r} is none of bark, traunmuller, mel, log2")


def length_in_units_of(scale: Scale, length_bark: float) -> float:
    """The same part of the way from 125 to 8000 Hz, on another scale."""
    low, high = warp([125.0, 8000.0], scale)
    low_bark, high_bark = warp([125.0, 8000.0])
    return float(length_bark * (high - low) / (high_bark - low_bark))


def prior_mean_line(scale: Scale = "bark") -> tuple[float, float]:
    """Least-squares line through the mean of the ten standard audiograms.

    Parameters
    ----------
    scale : {"bark", "traunmuller", "mel", "log2"}
        Scale on which the line is straight.

    Returns
    -------
    intercept_db_hl, slope : float
        ``m(x) = intercept + slope x``; the slope is in dB per unit of the scale.
    """
    x = warp(AUDIOGRAM_FREQUENCIES_HZ, scale)
    mean_audiogram_db_hl = np.mean(list(STANDARD_AUDIOGRAMS_DB_HL.values()), axis=0)
    x_deviation = x - np.mean(x)
    slope = float(x_deviation @ mean_audiogram_db_hl / (x_deviation @ x_deviation))
    intercept_db_hl = float(np.mean(mean_audiogram_db_hl) - slope * np.mean(x))
    return intercept_db_hl, slope


# --- the likelihood: log Phi and its derivatives -------------------------------------------------


def log_phi(z: npt.ArrayLike) -> FloatArray:
    """``log Phi(z)``, the log-likelihood of one answer with margin `z`."""
    return np.asarray(special.log_ndtr(np.asarray(z, dtype=np.float64)), dtype=np.float64)


def phi_ratio(z: npt.ArrayLike) -> FloatArray:
    """``r(z) = phi(z) / Phi(z) = d log Phi / dz`` (the inverse Mills ratio of ``-z``)."""
    z = np.asarray(z, dtype=np.float64)
    below, above = np.minimum(z, 0.0), np.maximum(z, 0.0)
    r_below = np.sqrt(2.0 / np.pi) / special.erfcx(-below / np.sqrt(2.0))
    r_above = np.exp(-0.5 * above**2) / np.sqrt(2.0 * np.pi) / special.ndtr(above)
    return np.asarray(np.where(z < 0.0, r_below, r_above))


def _tail_fractions(t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Pieces of Laplace's continued fraction of the Mills ratio, for ``t = -z >= TAIL_MARGIN``.

    ``r = t + 1/(t + 2/(t + 3/(t + 4/(t + ...))))``.  Every term is positive: nothing cancels.

    Returns
    -------
    q, p, s : ndarray
        ``q = r - t = 1/(t + 2p)``, ``p = 1/(t + 3s)``, ``s = 1/(t + 4/(t + 5/(t + ...)))``.
    """
    denominator = t
    for k in range(TAIL_FRACTION_TERMS, 3, -1):
        denominator = t + k / denominator
    s = 1.0 / denominator
    p = 1.0 / (t + 3.0 * s)
    q = 1.0 / (t + 2.0 * p)
    return q, p, s


def _ratio_plus_margin(z: FloatArray) -> FloatArray:
    """``q(z) = r(z) + z``, positive; about ``-1/z`` for very negative z (r is about ``-z``)."""
    q = np.atleast_1d(phi_ratio(z) + z)
    tail = np.atleast_1d(z < -TAIL_MARGIN)
    if np.any(tail):
        q[tail], _, _ = _tail_fractions(-np.atleast_1d(z)[tail])
    return q.reshape(z.shape)


def weight(z: npt.ArrayLike) -> FloatArray:
    """``w(z) = r (r + z) = -d^2 log Phi / dz^2``, between 0 and 1."""
    z = np.asarray(z, dtype=np.float64)
    return np.asarray(phi_ratio(z) * _ratio_plus_margin(z))


def third(z: npt.ArrayLike) -> FloatArray:
    """``d^3 log Phi / dz^3 = r (q (r + q) - 1)`` with ``q = r + z``; positive everywhere.

    In the lower tail the bracket vanishes as ``2/z^4``.  There ``q (t + 2p) = 1`` and
    ``p (t + 3s) = 1`` turn it into ``2 q (q - p)`` and that into ``2 q^2 p (3s - 2p)``.
    """
    z = np.asarray(z, dtype=np.float64)
    r = phi_ratio(z)
    q_central = r + z
    bracket = np.atleast_1d(q_central * (r + q_central) - 1.0)
    tail = np.atleast_1d(z < -TAIL_MARGIN)
    if np.any(tail):
        q, p, s = _tail_fractions(-np.atleast_1d(z)[tail])
        bracket[tail] = 2.0 * q**2 * p * (3.0 * s - 2.0 * p)
    return np.asarray(r * bracket.reshape(z.shape))


# --- the Laplace approximation -------------------------------------------------------------------


def _squared_distances(x: FloatArray, x_other: FloatArray) -> FloatArray:
    return np.asarray((x[:, np.newaxis] - x_other[np.newaxis, :]) ** 2)


def kernel(x: FloatArray, x_other: FloatArray, length: float, sd_db: float) -> FloatArray:
    """Covariance ``s^2 exp(-d^2 / (2 l^2))`` in dB^2, shape (n, m)."""
    return np.asarray(sd_db**2 * np.exp(-0.5 * _squared_distances(x, x_other) / length**2))


@dataclass(frozen=True, eq=False)
class Posterior:
    """Gaussian approximation to the threshold curve, given the answers."""

    # ``f_hat``: the most probable deviation of the threshold from ``m(x)`` at the trials, in dB
    mode_db: FloatArray
    log_evidence: float  # Laplace's approximation to ``log P(y)``, in nats [RW eq. 3.32].
    gradient: FloatArray  # Derivative of `log_evidence` by ``(log l, log s)`` [RW alg. 5.1].
    # `x`, `length`, `sd_db`, `mean_at`: what the posterior was asked for
    x: FloatArray = field(repr=False)
    mean_at: MeanFunction = field(repr=False)
    length: float
    sd_db: float
    # ``a = K^-1 f_hat = d log P(y|f) / df`` at the mode, in 1/dB
    weights_db: FloatArray = field(repr=False)
    sqrt_w: FloatArray = field(repr=False)  # ``W^(1/2)`` at the mode, in 1/dB
    # lower triangular ``L`` with ``L L' = B = I + W^(1/2) K W^(1/2)``
    cholesky: FloatArray = field(repr=False)

    def predict(self, x_star: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Threshold at new places on the scale [RW alg. 3.2; the mean uses f_hat, not g_hat].

        Parameters
        ----------
        x_star : array_like, shape (k,)
            Places on the scale.

        Returns
        -------
        mean_db_hl, sd_db : ndarray, shape (k,)
            Mean and standard deviation of ``g(x_star)``.
        """
        x_star = np.atleast_1d(np.asarray(x_star, dtype=np.float64))
        k_star = kernel(self.x, x_star, self.length, self.sd_db)
        mean_db_hl = self.mean_at(x_star) + k_star.T @ self.weights_db
        v = linalg.solve_triangular(self.cholesky, self.sqrt_w[:, np.newaxis] * k_star, lower=True)
        variance_db2 = self.sd_db**2 - np.sum(v**2, axis=0)
        return mean_db_hl, np.sqrt(variance_db2)


def laplace(
    x: npt.ArrayLike,
    level_db_hl: npt.ArrayLike,
    heard: BoolArray,
    mean_at: MeanFunction,
    length: float,
    sd_db: float,
    response_noise_db: npt.ArrayLike,
    start: FloatArray | None = None,
) -> Posterior:
    """Laplace approximation by Newton's method, to machine convergence.

    Parameters
    ----------
    x : array_like, shape (n,)
        Places of the tones on the scale; n may be 0, places may repeat.
    level_db_hl : array_like, shape (n,)
        Levels of the tones.
    heard : ndarray of bool, shape (n,)
        The answers.
    mean_at : callable
        ``m(x)``, the prior mean in dB HL.
    length, sd_db : float
        ``l`` in units of the scale and ``s``.
    response_noise_db : float or array_like, shape (n,)
        ``sigma``, the same for all trials or one for each.
    start : ndarray, shape (n,), optional
        Where to start, as `weights_db` of another posterior; ``f = 0`` unless given.  What is found
        does not depend on it.

    Returns
    -------
    Posterior

    Raises
    ------
    RuntimeError
        If Newton's method does not converge.
    """
    x, h = (np.atleast_1d(np.asarray(v, dtype=np.float64)) for v in (x, level_db_hl))
    sigma = np.asarray(response_noise_db, dtype=np.float64)
    y = np.where(np.atleast_1d(heard), 1.0, -1.0)
    m = np.asarray(mean_at(x))
    K = kernel(x, x, length, sd_db)

    def margin(f: FloatArray) -> FloatArray:
        return np.asarray(y * (h - m - f) / sigma)

    def log_joint(a: FloatArray) -> tuple[float, float]:
        """Psi [RW eq. 3.12] without its constants, and the size of the terms it is summed from."""
        f = K @ a
        log_likelihood = float(np.sum(log_phi(margin(f))))
        size = float(0.5 * np.abs(a) @ K @ np.abs(a)) - log_likelihood
        return log_likelihood - float(0.5 * a @ f), size

    def factor(z: FloatArray) -> tuple[FloatArray, FloatArray]:
        sqrt_w = np.sqrt(weight(z)) / sigma
        B = np.eye(x.size) + sqrt_w[:, np.newaxis] * K * sqrt_w[np.newaxis, :]
        return sqrt_w, np.asarray(linalg.cholesky(B, lower=True))

    # Newton in a = K^-1 f, so that a singular K (a repeated tone) does no harm.  The step solves
    # (K^-1 + W) (f_new - f) = d log p / df - a, by [RW eq. 3.27]: the same step as their alg. 3.1.
    a = np.zeros_like(x) if start is None else start
    for _ in range(NEWTON_STEPS_MAX):
        f = K @ a
        z = margin(f)
        residual = -y * phi_ratio(z) / sigma - a
        sqrt_w, L = factor(z)
        step = residual - sqrt_w * linalg.cho_solve((L, True), sqrt_w * (K @ residual))
        step_db = float(np.max(np.abs(K @ step), initial=0.0))
        deviation_db = sd_db + float(np.max(np.abs(f), initial=0.0))
        rounding_db = ROUNDING * float(np.max(K @ np.abs(a), initial=0.0))
        if step_db <= max(NEWTON_TOLERANCE * deviation_db, rounding_db):
            a = a + step
            break
        a = a + _uphill_rate(log_joint, a, step) * step
    else:
        raise RuntimeError(
            f"Newton's method has not converged in {NEWTON_STEPS_MAX} steps: last step "
            f"{step_db} dB, {x.size} trials, {length=}, {sd_db=}, {response_noise_db=}"
        )

    f = K @ a
    z = margin(f)
    sqrt_w, L = factor(z)
    log_evidence = float(-0.5 * a @ f + np.sum(log_phi(z)) - np.sum(np.log(np.diag(L))))

    # The gradient [RW alg. 5.1].  s2 = d log q / df_hat has a plus sign: log |B| grows with W and
    # W = -d^2 log p / df^2.
    R = sqrt_w[:, np.newaxis] * linalg.cho_solve((L, True), np.diag(sqrt_w))
    C = linalg.solve_triangular(L, sqrt_w[:, np.newaxis] * K, lower=True)
    posterior_variance_db2 = np.diag(K) - np.sum(C**2, axis=0)
    third_by_f = -y * third(z) / sigma**3
    s2 = 0.5 * posterior_variance_db2 * third_by_f
    gradient = np.zeros(2)
    for j, dK in enumerate((K * _squared_distances(x, x) / length**2, 2.0 * K)):
        explicit = 0.5 * a @ dK @ a - 0.5 * np.sum(R * dK)
        b = dK @ a
        df_hat = b - K @ (R @ b)
        gradient[j] = explicit + s2 @ df_hat

    return Posterior(
        mode_db=f,
        log_evidence=log_evidence,
        gradient=gradient,
        x=x,
        mean_at=mean_at,
        length=length,
        sd_db=sd_db,
        weights_db=a,
        sqrt_w=sqrt_w,
        cholesky=L,
    )


def _uphill_rate(
    objective: Callable[[FloatArray], tuple[float, float]], start: FloatArray, step: FloatArray
) -> float:
    """Largest of 1, 1/2, 1/4 ... that does not lower the objective by more than its rounding."""
    value, size = objective(start)
    rate = 1.0
    for _ in range(STEP_HALVINGS_MAX):
        if objective(start + rate * step)[0] >= value - ROUNDING * size:
            return rate
        rate /= 2.0
    raise RuntimeError(f"no step along Newton's direction goes uphill from {value}")


# --- selection -----------------------------------------------------------------------------------


def binary_entropy_of_margin(u: npt.ArrayLike) -> FloatArray:
    """``H2(Phi(u))`` in bits, without ever forming ``1 - Phi``."""
    u = np.asarray(u, dtype=np.float64)
    heard = special.ndtr(u) * log_phi(u)
    not_heard = special.ndtr(-u) * log_phi(-u)
    return np.asarray(-(heard + not_heard) / np.log(2.0))


def bald(
    mean_db_hl: npt.ArrayLike,
    sd_db: npt.ArrayLike,
    level_db_hl: npt.ArrayLike,
    response_noise_db: npt.ArrayLike,
) -> FloatArray:
    """Information one answer is expected to give about the threshold [CV section 4, H].

    ``H2(Phi((h - mu)/sqrt(sigma^2 + s^2))) - C/sqrt(s^2 + C^2) exp(-(h - mu)^2 / (2 (s^2 + C^2)))``
    with ``C = sigma sqrt(pi ln 2 / 2)``.

    Parameters
    ----------
    mean_db_hl, sd_db : array_like
        ``mu`` and ``s`` of the threshold at the tone's frequency.
    level_db_hl : array_like
        ``h``.
    response_noise_db : array_like
        ``sigma``, positive.

    Returns
    -------
    ndarray
        Bits, broadcast over the arguments.  Never above the exact mutual information and at most
        0.0027019 bits below it (so slightly negative where there is next to nothing to learn).
    """
    s = np.asarray(sd_db, dtype=np.float64)
    sigma = np.asarray(response_noise_db, dtype=np.float64)
    d = np.asarray(level_db_hl, dtype=np.float64) - np.asarray(mean_db_hl, dtype=np.float64)
    c = sigma * np.sqrt(np.pi * np.log(2.0) / 2.0)
    total_bits = binary_entropy_of_margin(d / np.sqrt(sigma**2 + s**2))
    noise_bits = c / np.sqrt(s**2 + c**2) * np.exp(-0.5 * d**2 / (s**2 + c**2))
    return np.asarray(total_bits - noise_bits)
