"""The error of the host tools."""


class HostError(Exception):
    """Something a user can see to; the message says what."""
