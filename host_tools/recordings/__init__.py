"""What was recorded: sessions as they are read, headed, sealed and judged."""
