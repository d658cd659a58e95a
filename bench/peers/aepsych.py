"""AEPsych: its GP classifier on (x, level), fitted anew, and its search for the next tone."""

import torch
from aepsych.config import Config
from aepsych.strategy import SequentialStrategy

from bench.peers.exchange import Session, Trial, answer

BOUNDS = ((1.0, -10.0), (22.0, 120.0))  # Bark, dB HL
CONFIG = f"""
[common]
parnames = [x, level]
lb = [{BOUNDS[0][0]}, {BOUNDS[0][1]}]
ub = [{BOUNDS[1][0]}, {BOUNDS[1][1]}]
stimuli_per_trial = 1
outcome_types = [binary]
strategy_names = [search]

[search]
min_asks = 1000
refit_every = 1
generator = OptimizeAcqfGenerator
model = GPClassificationModel

[OptimizeAcqfGenerator]
acqf = MCLevelSetEstimation

[MCLevelSetEstimation]
target = 0.5
beta = 3.84
objective = ProbitObjective
"""


def prepare(session: Session) -> Trial:
    strategy = SequentialStrategy.from_config(Config(config_str=CONFIG))
    x = torch.tensor(session.points, dtype=torch.float64)
    heard = torch.tensor([float(h) for h in session.heard], dtype=torch.float64)
    strategy.add_data(x[:-1], heard[:-1])
    strategy.gen()  # fits what there is before the last answer

    def trial() -> object:
        strategy.add_data(x[-1:], heard[-1:])
        return strategy.gen()

    return trial


if __name__ == "__main__":
    torch.set_num_threads(1)
    answer({"AEPsych": prepare})
