"""What a hearing test is: a state machine fed with events, which returns actions."""
