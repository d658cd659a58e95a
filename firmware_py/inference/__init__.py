"""Pure arithmetic in fixed memory: scales, prior, likelihood, inference, selection."""
