"""Is the reference itself right?  The hard numbers were computed with mpmath at 60 digits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.reference import (
    AUDIOGRAM_FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
    FloatArray,
    Scale,
    bald,
    laplace,
    log_phi,
    phi_ratio,
    prior_mean_line,
    third,
    warp,
    weight,
)

SMALLEST_NORMAL = 1e-300  # below it a double has no 1e-10 to offer


# --- scales and prior mean -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "at_125_1000_8000_hz", "intercept_db_hl", "slope"),
    [
        ("bark", (1.2411299289652493, 7.702773976459155, 19.708905833596873),
         32.03043521715889, 2.428481930998185),
        ("traunmuller", (1.0773141486810551, 8.527432432432432, 21.00413654618474),
         32.39773899955388, 2.1538581600848534),
        ("mel", (185.16858265005914, 999.9855371396244, 2840.023046708319),
         32.67989177260992, 0.017426677853070664),
        ("log2", (-3.0, 0.0, 3.0),
         52.26249211316932, 8.333894510590545),
    ],
)  # fmt: skip
def test_scale_and_regression_line(
    scale: Scale,
    at_125_1000_8000_hz: tuple[float, ...],
    intercept_db_hl: float,
    slope: float,
) -> None:
    assert_allclose(warp([125.0, 1000.0, 8000.0], scale), at_125_1000_8000_hz, rtol=1e-14)
    assert_allclose(prior_mean_line(scale), (intercept_db_hl, slope), rtol=1e-13)
    x = warp(AUDIOGRAM_FREQUENCIES_HZ, scale)
    mean_db_hl = np.mean(list(STANDARD_AUDIOGRAMS_DB_HL.values()), axis=0)
    assert_allclose(prior_mean_line(scale), np.polyfit(x, mean_db_hl, 1)[::-1], rtol=1e-10)


def test_standard_audiograms_have_their_published_means() -> None:
    assert len(STANDARD_AUDIOGRAMS_DB_HL) == 10
    assert_allclose(
        np.mean(list(STANDARD_AUDIOGRAMS_DB_HL.values()), axis=0),
        [41.0, 41.75, 43.0, 45.75, 49.0, 53.5, 58.5, 65.0, 72.5, 77.0],
        rtol=1e-15,
    )


# --- log Phi and its derivatives -----------------------------------------------------------------

#    z, log Phi, r, r (r + z), third derivative
LIKELIHOOD = [
    (-1e4, -50000010.12927891, 10000.000099999997, 0.9999999900000006, 1.99999976000003e-12),
    (-1000, -500007.82669481216, 1000.000999998, 0.999999000006, 1.999976000299996e-09),
    (-100, -5005.524208694205, 100.00999800099926, 0.9999000599500517, 1.997602995862343e-06),
    (-37.5, -707.6689893175072, 37.526628874883656, 0.9992919051145792, 3.7605140156381736e-05),
    (-20, -203.91715537109727, 20.04975306852785, 0.9975367383849478, 0.00024272657893584202),
    (-10, -53.23128515051247, 10.098093233962512, 0.9905546221743438, 0.0017864003921165069),
    (-5, -15.064998393988725, 5.186503967125842, 0.9673035653828878, 0.0108257645063567),
    (-3.000001, -6.60772950460947, 3.2830995843712656, 0.9294408446853952, 0.031470653900302174),
    (-3, -6.607726221510349, 3.2830986549304364, 0.9294408132147319, 0.03147067283084249),
    (-2.999999, -6.6077229384121585, 3.2830977254896387, 0.9294407817440495,
     0.031470691761396385),
    (-2, -3.783184333682032, 2.373215532822841, 0.8857208995859187, 0.059355861291565816),
    (-1, -1.8410216450092636, 1.525135276160981, 0.8009023344296512, 0.11693119540604884),
    (-0.25, -0.9130617648111351, 0.9635539794164039, 0.6875477763950868, 0.1895378684535958),
    (0, -0.6931471805599453, 0.7978845608028654, 0.6366197723675814, 0.21801361414499015),
    (1e-8, -0.6931471725810997, 0.7978845544366676, 0.6366197701874452, 0.21801361529269697),
    (0.5, -0.3689464152886564, 0.5091604338370335, 0.5138245643036329, 0.27099012446870785),
    (1, -0.17275377902344988, 0.2875999709391784, 0.3703137142233946, 0.2957181701822712),
    (2, -0.02301290932896349, 0.055247862678989956, 0.11354805168857644, 0.1843948150324776),
    (5, -2.866516129637636e-07, 1.4867199409049056e-06, 7.433601914860711e-06,
     3.568131173676705e-05),
    (10, -7.619853024160525e-24, 7.694598626706419e-23, 7.694598626706419e-22,
     7.617652640439355e-21),
    (20, -2.7536241186062337e-89, 5.520948362159764e-88, 1.1041896724319527e-86,
     2.2028583965017455e-85),
    (30, -4.906713927148187e-198, 1.4736461348785476e-196, 4.420938404635642e-195,
     1.3248078752558141e-193),
    (37, -5.725571222524577e-300, 2.1200065515246056e-298, 7.84402424064104e-297,
     2.9001689624856606e-295),
    (1e4, 0.0, 0.0, 0.0, 0.0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "column"), [(log_phi, 1), (phi_ratio, 2), (weight, 3), (third, 4)]
)
def test_likelihood_to_the_last_digits_in_both_tails(function: Any, column: int) -> None:
    table = np.array(LIKELIHOOD)
    expected = table[:, column]

    assert_allclose(function(table[:, 0]), expected, rtol=1e-12, atol=SMALLEST_NORMAL)


# --- the Laplace approximation -------------------------------------------------------------------


class Case(NamedTuple):
    """Answers, and what mpmath makes of them.  The prior mean is 32 + 2.5 x."""

    name: str
    x: list[float]
    level_db_hl: list[float]
    heard: list[bool]
    length: float
    sd_db: float
    response_noise_db: float
    mode_db: list[float]
    log_evidence: float
    gradient: list[float]
    mean_db_hl: list[float]  # at PREDICT_AT
    predicted_sd_db: list[float]


PREDICT_AT = [2.0, 16.5]
CASES = [
    Case(
        "mixed",
        [5.0, 5.0, 9.0, 12.0, 12.0, 15.5, 17.0, 3.0],
        [40.0, 60.0, 55.0, 70.0, 60.0, 80.0, 62.0, 30.0],
        [False, True, False, True, False, True, False, False],
        4.0, 12.0, 2.0,
        mode_db=[2.756074201562422, 2.756074201562422, 4.354106368873839, 3.1153773605391475,
                 3.1153773605391475, 0.9749359380495048, 0.4500449654359621, 1.5024817280732667],
        log_evidence=-1.492497019842075,
        gradient=[0.29865032649942574, -0.8312815218053031],
        mean_db_hl=[38.01087750438061, 73.84394208673525],
        predicted_sd_db=[11.538674607407767, 10.44082358190285],
    ),
    Case(  # the search starts at z = -239
        "far out",
        [5.0, 5.0, 9.0, 14.0], [10.0, 90.0, -10.0, 120.0], [True, False, True, False],
        4.0, 12.0, 0.5,
        mode_db=[5.402575247532962, 5.402575247532962, -64.60256636551871, 53.297333013654736],
        log_evidence=-6490.512334706373,
        gradient=[-177.61787248297458, 138.26681510631872],
        mean_db_hl=[81.32437727578657, 151.0661752263697],
        predicted_sd_db=[6.8271028635159405, 6.095659395664075],
    ),
    Case(  # the search starts at z = -6950
        "cliff",
        [5.0, 11.0, 16.0], [-10.0, -10.0, 120.0], [True, True, False],
        4.0, 12.0, 0.01,
        mode_db=[-54.53336211104394, -69.52823199983189, 48.02855860061571],
        log_evidence=-60.82311362132601,
        gradient=[-40.784813938467195, 92.2162674812881],
        mean_db_hl=[12.086327663460592, 128.08338067579507],
        predicted_sd_db=[7.5290357189391885, 1.1783321584772684],
    ),
    Case(
        "narrow",
        [5.0, 11.0, 16.0, 16.0], [-10.0, 100.0, 120.0, 0.0], [True, True, False, False],
        4.0, 12.0, 0.05,
        mode_db=[-54.6231394113312, 4.51619925879378, 48.12555412372968, 48.12555412372968],
        log_evidence=-26.71532676794562,
        gradient=[-3.443196769755052, 37.35094066229268],
        mean_db_hl=[-4.973565268034364, 121.36781612702036],
        predicted_sd_db=[7.870733922724923, 1.5109707416324472],
    ),
    Case(
        "short and broad",
        [5.0, 11.0, 16.0, 16.0], [-10.0, 100.0, 120.0, 0.0], [True, True, False, False],
        1.5, 60.0, 2.0,
        mode_db=[-58.982799502861155, 0.18349434164815856, 52.5827899273974, 52.5827899273974],
        log_evidence=-5.064741527301845,
        gradient=[-1.8815680230870898e-10, 1.3627873685988106],
        mean_db_hl=[29.017546123177, 122.99118803346389],
        predicted_sd_db=[59.456138262936406, 20.749139913701462],
    ),
    Case(
        "long and timid",
        [5.0, 11.0, 16.0, 16.0], [-10.0, 100.0, 120.0, 0.0], [True, True, False, False],
        40.0, 3.0, 2.0,
        mode_db=[-6.6047457635502855, -2.3106255493153336, 1.306514505006956, 1.306514505006956],
        log_evidence=-615.581778633519,
        gradient=[-91.87089367598463, 93.60892312762596],
        mean_db_hl=[28.35074456275236, 74.91308508097306],
        predicted_sd_db=[1.3975853138557308, 1.3454423735863918],
    ),
    Case(
        "one answer",
        [11.0], [40.0], [True],
        4.0, 12.0, 2.0,
        mode_db=[-21.44523725402818],
        log_evidence=-3.1189267219294217,
        gradient=[0.0, 2.7957961959234607],
        mean_db_hl=[35.29382745972369, 64.91727876851643],
        predicted_sd_db=[11.964566598668258, 11.124119144674648],
    ),
    Case(  # z = +75: not a bit in it
        "nothing learnt",
        [5.0, 11.0], [120.0, -10.0], [True, False],
        4.0, 12.0, 1.0,
        mode_db=[0.0, 0.0],
        log_evidence=0.0,
        gradient=[0.0, 0.0],
        mean_db_hl=[37.0, 73.25],
        predicted_sd_db=[12.0, 12.0],
    ),
]  # fmt: skip


def mean_at(x: FloatArray) -> FloatArray:
    return 32.0 + 2.5 * x


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_laplace_agrees_with_60_digits(case: Case) -> None:
    posterior = laplace(
        case.x, case.level_db_hl, np.array(case.heard), mean_at, case.length, case.sd_db,
        case.response_noise_db,
    )  # fmt: skip
    mean_db_hl, sd_db = posterior.predict(PREDICT_AT)

    assert_allclose(posterior.mode_db, case.mode_db, rtol=1e-11, atol=1e-200)
    assert_allclose(posterior.log_evidence, case.log_evidence, rtol=1e-12, atol=1e-200)
    gradient_size = float(np.max(np.abs(case.gradient)))
    assert_allclose(posterior.gradient, case.gradient, rtol=1e-11, atol=1e-14 * gradient_size)
    assert_allclose(mean_db_hl, case.mean_db_hl, rtol=1e-11)
    assert_allclose(sd_db, case.predicted_sd_db, rtol=1e-11)


def test_noise_may_differ_between_answers() -> None:
    case = CASES[0]
    answers = (case.x, case.level_db_hl, np.array(case.heard), mean_at, 4.0)
    sigma = np.array([15.0, 12.0, 10.0, 8.0, 5.0, 4.0, 3.0, 2.0])
    posterior = laplace(*answers, 12.0, sigma)
    same = laplace(*answers, 12.0, np.full(8, 2.0))

    assert_allclose(same.mode_db, case.mode_db, rtol=1e-11)
    e = 1e-4
    up = laplace(*answers, 12.0 * float(np.exp(e)), sigma).log_evidence
    down = laplace(*answers, 12.0 * float(np.exp(-e)), sigma).log_evidence
    slope = (up - down) / (2.0 * e)
    assert posterior.gradient[1] == pytest.approx(slope, rel=1e-6)


# --- selection -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mean_db_hl", "sd_db", "level_db_hl", "sigma_db", "bits"),
    [
        (50.0, 12.0, 50.0, 2.0, 0.8286629367531264),
        (50.0, 12.0, 62.0, 2.0, 0.5335436690229413),
        (50.0, 3.0, 47.0, 4.0, 0.16265849552782422),
        (40.0, 1.0, 40.0, 2.0, 0.09818813440102192),
        (0.0, 12.0, 120.0, 2.0, 2.1317918264920103e-21),
        (60.0, 20.0, -10.0, 0.5, 0.003097584251812987),
        (30.0, 0.1, 34.0, 2.0, -0.0024523779533625603),
    ],
)
def test_bald_against_mpmath(
    mean_db_hl: float, sd_db: float, level_db_hl: float, sigma_db: float, bits: float
) -> None:
    assert_allclose(bald(mean_db_hl, sd_db, level_db_hl, sigma_db), bits, rtol=1e-12)
