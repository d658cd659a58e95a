"""Pure arithmetic in fixed memory: scales, prior, likelihood, Laplace, hyperparameters, selection."""
