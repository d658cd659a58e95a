"""A small table of ears, and ears by hand."""

from pathlib import Path

import numpy as np

from host_tools.research.study.listener import Answering, Ear

HEADER = "source,subject,ear,t500,t1000,t1000_retest,t2000,t4000,no_response"
FLAT = Ear("flat", "some", (500.0, 1000.0, 2000.0, 4000.0), (30.0, 30.0, 30.0, 30.0))
CAREFUL = Answering(response_noise_db=2.0, lapse_rate=0.01, false_alarm_rate=0.01)


def write_table(path: Path, people: int = 60) -> Path:
    """People of every degree of loss, two ears each; of the last one both are incomplete."""
    draws = np.random.default_rng(11)
    lines = [HEADER]
    for person in range(people):
        for side in ("L", "R"):
            base = 5 * draws.integers(0, 16)
            cells = [base, base, base, base + 5, min(base + 20, 110)]
            lines.append(f"A,{person},{side},{','.join(map(str, cells))},")
    lines[-1] = f"A,{people - 1},R,50,50,50,,60,"
    lines[-2] = f"A,{people - 1},L,50,50,50,70,,4000"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
