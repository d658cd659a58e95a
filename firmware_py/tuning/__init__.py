"""Tunings of a hearing aid: their journals, the aid, and the operator's commands."""
