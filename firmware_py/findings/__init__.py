"""What follows from a result, as pure functions of it: grades, norms, gaps, checks."""
