"""The operator's console: one table of commands, one grammar for people and scripts."""
