"""The probit response model, safe in both tails.

P(y | x, h, g) = Phi(z) with z = y (h - g(x)) / sigma, y = +1 heard and -1 not heard (paper,
equation 8b). With r = phi(z)/Phi(z): d log Phi / dg = -y r / sigma and
W = -d2 log Phi / dg2 = r (r + z) / sigma**2 > 0. The formulas in the paper's appendix B belong to
the opposite sign of (h - g) and lose a 1/sigma**2; these are checked against finite differences.
"""

from firmware_py.inference.elementary import (
    INV_SQRT_2PI,
    SQRT_2_OVER_PI,
    SQRT_HALF,
    erfcx,
    exp,
    log,
    log1p,
)
from firmware_py.inference.kernel import CONVERGED, Vector, kernel

# Below this z the differences below lose digits to cancellation, and a continued fraction is used.
_TAIL_Z = -5.0
_TAIL_TERMS = 32  # enough for 1e-14 of both at _TAIL_Z


@kernel
def log_cdf_and_ratio(z: float, scaled_tail: float, bell: float) -> tuple[float, float]:
    """`log Phi(z)` and `r(z) = phi(z) / Phi(z)`, from erfcx(|z| / sqrt 2) and exp(-z**2 / 2)."""
    if z < 0.0:
        return log(0.5 * scaled_tail) - 0.5 * z * z, SQRT_2_OVER_PI / scaled_tail
    tail = 0.5 * scaled_tail * bell
    return log1p(-tail), INV_SQRT_2PI * bell / (1.0 - tail)


@kernel
def log_normal_cdf(z: float) -> float:
    """`log Phi(z)`."""
    return log_cdf_and_ratio(z, erfcx(abs(z) * SQRT_HALF), exp(-0.5 * z * z))[0]


@kernel
def ratio(z: float) -> float:
    """r(z) = phi(z) / Phi(z), the derivative of log Phi."""
    return log_cdf_and_ratio(z, erfcx(abs(z) * SQRT_HALF), exp(-0.5 * z * z))[1]


@kernel
def differences(z: float, r: float) -> tuple[float, float]:
    """`s = r(z) + z` and `s (r + s) - 1`, both positive, without cancellation.

    r is `ratio(z)`. In the lower tail, with a = -z, r - a = 1/(a + 2/(a + 3/(a + ...))), the
    continued fraction of Mills' ratio; with p and q the parts of it below, s (a + 2 p) = 1 and
    p (a + 3 q) = 1 turn the second difference, 2/a**4 far out, into 2 s**2 p (3 q - 2 p).
    """
    if z > _TAIL_Z:
        s = r + z
        return s, s * (r + s) - 1.0
    a = -z
    fraction = a
    for k in range(_TAIL_TERMS, 3, -1):
        fraction = a + k / fraction
    q = 1.0 / fraction
    p = 1.0 / (a + 3.0 * q)
    s = 1.0 / (a + 2.0 * p)
    return s, 2.0 * s * s * p * (3.0 * q - 2.0 * p)


@kernel
def probit(
    n: int, residual_db: Vector, label: Vector, f_db: Vector, noise_db: Vector, log_p: Vector,
    gradient: Vector, weight: Vector, third: Vector,
) -> int:  # fmt: skip
    """`log Phi(y (h - m - f) / sigma)` of n answers, and three derivatives by f = g - m(x).

    Parameters
    ----------
    n : int
        Number of trials.
    residual_db : (n,) level minus prior mean, h - m(x), in dB.
    label : (n,) +1 heard, -1 not heard.
    f_db : (n,) latent values, dB.
    noise_db : (n,) response noise sigma of each trial, dB.
    log_p, gradient, weight, third : (n,) outputs: log P, d/df in 1/dB, -d2/df2 in 1/dB**2, d3/df3.
    """
    # One function at a time, and for the time being in the outputs: such loops are vectorised.
    for i in range(n):
        third[i] = label[i] * (residual_db[i] - f_db[i]) / noise_db[i]
    for i in range(n):
        weight[i] = erfcx(abs(third[i]) * SQRT_HALF)
    for i in range(n):
        gradient[i] = exp(-0.5 * third[i] * third[i])
    for i in range(n):
        z = third[i]
        log_p[i], r = log_cdf_and_ratio(z, weight[i], gradient[i])
        s, t = differences(z, r)
        slope = label[i] / noise_db[i]
        gradient[i] = -slope * r
        weight[i] = slope * slope * r * s
        third[i] = -slope * slope * slope * r * t
    return CONVERGED
