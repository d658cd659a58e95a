"""A fit of a hearing aid from the thresholds of a session, by a published rule."""
