"""What an estimator was made with and told, in memory that is allocated once."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from firmware_py.inference.curves import Curves
from firmware_py.inference.kernel import Array
from firmware_py.inference.psychometric import HEARD, SILENT, UNSURE

COLUMNS: Final = 3  # frequency, level, code of the answer; NaN: there is none
_CODES: Final[dict[bool | None, int]] = {True: HEARD, False: SILENT, None: UNSURE}
_HEARD: Final[dict[float | None, bool | None]] = {code: heard for heard, code in _CODES.items()}


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, as `ThresholdEstimator` was given it.

    Of a silence, in which nothing was played, `frequency_hz` and `level_db_hl` are None, and
    `heard` says whether it was answered. Of a tone of which the listener was unsure it is None.
    """

    frequency_hz: float | None
    level_db_hl: float | None
    heard: bool | None


class Record:
    """The arguments, the expectations and the answers of an estimator, in their order.

    There is room for `max_trials` tones, and as many silences. `expected_shares` and
    `expected_curves` are what was expected of the listener, and of the threshold, before the first
    answer; `left_out` are the silences for which there was no room.
    """

    def __init__(self, arguments: Mapping[str, Any], max_trials: int) -> None:
        self.arguments = {
            name: [*value] if isinstance(value, list) else value  # its owner may change it
            for name, value in arguments.items()
        }
        self.expected_shares: Array | None = None
        self.expected_curves: Curves | None = None
        self._rows = np.full((2 * max_trials, COLUMNS), math.nan)
        self.reset()

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def reset(self) -> None:
        """Forget all answers, and not what was expected before them."""
        self._count = self._silences = self.left_out = 0

    def tone(self, frequency_hz: float, level_db_hl: float, code: int) -> None:
        self._rows[self._count] = frequency_hz, level_db_hl, code
        self._count += 1

    def silence(self, answered: bool) -> None:
        """Keep whether a silence was answered; of more than there is room for, that there was."""
        if 2 * self._silences == len(self._rows):
            self.left_out += 1
            return
        self._rows[self._count] = math.nan, math.nan, _CODES[answered]
        self._count += 1
        self._silences += 1

    def answers(self) -> Iterator[Answer]:
        for row in self._rows[: self._count].tolist():
            frequency_hz, level_db_hl, code = (None if math.isnan(v) else v for v in row)
            yield Answer(frequency_hz, level_db_hl, _HEARD[code])
