"""A release: what it is made of, and whether it does what it promises where nobody works on it."""
