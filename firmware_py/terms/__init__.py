"""The words of a test: routes, settings, tones, reasons, results; nothing here tests anybody."""
