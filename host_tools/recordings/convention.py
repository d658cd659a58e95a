"""The option that says which thresholds paper and exports have."""

import argparse
from typing import Final

from firmware_py.terms.settings import CLINICAL_ASCENDING, FIFTY_PERCENT

# As they are typed.
WORDS: Final = {"50": FIFTY_PERCENT, "clinical": CLINICAL_ASCENDING}


def add_convention_argument(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--convention",
        type=_convention,
        metavar="|".join(WORDS),
        help="thresholds as 50 %% points, or as a clinic's ascending procedure in steps of 5 dB "
        "settles (default: threshold_convention of the test's settings)",
    )


def _convention(word: str) -> str:
    for short, convention in WORDS.items():
        if word in (short, convention):
            return convention
    allowed = " and ".join(WORDS)
    raise argparse.ArgumentTypeError(f"convention is {word!r}; allowed are {allowed}")
