"""
A prior of one's own
====================

``gp-pta learn-prior`` learns a prior from a table of ears, and whatever measures can begin with it.
Here the table is made up: 120 people of a clinic for one disease, who hear low tones well and high
ones badly.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from firmware_py import PopulationPrior, ThresholdEstimator

FREQUENCIES_HZ = (500, 1000, 2000, 3000, 4000, 6000, 8000)

chance = np.random.default_rng(1)
slope = np.linspace(0.0, 1.0, len(FREQUENCIES_HZ))
folder = tempfile.TemporaryDirectory()
table, prior = Path(folder.name, "ears.csv"), Path(folder.name, "prior.json")
rows = ["subject,age,sex," + ",".join(f"t{f}" for f in FREQUENCIES_HZ)]
for subject in range(120):
    thresholds_db_hl = chance.normal(15.0, 6.0) + chance.normal(45.0, 10.0) * slope
    levels = 5 * np.round((thresholds_db_hl + chance.normal(0.0, 3.0, len(slope))) / 5)
    age, sex = chance.integers(20, 80), "FM"[subject % 2]
    rows.append(f"{subject},{age},{sex}," + ",".join(f"{level:.0f}" for level in levels))
table.write_text("\n".join(rows) + "\n")

# %%
# Learned as one would in a shell. With ``--components`` no sizes are compared, which takes longer.

command = ["learn-prior", table.name, "-o", prior.name, "--components", "2", "--part", "1"]
learned = subprocess.run(
    [sys.executable, "-m", "host_tools.main", *command],
    cwd=folder.name, check=True, stdout=subprocess.PIPE, text=True,
)  # fmt: skip
print(learned.stdout)

# %%
# It is a file of JSON, with what it was learned from.

for name, value in PopulationPrior.from_file(prior).provenance["learned_from"].items():
    print(f"{name}: {value}")

# %%
# A path is enough to begin with it. Before any tone, half of the ears lie within these bands; what
# one's own expects of an ear unlike those of the table keeps it from being surer.

figure, axes = plt.subplots(layout="constrained")
for name, estimator in (
    ("the prior that ships", ThresholdEstimator()),
    ("one's own", ThresholdEstimator(prior=str(prior))),
):
    low_db_hl, high_db_hl = estimator.threshold_band(FREQUENCIES_HZ, 0.5)
    axes.fill_between(FREQUENCIES_HZ, low_db_hl, high_db_hl, alpha=0.3, label=name)
axes.set(xscale="log", xlabel="frequency in Hz", ylabel="level in dB HL")
axes.set_xticks(FREQUENCIES_HZ, [f"{f / 1000:g}k" for f in FREQUENCIES_HZ])
axes.set_xticks([], minor=True)
axes.invert_yaxis()
axes.legend(frameon=False)
folder.cleanup()
plt.show()
