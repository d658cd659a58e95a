"""questplus: one psychometric function at one frequency, over the same kinds of listeners.

A trial is the update by the last answer and the choice of the next level at its frequency; the
frequencies do not know of each other, and which one is next is not chosen.
"""

from typing import Any

import numpy as np
from questplus import QuestPlus

from bench.peers.exchange import Session, Trial, answer

LEVELS_DB_HL = np.arange(-10.0, 121.0, 5.0)
THRESHOLDS_DB_HL = np.arange(-10.0, 121.0, 2.0)
NOISES_DB = [1.7, 3.0, 6.0]
RATES = [0.01, 0.06]
BAND_BARK = 0.5  # what counts as one frequency


def new() -> Any:
    return QuestPlus(
        stim_domain={"intensity": LEVELS_DB_HL},
        param_domain={
            "mean": THRESHOLDS_DB_HL, "sd": NOISES_DB, "lower_asymptote": RATES,
            "lapse_rate": RATES,
        },
        outcome_domain={"response": ["Yes", "No"]},
        func="norm_cdf", stim_scale="linear", stim_selection_method="min_entropy",
        param_estimation_method="mean",
    )  # fmt: skip


def prepare(session: Session) -> Trial:
    quest = new()
    answers = [*zip(session.x, session.level_db_hl, session.heard, strict=True)]
    at = [a for a in answers if abs(a[0] - session.x[-1]) < BAND_BARK]

    def update(level_db_hl: float, heard: bool) -> None:
        nearest = float(LEVELS_DB_HL[np.argmin(np.abs(LEVELS_DB_HL - level_db_hl))])
        quest.update(stim={"intensity": nearest}, outcome={"response": "Yes" if heard else "No"})

    for _, level_db_hl, heard in at[:-1]:
        update(level_db_hl, heard)

    def trial() -> object:
        update(*at[-1][1:])
        return quest.next_stim

    return trial


if __name__ == "__main__":
    answer({"questplus, one frequency": prepare})
