"""Calibration: published reference levels, the plausibility of a measurement, and its file."""
