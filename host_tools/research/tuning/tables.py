"""The tables of the study, in Markdown."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from device.simulator.preferences import PEOPLE
from firmware_py.comparisons.result import TuningFinding
from host_tools.research.tuning.course import (
    COMPARISONS,
    COUNTS,
    Course,
    comparisons_to,
    error_of_share,
    share,
)
from host_tools.research.tuning.procedure import Tuned

GOAL: Final = 1.0 / 3.0  # of the prescription's regret


def methods_table(courses: dict[str, list[Course]]) -> list[str]:
    """Return regret and nearness of each method.

    Parameters
    ----------
    courses : dict
        By the title of the method.
    """
    counts = COUNTS[1:]
    after = " | ".join(str(count) for count in counts)
    lines = [
        f"| pairs chosen by | people | {after} | to a third | near, RMS | near, each |",
        "|---|" + "---:|" * (len(counts) + 4),
    ]
    for title, some in courses.items():
        cells = [
            f"{share(some, count, median=False):.0%} ({share(some, count, median=True):.0%})"
            for count in counts
        ]
        needed = comparisons_to(some, GOAL)
        cells.append(f"more than {COMPARISONS}" if needed is None else str(needed))
        for each in (False, True):
            near = np.mean([course.is_near(COMPARISONS, each=each) for course in some])
            cells.append(f"{near:.0%}")
        lines.append(f"| {title} | {len(some)} | {' | '.join(cells)} |")
    worst = max(error_of_share(some, count) for some in courses.values() for count in counts)
    error = f"The standard error of a share of the mean is {100.0 * worst:.1f} points or less."
    return [*lines, "", error]


def procedure_table(tuned: Sequence[Tuned]) -> list[str]:
    """Return what the procedure ends with, for each kind of people."""
    lines = [
        "| who answers | people | wish | unsure | none | comparisons | minutes | regret left |",
        "|---|" + "---:|" * 7,
    ]
    for kind in PEOPLE:
        some = [each for each in tuned if each.person.kind == kind]
        if not some:
            continue
        found = [
            f"{np.mean([each.finding == finding for each in some]):.0%}"
            for finding in (TuningFinding.WISH, TuningFinding.UNSURE, TuningFinding.NONE)
        ]
        low, middle, high = np.quantile([each.comparisons for each in some], [0.1, 0.5, 0.9])
        minutes = np.median([each.seconds for each in some]) / 60.0
        left = np.mean([each.regret for each in some]) / np.mean([each.before for each in some])
        lines.append(
            f"| {kind}: {PEOPLE[kind]} | {len(some)} | {' | '.join(found)} "
            f"| {middle:.0f} ({low:.0f} to {high:.0f}) | {minutes:.1f} | {left:.0%} |"
        )
    return lines
