"""Whether there was a calibration, as records, papers and exports name it."""

from typing import Final

CALIBRATED: Final = "CALIBRATED"
OVERDUE: Final = "OVERDUE"
UNCALIBRATED: Final = "UNCALIBRATED"
SIMULATED: Final = "SIMULATED"  # calibrated as well, as the simulated board is by its making
STATES: Final = (CALIBRATED, OVERDUE, UNCALIBRATED, SIMULATED)
HOLDING: Final = (CALIBRATED, SIMULATED)  # in these, levels are what they say
