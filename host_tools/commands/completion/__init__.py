"""`gp-pta completion`."""
