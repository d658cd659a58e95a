"""How kernels are compiled: no allocation, explicit types, one place for the options."""

import ast
import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from numba.core.dispatcher import Dispatcher

from firmware_py.inference.library import entry_count, sources

ROOT = Path(__file__).parents[2]
MODULES = [
    import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for path in sorted((ROOT / "firmware_py" / "inference").rglob("*.py"))
    if not path.stem.startswith("__")
]


def _kernels(module: ModuleType) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__
    }


# By module and name: two rooms have a `posterior.predict`.
KERNELS = {
    f"{module.__name__.removeprefix('firmware_py.inference.')}.{name}": found
    for module in MODULES
    for name, found in _kernels(module).items()
}
ENTRIES = {
    "elementary.exp", "elementary.log", "elementary.normal_cdf",
    "laplace.hyperparameters.fit", "laplace.posterior.predict", "laplace.selection.select",
    "mixture.otherwise.gain_by_shifts", "mixture.otherwise.infer_otherwise",
    "mixture.posterior.infer", "mixture.posterior.check_prior",
    "mixture.posterior.sum_out_listeners", "mixture.posterior.weigh", "mixture.prediction.predict",
    "mixture.prediction.probability_of", "mixture.prediction.quantile",
    "mixture.selection.expect_from_mixture", "mixture.selection.select_from_mixture",
    "preference.points.weigh_points",
    "preference.posterior.infer_wish", "preference.selection.select_pair",
    "stories.follow_stories",
}  # fmt: skip
# Of the libraries, what IEEE 754 fixes to the bit.
THE_SAME_EVERYWHERE = {
    "math.sqrt", "math.floor", "math.isnan", "math.inf", "math.nan", "np.float64", "np.int64",
}  # fmt: skip


def test_kernels_that_python_calls_are_entries() -> None:
    """Compiled when their module is imported: nothing compiles in the middle of a session."""
    assert {name for name, found in KERNELS.items() if not found._can_compile} == ENTRIES
    assert len(ENTRIES) == entry_count()
    for name in ENTRIES:
        assert len(KERNELS[name].signatures) == 1, name


def test_a_library_knows_the_sources_of_all_kernels() -> None:
    assert {Path(inspect.getfile(each.py_func)) for each in KERNELS.values()} <= {*sources()}


@pytest.mark.parametrize("name", KERNELS)
def test_options_are_the_same_for_all(name: str) -> None:
    options = KERNELS[name].targetoptions
    assert options["_nrt"] is False
    assert options["fastmath"] is False
    assert options["error_model"] == "numpy"
    assert options["nogil"] is True
    assert options["nopython"] is True
    assert not options.get("parallel", False)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_use_no_library_that_differs_between_machines(name: str) -> None:
    """No math.exp, no math.log, no BLAS: their last bits are those of the machine."""
    source = inspect.getsource(KERNELS[name].py_func)
    body = ast.parse(source)
    used = {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(body)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    libraries = {name for name in used if name.split(".")[0] in {"math", "np", "numpy", "scipy"}}
    assert libraries <= THE_SAME_EVERYWHERE
    assert not any(isinstance(node, ast.Pow | ast.MatMult | ast.Raise | ast.Assert)
                   for node in ast.walk(body))  # fmt: skip
