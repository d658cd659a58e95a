"""The one sentence that says what came of an ear, wherever a report says it.

Each frequency is in one part of it, by the kind of its reading: what the sentence says of a
frequency is what its symbol and its number in the table say.
"""

from collections.abc import Iterator
from typing import Final

from firmware_py.procedure.outcomes import Outcome, Verdict
from firmware_py.procedure.reading import Kind, read
from firmware_py.procedure.verdicts import has_thresholds
from host_tools.commands.report.findings import EarFindings, Threshold
from host_tools.commands.report.words import Words, hertz
from host_tools.recordings.verdicts import reasons_of, verdict_word

# In the order in which they are said, after what was measured.
PARTS: Final = {
    Kind.ABOVE: "part_above",
    Kind.AT_MOST: "part_at_most",
    Kind.PERHAPS_ABOVE: "part_perhaps_above",
    Kind.UNKNOWN: "part_unknown",
    Kind.INFERRED: "part_inferred",
}
# What is to be known before any frequency.
FIRST: Final = {Outcome.UNRELIABLE: "part_unreliable", Outcome.INCOMPLETE: "part_incomplete"}


def ear_sentence(ear: EarFindings, words: Words) -> str:
    name = words.ear(ear.route)
    return words.say(
        "ear_sentence", ear=name[:1].upper() + name[1:], parts="; ".join(_parts(ear, words))
    )


def by_kind(ear: EarFindings) -> dict[Kind, list[Threshold]]:
    """Return the frequencies of an ear by the kind of their readings: each is in one list."""
    found: dict[Kind, list[Threshold]] = {kind: [] for kind in Kind}
    for threshold in ear.thresholds:
        found[read(threshold).kind].append(threshold)
    return found


def _parts(ear: EarFindings, words: Words) -> Iterator[str]:
    if ear.verdict != Verdict.VALID:
        yield verdict_word(ear.verdict, words.catalogue)
    if not has_thresholds(ear):
        yield from reasons_of(ear, words.catalogue)
        return
    kinds = by_kind(ear)
    if ear.outcome in FIRST:
        yield words.say(FIRST[Outcome(ear.outcome)])
    if kinds[Kind.MEASURED]:
        yield _say_measured(ear, kinds[Kind.MEASURED], words)
    for kind, key in PARTS.items():
        if kinds[kind]:
            yield words.say(key, frequencies_hz=_hertz(kinds[kind]))
    doubtful = [each for each in ear.thresholds if read(each).doubtful]
    if doubtful:
        yield words.say("part_doubtful", frequencies_hz=_hertz(doubtful))


def _say_measured(ear: EarFindings, measured: list[Threshold], words: Words) -> str:
    widest_db = max(each.half_width_db or 0.0 for each in measured)
    parts = {"all": str(len(ear.thresholds)), "half_width_db": words.number(widest_db, ".1f")}
    wide = [each for each in measured if each.wide]
    if ear.short_of_db is None or not wide:
        return words.catalogue.count("report", "part_measured", len(measured), **parts)
    parts |= {"wanted_db": words.number(ear.short_of_db, "g"), "frequencies_hz": _hertz(wide)}
    return words.catalogue.count("report", "part_wide", len(measured), **parts)


def _hertz(thresholds: list[Threshold]) -> str:
    return hertz(each.frequency_hz for each in thresholds)
