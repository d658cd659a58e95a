"""A copy of the product in which a change of format was made, as the next one will be.

The change: the event `tone-off` has another name, and a result says one thing more. It is made in
the sources, with its reader, so that whole programs run with it.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from firmware_py.journal import FORMAT_VERSION

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ("firmware_py", "host_tools", "device")
NEXT: Final = FORMAT_VERSION + 1

READER: Final = f"""
def _input(record):
    event = record.get("event")
    if isinstance(event, dict) and event.get("what") == "tone-off":
        return {{**record, "event": {{**event, "what": "tone-end"}}}}
    return record


def _result(told):
    return {{**told, "room": ""}} if isinstance(told, dict) and "ears" in told else told


READERS[{FORMAT_VERSION}] = FormatReader(lambda record: record, _input, _result, "0123abcd")
"""


def make_next(place: Path) -> Path:
    """Make the copy, and return it: a directory to find the packages in."""
    for package in PACKAGES:
        without = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, place / package, symlinks=True, ignore=without)
    number = rf"(FORMAT_VERSION: Final = ){FORMAT_VERSION}\b"
    _change(place, "firmware_py/journal/records.py", number, rf"\g<1>{NEXT}")
    _change(place, "firmware_py/terms/events.py", '"tone-off"', '"tone-end"')
    _change(place, "firmware_py/terms/results.py", r"(    which_ear: Annotated\[[^\n]*\n)",
            r"\g<1>    room: Annotated[str, text] = ''\n")  # fmt: skip
    readers = place / "firmware_py/sessions/earlier_formats.py"
    readers.write_text(readers.read_text() + READER)
    return place


def run_next(place: Path, program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program of the copy, as text; it ends by itself."""
    environment = {**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=place, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def _change(place: Path, name: str, old: str, new: str) -> None:
    changed, count = re.subn(old, new, (place / name).read_text())
    assert count == 1, f"{name} has {old!r} {count} times"
    (place / name).write_text(changed)
