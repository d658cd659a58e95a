"""A whole test: its ears, what lies between them, and what comes next."""
