"""A tone generator and a listener that need no hardware: pure objects, and a pty in front."""
