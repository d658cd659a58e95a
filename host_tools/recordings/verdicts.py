"""The verdicts on the tests of ears in words, in any language: they stand above what was found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from firmware_py.console.wording import readable
from firmware_py.procedure.outcomes import Verdict
from firmware_py.procedure.reasons import Reasons
from firmware_py.procedure.route import Route
from firmware_py.procedure.verdicts import may_conclude
from host_tools.catalogue import Catalogue
from host_tools.catalogue.remarks import say_reasons

PLACE: Final = "verdict"


class JudgedEar(Protocol):
    """An ear, the verdict on its test, and why."""

    @property
    def route(self) -> Route:
        """Return "left" or "right"."""

    @property
    def verdict(self) -> Verdict:
        """Return whether there was a test."""

    @property
    def reasons(self) -> Reasons:
        """Return why."""


@dataclass(frozen=True)
class ToldVerdict:
    """A verdict on one ear, or on all of them."""

    headline: str
    text: str  # why, and what follows; "": nothing more is to be said
    valid: bool


def told_verdicts(ears: Sequence[JudgedEar], catalogue: Catalogue) -> list[ToldVerdict]:
    """Return the verdict on each ear with its reasons, or one that is true of all."""
    if len({(ear.verdict, ear.reasons) for ear in ears}) == 1:
        return [_tell(ears[0], "of_test", catalogue)]
    return [_tell(ear, "of_ear", catalogue) for ear in ears]


def verdict_word(verdict: Verdict | str, catalogue: Catalogue) -> str:
    return catalogue.say(PLACE, _key(verdict))


def short_verdict(verdicts: dict[str, str], catalogue: Catalogue) -> str:
    """Return verdicts by ear in short; one word if they are the same, "" if there are none."""
    words = {ear: verdict_word(verdict, catalogue) for ear, verdict in verdicts.items()}
    if len({*words.values()}) < 2:
        return next(iter(words.values()), "")
    return "; ".join(
        catalogue.say(PLACE, "short", ear=catalogue.say("report", ear), verdict=word)
        for ear, word in words.items()
    )


def why_nothing_follows(ear: JudgedEar, catalogue: Catalogue) -> str:
    """Return in the middle of a sentence why nothing follows from thresholds, "" if it may."""
    return "" if may_conclude(ear) else catalogue.say(PLACE, f"{_key(ear.verdict)}_why")


def reasons_of(ear: JudgedEar, catalogue: Catalogue) -> list[str]:
    """Return why the verdict is what it is, a sentence each."""
    return [readable(say_reasons(reason, catalogue)) for reason in ear.reasons]


def _tell(ear: JudgedEar, key: str, catalogue: Catalogue) -> ToldVerdict:
    valid, word = may_conclude(ear), verdict_word(ear.verdict, catalogue)
    parts = {"verdict": word if valid else word.upper()}
    if key == "of_ear":
        parts["ear"] = catalogue.say("report", f"{ear.route}_ear")
    sentences = [f"{each[:1].upper()}{each[1:]}." for each in reasons_of(ear, catalogue)]
    if not valid:
        sentences.append(catalogue.say(PLACE, f"{_key(ear.verdict)}_means"))
    return ToldVerdict(catalogue.say(PLACE, key, **parts), " ".join(sentences), valid)


def _key(verdict: str) -> str:
    return verdict.replace("-", "_")
