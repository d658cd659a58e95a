"""The names of the methods, for those who only want to list them: nothing is loaded for it."""

from typing import Final

# What is compared when nothing else is said.
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
    "gp-pta-age-sex",
    "annealed-laplace",
    "staircase-asha-unbiased",
    "staircase-iso-unbiased",
    "schlittenlacher-gp",
)
METHODS: Final = METHODS_USUAL + METHODS_FURTHER
METHODS_LEARNED: Final = ("cast", "de-vries")  # from a population
