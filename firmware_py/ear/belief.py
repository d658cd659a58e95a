"""What is believed of one ear: a function of its evidence."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from firmware_py.ear.evidence import Evidence, Item, is_catch
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.terms.presentation import Observation

Answer = TypeVar("Answer")


def give(estimator: ThresholdEstimator, item: Item) -> None:
    if isinstance(item, bool):
        estimator.observe_silence(item)
    elif is_catch(item):
        estimator.observe_silence(item.heard is not False)
    else:
        tone = item.presentation
        estimator.observe(tone.frequency_hz, tone.level_db_hl, item.heard)


class Belief:
    """The posterior of one ear: the estimator has been given the `evidence`, and nothing else."""

    def __init__(self, estimator: ThresholdEstimator) -> None:
        self.estimator = estimator
        self.evidence = Evidence()

    def take(self, evidence: Evidence) -> None:
        """Believe what follows from this evidence; only what is new in it is computed."""
        before, self.evidence = self.evidence, evidence
        new = evidence.new_since(before)
        if new is None:
            self._begin(before, evidence)
        for each in evidence.given if new is None else new:
            give(self.estimator, each)

    def _begin(self, before: Evidence, evidence: Evidence) -> None:
        """Forget all answers; what is expected before them stays with the estimator."""
        expected = (before.threshold, evidence.threshold), (before.listener, evidence.listener)
        if any(old is not None and new is None for old, new in expected):
            raise ValueError("what is expected of an ear or a listener can change, but not go")
        self.estimator.reset()
        if evidence.threshold is not None and evidence.threshold is not before.threshold:
            self.estimator.expect_threshold(evidence.threshold)
        if evidence.listener is not None and evidence.listener is not before.listener:
            self.estimator.expect_listener(evidence.listener)

    def suppose(self, evidence: Evidence, ask: Callable[[ThresholdEstimator], Answer]) -> Answer:
        kept = self.evidence
        self.take(evidence)
        found = ask(self.estimator)
        self.take(kept)
        return found

    def log_evidence_around(self, tones: list[Observation]) -> tuple[list[float], list[float]]:
        """Return the log evidence of the first k of these tones, and of the others, for every k."""
        kept = self.evidence
        before, after = self._log_evidence_of(tones), self._log_evidence_of(tones[::-1])
        self.take(kept)
        return before, after[::-1]

    def _log_evidence_of(self, tones: list[Observation]) -> list[float]:
        found = []
        for count in range(len(tones) + 1):
            self.take(replace(self.evidence, given=tuple(tones[:count])))
            found.append(self.estimator.log_evidence)
        return found
