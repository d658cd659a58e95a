"""What a session found, in the forms that other programs read."""
