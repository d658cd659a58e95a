"""The device as one file: a card with the whole system on it."""
