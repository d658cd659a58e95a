"""What MicroPython runs at its start; it is the only file that is installed at the top."""

from device.tone_generator.program import run

run()
