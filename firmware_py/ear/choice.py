"""Which tone tells most of an ear now."""

from collections.abc import Sequence
from dataclasses import replace

from firmware_py.ear.bracketing import SAME_TONE_MAX
from firmware_py.ear.levels import near
from firmware_py.ear.objective import Objective, best_within_reach
from firmware_py.ear.threshold_estimates import ThresholdEstimates
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.settings import HONEST_PROFILES, Settings


def most_informative(
    audiogram: ThresholdEstimates,
    settings: Settings,
    again_hz: Sequence[float],
    objective: Objective,
) -> Presentation:
    """Return the tone whose answer is expected to tell most; `again_hz`: if any, near these."""
    # At a bound an answer that was expected hardly moves Laplace's mode: the same tone would seem
    # as informative as before.
    marks, estimator, levels = audiogram.marks, audiogram.estimator, audiogram.levels
    known_hz, kind = estimator.candidate_frequencies_hz, levels.route.kind
    at_bound = marks.all_silent_at_limit() + marks.all_heard_at_floor()
    exhausted_hz = [f for f, count in at_bound.items() if count >= SAME_TONE_MAX]
    never_hz = [*levels.left_out_hz]
    if kind.follows_air and not settings.ask_all:
        never_hz += kind.inter_octave_hz
    exhausted_hz += never_hz
    if again_hz:
        exhausted_hz += [f for f in known_hz if not near(f, again_hz)]
    elif settings.profile in HONEST_PROFILES:
        # Its bands can be trusted to say that a frequency needs no more tones; the others are too
        # sure of themselves, and choose by information alone.
        exhausted_hz += audiogram.settled_hz()
    if {*exhausted_hz} >= {*known_hz}:
        exhausted_hz = never_hz  # once more at a bound: what is left out tells nothing
    stimulus = best_within_reach(objective, estimator, levels, exhausted_hz)
    tone = levels.tone(Purpose.MEASURE, stimulus.frequency_hz, stimulus.level_db_hl)
    return replace(tone, information_bits=stimulus.information_bits)
