"""A hearing aid in software: what it is set to, and openMHA, which plays it."""
