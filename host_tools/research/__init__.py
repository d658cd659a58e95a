"""Methods of measuring a threshold curve: what compares them, and what learns the prior."""
