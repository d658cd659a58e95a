"""`gp-pta calibrate`."""
