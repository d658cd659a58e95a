"""A directory with the files that the commands of pages speak of, in small."""

import re
from pathlib import Path
from typing import Final

import numpy as np

from tests.own_priors import write_prior

OWN_CODE: Final = Path(__file__).parents[2] / "host_tools/research/methods/README.md"
EXAMPLE: Final = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PEOPLE: Final = 100  # enough to learn from the part that is not held out
EARS_HZ: Final = (250, 500, 1000, 2000, 3000, 4000, 6000, 8000)
ROUTES_HZ: Final = (500, 1000, 2000, 4000)


def write_place(place: Path) -> None:
    """Write tables of ears by air and of both routes, a prior, and the page's own classes."""
    for name in ("ears.csv", "clinic.csv", "nhanes_audiograms.csv"):
        (place / name).write_text(_table_of_ears(), encoding="utf-8")
    for name in ("air_bone.csv", "both.csv", "ohhr_air_bone_ucl.csv"):
        (place / name).write_text(_table_of_routes(), encoding="utf-8")
    write_prior(place / "prior.json")
    for name, code in EXAMPLE.findall(OWN_CODE.read_text("utf-8")):
        (place / name).write_text(code, encoding="utf-8")


def _table_of_ears() -> str:
    """Return people of every degree of loss, two ears each."""
    draws = np.random.default_rng(11)
    lines = ["source,subject,ear,age,sex," + ",".join(f"t{f}" for f in EARS_HZ)]
    for person in range(PEOPLE):
        for side in "LR":
            base = 5 * draws.integers(0, 15)
            cells = [base, base, base, base, base + 5, base + 10, base + 15, base + 20]
            lines.append(f"A,{person},{side},{20 + person % 60},F,{','.join(map(str, cells))}")
    return "\n".join(lines) + "\n"


def _table_of_routes() -> str:
    """Return people of whose ears a fifth has a gap between air and bone."""
    draws = np.random.default_rng(7)
    cells = [f"{by}{f}" for by in ("air", "bone", "ucl") for f in ROUTES_HZ]
    lines = [",".join(["person", "ear", *cells])]
    for person in range(PEOPLE):
        bone = draws.integers(2, 8, size=len(ROUTES_HZ)) * 5
        for side in "LR":
            gap = 5 * draws.integers(0, 2, size=len(ROUTES_HZ)) + 25 * (draws.random() < 0.2)
            levels = [80 + 5 * (person % 5)] * len(ROUTES_HZ)
            lines.append(",".join([f"P{person}", side, *map(str, (*(bone + gap), *bone, *levels))]))
    return "\n".join(lines) + "\n"
