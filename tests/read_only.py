"""A directory that may only be read, or not even that, by root as well."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Final

import pytest

_VERSION: Final = 0x20080522  # of capget(2) and capset(2)
_PAST_MODES: Final = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


@contextmanager
def only_read(top: Path) -> Iterator[None]:
    """Have a directory and all that is in it be read alone, in this thread, while this lasts."""
    paths = [top, *top.rglob("*")]
    with ExitStack() as undo:
        for path in paths:
            undo.callback(path.chmod, path.stat().st_mode)
            path.chmod(0o500 if path.is_dir() else 0o400)
        if os.geteuid() == 0:
            undo.enter_context(_as_modes_say())
        with pytest.raises(PermissionError):
            (top / "written").touch()
        yield
        assert sorted([top, *top.rglob("*")]) == sorted(paths)


@contextmanager
def closed(folder: Path) -> Iterator[None]:
    """Have a directory not be read while this lasts."""
    mode = folder.stat().st_mode
    folder.chmod(0)
    try:
        with _as_modes_say() if os.geteuid() == 0 else nullcontext():
            yield
    finally:
        folder.chmod(mode)


@contextmanager
def _as_modes_say() -> Iterator[None]:
    """Have modes hold for root, too."""
    if not sys.platform.startswith("linux"):
        pytest.skip("root may write anywhere")
    system = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(_VERSION, 0)
    all_of_it = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    assert system.capget(head, all_of_it) == 0, os.strerror(ctypes.get_errno())
    fewer = (ctypes.c_uint32 * 6)(*all_of_it)
    fewer[0] &= ~_PAST_MODES
    assert system.capset(head, fewer) == 0, os.strerror(ctypes.get_errno())
    try:
        yield
    finally:
        assert system.capset(head, all_of_it) == 0, os.strerror(ctypes.get_errno())
