"""Asymmetries of the ears in words: by how much, and by which published criteria."""

from collections.abc import Iterable, Iterator

from firmware_py.procedure.asymmetry import Asymmetry, Criterion, Difference
from host_tools.catalogue import Catalogue


def asymmetry_words(found: Asymmetry, catalogue: Catalogue) -> str:
    """Say by how much an ear is worse than the other, and what that meets."""
    told = ", ".join(_difference(each, catalogue) for each in found.differences)
    if found.more:
        more = str(found.more)
        told = catalogue.say("report", "differences_more", differences=told, count=more)
    return catalogue.say(
        "report",
        "asymmetry" if found.sure else "asymmetry_doubt",
        ear=catalogue.say("report", f"{found.ear}_ear"),
        differences=told,
        criteria=catalogue.joined(list(_named(found.criteria, catalogue))),
    )


def _difference(found: Difference, catalogue: Catalogue) -> str:
    parts = {"db": catalogue.number(found.db), "frequency_hz": str(found.frequency_hz)}
    if found.at_least:
        return catalogue.say("report", "difference_at_least", **parts)
    half_width_db = catalogue.number(found.half_width_db)
    return catalogue.say("report", "difference", **parts, half_width_db=half_width_db)


def _named(met: Iterable[Criterion], catalogue: Catalogue) -> Iterator[str]:
    """Return each source with those of its criteria that are met."""
    by_source: dict[str, list[str]] = {}
    for criterion in met:
        words = catalogue.say("report", criterion.key)
        by_source.setdefault(criterion.source, []).append(words)
    for source, words_of_source in by_source.items():
        yield f"{source} ({', '.join(words_of_source)})"
