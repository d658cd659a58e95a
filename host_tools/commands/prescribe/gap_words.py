"""What the gains of an ear have for its air-bone gap, in words."""

from collections.abc import Iterator
from typing import Final

from device.hearing_aid.rules import NAL_R, rule_named
from firmware_py.procedure.outcomes import Bound
from host_tools.catalogue import Catalogue
from host_tools.commands.prescribe.ear_prescription import EarPrescription
from host_tools.commands.prescribe.gap_part import GapMark

PLACE: Final = "prescription"  # the table of its sentences
KEYS_OF_ADDED: Final = {
    GapMark.MEASURED: "gap_added_measured",
    GapMark.AT_LEAST: "gap_added_at_least",
    GapMark.INFERRED: "gap_added_inferred",
}
ADDED_DB: Final = 0.5  # less is not named
AT_LEAST_SIGN: Final = "≥"


def gap_lines(ear: EarPrescription, catalogue: Catalogue) -> Iterator[str]:
    """Say what the gains have for a conductive part; nothing of an ear without one."""
    if ear.gap is None or ear.gap.told.mean is None or not ear.gap.is_called:
        return
    name, mean = catalogue.say("picture", f"{ear.ear}_ear"), ear.gap.told.mean
    at_least = AT_LEAST_SIGN if mean.bound == Bound.AT_LEAST else ""
    gap = f"{at_least}{catalogue.number(mean.db)} dB"
    if mean.inferred_hz:
        gap = catalogue.say(PLACE, "gap_partly_inferred", gap=gap)
    said = {"ear": name[:1].upper() + name[1:], "gap": gap}
    if not rule_named(ear.rule).gap_share:
        rule = catalogue.say(PLACE, f"rule_{ear.rule.replace('-', '_')}")
        usual_db = at_least + catalogue.number(rule_named(NAL_R).gap_share * mean.db)
        yield catalogue.say(PLACE, "gap_left_out", **said, rule=rule, db=usual_db)
        return
    if {*ear.gap.marks} == {GapMark.NONE}:
        yield catalogue.say(PLACE, "gap_unknown", **said)
        return
    added = "; ".join(_additions(ear, catalogue))
    key = "gap_added" if added else "gap_held"
    yield catalogue.say(PLACE, key, **said, **({"added": added} if added else {}))
    if ear.gap.left_out_hz:
        at_hz = ", ".join(map(str, ear.gap.left_out_hz))
        yield catalogue.say(PLACE, "gap_bound", ear=said["ear"], at_hz=at_hz)


def _additions(ear: EarPrescription, catalogue: Catalogue) -> Iterator[str]:
    """Say what is added where the gap was measured, where it is a bound, and where inferred."""
    marks = () if ear.gap is None else ear.gap.marks
    at = [*zip(ear.frequencies_hz, ear.for_gap_db, marks, strict=True)]
    for kind, key in KEYS_OF_ADDED.items():
        added = ", ".join(
            catalogue.say(
                PLACE, "gap_added_at", db=catalogue.number(float(db)), frequency_hz=str(f)
            )
            for f, db, mark in at
            if mark == kind and db >= ADDED_DB
        )
        if added:
            yield catalogue.say(PLACE, key, added=added)
