"""The operator's page: one file that runs a hearing test from a browser."""
