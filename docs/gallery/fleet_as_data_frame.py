"""
A fleet's results as a data frame
=================================

``gp-pta sessions`` reads the journals of any number of devices and exports the results, a row for
each threshold. Here the golden sessions of this project's tests stand for those of a fleet. The
extras ``export``, which writes Parquet, and ``docs``, which has pandas, install what it needs.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import firmware_py

journals = Path(firmware_py.__file__).parents[1] / "tests" / "golden"
with tempfile.TemporaryDirectory() as folder:
    gp_pta = [sys.executable, "-m", "host_tools.main"]
    command = ["sessions", str(journals), "--export", "fleet.parquet", "--no-index"]
    subprocess.run([*gp_pta, *command], cwd=folder, check=True)
    frame = pd.read_parquet(Path(folder, "fleet.parquet"))

print(frame[["journal", "ear", "frequency_hz", "threshold_db_hl", "mark"]])

# %%
# The verdict says whether there was a test at all, and what is not measured has no threshold: a
# mean takes neither. Which kinds of rows are there?

print(frame.groupby(["verdict", "kind"]).size().unstack(fill_value=0))

# %%
# The median threshold of the valid tests, by air, and how sure it was, where most were asked.

by_air = (frame.verdict == "valid") & (frame.conduction == "air")
valid = frame[by_air & (frame.kind == "measured")]
by_frequency = valid.groupby("frequency_hz")
summary = by_frequency.threshold_db_hl.agg(["count", "median"])
width_db = by_frequency.high_db_hl.mean() - by_frequency.low_db_hl.mean()
summary["half_width_db"] = width_db / 2
summary = summary[summary["count"] > 5]
print(summary.round(1))

figure, axes = plt.subplots(layout="constrained")
for _, rows in valid.groupby(["journal", "ear"]):
    axes.plot(rows.frequency_hz, rows.threshold_db_hl, color="0.7", lw=1)
axes.plot(summary.index, summary["median"], lw=2, label="median")
axes.set(xscale="log", xlabel="frequency in Hz", ylabel="threshold in dB HL")
axes.set_xticks(summary.index, [f"{f / 1000:g}k" for f in summary.index])
axes.set_xticks([], minor=True)
axes.invert_yaxis()
axes.legend(frameon=False)
plt.show()
