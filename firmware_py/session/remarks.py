"""What makes the result of a session less than sure."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from firmware_py.ear.ear import EarTest
from firmware_py.ear.evidence import Pauses
from firmware_py.ear.model_checks import LAPSE_RATE_MAX, ClearTones
from firmware_py.session.boards import Boards
from firmware_py.session.cross_hearing import CrossHearing
from firmware_py.session.room import Room
from firmware_py.terms.outcomes import MaskingMark, Outcome, WhichEar
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.results import EarResult
from firmware_py.terms.route import BY_AIR, BY_BONE

UNSURE_SHARE_HIGH: Final = 0.9  # of the answers; a share this high is implausible


def remarks_on(
    tested: Iterable[tuple[EarTest, EarResult]],
    cross_hearing: CrossHearing,
    which_ear: WhichEar,
    boards: Boards,
) -> list[Reason]:
    """Return the remarks on a session, ear by ear, then those on all of it."""
    remarks: list[Reason] = []
    ears = []
    for ear, found in tested:
        ears.append(ear)
        remarks += _say_what_happened(ear)
        remarks += [reason(Code.OF_EAR, ear=str(ear.route), doubt=doubt) for doubt in _doubts(ear)]
        remarks += _masking_doubts(found, cross_hearing)
    if signs := _inattention(ears):
        remarks.append(reason(Code.INATTENTIVE, signs=signs))
    asked = [ear for ear in ears if ear.tally.tones]
    answered = any(ear.tally.answered for ear in asked)
    # Whose equipment was heard was deaf: nothing of it is to be checked.
    heard = all(ear.listening.equipment_heard_by for ear in asked)
    if asked and not answered and not heard:
        remarks.append(reason(Code.NEVER_ANSWERED))
    if which_ear == WhichEar.NOT_CONFIRMED:
        remarks.append(reason(Code.EARS_NOT_CONFIRMED))
    if boards.differ:
        remarks.append(boards.remark())
    return remarks


def remarks_on_room(room: Room, ears: Collection[EarTest]) -> Iterator[Reason]:
    """Say what is known of the room, and what it kept from being asked; nothing: nobody knows."""
    yield from room.about
    for kind, code in ((BY_AIR, Code.ROOM_FLOORS), (BY_BONE, Code.ROOM_FLOORS_BONE)):
        tested = [ear for ear in ears if ear.route.kind is kind]
        if tested and (limits := _raised(tested)):
            yield reason(code, limits=limits)


def _raised(tested: Sequence[EarTest]) -> list[Reason]:
    """Return the floors of a route that keep normal thresholds from being told, by either ear."""
    asked_hz = tested[0].audiogram.frequencies_hz
    floors_db_hl = {f: max(each.levels.floor_db_hl(f) for each in tested) for f in asked_hz}
    return [
        reason(Code.LIMIT_AT, limit_db_hl=floor_db_hl, frequency_hz=f)
        for f, floor_db_hl in floors_db_hl.items()
        if floor_db_hl > 0.0
    ]


def _masking_doubts(ear: EarResult, cross_hearing: CrossHearing) -> list[Reason]:
    """Say where the other ear may have heard the tones, and why it could."""
    if not cross_hearing.judged:
        return []
    found: dict[Reason, list[int]] = {}
    inferred_hz = [e.frequency_hz for e in ear.thresholds if e.mark == Outcome.INFERRED]
    for frequency_hz, verdict in cross_hearing.ways[ear.route].verdicts().items():
        if verdict.mark == MaskingMark.UNCERTAIN and frequency_hz not in inferred_hz:
            assert verdict.why is not None, "it is uncertain"
            found.setdefault(verdict.why, []).append(frequency_hz)
    return [
        reason(Code.MASKING_UNCERTAIN, ear=str(ear.route), frequencies_hz=at_hz, why=why)
        for why, at_hz in found.items()
    ]


def _say_what_happened(ear: EarTest) -> Iterable[Reason]:
    retest, listening, name = ear.retest, ear.listening, str(ear.route)
    if retest is not None and retest.verdict:
        off_db, verdict = retest.difference_db or 0.0, retest.verdict
        yield reason(Code.RETEST_DIFFERS, ear=name, verdict=verdict, difference_db=off_db)
    if (checks := listening.checks + listening.looks) and not ear.suspected_in_vain:
        yield reason(Code.BROKEN_OFF, ear=name, checks=checks, why=listening.last_why[0])
    if listening.kept_tones is not None:
        yield reason(Code.ENOUGH_BEFORE, ear=name, tones=listening.kept_tones)
    if listening.equipment_heard_by and ear.heard_nothing:
        yield reason(Code.EQUIPMENT_HEARD, ear=name, hearer=listening.equipment_heard_by)


def _doubts(ear: EarTest) -> Iterable[Reason]:
    doubts, tally = [], ear.tally
    if tally.unsure > UNSURE_SHARE_HIGH * tally.answered:
        doubts.append(reason(Code.MOSTLY_UNSURE, unsure=tally.unsure, answered=tally.answered))
    if ear.outcome != Outcome.UNRELIABLE:
        signs = []
        if ear.catch_trials.inattentive:
            signs.append(ear.catch_trials.alarms())
        if ear.attention.away_tones and not ear.suspected_in_vain:
            signs.append(reason(Code.RUN_AWAY, away=ear.attention.away_tones))
        if signs:
            doubts.append(reason(Code.INATTENTIVE, signs=signs))
    return doubts


def _inattention(ears: Iterable[EarTest]) -> list[Reason]:
    """Say what shows in both ears together that the listener did not attend."""
    clear, pauses, lapse_rates = ClearTones(), Pauses(), []
    for ear in ears:
        clear += ear.attention.clear()
        pauses += ear.evidence.pauses
        lapse_rates.append(ear.estimator.hyperparameters.lapse_rate)
    signs = []
    if clear.missed and sum(lapse_rates) > LAPSE_RATE_MAX * len(lapse_rates):
        signs.append(reason(Code.MISSES, missed=clear.missed, asked=clear.asked))
    if pauses.inattentive:
        signs.append(reason(Code.PRESSED_IN_PAUSES, pressed=pauses.pressed, count=pauses.count))
    return signs
