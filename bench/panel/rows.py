"""The people of the panel: rows of simulated listeners, and how a whole test of each ends.

Those of one ear or two by air are those of `gp-pta study --robustness`; beside them stand deaf
ears, the clinical conduct, and tests by bone of heads with gaps and without.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from device.simulator.hearing import SimulatedTest, ear_named
from device.simulator.odd_ears import ODD_EARS
from device.simulator.operator import Operator
from firmware_py.terms.events import OPERATOR
from firmware_py.terms.outcomes import MaskingMark, Outcome
from firmware_py.terms.results import EarResult, SessionResult
from firmware_py.terms.route import LEFT, RIGHT
from host_tools.research.study.ears import MILDER, odd_ears, standard_ears
from host_tools.research.study.listener import Answering, session_seed
from host_tools.research.study.robustness import PROCEDURE, RATE
from host_tools.research.study.robustness_cases import CASES
from host_tools.research.study.robustness_judged import (
    FAR_DB,
    false_statements,
    inferred_far_off,
    is_valid,
)
from host_tools.research.study.robustness_sessions import ears_of_case, sitting_of, units_of
from host_tools.research.study.sitting import Sitting

EARS: Final = 4  # of a row of the study; of odd ears, one of each family
ERROR_DB_MAX: Final = 60.0  # of a deaf ear a number is infinitely wrong
DEAF: Final = Audiogram((1000.0,), (inf,))
NORMAL: Final = Audiogram((250.0, 8000.0), (0.0, 5.0))
BONE: Final = "air, bone"
PERHAPS_DB: Final = {2.0: 3.0, 4.0: 8.0}  # within so much of the threshold, by the noise
SOMEBODY: Final = Operator(hears=OPERATOR)  # is asked who hears the tones of a deaf ear


@dataclass(frozen=True)
class Ending:
    """How a test ended: numbers that are added up over tests."""

    seconds: float
    tones: int
    measured: int  # thresholds said to be measured, of this ear, of ears said to be valid
    square_db2: float  # of their errors
    covered: int  # of their bands, those that hold the truth
    uncertain: int  # thresholds said to be measured, that may be the other ear's
    wrong: bool  # something false is said of an ear that is said to be valid
    doubted: bool  # an ear is not said to be valid
    far_inferred: bool  # an inferred threshold is far off, outside its band


@dataclass(frozen=True)
class Seated:
    """A test of the panel."""

    row: str
    name: str
    sitting: Sitting

    def __str__(self) -> str:
        return f"{self.row} {self.name}"

    def run(self) -> Ending:
        return ending_of(self.sitting.test(), self.sitting)


def sittings() -> Iterator[Seated]:
    """Yield all tests, row by row: each begins anew, and is the same in every process."""
    for case in CASES:
        if case.run == PROCEDURE and case.ears != MILDER:  # of these others are enough
            ears = ears_of_case(case, EARS if case.ears_factor == 1 else 1, None)
            for unit in units_of(case, ears, 1):
                yield Seated(case.name, unit.ear.name, sitting_of(unit))
    yield from _others()


def _others() -> Iterator[Seated]:
    of = {ear.name: ear.audiogram for ear in standard_ears()}
    n1, n3, n5, n6, s1, s2 = (of[name] for name in ("N1", "N3", "N5", "N6", "S1", "S2"))
    odd_by_name = {family: odd_ears(family, 1)[0].audiogram for family in ODD_EARS}
    odd, cliff, ski = [*odd_by_name.values()], odd_by_name["cliff"], odd_by_name["ski-slope"]
    clinical = {"conduct": "clinical"}
    rows: list[tuple[str, list[tuple[Audiogram, Audiogram]], Head, Mapping[str, Any]]] = [
        ("clinical", [(n1, n3), (n3, n6), (s2, s2), (n5, n1)], Head(), clinical),
        ("clinical-odd", [*zip(odd[:6], odd[6:12], strict=True)], Head(), clinical),
        ("confirmed", [(n1, n3), (s2, n3)], Head(), {"confirm": "hughson-westlake"}),
        ("ask-all", [(n1, n3), (s2, n5)], Head(), {"ask_all": True}),
        ("normal", [(NORMAL, NORMAL)] * 4, Head(), {}),
        ("perhaps", [(n1, n3), (n3, n5), (s2, n1), (s1, s2)], Head(), {"unsure_button": True}),
        ("deaf", [(DEAF, n1), (n3, DEAF), (DEAF, DEAF), (DEAF, of["N7"])], Head(), {}),
        ("masked", [(n1, n6), (n6, n1), (NORMAL, n5), (n3, of["N7"])], Head(), {}),
        ("bone", [(n1, n3), (n3, n3), (s2, n1), (NORMAL, n5)], Head(), {"routes": BONE}),
        ("bone-steep", [(s1, s1), (s1, s2), (cliff, n3), (ski, ski)], Head(),
         {"routes": BONE}),
        ("bone-gap-30", [(n3, n1), (n5, n3), (n3, n3), (n6, n1)], Head({RIGHT: 30.0}),
         {"routes": BONE}),
        ("bone-gap-both", [(n5, n5), (n6, n5), (n5, n6), (n5, n5)],
         Head({RIGHT: 40.0, LEFT: 40.0}, interaural_attenuation_db=40.0), {"routes": BONE}),
        ("bone-clinical", [(n3, n1), (n5, n1)], Head({RIGHT: 25.0}), clinical | {"routes": BONE}),
        ("bone-deaf", [(DEAF, n1), (n3, DEAF)], Head({LEFT: 20.0}), {"routes": BONE}),
    ]  # fmt: skip
    for row, pairs, head, settings in rows:
        for number, (right, left) in enumerate(pairs, 1):
            noise_db = 2.0 if number % 2 else 4.0
            perhaps_db = PERHAPS_DB[noise_db] if settings.get("unsure_button") else 0.0
            answering = Answering(noise_db, RATE, RATE)
            name = f"{row}:{number}"
            sitting = Sitting(
                {RIGHT: right, LEFT: left}, answering, session_seed(name, 1), settings,
                unsure_half_width_db=perhaps_db, head=head, operator=SOMEBODY,
            )  # fmt: skip
            yield Seated(row, name, sitting)


def _bounds(sitting: Sitting, ear: EarResult, frequency_hz: float) -> tuple[float, float]:
    """Return the lowest and highest true threshold: by bone it may be either cochlea's."""
    if not ear.route.by_bone:
        return (sitting.truths[ear_named(ear.route.ear)].threshold_db_hl(frequency_hz),) * 2
    by_air = {str(each): truth for each, truth in sitting.truths.items()}
    found = [
        sitting.head.bone_threshold_db_hl(by_air, ear.route.ear, frequency_hz, alone=alone)
        for alone in (True, False)
    ]
    return min(found), max(found)


def ending_of(test: SimulatedTest, sitting: Sitting) -> Ending:
    """Run a test to its end, and compare what is said with the truth."""
    result, truths = test.run(), sitting.truths
    found = [each for ear in filter(is_valid, result.ears) for each in _errors(ear, sitting)]
    sure = [(error_db, covered) for error_db, covered, uncertain in found if not uncertain]
    by_air = replace(result, ears=tuple(ear for ear in result.ears if not ear.route.by_bone))
    return Ending(
        test.seconds,
        sum(ear.tones for ear in result.ears),
        len(sure),
        sum(min(abs(error_db), ERROR_DB_MAX) ** 2 for error_db, _ in sure),
        sum(covered for _, covered in sure),
        len(found) - len(sure),
        any(false_statements(by_air, truths)) or _wrong_by_bone(result, sitting),
        not all(map(is_valid, result.ears)),
        inferred_far_off(by_air, truths),
    )


def _errors(ear: EarResult, sitting: Sitting) -> Iterator[tuple[float, bool, bool]]:
    """Yield the error of each measured threshold, and two things that hold or not.

    Its band holds the truth; it is said that it may be the other ear's.
    """
    for each in ear.thresholds:
        if each.mark == Outcome.MEASURED:
            low, high = _bounds(sitting, ear, each.frequency_hz)
            assert each.threshold_db_hl is not None
            assert each.low_db_hl is not None
            assert each.high_db_hl is not None
            error_db = each.threshold_db_hl - min(max(each.threshold_db_hl, low), high)
            covered = each.low_db_hl <= high and low <= each.high_db_hl
            yield error_db, covered, each.masking == MaskingMark.UNCERTAIN


def _wrong_by_bone(result: SessionResult, sitting: Sitting) -> bool:
    """Tell whether a threshold by bone is far off, outside its band, and nothing is said of it."""
    by_bone = [ear for ear in filter(is_valid, result.ears) if ear.route.by_bone]
    return any(
        abs(error_db) > FAR_DB and not covered and not uncertain
        for ear in by_bone
        for error_db, covered, uncertain in _errors(ear, sitting)
    )
