"""The paper's model: one Gaussian process, Laplace's approximation, BALD."""
