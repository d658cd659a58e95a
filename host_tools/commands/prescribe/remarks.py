"""What has to be known of a prescription, as rows: where it is from, for whom, and its limits."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from device.hearing_aid import candidacy, limits
from device.hearing_aid.chain import LIMITER_EARLY_DB
from device.hearing_aid.fit import OUTPUT_CEILING_DB_SPL, Fit
from device.hearing_aid.for_whom import Code, EarFinding
from device.hearing_aid.limits import Reason
from device.hearing_aid.rules import (
    NAL_R,
    PROFOUND_DB,
    PROFOUND_DB_HL,
    RULES,
    SEVERE_FREQUENCY_HZ,
    rule_named,
)
from device.speech import FloatArray
from firmware_py.findings.rows import Row, no_value, row, share_row
from firmware_py.paper.head import state_row, why_nothing_follows
from firmware_py.paper.told_discomfort import measured_row, told_rows
from firmware_py.terms.calibration_states import CALIBRATED, SIMULATED, UNCALIBRATED
from firmware_py.terms.outcomes import Bound, SessionOutcome, Verdict
from firmware_py.terms.route import BY_AIR
from firmware_py.terms.shown_threshold import as_shown
from host_tools.commands.prescribe.ear_prescription import EarPrescription
from host_tools.commands.prescribe.signs import sign_rows
from host_tools.commands.prescribe.source import GapMark, GapPart
from host_tools.recordings.recorded_session import RecordedSession

LEAST_DB: Final = 0.5  # less of a gain or a difference is not named
APART_DB: Final = 10.0  # gains of neighbouring bands
TABLE_STEP_DB: Final = 5.0  # in which a table has thresholds, without a band
Ears = Sequence[EarPrescription]


def remark_rows(ears: Ears, fit: Fit) -> list[Row]:
    """Return for whom a fit is, what its signs mean, and what else has to be known."""
    return [
        *source_rows(ears),
        *whom_rows([ear.ear for ear in ears], fit.for_whom),
        *sign_rows(ears),
        *given_rows(ears),
        *limit_rows(ears),
        *output_rows(ears, fit),
        *step_rows(ears),
        *session_rows(ears),
        verify_row(ears),
    ]


def fit_rows(fit: Fit) -> Iterator[Row]:
    """Say what a fit tells of its calibration, and for whom it was as it was prescribed."""
    if fit.of.calibration == UNCALIBRATED:
        yield row("fit-uncalibrated")
    if fit.for_whom:
        yield from whom_rows([ear.ear for ear in fit.ears], fit.for_whom)


def rule_row(name: str, coupling: str) -> Row:
    rule, source = row(f"rule-{name}"), rule_named(name).source
    return row("rule-value", rule=rule, source=source, coupling=row(f"coupling-{coupling}"))


def rule_of(recorded: str) -> Row:
    """Return what a fit says of its rule, as a row if that is one of ours."""
    rule, _, coupling = recorded.partition(", ")
    if rule in RULES and coupling in (limits.CLOSED, limits.OPEN):
        return row("rule-of-fit", rule=row(f"rule-{rule}"), coupling=row(f"coupling-{coupling}"))
    return row("told", told=recorded)


def from_row(fit: Fit) -> Row:
    return row("fit-from", rule=rule_of(fit.rule), source=fit.source)


def source_rows(ears: Ears) -> Iterator[Row]:
    """Say what has to be known of where the thresholds are from, before all else."""
    first, source = ears[0], ears[0].source
    yield from source.said
    yield from (each for ear in ears for each in ear.given.said)
    if source.session is None:  # it is a table: what becomes of frequencies that it does not know
        known = first.frequencies_hz
        yield row("gains-for", frequencies_hz=known, lowest_hz=known[0], highest_hz=known[-1])
        if lacking := rule_named(first.rule).lacks_hz(known):
            yield row("mean-lacks", frequencies_hz=lacking)
        return
    calibration = source.session.calibration
    state = state_row(calibration.state)
    if calibration.state == SIMULATED:
        yield state
    elif calibration.state != CALIBRATED:
        yield row("state-and-why", state=state, why=calibration.about)
    yield from waived_rows(source.session)
    if source.session.differences:
        yield row("differs-fit", version=source.session.header.firmware)


def waived_rows(session: RecordedSession) -> Iterator[Row]:
    """Say what was passed over because somebody asked for that."""
    if session.calibration.state == UNCALIBRATED:
        yield row("uncalibrated-fit")
    if any(ear.verdict == Verdict.NOT_JUDGED for ear in session.result.ears):
        yield row("unjudged-fit")


def whom_rows(ears: Sequence[str], found: Sequence[EarFinding]) -> Iterator[Row]:
    """Say for whom the gains are, ear by ear, or of both at once."""
    of = {ear: [_finding(each) for each in found if each.ear == ear] for ear in ears}
    for ear, findings in _by_ear(of):
        yield row("whom", ear=ear, findings=findings or [row("whom-audible")])


def _finding(found: EarFinding) -> Row:
    """Say what was found; a frequency has a probability where that is not nearly 1."""
    if found.code == Code.NORMAL:
        code = "whom-normal-doubt" if found.frequencies_hz else "whom-normal"
        return row(code, at_hz=found.frequencies_hz, limit_db_hl=candidacy.NORMAL_DB_HL)
    shares = found.probabilities or (1.0,) * len(found.frequencies_hz)
    at = [
        f if share >= candidacy.SURE else row("at-probably", frequency_hz=f, share=share_row(share))
        for f, share in zip(found.frequencies_hz, shares, strict=True)
    ]
    return row(f"whom-{found.code}", at_hz=at)


def _by_ear(of: Mapping[str, list[Any]]) -> list[tuple[str | Row, list[Any]]]:
    """Return what is so of each ear, or once what is so of both alike."""
    first = next(iter(of.values()))
    if len(of) > 1 and all(each == first for each in of.values()):
        return [(row("fit-both-ears"), first)]
    return [*of.items()]


def given_rows(ears: Ears) -> Iterator[Row]:
    """Say which thresholds the rule was given, and where not those of the audiogram.

    Nothing is said of those that somebody else called thresholds.
    """
    offsets = {ear.ear: ear.given.clinical_offset_db for ear in ears}
    above = [row("given-above", ear=e, offset_db=db) for e, db in offsets.items() if db is not None]
    if above:
        yield row("given-clinical", above=above)
        yield from _where("given-limit", {ear.ear: _beyond(ear) for ear in ears}, True)


def _beyond(ear: EarPrescription) -> dict[int, object]:
    """Return whether the rule was given another level than that of the audiogram, by frequency."""
    levels = [as_shown(found).level_db_hl for found in ear.given.clinical]
    at = zip(ear.frequencies_hz, levels, ear.threshold_db_hl, strict=True)
    return {f: level is not None and abs(level - db) >= LEAST_DB for f, level, db in at}


def limit_rows(ears: Ears, *, gains: bool = True) -> Iterator[Row]:
    """Say where a limit holds the output, and why; `gains`: also where it holds a gain."""
    held: dict[str, dict[int, object]] = {}
    most: dict[str, dict[int, object]] = {}
    for ear in ears:
        at, within = [*enumerate(ear.frequencies_hz)], ear.prescribed.limits
        held[ear.ear] = {f: within.why_gain(k) for k, f in at if ear.held[k]}
        most[ear.ear] = {f: within.why_output(k) for k, f in at}
    for why in Reason if gains else ():
        coupling = f"-{ears[0].coupling}" if why == Reason.FEEDBACK else ""
        yield from _where(f"held-{why}{coupling}", held, why)
    for why in (Reason.CEILING, Reason.NEIGHBOUR):
        yield from _where(f"output-{why}", most, why)


def _where(code: str, of: Mapping[str, Mapping[int, object]], why: object) -> Iterator[Row]:
    """Say at which frequencies of which ears something is so; nothing if it is so at none."""
    hz = {ear: [f for f, each in known.items() if each == why] for ear, known in of.items()}
    found = [row("fit-where", ear=ear, frequencies_hz=at) for ear, at in _by_ear(hz) if at]
    if found:
        yield row(code, by_ear=found, ceiling=OUTPUT_CEILING_DB_SPL)


def output_rows(ears: Ears, fit: Fit) -> Iterator[Row]:
    """Say what the most output is worth, and from which levels on the bands are held to it."""
    if any(ear.own is None for ear in ears):
        ends = (limits.UNCOMFORTABLE_DB_HL[x] for x in (limits.LOUD_FOR_FEW, limits.LOUD_FOR_HALF))
        few, half = map(np.array, ends)
        yield row("output-spread", ears=limits.MEASURED_EARS, **_ends(half - few))
    yield from discomfort_rows(ears)
    levels_db_spl = np.concatenate([ear.limited_from_db_spl for ear in fit.ears])
    yield row("limited-from", **_ends(levels_db_spl), early=LIMITER_EARLY_DB)


def step_rows(ears: Ears) -> Iterator[Row]:
    """Say where gains change at once: from a band to the next, and for .1 dB of a threshold."""
    apart = {ear.ear: [*_apart(ear)] for ear in ears}
    by_ear = [row("apart-of", ear=ear, places=at) for ear, at in _by_ear(apart) if at]
    if by_ear:
        yield row("gains-apart", by_ear=by_ear, limit=APART_DB)
    more_db, from_db_hl = PROFOUND_DB[0][0], PROFOUND_DB_HL[0]
    for ear in filter(_is_near_step, ears):
        yield row("nal-rp-step", ear=ear.ear, change=more_db, level=from_db_hl)


def _apart(ear: EarPrescription) -> Iterator[Row]:
    steps_db = np.abs(np.diff(ear.gain_db))
    for below_hz, above_hz, db in zip(
        ear.frequencies_hz, ear.frequencies_hz[1:], steps_db.tolist(), strict=False
    ):
        if db > APART_DB:
            yield row("apart-at", first_hz=below_hz, second_hz=above_hz, level=db)


def _is_near_step(ear: EarPrescription) -> bool:
    """Return whether a rule for profound losses adds or does not, by how sure the threshold is."""
    if not rule_named(ear.rule).severe or SEVERE_FREQUENCY_HZ not in ear.frequencies_hz:
        return False
    at = ear.frequencies_hz.index(int(SEVERE_FREQUENCY_HZ))
    reached = float(np.mean(ear.given.draws_db_hl[:, at] >= PROFOUND_DB_HL[0]))
    if ear.given.has_bands:
        return candidacy.UPPER_TAIL < reached < 1.0 - candidacy.UPPER_TAIL
    return abs(float(ear.threshold_db_hl[at]) - PROFOUND_DB_HL[0]) <= TABLE_STEP_DB


def discomfort_rows(ears: Ears) -> Iterator[Row]:
    """Say which levels somebody measured, what was inferred from them, and how sure that is."""
    source = ears[0].source
    yield from told_rows(source.told.values())
    for ear in source.told:
        if ear not in (*source.ears, *source.others):
            yield row("discomfort-no-threshold", ear=ear)
    sds_db = [ear.own.sd_db for ear in ears if ear.own is not None]
    if sds_db:
        yield row("output-own", **_ends(np.concatenate(sds_db)))
        if not ears[0].given.calibrated:
            yield row("discomfort-nominal")


def measured_cells(ear: EarPrescription) -> list[Row]:
    found = map(ear.told.get, ear.frequencies_hz)
    return [no_value() if level is None else measured_row(level) for level in found]


def _ends(values: FloatArray) -> dict[str, float]:
    return {"low": float(values.min()), "high": float(values.max())}


def session_rows(ears: Ears) -> Iterator[Row]:
    """Say what of a session whoever fits an aid has to know; nothing of a table."""
    session, prescribed = ears[0].source.session, {ear.ear for ear in ears}
    if session is None:
        return
    if session.result.outcome != SessionOutcome.COMPLETE:
        yield row("fit-no-end")
    for found in session.result.ears:
        why = why_nothing_follows(found)
        if why and found.route.kind is BY_AIR and found.route.ear not in prescribed:
            yield row("not-prescribed", ear=found.route.ear, why=why)
            yield from (reason.to_record() for reason in found.reasons)
    for ear in ears:
        if ear.gap is not None and ear.gap.is_called:
            yield from _gap(ear, ear.gap)
    yield from (reason.to_record() for reason in session.result.remarks)


def verify_row(ears: Ears) -> Row:
    """Say that the gains are a start; of those without any bone conduction, that too."""
    return row("fit-verify" if all(ear.gap is None for ear in ears) else "fit-verify-bone")


def _gap(ear: EarPrescription, part: GapPart) -> Iterator[Row]:
    """Say what the gains have for a conductive part."""
    mean, share = part.told.mean, rule_named(ear.rule).gap_share
    assert mean is not None, "a gap is called by its mean"
    code = "fit-gap-at-least" if mean.bound == Bound.AT_LEAST else "fit-gap"
    gap = row(code, level=mean.db)
    gap = row("fit-gap-partly-inferred", gap=gap) if mean.inferred_hz else gap
    if not share:
        more = row(code, level=rule_named(NAL_R).gap_share * mean.db)
        rule = row(f"rule-{ear.rule}")
        yield row("fit-gap-left-out", ear=ear.ear, gap=gap, rule=rule, more=more)
    elif {*part.marks} == {GapMark.NONE}:
        yield row("fit-gap-unknown", ear=ear.ear, gap=gap)
    else:
        added = [*_additions(ear, part)]
        yield row("fit-gap-added" if added else "fit-gap-held", ear=ear.ear, gap=gap, parts=added)
        if part.left_out_hz:
            yield row("fit-gap-bound", ear=ear.ear, frequencies_hz=part.left_out_hz)


def _additions(ear: EarPrescription, part: GapPart) -> Iterator[Row]:
    """Say what is added where the gap was measured, where it is a bound, and where inferred."""
    at = [*zip(ear.frequencies_hz, ear.for_gap_db, part.marks, strict=True)]
    for kind in (GapMark.MEASURED, GapMark.AT_LEAST, GapMark.INFERRED):
        added = [(float(db), f) for f, db, mark in at if mark == kind and db >= LEAST_DB]
        if added:
            places = [row("fit-gap-added-at", level=db, frequency_hz=f) for db, f in added]
            yield row(f"fit-gap-added-{kind}", places=places)
