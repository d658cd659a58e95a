"""Devices that run here or at a cable: simulated, emulated or real, and what they tell."""
