"""`gp-pta doctor`: what is here, and what is missing for which command."""
