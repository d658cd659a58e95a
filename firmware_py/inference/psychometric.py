"""The probability of an answer, of listeners who lapse, give false alarms, or are unsure.

With u = level - threshold + noise, noise normal with SD sigma, a listener who attends has heard
above +d, is unsure within +-d, and has heard nothing below -d: an ordinal probit with a dead zone,
d = `unsure_half_width_db` (0: there is no such answer). With lapses and false alarms:

P(heard)  = gamma  + c Phi((h - d - g) / sigma)
P(unsure) = gamma' + c [Phi((h + d - g) / sigma) - Phi((h - d - g) / sigma)]
P(silent) = lambda + c Phi((g - h - d) / sigma),     c = 1 - lambda - gamma - gamma',

lambda the lapse rate, gamma the false-alarm rate of each button (gamma' = gamma if there is a
second one, else 0). With a normal threshold the expectation of each is in closed form: sigma is
replaced by the root of sigma**2 plus the variance.
"""

from typing import Final

from firmware_py.inference.elementary import INV_SQRT_2PI, SQRT_HALF, erfcx, exp
from firmware_py.inference.kernel import kernel

HEARD: Final = 1
UNSURE: Final = 0
SILENT: Final = -1

# With rates of exactly 0 one slip of the hand would rule out the true threshold.
RATE_MIN: Final = 1e-4


@kernel
def normal_from(z: float, scaled_tail: float, bell: float) -> tuple[float, float]:
    """`Phi(z)` and `phi(z)`, from erfcx(|z| / sqrt 2) and exp(-z**2 / 2)."""
    beyond = 0.5 * scaled_tail * bell
    return beyond if z < 0.0 else 1.0 - beyond, INV_SQRT_2PI * bell


@kernel
def normal(z: float) -> tuple[float, float]:
    """`Phi(z)` and `phi(z)`, of the standard normal distribution."""
    return normal_from(z, erfcx(abs(z) * SQRT_HALF), exp(-0.5 * z * z))


@kernel
def attention(lapse_rate: float, false_alarm_rate: float, unsure_half_width_db: float) -> float:
    """`c = 1 - lambda - gamma - gamma'`: share of the answers that depend on the tone."""
    presses = 2.0 if unsure_half_width_db > 0.0 else 1.0
    return 1.0 - lapse_rate - presses * false_alarm_rate


@kernel
def expected_answer(
    answer: int,
    margin_db: float,
    sd_db: float,
    lapse_rate: float,
    false_alarm_rate: float,
    unsure_half_width_db: float,
) -> tuple[float, float, float]:
    """`p = E[P(answer | g)]`, dp/dm and d2p/dm2, for a normal threshold g of mean m.

    Parameters
    ----------
    answer : HEARD, UNSURE or SILENT.
    margin_db : level minus mean of the threshold.
    sd_db : root of response noise variance plus variance of the threshold.
    lapse_rate, false_alarm_rate, unsure_half_width_db : as above.

    Returns
    -------
    p, slope, curvature : probability, and its first two derivatives by the mean, 1/dB, 1/dB**2.
    """
    c = attention(lapse_rate, false_alarm_rate, unsure_half_width_db)
    if answer != UNSURE:
        z = (answer * margin_db - unsure_half_width_db) / sd_db
        below, bell = normal(z)
        rate = false_alarm_rate if answer == HEARD else lapse_rate
        return rate + c * below, -answer * c * bell / sd_db, -c * z * bell / (sd_db * sd_db)
    z = (margin_db - unsure_half_width_db) / sd_db
    below, bell = normal(z)
    y = (margin_db + unsure_half_width_db) / sd_db
    above, rim = normal(y)
    return (
        false_alarm_rate + c * (above - below),
        -c * (rim - bell) / sd_db,
        -c * (y * rim - z * bell) / (sd_db * sd_db),
    )
