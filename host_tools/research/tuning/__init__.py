"""How few comparisons tune an aid: simulated people, and several ways to choose what to compare."""
