"""
The figures of the paper
========================

Figures 2 and 3 of Cox & de Vries (arXiv 1511.08670), drawn of the paper's own method. The ear is
the standard audiogram N3, and the listener is unsure by 2 dB and slips at one tone in a hundred.
``gp-pta study --figure posterior-evolution --profile gp-pta-2015`` writes the first as a file.
"""

from host_tools.drawings.drawing import in_style
from host_tools.research.study.ears import standard_ears
from host_tools.research.study.figures import bald_figure, evolution_figure, session
from host_tools.research.study.listener import Answering

ear = next(ear for ear in standard_ears() if ear.name == "N3")
answering = Answering(response_noise_db=2.0, lapse_rate=0.01, false_alarm_rate=0.01)
stages = [*session("gp-pta-2015", ear, 1, answering, 21)]

# %%
# Figure 2: what is known of the threshold before the first tone, and after 7, 14 and 21.

with in_style():
    figure = evolution_figure(stages, ear, "gp-pta-2015")

# %%
# Figure 3: the mean over frequency of what an answer is expected to tell, tone by tone.

for stage in stages[::7]:
    print(f"after {len(stage.answers)} tones: {stage.mean_bald_bits:.3f} bits")
with in_style():
    figure = bald_figure(stages, ear, "gp-pta-2015")

# %%
# The same of the default profile, which knows people before it asks anything.

stages = [*session("default", ear, 1, answering, 21)]
with in_style():
    figure = evolution_figure(stages, ear, "default")
