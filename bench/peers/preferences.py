"""AEPsych: its pairwise GP, which tunes for the simulated people of the study of tunings.

Reads people by number of comparisons from standard input, and writes the best setting of each after
so many. `gp-pta study --tuning --peer PYTHON` starts it.
"""

import json
import random
import sys
import time
from typing import Any, Final

import torch
from aepsych.config import Config
from aepsych.strategy import SequentialStrategy
from botorch.acquisition.preference import AnalyticExpectedUtilityOfBestOption

from host_tools.research.tuning.people import LIMIT_DB, NUMBERS, Person, on_grid

NAMES: Final = ", ".join(f"x{n}" for n in range(NUMBERS))
INITIAL: Final = 4  # comparisons of a Sobol sequence: two settings for each of the four numbers
CONFIG: Final = f"""
[common]
parnames = [{NAMES}]
lb = {[-LIMIT_DB] * NUMBERS}
ub = {[LIMIT_DB] * NUMBERS}
stimuli_per_trial = 2
outcome_types = [binary]
strategy_names = [begin, search]

[begin]
generator = SobolGenerator
min_asks = {INITIAL}
min_total_outcome_occurrences = 0

[search]
generator = OptimizeAcqfGenerator
model = PairwiseProbitModel
min_asks = 1000
refit_every = 1

[OptimizeAcqfGenerator]
acqf = UtilityOfBest
stimuli_per_trial = 2
"""


class UtilityOfBest(AnalyticExpectedUtilityOfBestOption):  # type: ignore[misc]
    """EUBO, of the settings of both sounds, as this generator begins it.

    The generator tells any acquisition that nothing is pending, which botorch's takes for a fault.
    """

    def __init__(self, model: Any) -> None:
        super().__init__(pref_model=model)

    def set_X_pending(self, X_pending: Any = None) -> None:  # noqa: N802
        assert X_pending is None


def tune(person: Person, counts: list[int]) -> dict[int, list[float]]:
    torch.manual_seed(person.seed)
    strategy = SequentialStrategy.from_config(Config(config_str=CONFIG))
    wearer, chance = person.wearer(), random.Random(f"{person.seed} ties")
    found = {}
    for count in range(1, max(counts) + 1):
        asked = strategy.gen()[0]  # (numbers, 2)
        first, second = (on_grid(tuple(asked[:, k].tolist())) for k in range(2))
        answer = wearer.answer(first, second)
        if answer == "same":  # its likelihood knows no ties
            answer = chance.choice(["first", "second"])
        pair = torch.tensor([first, second], dtype=asked.dtype).T[None]
        strategy.add_data(pair, torch.tensor([float(answer == "second")]))
        if count in counts:
            _, best = strategy.get_max()  # of the posterior mean
            found[count] = best.flatten().tolist()
    return found


if __name__ == "__main__":
    Config.register_object(UtilityOfBest)
    torch.set_num_threads(1)
    given = json.load(sys.stdin)
    everybody = []
    for number, record in enumerate(given["people"], 1):
        started = time.monotonic()
        everybody.append(tune(Person(**record), given["counts"]))
        print(f"person {number}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    json.dump(everybody, sys.stdout)
