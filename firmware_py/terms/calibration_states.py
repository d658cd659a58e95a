"""Whether there was a calibration, and what was checked, as records and papers name it."""

from typing import Final

CALIBRATED: Final = "CALIBRATED"
OVERDUE: Final = "OVERDUE"
UNCALIBRATED: Final = "UNCALIBRATED"
SIMULATED: Final = "SIMULATED"  # calibrated as well, as the simulated board is by its making
STATES: Final = (CALIBRATED, OVERDUE, UNCALIBRATED, SIMULATED)
HOLDING: Final = (CALIBRATED, SIMULATED)  # in these, levels are what they say

# What is checked before a person wears the earphones, in this order.
CHECKS: Final = (
    "output-limit", "channel-order", "full-scale", "crosstalk", "noise", "distortion", "linearity",
    "rise-and-fall", "distortion-by-bone", "distortion-by-frequency",
    "distortion-by-frequency-by-bone",
)  # fmt: skip
