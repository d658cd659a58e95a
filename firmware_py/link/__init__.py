"""The wire to the tone generator: frames, and a client with numbers, time-outs and repeats."""
