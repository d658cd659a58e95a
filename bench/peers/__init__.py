"""Peers that do not live beside the firmware's packages: each in an environment of its own."""
