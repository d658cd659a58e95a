"""The computer as a tone generator: its sound card and its keyboard, behind the same wire."""
