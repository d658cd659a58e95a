"""The names of the methods, apart from the methods: to list them nothing else is loaded."""

from typing import Final

# Compared unless --methods names others.
METHODS_USUAL: Final = (
    "gp-pta",
    "gp-pta-2015",
    "staircase-asha",
    "staircase-iso",
    "quest",
    "cast",
    "barthelme-mamassian",
    "de-vries",
    "song-gp",
)
METHODS_FURTHER: Final = (
    "gp-pta-untold",
    "gp-pta-per-second",
    "gp-pta-age-sex",
    "staircase-asha-unbiased",
    "staircase-iso-unbiased",
    "schlittenlacher-gp",
)
METHODS: Final = METHODS_USUAL + METHODS_FURTHER
# Who makes use of a prior of one's own, and of an objective.
USERS_OF_PRIOR: Final = ("gp-pta", "gp-pta-untold", "gp-pta-per-second", "gp-pta-age-sex")
USERS_OF_OBJECTIVE: Final = (*USERS_OF_PRIOR, "gp-pta-2015")
METHODS_LEARNED: Final = ("cast", "de-vries")  # from a population
