"""Gaps between air and bone where bone conduction tells no number, inferred from those beside them.

Ears have gaps over frequency that belong together, which classes of ears describe
(`gap_prior.py`). What was measured at some frequencies tells which class an ear may be of, and
within it what the others are: Gaussians, conditioned on one gap after the other. A gap that cannot
be larger than something, for bone was asked up to there, counts as no more than that.
"""

from collections.abc import Mapping, Sequence
from math import erfc, exp, inf, log, sqrt
from typing import Final

from firmware_py.inference.mixture.gap_prior import GapPrior
from firmware_py.terms.level import Level, Spread

LEAST_VARIANCE_DB2: Final = 1e-6
LEAST_SHARE: Final = 1e-12  # of a class whose gaps are larger than they can be


class _Of:
    # The gaps of one class at some frequencies, while what was measured is taken in.
    def __init__(self, gaps: GapPrior, number: int, frequencies_hz: Sequence[int]) -> None:
        of = gaps.classes[number]
        at = [gaps.frequencies_hz.index(f) for f in frequencies_hz]
        self.log_weight = log(of.weight) if of.weight > 0.0 else -inf
        self.mean_db = [of.mean_db[i] for i in at]
        self.covariance_db2 = [[of.covariance_db2[i][j] for j in at] for i in at]

    def take(self, place: int, measured: Level) -> None:
        """Condition it on a gap, and its weight on how likely that was.

        A class whose gaps are larger than a gap is at least stays what it was.
        """
        shared = [row[place] for row in self.covariance_db2]
        variance = shared[place] + measured.sd_db**2
        off_db = measured.low_db - self.mean_db[place]
        if measured.open_above:
            self._weigh(off_db / sqrt(variance))
            if off_db <= 0.0:
                return
        else:
            self.log_weight -= 0.5 * (off_db**2 / variance + log(variance))
        means = zip(self.mean_db, shared, strict=True)
        self.mean_db = [m + s * off_db / variance for m, s in means]
        self.covariance_db2 = [
            [c - s * t / variance for c, t in zip(row, shared, strict=True)]
            for row, s in zip(self.covariance_db2, shared, strict=True)
        ]

    def limit(self, place: int, most_db: float) -> None:
        if most_db == inf:
            return
        sd_db = sqrt(max(self.covariance_db2[place][place], LEAST_VARIANCE_DB2))
        self._weigh((self.mean_db[place] - most_db) / sd_db)
        self.mean_db[place] = min(self.mean_db[place], most_db)

    def _weigh(self, sds: float) -> None:
        """Weigh it by how likely a Gaussian is so many SDs above its mean."""
        self.log_weight += log(max(0.5 * erfc(sds / sqrt(2.0)), LEAST_SHARE))


def infer_sum(
    measured: Mapping[int, Level], most_db: Mapping[int, float], gaps: GapPrior
) -> Spread:
    """Return what is known of the sum of gaps that were not measured, by frequency each.

    `measured`: gaps of the same ear, numbers or least ones. `most_db`: the gaps that are wanted,
    each with what it is at most; infinity: anything. `gaps`: what people have.
    """
    frequencies_hz = [*measured, *most_db]
    parts = []
    for number in range(len(gaps.classes)):
        of = _Of(gaps, number, frequencies_hz)
        for place, gap in enumerate(measured.values()):
            of.take(place, gap)
        wanted = range(len(measured), len(frequencies_hz))
        for place in wanted:
            of.limit(place, most_db[frequencies_hz[place]])
        variance = sum(of.covariance_db2[i][j] for i in wanted for j in wanted)
        mean_db = sum(of.mean_db[i] for i in wanted)
        parts.append((of.log_weight, mean_db, sqrt(max(variance, LEAST_VARIANCE_DB2))))
    most = max(log_weight for log_weight, _, _ in parts)
    shares = [exp(log_weight - most) for log_weight, _, _ in parts]
    total = sum(shares)
    of_classes = zip(shares, parts, strict=True)
    return Spread(tuple((share / total, mean, sd) for share, (_, mean, sd) in of_classes))
