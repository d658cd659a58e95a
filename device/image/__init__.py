"""The firmware with its kernels compiled ahead of time, for a device without Numba."""
