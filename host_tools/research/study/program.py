"""The program that the bits of a result depend on."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from firmware_py import __version__

# A study is continued, and done elsewhere, only by the same program.
_CODE: Final = ("firmware_py", "device/simulator", "host_tools/research")
_NO_CODE: Final = {".md", ".svg", ".png"}


def digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


@cache
def program() -> dict[str, str]:
    """Return versions, and a digest of the code, that the bits of a result depend on."""
    root = Path(__file__).parents[3]
    code = hashlib.sha256()
    for name in _CODE:
        for path in sorted((root / name).rglob("*")):
            is_code = "__pycache__" not in path.parts and path.suffix not in _NO_CODE
            if is_code and path.is_file():
                code.update(path.relative_to(root).as_posix().encode() + b"\0")
                code.update(hashlib.sha256(path.read_bytes()).digest())
    return {
        "gp-pta": __version__,
        "numpy": version("numpy"),
        "numba": _version_of_numba(),
        "code": code.hexdigest()[:16],
    }


def _version_of_numba() -> str:
    """Return its version; "": the library of kernels does without it."""
    try:
        return version("numba")
    except PackageNotFoundError:
        return ""
