"""Which tone tells most of an ear now."""

from dataclasses import replace

from firmware_py.ear.bracketing import SAME_TONE_MAX
from firmware_py.ear.ear import EarTest
from firmware_py.ear.levels import near
from firmware_py.ear.objective import Objective, best_within_reach
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.settings import HONEST_PROFILES


def most_informative(ear: EarTest, objective: Objective) -> Presentation:
    """Return the tone whose answer is expected to tell most."""
    # At a bound an answer that was expected hardly moves Laplace's mode: the same tone would seem
    # as informative as before.
    marks, known_hz = ear.audiogram.marks, ear.estimator.candidate_frequencies_hz
    at_bound = marks.all_silent_at_limit() + marks.all_heard_at_floor()
    exhausted_hz = [f for f, count in at_bound.items() if count >= SAME_TONE_MAX]
    never_hz = [*ear.levels.left_out_hz]
    if ear.route.kind.follows_air and not ear.settings.ask_all:
        never_hz += ear.route.kind.inter_octave_hz
    exhausted_hz += never_hz
    if ear.again_hz:
        exhausted_hz += [f for f in known_hz if not near(f, ear.again_hz)]
    elif ear.settings.profile in HONEST_PROFILES:
        # Its bands can be trusted to say that a frequency needs no more tones; the others are too
        # sure of themselves, and choose by information alone.
        exhausted_hz += settled_hz(ear)
    if {*exhausted_hz} >= {*known_hz}:
        exhausted_hz = never_hz  # once more at a bound: what is left out tells nothing
    stimulus = best_within_reach(objective, ear.estimator, ear.levels, exhausted_hz)
    tone = ear.levels.tone(Purpose.MEASURE, stimulus.frequency_hz, stimulus.level_db_hl)
    return replace(tone, information_bits=stimulus.information_bits)


def settled_hz(ear: EarTest) -> list[float]:
    """Return the frequencies that are known well enough to end the measurement."""
    candidates_hz = ear.estimator.candidate_frequencies_hz
    bands_db_hl = ear.audiogram.bands(candidates_hz)
    wanted_db = ear.audiogram.wanted_half_width_db
    return [
        f
        for f, low, high in zip(candidates_hz, *bands_db_hl, strict=True)
        if high - low <= 2.0 * wanted_db(f)
    ]
