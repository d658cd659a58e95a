"""What the most informative tone is: the objective that a test is given.

An objective of one's own is a class made of `Objective`, with another `choose`, and its place in
`objective_of`. Nothing else moves the level of its tone: the stride where answers disagree with
belief is its `strides_db`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from firmware_py.inference.estimator import Stimulus, ThresholdEstimator
from firmware_py.inference.trial_time import TrialTime
from firmware_py.terms.settings import Settings

# Who is as the prior believes is asked no more tones by them; see `inference.mixture.stride`.
STRIDES_DB: Final = (5.0, 10.0, 15.0)


@dataclass(frozen=True)
class Objective:
    """The most information from the answer: BALD (Houlsby et al. 2011), as in the paper.

    With the `time` of a presentation it is the most information per second: a tone that is not
    heard takes longer. `strides_db`: how far the level goes at least after two, three ... equal
    answers in a row at a frequency, where belief follows them slowly; none: it stays as it is.
    """

    time: TrialTime | None = None
    strides_db: tuple[float, ...] = STRIDES_DB

    def choose(
        self,
        estimator: ThresholdEstimator,
        allowed_db_hl: Sequence[float] | None = None,
        excluded_hz: Collection[float] = (),
        floors_db_hl: Sequence[float] | None = None,
    ) -> Stimulus:
        """Return the best tone; `allowed_db_hl`: the highest level at each candidate frequency."""
        return estimator.next_stimulus(
            allowed_db_hl, excluded_hz, self.time, self.strides_db, floors_db_hl
        )


BITS: Final = Objective()


def objective_of(settings: Settings, time: TrialTime) -> Objective:
    return Objective(time) if settings.per_second else BITS
