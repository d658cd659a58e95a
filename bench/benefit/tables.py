"""The scores of a run as tables in Markdown."""

import math
from collections.abc import Iterator, Sequence
from statistics import mean, median
from typing import Final

from bench.benefit.conditions import COUNTS, OWN, TRUE, UNAIDED, UNTESTED, Condition
from bench.benefit.judging import Judged
from bench.benefit.material import COMPARED_IN

CLOSE: Final = 0.02  # of HASPI: so near to the fit from the true thresholds


class Scores:
    """Scores by condition and ear.

    Parameters
    ----------
    entries : sequence of Judged
        Every ear in the same scenes.
    """

    def __init__(self, entries: Sequence[Judged]) -> None:
        self._entries: dict[Condition, dict[int, list[Judged]]] = {}
        for entry in entries:
            condition = Condition(entry.condition, entry.tones, entry.tuned)
            self._entries.setdefault(condition, {}).setdefault(entry.ear, []).append(entry)
        self.scenes = list(dict.fromkeys(entry.scene for entry in entries))
        self.strata = list(dict.fromkeys(entry.stratum for entry in entries))

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(c.name for c in self._entries if c.tones))

    def ears(self, condition: Condition, stratum: str | None = None) -> list[int]:
        """Return the ears that were judged so, of all degrees of loss or one."""
        found = self._entries[condition].items()
        return [ear for ear, each in found if stratum in (None, each[0].stratum)]

    def compared_ears(self) -> list[int]:
        """Return the ears that every method has tested."""
        tested = [self._entries.get(Condition(m, n), {}) for m in self.methods for n in COUNTS]
        return sorted(set.intersection(*map(set, tested)))

    def haspi(self, condition: Condition, ear: int, scene: str | None = None) -> float:
        """Return the HASPI of an ear, of one scene or as the mean of all."""
        return mean(e.haspi for e in self._of(condition, ear) if scene in (None, e.scene))

    def hasqi(self, condition: Condition, ear: int) -> float:
        """Return the HASQI of an ear, as the mean of the scenes in quiet; NaN: it was not asked."""
        asked = [e.hasqi for e in self._of(condition, ear) if e.hasqi is not None]
        return mean(asked) if asked else math.nan

    def seconds(self, condition: Condition, ears: Sequence[int]) -> float:
        """Return the median time of the test."""
        return median(self._of(condition, ear)[0].seconds for ear in ears)

    def median_haspi(
        self, condition: Condition, ears: Sequence[int], scene: str | None = None
    ) -> float:
        """Return the median of ears."""
        return median(self.haspi(condition, ear, scene) for ear in ears)

    def differences(
        self, condition: Condition, ears: Sequence[int], scene: str | None = None
    ) -> list[float]:
        """Return how much higher the HASPI of each ear is than from its true thresholds."""
        true = Condition(TRUE, tuned=condition.tuned)
        return [self.haspi(condition, ear, scene) - self.haspi(true, ear, scene) for ear in ears]

    def close(self, condition: Condition, ears: Sequence[int], scene: str | None = None) -> int:
        """Return how many ears are within `CLOSE` of the fit from their true thresholds."""
        return sum(abs(each) <= CLOSE for each in self.differences(condition, ears, scene))

    def share_close(self, condition: Condition, ears: Sequence[int]) -> float:
        """Return the same share of all scenes of all ears, each by itself."""
        found = sum(self.close(condition, ears, scene) for scene in self.scenes)
        return found / (len(ears) * len(self.scenes))

    def _of(self, condition: Condition, ear: int) -> list[Judged]:
        return self._entries[condition][ear]


def tables(entries: Sequence[Judged]) -> Iterator[str]:
    scores = Scores(entries)
    yield from own_table(scores)
    yield ""
    yield from strata_table(scores)
    if len(scores.methods) > 1:
        yield ""
        yield from methods_table(scores)


def own_table(scores: Scores) -> Iterator[str]:
    """Yield a row a condition, of all ears."""
    yield (
        f"| {len(scores.ears(Condition(UNAIDED)))} ears | seconds | HASPI | "
        f"{' | '.join(scores.scenes)} | HASQI, quiet "
        f"| ears within {CLOSE:g} | scenes within {CLOSE:g} | largest difference |"
    )
    yield "|---" * (7 + len(scores.scenes)) + "|"
    for condition in _own_conditions():
        ears = scores.ears(condition)
        cells = [condition_in_words(condition)]
        cells += [f"{scores.seconds(condition, ears):.0f}" if condition.tones else ""]
        cells += [f"{scores.median_haspi(condition, ears):.3f}"]
        cells += [f"{scores.median_haspi(condition, ears, s):.3f}" for s in scores.scenes]
        cells += [f"{median(scores.hasqi(condition, ear) for ear in ears):.2f}"]
        if condition.name == TRUE:
            cells += ["", "", ""]
        else:
            cells += [_close_in_words(scores, condition, ears)]
            cells += [f"{scores.share_close(condition, ears):.0%}"]
            cells += [f"{max(scores.differences(condition, ears), key=abs):+.3f}"]
        yield f"| {' | '.join(cells)} |"


def strata_table(scores: Scores) -> Iterator[str]:
    """Yield a row a degree of loss: what the aid does, and what the test costs."""
    beside, tested = (UNAIDED, UNTESTED, TRUE), [Condition(OWN, count) for count in COUNTS]
    yield (
        f"| HASPI, in brackets ears within {CLOSE:g} | {' | '.join(beside)} | "
        f"{' | '.join(f'{count} tones' for count in COUNTS)} |"
    )
    yield "|---" * (1 + len(beside) + len(COUNTS)) + "|"
    for stratum in scores.strata:
        ears = scores.ears(Condition(UNAIDED), stratum)
        cells = [f"{stratum}, {len(ears)} ears"]
        cells += [f"{scores.median_haspi(Condition(n), ears):.3f}" for n in beside]
        cells += [f"{scores.median_haspi(c, ears):.3f} ({scores.close(c, ears)})" for c in tested]
        yield f"| {' | '.join(cells)} |"


def methods_table(scores: Scores) -> Iterator[str]:
    """Yield a row a method, of the ears that all methods have tested, in `COMPARED_IN`."""
    ears, scene = scores.compared_ears(), COMPARED_IN
    headings = (f"{count} tones | mean difference | within {CLOSE:g}" for count in COUNTS)
    yield f"| HASPI in {scene}, {len(ears)} ears | {' | '.join(headings)} |"
    yield "|---" * (1 + 3 * len(COUNTS)) + "|"
    for name in (UNAIDED, UNTESTED, TRUE):
        cell = f"{scores.median_haspi(Condition(name), ears, scene):.3f}"
        yield f"| {name} | {' | '.join([cell, '', ''] * len(COUNTS))} |"
    for method in scores.methods:
        cells = [f"`{method}`"]
        for count in COUNTS:
            condition = Condition(method, count)
            off = mean(abs(each) for each in scores.differences(condition, ears, scene))
            cells += [f"{scores.median_haspi(condition, ears, scene):.3f}", f"{off:.3f}"]
            cells += [_close_in_words(scores, condition, ears, scene)]
        yield f"| {' | '.join(cells)} |"


def condition_in_words(condition: Condition) -> str:
    """Return what a row of the table is of."""
    words = f"{condition.tones} tones" if condition.tones else condition.name
    return f"{words}, then tuned" if condition.tuned else words


def _own_conditions() -> list[Condition]:
    tested = [Condition(OWN, count) for count in COUNTS]
    last = Condition(OWN, COUNTS[-1], tuned=True)
    return [
        Condition(UNAIDED),
        Condition(UNTESTED),
        Condition(TRUE),
        *tested,
        Condition(TRUE, tuned=True),
        last,
    ]


def _close_in_words(
    scores: Scores, condition: Condition, ears: Sequence[int], scene: str | None = None
) -> str:
    return f"{scores.close(condition, ears, scene) / len(ears):.0%}"
