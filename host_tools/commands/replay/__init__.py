"""`gp-pta replay`."""
