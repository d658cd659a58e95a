"""The sessions of a directory: listed, filtered, exported together."""
