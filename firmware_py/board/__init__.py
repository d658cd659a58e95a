"""The tone generator that is there: its connection, its sounds, and whether it works."""
