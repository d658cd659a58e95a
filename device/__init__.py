"""What stands around the firmware: the tone generator's program, its simulator, calibration."""
