"""The firmware with its memory traced; SIGUSR1 has it say what there is: see `many_tests.py`.

What nobody refers to any more is given back first: else that happens when there is enough of it.
"""

import gc
import signal
import sys
import tracemalloc
from pathlib import Path

from firmware_py.main import main
from firmware_py.platform.program import run_program


def write_down(where: Path) -> None:
    """Write how many objects and traced bytes there are now."""
    gc.collect()
    traced_bytes, _ = tracemalloc.get_traced_memory()
    part = where.with_suffix(".part")
    part.write_text(f"{len(gc.get_objects())} objects, {traced_bytes / 1e6:.2f} MB")
    part.rename(where)


def run() -> int:
    _, place, _python, _m, _module, *words = sys.argv
    signal.signal(signal.SIGUSR1, lambda _number, _frame: write_down(Path(place)))
    tracemalloc.start()
    return main(words)


if __name__ == "__main__":
    sys.exit(run_program(run))
