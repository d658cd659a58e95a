"""What the firmware needs of the machine it runs on: clock, ports, files, memory."""
