"""
A method of one's own
=====================

A method is made of a `Task`, returns the next tone, takes in the answer, and says what it knows.
This one halves the bracket of one frequency after the other. It measures the ten standard
audiograms beside the estimator of this project; both meet the same listeners, with the same luck.
``gp-pta study --methods gp-pta,my_methods:Bracket`` does it on any table of ears, and tells more.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from host_tools.research.methods.gp_pta import GpPta
from host_tools.research.methods.interface import Stimulus, Task, interpolate
from host_tools.research.study.ears import standard_ears
from host_tools.research.study.listener import Answering, Listener

TONES = 40


class Bracket:
    """Halve what is left between heard and not heard, one frequency after the other."""

    def __init__(self, task):
        low_db_hl, high_db_hl = task.level_limits_db_hl
        self.heard = dict.fromkeys(task.audiogram_frequencies_hz, high_db_hl)
        self.unheard = dict.fromkeys(task.audiogram_frequencies_hz, low_db_hl)

    def width_db(self, frequency_hz):
        return self.heard[frequency_hz] - self.unheard[frequency_hz]

    def next_stimulus(self):
        widest_hz = max(self.heard, key=self.width_db)
        if self.width_db(widest_hz) <= 2.0:
            return None
        return Stimulus(widest_hz, 0.5 * (self.heard[widest_hz] + self.unheard[widest_hz]))

    def observe(self, frequency_hz, level_db_hl, heard):
        ends = self.heard if heard else self.unheard
        ends[frequency_hz] = level_db_hl

    def threshold(self, frequencies_hz):
        known_hz = [*self.heard]
        middle = [0.5 * (self.heard[f] + self.unheard[f]) for f in known_hz]
        sd_db = [self.width_db(f) / math.sqrt(12.0) for f in known_hz]
        return tuple(interpolate(known_hz, each, frequencies_hz) for each in (middle, sd_db))


# %%
# A session: after every tone the error is noted.


def errors_db(make_method, ear):
    answering = Answering(response_noise_db=2.0, lapse_rate=0.01, false_alarm_rate=0.01)
    task = Task(2.0, 0.01, 0.01, tones_max=TONES, audiogram_frequencies_hz=ear.frequencies_hz)
    method, listener = make_method(task), Listener(ear, answering, 1, TONES)
    errors = []
    for number in range(TONES):
        tone = method.next_stimulus()
        if tone is not None:  # else it has ended, and its last values go on
            heard = listener.hears(number, tone.frequency_hz, tone.level_db_hl)
            method.observe(tone.frequency_hz, tone.level_db_hl, heard)
        mean_db_hl, _ = method.threshold(ear.frequencies_hz)
        errors.append(np.sqrt(np.mean((mean_db_hl - np.array(ear.thresholds_db_hl)) ** 2)))
    return errors


figure, axes = plt.subplots(layout="constrained")
for name, make_method in (("gp-pta", GpPta), ("bracket", Bracket)):
    rmse_db = np.median([errors_db(make_method, ear) for ear in standard_ears()], axis=0)
    axes.plot(range(1, TONES + 1), rmse_db, label=name)
    print(f"{name}: {rmse_db[9]:.1f} dB after 10 tones, {rmse_db[-1]:.1f} dB after {TONES}")
axes.set(xlabel="tones", ylabel="RMSE in dB, median of ten ears", ylim=(0, 30))
axes.legend(frameon=False)
plt.show()
