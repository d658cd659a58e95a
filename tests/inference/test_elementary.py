"""The elementary functions against exact values, to the error that each of them states.

The hard numbers were computed with mpmath at 60 digits.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from firmware_py.inference.elementary import erfc, erfcx, exp, log, log1p, normal_cdf

DOUBLE = np.finfo(np.float64)
EVERYWHERE = [0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1e308, -1e308, math.inf, -math.inf, math.nan]


class Function(NamedTuple):
    name: str
    computed: Callable[[float], float]
    relative_error: float
    table: list[tuple[float, float]]


FUNCTIONS = [
    Function(
        "exp", exp, 3e-16,
        [(-708.0, 3.307553003638408e-308), (-700.5, 5.980196118639791e-305),
         (-100.25, 2.897198083210148e-44), (-37.5, 5.175555005801869e-17),
         (-1.0, 0.36787944117144233), (-1e-08, 0.9999999900000001), (-5e-324, 1.0), (-0.0, 1.0),
         (0.0, 1.0), (1e-16, 1.0), (0.1, 1.1051709180756477),
         (0.34657359027997264, 1.414213562373095), (0.3465735902799727, 1.4142135623730951),
         (1.0, 2.718281828459045), (10.5, 36315.502674246636), (100.0, 2.6881171418161356e+43),
         (700.25, 1.3022997366991783e+304), (709.0, 8.218407461554972e+307)],
    ),
    Function(  # a unit in the last place is at most 2.3e-16 of the number; see also below
        "log", log, 2.3e-16,
        [(2.2250738585072014e-308, -708.3964185322641), (1e-300, -690.7755278982137),
         (1e-10, -23.025850929940457), (0.5, -0.6931471805599453),
         (0.7071067811865475, -0.34657359027997275), (0.7071067811865477, -0.3465735902799724),
         (0.99, -0.01005033585350145), (0.9999999999999999, -1.1102230246251565e-16), (1.0, 0.0),
         (1.0000000000000002, 2.2204460492503128e-16), (1.0009414309839102, 0.0009409881156929092),
         (1.4142135623730951, 0.3465735902799727), (1.4142135623730954, 0.34657359027997287),
         (2.0, 0.6931471805599453), (10.0, 2.302585092994046), (1e10, 23.025850929940457),
         (1.7976931348623157e+308, 709.782712893384)],
    ),
    Function(
        "log1p", log1p, 5e-16,
        [(-0.5, -0.6931471805599453), (-0.25, -0.2876820724517809),
         (-0.001, -0.0010005003335835335), (-1e-10, -1.00000000005e-10), (-1e-17, -1e-17),
         (-5e-324, -5e-324), (5e-324, 5e-324), (1e-20, 1e-20), (1e-08, 9.999999950000001e-09),
         (0.3, 0.26236426446749106), (1.0, 0.6931471805599453), (100.0, 4.61512051684126)],
    ),
    Function(
        "erfcx", erfcx, 1e-15,
        [(0.0, 1.0), (5e-324, 1.0), (1e-10, 0.999999999887162), (0.001, 0.9988726200811514),
         (0.5, 0.6156903441929259), (1.0, 0.427583576155807), (3.0, 0.17900115118138996),
         (10.0, 0.05614099274382259), (26.0, 0.021683584850562907),
         (100.0, 0.005641613782989433), (1e4, 5.641895807268084e-05),
         (1e8, 5.641895835477562e-09)],
    ),
    Function(
        "erfc", erfc, 2e-13,
        [(-6.0, 2.0), (-1.0, 1.8427007929497148), (-0.001, 1.0011283787909693), (-0.0, 1.0),
         (0.0, 1.0), (0.5, 0.4795001221869535), (1.0, 0.15729920705028513),
         (5.0, 1.537459794428035e-12), (10.0, 2.088487583762545e-45),
         (20.0, 5.395865611607901e-176), (26.0, 5.663192408856143e-296)],
    ),
    Function("erfc near 0", erfc, 1e-15, [(0.25, 0.7236736098317631)]),
    Function(
        "normal_cdf", normal_cdf, 5e-13,
        [(-37.0, 5.725571222524577e-300), (-20.0, 2.7536241186062337e-89),
         (-10.0, 7.619853024160525e-24), (-5.0, 2.866515718791939e-07),
         (-1.0, 0.15865525393145705), (-0.001, 0.49960105778608893), (0.0, 0.5),
         (0.5, 0.6914624612740131), (2.0, 0.9772498680518208), (8.0, 0.9999999999999993),
         (40.0, 1.0)],
    ),
    Function(
        "normal_cdf near 0", normal_cdf, 2e-15, [(-0.25, 0.4012936743170763)]
    ),
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_hard_numbers(function: Function) -> None:
    for x, expected in function.table:
        # The typed number is itself rounded: half a unit in its last place.
        error_max = (function.relative_error + DOUBLE.eps / 2.0) * abs(expected)
        assert abs(function.computed(x) - expected) <= error_max, x


def test_log_is_exactly_0_at_1_and_has_its_sign_beside_it() -> None:
    assert log(1.0) == 0.0
    assert log(1.0 + DOUBLE.eps) > 0.0 > log(1.0 - DOUBLE.epsneg)


def test_exp_stays_within_its_limits() -> None:
    assert exp(-708.0) >= DOUBLE.smallest_normal
    for far_below in (-708.0000001, -1e5, -1e308, -math.inf):
        assert exp(far_below) == 0.0
    for far_above in (709.0, 709.0000001, 1e5, 1e308, math.inf):
        assert exp(far_above) == exp(709.0) < math.inf


def test_tails_end_in_0_1_and_2() -> None:
    for far in (40.0, 1e3, 1e150):
        assert (erfc(far), erfc(-far)) == (0.0, 2.0)
        assert (normal_cdf(-far), normal_cdf(far)) == (0.0, 1.0)
    assert erfcx(1e300) == pytest.approx(1e-300 / math.sqrt(math.pi))


def test_signed_zeros_and_subnormals() -> None:
    assert math.copysign(1.0, log1p(-0.0)) == -1.0
    assert [log1p(x) for x in (5e-324, -5e-324, 2.3e-308)] == [5e-324, -5e-324, 2.3e-308]
    for function in (exp, erfc, erfcx, normal_cdf):
        at_zero = function(0.0)
        assert [function(x) for x in (-0.0, 5e-324, 2.3e-308)] == pytest.approx([at_zero] * 3)


@pytest.mark.parametrize("function", [exp, log, log1p, erfcx, erfc, normal_cdf])
def test_nothing_is_raised_outside_the_domain(function: Callable[[float], float]) -> None:
    """As the module says: a result outside the domain means nothing, but is no error."""
    for x in EVERYWHERE:
        assert isinstance(function(x), float)
