"""Hearing sessions: how one runs, is recorded, taken up again and read."""
