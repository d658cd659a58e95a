"""Comparing methods and learning priors: `gp-pta study`, `gp-pta learn-prior`."""
