"""Tunings of a hearing aid: how one runs, and is recorded."""
