"""The lines of pages that study methods or learn a prior are run, with fewer ears and tones.

The rest stands as the page has it: an option that comes twice counts as it comes last.
"""

import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from tests.host.journals import GpPta
from tests.test_commands_of_pages import LEFT_OUT, TYPED

HERE: Final = ("--workers", "0")
# So much less is done, by what a line is for; the first that it names.
LESS: Final = {
    "learn-prior": ("--force",),
    **dict.fromkeys(
        ("--tuning", "--time-to-go", "--changed", "--rules", "--whole"), (*HERE, "--people", "2")
    ),
    "--figure": (),
    "--bone": (*HERE, "--ears", "2"),
    "--discomfort": HERE,
    "--robustness": (*HERE, "--ears", "1", "--seeds", "1"),
    "--as-published": (*HERE, "--ears", "1", "--seeds", "1"),
    "--seconds": (*HERE, "--ears", "1", "--seeds", "1"),
    "study": (*HERE, "--ears", "1", "--seeds", "1", "--trials", "3"),
}
ALL_CASES: Final = ("--cases", "island,tent")  # for a line that names none, and means hundreds
# What takes a cluster; and words of a sentence that are no whole command.
WHOLE: Final = re.compile(
    r"(?!.*--dask)gp-pta (study|learn-prior)( .*)? (-o|--cases|--audiograms|--people) "
)
LINES: Final = sorted({str(t) for t in TYPED if WHOLE.match(str(t))})

pytestmark = pytest.mark.thorough


def fewer(line: str) -> list[str]:
    """Return the words of a line, with what makes it take seconds in place of hours."""
    words = [LEFT_OUT.sub("", word) for word in shlex.split(line)[1:]]
    less = [*next(less for word, less in LESS.items() if word in words)]
    if "--robustness" in words and "--cases" not in words:
        less += ALL_CASES
    if "bisgaard" in words and "--ears" in less:  # they are ten, and no table
        at = less.index("--ears")
        del less[at : at + 2]
    return [*words, *less]


def test_most_lines_are_run() -> None:
    assert len(LINES) > 40
    for word in LESS:
        assert any(word in line for line in LINES), word


@pytest.mark.usefixtures("place_of_pages")
@pytest.mark.parametrize("line", LINES)
def test_a_study_runs(line: str, gp_pta: GpPta) -> None:
    words = fewer(line)
    code, said, why = gp_pta(*words)
    assert code == 0, why
    out = [words[i + 1] for i, word in enumerate(words) if word == "-o"]
    assert all(Path(name).exists() for name in out)
    assert said or "--figure" in words
