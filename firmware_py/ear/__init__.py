"""The test of one ear by one route; no time in it."""
