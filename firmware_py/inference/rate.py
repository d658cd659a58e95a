"""What a tone is chosen for: expected information over expected time, bits per second.

A presentation takes its pause, its train, and then either the response or the rest of the window:
the expected time of a tone that is pressed with probability P is

T = P t_answered + (1 - P) t_silent.

Let an endless run repeat one way of asking, each presentation with independent information I and
time T. Then the information of the first s seconds, over s, tends to E[I] / E[T] (the renewal
reward theorem: Ross, Introduction to Probability Models, section 7.4), and not to E[I / T]. So a
ratio of expectations is what to maximise: at the best rate r the best tone is that of the largest
E[I] - r E[T], what it tells less what its time is worth (Dinkelbach 1967).

A test is no such run. It ends, information falls from tone to tone, and a tone now changes what
later ones can tell. Here each tone is chosen as if all that follow were like it: greedily, as with
BALD alone, which is the same with t_answered = t_silent. Nothing guarantees that the whole test is
the shortest. BALD's best tone is heard about half of the time, so with times like the device's the
two choices differ little; what is gained was measured (`bench/README.md`).
"""

from typing import Final, NamedTuple

from firmware_py.inference.kernel import kernel


class Seconds(NamedTuple):
    """What a presentation takes, if it is answered and if not."""

    answered: float
    silent: float


# What a selection writes: candidate, level in dB HL, information in bits, expected seconds.
CHOICE_ENTRIES: Final = 4

# Every tone takes as long as any other: bits per second are bits per tone.
PER_TONE: Final = Seconds(1.0, 1.0)


@kernel
def expected_seconds(pressed: float, seconds: Seconds) -> float:
    """P t_answered + (1 - P) t_silent; exactly their value where the two are equal."""
    return seconds.silent + pressed * (seconds.answered - seconds.silent)
