"""Instructions of one trial, counted: the same from run to run, on any machine."""
