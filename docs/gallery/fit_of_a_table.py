"""
A fit from a table
==================

A clinic has audiograms in a table of its own, and wants a hearing aid fitted.
``gp-pta prescribe --audiogram FILE:ROW`` reads it. Headings that it does not know are said with
``--columns``; who leaves that out is told what to type.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

TABLE = """\
patient;ear;age;250 Hz;500 Hz;1 kHz;2 kHz;3 kHz;4 kHz;6 kHz;8 kHz
A-17;R;71;20;25;30;45;55;60;70;NR
A-17;L;71;20;20;30;40;55;65;70;80
"""
KHZ = (1, 2, 3, 4, 6, 8)
COLUMNS = ",".join(["t250=250 Hz", "t500=500 Hz", *(f"t{f}000={f} kHz" for f in KHZ)])

# %%
# What a shell would show: gains, their limits, and what is to be known of them.


def prescribe(*options):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "clinic.csv").write_text(TABLE)
        command = ["prescribe", "--audiogram", "clinic.csv:1", "--columns", COLUMNS, *options]
        return subprocess.run(
            [sys.executable, "-m", "host_tools.main", *command],
            cwd=folder, check=True, stdout=subprocess.PIPE, text=True,
        ).stdout  # fmt: skip


print(prescribe("--ear", "right"))

# %%
# The same as JSON, for a program: the gain of speech at three levels.

(right,) = json.loads(prescribe("--ear", "right", "--json"))["ears"]
figure, axes = plt.subplots(layout="constrained")
for name, at in (("soft_gain_db", "50"), ("gain_db", "65"), ("loud_gain_db", "80")):
    at_hz = [band["frequency_hz"] for band in right["bands"]]
    axes.plot(at_hz, [band[name] for band in right["bands"]], marker="o", label=f"{at} dB SPL")
axes.set(xscale="log", xlabel="frequency in Hz", ylabel="gain in dB, right ear")
axes.set_xticks(at_hz, [f"{f / 1000:g}k" for f in at_hz])
axes.set_xticks([], minor=True)
axes.legend(frameon=False)
plt.show()
