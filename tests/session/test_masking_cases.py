"""Twenty-five classical cases of masking: each ends right, or says that it cannot be told.

The cases are those of textbooks on masking (unilateral and bilateral conductive losses, mixed ones,
dead ears, asymmetries; Yacullo, Clinical Masking Procedures, 1996), with numbers of our own and the
reason why each is a case. Heads let 50 dB of a tone by air through, and 3 dB less of one by bone.
Three of them also with the largest occlusion effect: on the ear that has noise, and on no other.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Final, NamedTuple

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.head import GapDb, Head
from device.simulator.hearing import SimulatedTest, ear_named
from device.simulator.listener import EARS, Ear, SimulatedListener
from device.simulator.operator import Operator
from firmware_py.terms.outcomes import MaskingMark, Outcome, Verdict
from firmware_py.terms.results import EarResult, ThresholdResult
from firmware_py.terms.route import BONE, Route
from firmware_py.terms.settings import Settings
from host_tools.research.study.robustness_judged import false_statements
from tests.budget import quick, quick_rows

HZ: Final = (500, 1000, 2000, 4000)
RIGHT_DB: Final = 10.0  # so far off a threshold is right
# At a limit a threshold is as likely beyond it: no response is right so far below.
LIMIT_DB: Final = 5.0
DEAD: Final = 200.0
SEEDS: Final = (1, 2, 3)

Curve = float | tuple[float, float, float, float]  # the same everywhere, or at `HZ`


class Side(NamedTuple):
    """An ear: its cochlea, dB HL, and its air-bone gap, dB."""

    cochlea: Curve
    gap: Curve = 0.0

    def audiogram(self) -> Audiogram:
        """Return its thresholds by air."""
        pairs = zip(_at(self.cochlea), _at(self.gap), strict=True)
        levels = [cochlea + gap for cochlea, gap in pairs]
        heard = tuple(math.inf if level >= DEAD else level for level in levels)
        return Audiogram(tuple(map(float, HZ)), heard)


class Case(NamedTuple):
    """A case, and of which ears the bone thresholds have to be told, and not left open."""

    right: Side
    left: Side
    told: tuple[str, ...] = EARS


CASES: Final = {
    # One conductive ear: without noise its bone is as well the other cochlea's.
    "a plug of wax": Case(Side(10.0, 30.0), Side(10.0)),
    "a perforated drum, on the left": Case(Side(15.0), Side(15.0, 25.0)),
    "a broken chain": Case(Side(10.0, 50.0), Side(10.0)),
    # The gap ends where the skull begins: tones by air cross as well.
    "the largest gap there is": Case(Side(5.0, 60.0), Side(5.0), told=()),
    "fluid, at low frequencies only": Case(Side(10.0, (40.0, 30.0, 15.0, 0.0)), Side(10.0)),
    # Carhart's notch is no loss of the cochlea, and has to be found as one.
    "otosclerosis": Case(Side((10.0, 15.0, 25.0, 15.0), (45.0, 40.0, 25.0, 30.0)), Side(10.0)),
    # Two conductive ears: noise loses in the gap of the masked ear what it needs there.
    "fluid on both sides": Case(Side(10.0, 20.0), Side(10.0, 20.0)),
    "both ears, just maskable at high frequencies": Case(
        Side(10.0, 30.0), Side(10.0, 30.0), told=()
    ),
    "Naunton's dilemma": Case(Side(10.0, 50.0), Side(10.0, 50.0), told=()),
    "two broken chains": Case(Side(0.0, 60.0), Side(0.0, 60.0), told=()),
    "a large and a small gap": Case(Side(10.0, 50.0), Side(10.0, 20.0), told=()),
    "a small and a large gap": Case(Side(10.0, 20.0), Side(10.0, 55.0), told=()),
    # Mixed losses: part of the threshold by air is the cochlea's, and noise has to show how much.
    "mixed, the other ear of the same cochlea": Case(Side(30.0, 30.0), Side(30.0)),
    "mixed, the other ear good": Case(Side(30.0, 30.0), Side(10.0)),
    "a small gap on a poor cochlea": Case(Side(50.0, 20.0), Side(20.0)),
    "mixed on both sides": Case(Side(40.0, 25.0), Side(40.0, 25.0), told=()),
    "mixed, and conductive on the other side": Case(Side(40.0, 35.0), Side(10.0, 35.0), told=()),
    # Dead ears: all that is heard there is the other cochlea.
    "a dead ear, the other good": Case(Side(DEAD), Side(10.0), told=("left",)),
    "a dead ear, the other poor": Case(Side(DEAD), Side(40.0), told=("left",)),
    "a dead ear behind a conductive loss": Case(Side(DEAD), Side(10.0, 30.0), told=()),
    "a dead ear that no noise can uncover": Case(Side(DEAD), Side(10.0, 50.0), told=()),
    "a corner of hearing": Case(Side((30.0, 60.0, DEAD, DEAD)), Side(10.0), told=("left",)),
    # Cochlear losses: a shadow curve by air, and bone that is the other ear's all along.
    "a shadow curve": Case(Side(70.0), Side(10.0)),
    "a poor and a fair ear": Case(Side(85.0), Side(30.0), told=("left",)),
    "two like ears, which need no noise": Case(Side(50.0), Side(50.0)),
}  # fmt: skip
QUICK: Final = (
    "a plug of wax", "Naunton's dilemma", "mixed, the other ear good",
    "a dead ear, the other good", "a shadow curve",
)  # fmt: skip


# As large as it is told of any earphone: 20 dB at 500 Hz and 10 dB at 1000 Hz here.
OCCLUSION_DB: Final = Audiogram(
    (250.0, 500.0, 750.0, 1000.0, 1500.0), (30.0, 20.0, 15.0, 10.0, 0.0)
)
OCCLUDED: Final = (
    "a plug of wax",  # the noise occludes the good ear, which has no gap that would do so before
    "a dead ear, the other good",  # whatever is heard there is the occluded cochlea
    "mixed, the other ear good",
)


def _at(curve: Curve) -> tuple[float, ...]:
    return curve if isinstance(curve, tuple) else (curve,) * len(HZ)


def run(
    case: Case, seed: int, attenuation_db: float = 50.0, occlusion_db: GapDb = 0.0
) -> dict[Route, EarResult]:
    truths: dict[Ear, Audiogram] = {"right": case.right.audiogram(), "left": case.left.audiogram()}
    gaps = {"right": case.right.gap, "left": case.left.gap}
    head = Head(
        {ear: Audiogram(tuple(map(float, HZ)), _at(gap)) for ear, gap in gaps.items()},
        interaural_attenuation_db=attenuation_db,
        skull_attenuation_db=3.0,
        occlusion_db=occlusion_db,
    )
    listener = SimulatedListener(truths, seed=seed, head=head)
    test = SimulatedTest(Settings(routes="air, bone", seed=seed), listener)
    return dict(test.run().by_route)


def is_open(ear: EarResult, found: ThresholdResult) -> bool:
    """Tell whether nothing is said that would be wrong if another cochlea had answered."""
    return (
        ear.verdict != Verdict.VALID
        or found.masking == MaskingMark.UNCERTAIN
        or found.mark in (Outcome.INFERRED, Outcome.INCOMPLETE, Outcome.UNRELIABLE)
    )


def is_right(found: ThresholdResult, truth_db_hl: float) -> bool:
    if found.mark == Outcome.NO_RESPONSE:
        return truth_db_hl >= (found.limit_db_hl or 0.0) - LIMIT_DB
    if found.mark == Outcome.HEARS_ALL:
        return truth_db_hl <= (found.limit_db_hl or 0.0) + LIMIT_DB
    if found.threshold_db_hl is None:
        return False
    assert found.low_db_hl is not None
    assert found.high_db_hl is not None
    near = abs(found.threshold_db_hl - truth_db_hl) <= RIGHT_DB
    return near or found.low_db_hl <= truth_db_hl <= found.high_db_hl


def test_there_are_twenty_five() -> None:
    assert len(CASES) == 25
    assert set(QUICK) < set(CASES)


@pytest.mark.parametrize("seed", quick(SEEDS, 1))
@pytest.mark.parametrize("name", quick(CASES, *QUICK))
def test_it_ends_right_or_in_the_dilemma(name: str, seed: int) -> None:
    case = CASES[name]
    check(case, run(case, seed))


@pytest.mark.parametrize("seed", quick(SEEDS, 1))
@pytest.mark.parametrize("name", quick(OCCLUDED, OCCLUDED[0]))
def test_it_does_so_too_where_noise_occludes(name: str, seed: int) -> None:
    case = CASES[name]
    by_route = run(case, seed, occlusion_db=OCCLUSION_DB)
    assert by_route[Route("right", BONE)].tones_masked > 0, "nothing was occluded"
    check(case, by_route)


def check(case: Case, by_route: dict[Route, EarResult]) -> None:
    """Check that what is told of both ears by both routes is right or open, and some of it told."""
    for ear, side in (("right", case.right), ("left", case.left)):
        by_air = side.audiogram()
        for route in (Route(ear), Route(ear, BONE)):
            truths = _at(side.cochlea) if route.by_bone else by_air.thresholds_db_hl
            result = by_route[route]
            found = [each for each in result.thresholds if each.frequency_hz in HZ]
            assert len(found) == len(HZ)
            for each, truth_db_hl in zip(found, truths, strict=True):
                shown = f"{route} at {each.frequency_hz} Hz, {truth_db_hl} dB HL: {each}"
                assert is_open(result, each) or is_right(each, truth_db_hl), shown
            if route.by_bone and ear in case.told:
                told = sum(
                    each.masking != MaskingMark.UNCERTAIN and is_right(each, truth_db_hl)
                    for each, truth_db_hl in zip(found, truths, strict=True)
                )
                assert result.verdict == Verdict.VALID
                # Of poor cochleae low tones may be felt.
                assert told >= 2, f"{route}: {found}"


# At 40 dB a threshold by air was 4 dB too good, and so not said to be the other ear's.
SHADOWS: Final = [
    *product((30.0, 40.0), (40.0, 50.0, 60.0), (1, 2, 16)),
    # By bone: noise hid tones only just, and what was a little better than the other ear was clean.
    (30.0, 40.0, 4), (30.0, 40.0, 13), (40.0, 50.0, 14),
]  # fmt: skip


@pytest.mark.parametrize(
    ("gap", "attenuation_db", "seed"),
    quick_rows(SHADOWS, (40.0, 40.0, 16), (40.0, 50.0, 14), (30.0, 60.0, 1)),
)
def test_a_dead_ear_is_not_said_to_hear(gap: float, attenuation_db: float, seed: int) -> None:
    """Whatever is said of it beyond doubt, by air or by bone, is no number."""
    by_route = run(Case(Side(DEAD), Side(10.0, gap)), seed, attenuation_db)
    for route in (Route("right"), Route("right", BONE)):
        result = by_route[route]
        told = [each for each in result.thresholds if not is_open(result, each)]
        assert {each.mark for each in told} <= {Outcome.NO_RESPONSE}


STANDARD_HZ: Final = (250.0, 500.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0, 6000.0)
N5: Final = Audiogram(STANDARD_HZ, (65.0, 70.0, 75.0, 80.0, 80.0, 80.0, 80.0, 80.0))
N6: Final = Audiogram(STANDARD_HZ, (75.0, 80.0, 85.0, 90.0, 90.0, 95.0, 100.0, 100.0))
HEAD: Final = Head({"right": 40.0, "left": 40.0}, interaural_attenuation_db=40.0)


@pytest.mark.parametrize(
    ("right", "left", "noise_db", "seed"),
    [
        (N5, N5, 2.0, 1405025027926194),
        (N5, N6, 2.0, 2187263735575138),
        (N5, N5, 4.0, 6522630750037752),
    ],
)
def test_with_gaps_in_both_ears_nothing_that_is_said_to_be_measured_is_far_off(
    right: Audiogram, left: Audiogram, noise_db: float, seed: int
) -> None:
    """Noise and tones cross alike, and nearly every threshold may be the other ear's.

    Without the gap that bone conduction told of the ear itself (`Air._own_gap_db`) each of these
    heads has a number that is wrong; without the doubt beside uncertain thresholds
    (`_said_beside_db`) the second one.
    """
    by_air = {"right": right, "left": left}
    truths = {ear_named(ear): truth for ear, truth in by_air.items()}
    listener = SimulatedListener(
        truths, response_noise_db=noise_db, lapse_rate=0.01, false_alarm_rate=0.01, seed=seed,
        head=HEAD,
    )  # fmt: skip
    settings = Settings(routes="air, bone", seed=seed)
    test = SimulatedTest(settings, listener, operator=Operator(hears="operator"))

    result = test.run()

    assert [each for ear in result.ears for each in far_off(ear, by_air)] == []
    of_air = replace(result, ears=tuple(ear for ear in result.ears if not ear.route.by_bone))
    assert [*false_statements(of_air, truths)] == [], "grades among them"


def far_off(ear: EarResult, by_air: dict[str, Audiogram]) -> Iterator[str]:
    """Yield what is said to be measured of this ear, and is neither near the truth nor in doubt."""
    for each in ear.thresholds:
        if each.mark != Outcome.MEASURED or each.masking == MaskingMark.UNCERTAIN:
            continue
        side, f = ear.route.ear, each.frequency_hz
        true = {by_air[side].threshold_db_hl(f)}
        if ear.route.by_bone:
            true = {HEAD.bone_threshold_db_hl(by_air, side, f, alone=a) for a in (True, False)}
        assert each.threshold_db_hl is not None
        assert each.low_db_hl is not None
        assert each.high_db_hl is not None
        near = min(true) - RIGHT_DB <= each.threshold_db_hl <= max(true) + RIGHT_DB
        if not near and not (each.low_db_hl <= max(true) and min(true) <= each.high_db_hl):
            yield f"{ear.route} {f} Hz: {each.threshold_db_hl:.0f}, true {true}"
