"""For processes started with this directory in PYTHONPATH: no SciPy, and a note of their memory.

The device has no SciPy, and Numba would load it where there is one.
"""

import atexit
import json
import os
import sys

sys.modules["scipy"] = None  # type: ignore[assignment] # an import now fails


def _note_peak_memory() -> None:
    with open("/proc/self/status", encoding="ascii") as status:
        fields = dict(line.split(":", 1) for line in status)
    peak_kib = int(fields["VmHWM"].split()[0])  # of this program, not of the one it came from
    note = {"command": sys.orig_argv, "peak_rss_bytes": 1024 * peak_kib}
    with open(os.environ["PEAK_MEMORY_NOTES"], "a", encoding="utf-8") as notes:
        notes.write(json.dumps(note) + "\n")


if "PEAK_MEMORY_NOTES" in os.environ:
    atexit.register(_note_peak_memory)
