"""Looking on at a running session."""
