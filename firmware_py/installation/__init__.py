"""What is installed: the configuration, the card, and whether the device is ready."""
