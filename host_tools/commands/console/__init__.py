"""`gp-pta console`."""
