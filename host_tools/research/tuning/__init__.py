"""How few comparisons find what a person wants of an aid, and what becomes of bad answers."""
