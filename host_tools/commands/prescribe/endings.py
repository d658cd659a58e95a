"""What the ending of a file's name says of a fit in it."""

from typing import Final

FIT: Final = ".fit"  # for gp-pta
OPENMHA: Final = ".cfg"
TYMPAN: Final = ".txt"
AID_ENDINGS: Final = (FIT, OPENMHA, TYMPAN)
