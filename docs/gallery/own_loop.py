"""
A loop of one's own
===================

The estimator chooses every tone and says when the answers are enough. Who plays the tones, and who
answers, is yours: here a listener with a sloping loss, who is unsure by 2 dB.
"""

import random

import matplotlib.pyplot as plt

from firmware_py import ThresholdEstimator

chance = random.Random(4)


def hears(frequency_hz: float, level_db_hl: float) -> bool:
    threshold_db_hl = 15.0 + 45.0 * frequency_hz / 8000.0
    return level_db_hl + chance.gauss(0.0, 2.0) > threshold_db_hl


estimator = ThresholdEstimator(age_years=67, sex="F")
while not estimator.done(half_width_db=8.0):
    tone = estimator.next_stimulus()
    heard = hears(tone.frequency_hz, tone.level_db_hl)
    estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)

print(estimator)
for frequency_hz in (500, 1000, 2000, 4000):
    low_db_hl, high_db_hl = estimator.threshold_band(frequency_hz)
    print(f"{frequency_hz} Hz: {low_db_hl:.0f} to {high_db_hl:.0f} dB HL")

# %%
# The picture: tones that were heard and that were not, the threshold and its 95 % band.

estimator.plot()
plt.show()
