"""How one tone after the other is presented, and when it counts as answered."""
