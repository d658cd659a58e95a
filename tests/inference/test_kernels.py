"""How kernels are compiled: no allocation, explicit types, one place for the options."""

import ast
import inspect
import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import firmware_py.inference
from firmware_py.inference import jit as jit_module
from firmware_py.inference.jit import compile_apart
from firmware_py.inference.kernel import F8, I8, VECTOR, entry, kernel
from firmware_py.inference.library import VARIABLE

MODULES = [
    import_module(f"firmware_py.inference.{module.name}")
    for module in pkgutil.iter_modules(firmware_py.inference.__path__)
    if module.name != "__main__"
]


def _kernels(module: ModuleType) -> dict[str, Any]:
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__
    }


# By module and name: two modules have a `predict`.
KERNELS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": found
    for module in MODULES
    for name, found in _kernels(module).items()
}
REFUSED = r"NRT required but not enabled|Only accept returning of array passed into"
ENTRIES = {
    "elementary.exp", "elementary.log", "elementary.normal_cdf",
    "hyperparameters.fit", "laplace.predict", "selection.select",
    "mixture.infer", "mixture.invert_prior", "mixture.predict", "mixture.probability_of",
    "mixture.quantile", "mixture.sum_out_listeners", "mixture.weigh",
    "mixture_selection.select_from_mixture",
}  # fmt: skip
# Of the libraries, what IEEE 754 fixes to the bit.
THE_SAME_EVERYWHERE = {
    "math.sqrt", "math.floor", "math.isnan", "math.inf", "math.nan", "np.float64", "np.int64",
}  # fmt: skip


def _allocates_an_array(n: int) -> float:
    return float(np.zeros(n)[0])


def _makes_a_temporary(v: Any) -> float:
    return float((v + 1.0)[0])


def _copies_a_slice(v: Any) -> float:
    return float(v[1:].copy()[0])


def _grows_a_list(n: int) -> int:
    return len([i for i in range(n)])  # noqa: C416


def _calls_what_allocates(n: int) -> float:
    return float(inner(n))


inner = kernel(_allocates_an_array)


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (_allocates_an_array, 3),
        (_makes_a_temporary, np.ones(3)),
        (_copies_a_slice, np.ones(3)),
        (_grows_a_list, 3),
        (_calls_what_allocates, 3),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_allocation_in_a_kernel_does_not_compile(function: Any, argument: Any) -> None:
    """The guard bites; without it the same function compiles and runs."""
    with pytest.raises(numba.core.errors.NumbaError, match=REFUSED):
        kernel(function)(argument)
    if function is not _calls_what_allocates:
        numba.njit(function)(argument)


def test_allocation_in_an_entry_does_not_even_import() -> None:
    with pytest.raises(numba.core.errors.NumbaError, match=REFUSED):
        entry(F8, I8)(_allocates_an_array)


def test_entry_refuses_other_types() -> None:
    @entry(F8, VECTOR)
    def first(v: Any) -> float:
        return float(v[0])

    assert first(np.array([2.5])) == 2.5
    for wrong in (np.ones(3, dtype=np.float32), np.ones((2, 2)), np.ones(6)[::2], 1.0):
        with pytest.raises(TypeError, match="No matching definition"):
            first(wrong)


def test_kernels_that_python_calls_are_entries() -> None:
    """Compiled when their module is imported: nothing compiles in the middle of a session."""
    assert {name for name, found in KERNELS.items() if not found._can_compile} == ENTRIES
    for name in ENTRIES:
        assert len(KERNELS[name].signatures) == 1, name


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


# What compiles, if it does not stumble over a torn file: twenty seconds shorter than the real one.
COMPILER = """\
#!/bin/sh
test ! -e "{cache}/torn" && mkdir -p "{cache}" && touch "{cache}/complete"
"""


@pytest.mark.parametrize("torn", [False, True])
def test_a_cache_that_a_power_cut_left_torn_is_made_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torn: bool
) -> None:
    cache, compiler = tmp_path / "cache", tmp_path / "compiler"
    cache.mkdir()
    (cache / "good").touch()
    if torn:
        (cache / "torn").touch()
    compiler.write_text(COMPILER.format(cache=cache))
    compiler.chmod(0o755)
    monkeypatch.setattr(jit_module, "_cache_directory", lambda: str(cache))
    monkeypatch.setattr(sys, "executable", str(compiler))

    compile_apart()

    left = {path.name for path in cache.iterdir()}
    assert left == ({"complete"} if torn else {"complete", "good"})


@pytest.mark.parametrize(
    ("told", "used"),
    [("{}/cache", "cache"), ("relative/is/not/allowed", "home/.cache"), ("", "home/.cache")],
)
def test_where_the_package_cannot_be_written_kernels_are_in_the_cache_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, used: str
) -> None:
    """A relative path is ignored, by the XDG Base Directory Specification."""
    (tmp_path / "package").touch()  # no directory: nothing can be in it
    monkeypatch.setattr(jit_module, "__file__", str(tmp_path / "package" / "jit.py"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", told.format(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)

    found = jit_module._cache_directory.__wrapped__()
    assert found is not None
    assert Path(found).parent == tmp_path / used / "gp-pta"
    assert Path(found).is_dir()
    assert not (tmp_path / "relative").exists()
