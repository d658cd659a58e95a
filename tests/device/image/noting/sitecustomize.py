"""For processes started with this directory in PYTHONPATH: note modules and memory."""

import atexit
import json
import os
import sys


def _note() -> None:
    with open("/proc/self/status", encoding="ascii") as status:
        fields = dict(line.split(":", 1) for line in status)
    note = {
        "modules": {name: getattr(m, "__file__", None) for name, m in sys.modules.items()},
        "peak_rss_bytes": 1024 * int(fields["VmHWM"].split()[0]),
        "address_space_bytes": 1024 * int(fields["VmPeak"].split()[0]),
    }
    with open(os.environ["NOTED_IN"], "w", encoding="utf-8") as notes:
        json.dump(note, notes)


if "NOTED_IN" in os.environ:
    atexit.register(_note)
