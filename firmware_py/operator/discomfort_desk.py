"""Levels of discomfort that somebody measured elsewhere, told for the person under test.

They go into the journal of the test, which takes nothing more once it is over.
"""

import json
from collections.abc import Mapping
from typing import Final

from firmware_py.console import grammar
from firmware_py.console.grammar import ConsoleError
from firmware_py.operator.refusals import refusing
from firmware_py.sessions.runner import Runner
from firmware_py.terms.discomfort import day_of, levels_of_words
from firmware_py.terms.events import DiscomfortTold
from firmware_py.terms.reasons import as_json
from firmware_py.terms.route import LEFT, RIGHT, Route

TOO_LATE: Final = (
    "no test is under way, and the journal of one that is over takes nothing more: tell it after "
    "SESS:STAR, or gp-pta prescribe --discomfort"
)
NONE: Final = "none"  # what was told of an ear is taken back


class DiscomfortDesk:
    """Tells the test under way of the `runner`."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._warned_of: Mapping[str, DiscomfortTold] = {}

    def tell(
        self, right: str | None, left: str | None, source: str | None, day: str | None
    ) -> None:
        """Take in levels of an ear or both; below a threshold once they are asked about."""
        texts = {ear: text for ear, text in ((RIGHT, right), (LEFT, left)) if text is not None}
        if not self._runner.running:
            raise ConsoleError(grammar.SETTINGS_CONFLICT, TOO_LATE)
        if not texts:
            raise ConsoleError(grammar.MISSING_PARAMETER, "something is missing: RIGHT or LEFT")
        with refusing():
            told = {
                ear: DiscomfortTold(
                    ear,
                    () if text.lower() == NONE else levels_of_words(text, f"discomfort {ear}"),
                    source or "",
                    day_of(day or ""),
                )
                for ear, text in texts.items()
            }
            below = [words for each in told.values() for words in self._below_threshold(each)]
            if below and told != self._warned_of:
                self._warned_of = told
                words = f"{'; '.join(below)}; the same line once more takes it"
                raise ConsoleError(grammar.SETTINGS_CONFLICT, words)
            for each in told.values():
                self._runner.feed(each)

    def told(self) -> str:
        """Return what was told in the test under way, or the last one, as JSON."""
        test = self._runner.last_test
        return json.dumps([] if test is None else [as_json(e) for e in test.discomfort.values()])

    def _below_threshold(self, told: DiscomfortTold) -> list[str]:
        test = self._runner.last_test
        found = None if test is None else test.result().by_route.get(Route(told.ear))
        heard_from = {t.frequency_hz: t.threshold_db_hl for t in found.thresholds} if found else {}
        return [
            f"discomfort {told.ear} {level.words} is below the threshold, {threshold:.0f} dB HL"
            for level in told.levels
            if (threshold := heard_from.get(level.frequency_hz)) is not None
            and level.level_db_hl <= threshold
        ]
