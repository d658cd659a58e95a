"""The program of the tone generator, for MicroPython on a Raspberry Pi Pico."""
