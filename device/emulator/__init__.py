"""A Raspberry Pi Pico in the RP2040 emulator `rp2040py`, running a real MicroPython."""
