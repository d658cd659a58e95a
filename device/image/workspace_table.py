"""`python -m device.image.workspace_table`: a table, in Markdown, of the memory that is allocated.

A workspace is allocated when the test of an ear begins. Its size depends only on the number of
answers that it has room for, N. From one answer to the next nothing is allocated. (With one
Gaussian process and fewer than 128 answers the workspace is a little larger than the formula.)
"""

import sys
from typing import Final

from device.image.build import STACK_BYTES_MAX
from device.image.kernels import LIBRARY_BYTES_MAX
from firmware_py.ear.caps import tones_that_count_max
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.profiles import PROFILES
from firmware_py.platform.program import run_program
from firmware_py.terms.route import BY_AIR
from firmware_py.terms.settings import Settings

# What the firmware makes room for (`ear/ear.py`), and two others.
SIZES: Final = (tones_that_count_max(Settings(), BY_AIR), 256, 1024)


def workspace_bytes(profile: str, max_trials: int) -> int:
    return ThresholdEstimator(profile, max_trials=max_trials).memory_bytes


def coefficients(profile: str) -> tuple[int, int, int]:
    """Return (a, b, c) such that a workspace for N answers has a + b N + c N**2 bytes.

    From three sizes beyond the number of candidates, where the formula holds: below, predicting
    them takes more than the answers do.
    """
    start, step = 600, 100
    size = [workspace_bytes(profile, start + i * step) for i in range(3)]
    c = (size[2] - 2 * size[1] + size[0]) // (2 * step * step)
    b = (size[1] - size[0]) // step - c * (2 * start + step)
    return size[0] - b * start - c * start * start, b, c


def formula(profile: str) -> str:
    terms = zip(coefficients(profile), ("", " N", " N²"), strict=True)
    return " + ".join(f"{factor:,}{unit}" for factor, unit in terms if factor)


def table_lines() -> list[str]:
    sizes = " | ".join(f"N = {size}" for size in SIZES)
    fixed = " | " * (len(SIZES) - 1)
    lines = [
        f"| taken when | what | bytes | {sizes} |",
        "|---" * (3 + len(SIZES)) + "|",
        f"| the process starts | `kernels.so` | at most {LIBRARY_BYTES_MAX:,} | {fixed} |",
    ]
    for profile in PROFILES:
        counts = " | ".join(f"{workspace_bytes(profile, size):,}" for size in SIZES)
        what = f"workspace, profile `{profile}`"
        lines.append(f"| the test of an ear begins | {what} | {formula(profile)} | {counts} |")
    lines += [
        f"| a kernel runs | stack | at most {STACK_BYTES_MAX:,} | {fixed} |",
        f"| an answer comes | nothing | 0 | {' | '.join('0' for _ in SIZES)} |",
    ]
    return lines


if __name__ == "__main__":
    sys.exit(run_program(lambda: print(*table_lines(), sep="\n")))
