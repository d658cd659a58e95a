"""What a person wants of a hearing aid, inferred from which of two settings sounds better."""
