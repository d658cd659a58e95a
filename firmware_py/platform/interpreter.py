"""How Python itself has to be started."""

import sys


def refusal() -> str:
    """Say why nothing may run in this interpreter; empty: it may.

    With `-O` Python leaves out every assertion, those of the compiled kernels too, which keep them
    within their arrays.
    """
    if not sys.flags.optimize:
        return ""
    return "Python was started with -O or PYTHONOPTIMIZE, which leaves checks out; start it without"
