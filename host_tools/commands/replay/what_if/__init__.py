"""What another model would have said to the same answers."""
