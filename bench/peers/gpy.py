"""GPy's classifier on (x, level): Laplace and expectation propagation.

It is fitted from its last optimum with its default optimiser, and asks the candidate of the largest
latent variance: it has no selection of its own.
"""

from functools import partial
from typing import Any

import GPy
import numpy as np
import numpy.typing as npt

from bench.peers.exchange import Session, Trial, answer

FloatArray = npt.NDArray[np.float64]

LEVEL_PER_LENGTH_DB = 10.0
START = (1.0, (4.0, 1.0))  # variance, lengths


def inputs(points: list[tuple[float, float]]) -> FloatArray:
    return np.array(points) / (1.0, LEVEL_PER_LENGTH_DB)


def fit(method: str, x: FloatArray, heard: list[bool], start: FloatArray | None) -> Any:
    """Return the fitted classifier, its optimisation begun at `start` if there is one."""
    inference = {
        "Laplace": GPy.inference.latent_function_inference.Laplace,
        "EP": GPy.inference.latent_function_inference.EP,
    }[method]()
    kernel = GPy.kern.RBF(2, variance=START[0], lengthscale=START[1], ARD=True)
    labels = np.array(heard, dtype=float)[:, np.newaxis]
    model = GPy.core.GP(x, labels, kernel, GPy.likelihoods.Bernoulli(), inference_method=inference)
    if start is not None:
        model[:] = start
    model.optimize()
    return model


def prepare(method: str, session: Session) -> Trial:
    x, candidates = inputs(session.points), inputs(session.candidates)
    last = np.copy(fit(method, x[:-1], session.heard[:-1], None).param_array)

    def trial() -> int:
        model = fit(method, x, session.heard, last)
        return int(np.argmax(model.predict_noiseless(candidates)[1]))

    return trial


if __name__ == "__main__":
    answer({f"GPy, {method}": partial(prepare, method) for method in ("Laplace", "EP")})
