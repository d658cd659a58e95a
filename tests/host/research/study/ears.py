"""A small table of ears, ears by hand, and sessions of the robustness table."""

from pathlib import Path

import numpy as np

from host_tools.research.study.listener import Answering, Ear
from host_tools.research.study.robustness_cases import BY_NAME
from host_tools.research.study.robustness_sessions import Unit, ears_of_case, units_of

HEADER = "source,subject,ear,t500,t1000,t1000_retest,t2000,t4000,no_response"
FLAT = Ear("flat", "some", (500.0, 1000.0, 2000.0, 4000.0), (30.0, 30.0, 30.0, 30.0))
COLUMNS = (250, 500, 1000, 2000, 4000)  # of two routes
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


def write_two_routes(path: Path, people: int = 40, incomplete: int = 1) -> Path:
    """Two ears each; a fifth of the ears has gaps, the others have 5 dB less or more at most."""
    draws = np.random.default_rng(7)
    cells = [f"{by}{f}" for by in ("air", "bone") for f in COLUMNS if (by, f) != ("bone", 250)]
    lines = [",".join(["person", "ear", *cells])]
    for person in range(people):
        base = draws.integers(2, 8, size=5) * 5
        for side in "RL":
            gap = 5 * draws.integers(-1, 2, size=5) + (25 if draws.random() < 0.2 else 0)
            air, bone = base + np.maximum(gap, 0), base + np.maximum(-gap, 0)
            both = [str(cell) for cell in (*air, *bone[1:])]
            if person < incomplete and side == "L":
                both[-1] = ""
            lines.append(",".join([f"P{person}", side, *both]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def unit_of(name: str, seed: int = 1, ears: int = 1) -> Unit:
    """Return a session of the first ear of a case, which has so many."""
    case = BY_NAME[name]
    return [*units_of(case, ears_of_case(case, ears, None), seed)][seed - 1]
