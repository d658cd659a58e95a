"""For processes started with this directory in PYTHONPATH: no SciPy.

The device has none, and Numba would load it where there is one.
"""

import sys

sys.modules["scipy"] = None  # type: ignore[assignment] # an import now fails
