"""What is to be known of the numbers of a report: their convention, and whom a norm is about."""

from collections.abc import Iterator
from typing import Final

from firmware_py.findings.convention import confirmed_outside
from firmware_py.procedure.route import LEFT, RIGHT, Route
from firmware_py.procedure.settings import CLINICAL_ASCENDING
from firmware_py.procedure.verdicts import has_thresholds, may_conclude
from host_tools.commands.report.findings import EarFindings, Findings, Threshold
from host_tools.commands.report.words import Words

TENTH: Final = ".1f"


def notes_of(findings: Findings, words: Words) -> list[str]:
    """Return the sentences, in the language of the words."""
    ears = [ear for ear in findings.ears if has_thresholds(ear)]
    notes = [*_conventions(ears, findings, words)] if ears else []
    return [*notes, _norm(ears, findings, words)]


def _conventions(ears: list[EarFindings], findings: Findings, words: Words) -> Iterator[str]:
    """Say which thresholds are told, and on which grades, norms and rules rest."""
    clinical = findings.threshold_convention == CLINICAL_ASCENDING
    yield words.say("convention_clinical" if clinical else "convention_50")
    if clinical or (any(may_conclude(ear) for ear in ears) and not findings.nominal):
        rest = [ear for ear in ears if ear.route == Route(ear.route.ear)] or ears  # by air
        offsets = {each.route.ear: words.number(each.clinical_offset_db, TENTH) for each in rest}
        if len({*offsets.values()}) == 1:
            yield words.say("convention_rules", offset=next(iter(offsets.values())))
        else:
            told = {RIGHT: offsets[RIGHT], LEFT: offsets[LEFT]}
            yield words.say("convention_rules_ears", **told)
    confirmed = [ear for ear in ears if any(t.confirmed for t in ear.thresholds)]
    if confirmed:
        yield words.say("convention_confirmed")
        for ear in confirmed:
            unit = words.unit(findings)
            yield from filter(None, (_beside(ear, t, words, unit) for t in ear.thresholds))


def _beside(ear: EarFindings, found: Threshold, words: Words, unit: str) -> str:
    """Say what a confirmed threshold outside the band is to be held against; "" of another."""
    level_db_hl = None if found.confirmed is None else found.confirmed.threshold_db_hl
    clinical = confirmed_outside(found, level_db_hl, ear.below_clinical_db)
    if clinical is None or level_db_hl is None:
        return ""
    name = words.ear(ear.route)
    return words.say(
        "confirmed_beside",
        ear=name[:1].upper() + name[1:],
        frequency_hz=str(found.frequency_hz),
        level=words.number(level_db_hl),
        unit=unit,
        band=words.band(clinical),
    )


def _norm(ears: list[EarFindings], findings: Findings, words: Words) -> str:
    """Say whom the age norm is about, or why there is none."""
    if not findings.norm_title:
        return words.say("no_norm", why=findings.norm_missing)
    note = words.say("norm_note", people=findings.norm_title)
    lower = {words.number(ear.below_clinical_db, TENTH) for ear in ears if may_conclude(ear)}
    if lower == {words.number(0.0, TENTH)} or not lower:
        return note
    return words.say("norm_note_50", note=note)
