"""Tuning a hearing aid by a person's preferences: what is compared, and what comes of it."""
