"""The fakes are in place before the program is imported."""

import tests.device.tone_generator.fakes  # noqa: F401
