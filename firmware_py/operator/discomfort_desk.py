"""Levels of discomfort that somebody measured elsewhere, told for the person under test.

They go into the journal of the test, which takes nothing more once it is over. Whether they fit the
thresholds is asked by who prescribes from them.
"""

import json
from typing import Final

from firmware_py.console import grammar
from firmware_py.console.grammar import ConsoleError
from firmware_py.operator.refusals import refusing
from firmware_py.sessions.runner import Runner
from firmware_py.terms.discomfort import day_of, levels_of_words
from firmware_py.terms.events import DiscomfortTold
from firmware_py.terms.reasons import as_json
from firmware_py.terms.route import LEFT, RIGHT

TOO_LATE: Final = (
    "no test is under way, and the journal of one that is over takes nothing more: tell it after "
    "SESS:STAR, or gp-pta prescribe --discomfort"
)
NONE: Final = "none"  # what was told of an ear is taken back


class DiscomfortDesk:
    """Tells the test under way of the `runner`."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def tell(
        self, right: str | None, left: str | None, source: str | None, day: str | None
    ) -> None:
        if not self._runner.running:
            raise ConsoleError(grammar.SETTINGS_CONFLICT, TOO_LATE)
        texts = {ear: text for ear, text in ((RIGHT, right), (LEFT, left)) if text is not None}
        if not texts:
            raise ConsoleError(grammar.MISSING_PARAMETER, "something is missing: RIGHT or LEFT")
        with refusing():
            about = source or "", day_of(day or "")
            told = {
                ear: () if text.lower() == NONE else levels_of_words(text, f"discomfort {ear}")
                for ear, text in texts.items()
            }
            for ear, levels in told.items():
                self._runner.feed(DiscomfortTold(ear, levels, *about))

    def told(self) -> str:
        """Return what was told in the test under way, or the last one, as JSON."""
        test = self._runner.last_test
        return json.dumps([] if test is None else as_json([*test.discomfort.values()]))
