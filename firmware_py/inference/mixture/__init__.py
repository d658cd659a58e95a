"""The model of people: a learned mixture prior, listeners who lapse, expectation propagation."""
