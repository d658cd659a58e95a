"""Watch a running session."""
