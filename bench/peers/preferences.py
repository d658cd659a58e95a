"""AEPsych's pairwise model in its own environment: tunes people who come as JSON.

Standard input has a list of people, as `host_tools.research.tuning.people` writes them, and the
ranges; standard output gets the best setting after each comparison of each person. AEPsych has no
answer "no difference": a coin decides then.
"""

import json
import random
import sys
from typing import Any, Final

import torch
from aepsych.generators import OptimizeAcqfGenerator, SobolGenerator
from aepsych.models import PairwiseProbitModel
from botorch.acquisition import qNoisyExpectedImprovement
from botorch.acquisition.preference import AnalyticExpectedUtilityOfBestOption
from botorch.optim import optimize_acqf

from device.simulator.preferences import SimulatedWearer

SOBOL: Final = 5  # comparisons before the model chooses
BEST_DRAWS: Final = 4096  # settings among which the best is looked for
EUBO: Final = "AEPsych, EUBO"  # expected utility of the best option (Lin et al., AISTATS 2022)
QNEI: Final = "AEPsych, qNEI"  # its example for pairs
RESTARTS: Final = {"num_restarts": 4, "raw_samples": 64}


class Tuned:
    """A person tuned by AEPsych.

    Parameters
    ----------
    told : dict
        The person, and the simulation's own numbers.
    unit_db, limit_db : float
        The unit of utility, and how far a setting goes.
    name : str
        `EUBO` or `QNEI`.
    """

    def __init__(self, told: dict[str, Any], unit_db: float, limit_db: float, name: str) -> None:
        torch.manual_seed(told["seed"])
        self._coin = random.Random(told["seed"])
        names = ("sensitivity", "tie_width", "lapse_rate", "seed")
        self._wearer = SimulatedWearer(
            told["wish_db"], told["kind"], unit_db=unit_db, **{n: told[n] for n in names}
        )
        self._dimensions = len(told["wish_db"])
        self._low = torch.full((self._dimensions,), -limit_db, dtype=torch.double)
        self._high = -self._low
        bounds = {"lb": self._low, "ub": self._high}
        self._sobol = SobolGenerator(**bounds, stimuli_per_trial=2, seed=told["seed"])
        self._name = name
        self._generator = OptimizeAcqfGenerator(
            **bounds, acqf=qNoisyExpectedImprovement, stimuli_per_trial=2
        )
        self._model = PairwiseProbitModel(**bounds)
        self._pairs: list[Any] = []
        self._second_is_better: list[int] = []

    def settings(self, comparisons: int) -> list[list[float]]:
        """Return the best setting before the first comparison and after each, dB."""
        found = [[0.0] * self._dimensions]
        for count in range(comparisons):
            pair = self._pair(count)
            self._pairs.append(pair)
            self._second_is_better.append(self._answer(pair))
            x = torch.stack(self._pairs)
            self._model.fit(x, torch.tensor(self._second_is_better))
            found.append(self._best())
        return found

    def _pair(self, count: int) -> Any:
        """Return the two settings to compare, (d, 2)."""
        if count < SOBOL:
            return self._sobol.gen(1).reshape(self._dimensions, 2)
        if self._name == QNEI:
            return self._generator.gen(1, self._model).reshape(self._dimensions, 2).detach()
        # AEPsych's own search does not take this acquisition; BoTorch's, which it uses, does.
        bounds = torch.stack((self._low, self._high))
        eubo = AnalyticExpectedUtilityOfBestOption(pref_model=self._model)
        pair, _ = optimize_acqf(eubo, bounds, q=2, **RESTARTS)
        return pair.T.detach()

    def _answer(self, pair: Any) -> int:
        answer = self._wearer.answer(pair[:, 0].tolist(), pair[:, 1].tolist())
        return self._coin.randrange(2) if answer == "same" else int(answer == "second")

    def _best(self) -> list[float]:
        share = torch.quasirandom.SobolEngine(self._dimensions, seed=1).draw(BEST_DRAWS)
        settings = self._low + (self._high - self._low) * share.double()
        with torch.no_grad():
            mean = self._model.posterior(settings[:, None, :]).mean.flatten()
        found: list[float] = settings[int(mean.argmax())].tolist()
        return found


def main() -> None:
    """Tune all, and write what was found, by the name of the acquisition."""
    told = json.load(sys.stdin)
    torch.set_num_threads(1)
    found = {
        name: [
            Tuned(each, told["unit_db"], told["limit_db"], name).settings(told["comparisons"])
            for each in told["people"]
        ]
        for name in (EUBO, QNEI)
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
