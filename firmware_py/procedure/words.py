"""All sentences of the procedure for people: why a test or an ear ended, and what is to be doubted.

They stand in results and in journals: another word here makes another record. Names in braces are
filled in by `str.format`.
"""

from collections.abc import Mapping, Sequence
from typing import Final

# Why an ear ended.
NARROW_ENOUGH: Final = "95 % band at most +-{half_width_db:.1f} dB ({frequency_hz} Hz)"
WIDE_STILL: Final = (
    "95 % band up to +-{half_width_db:.1f} dB ({frequency_hz} Hz), +-{wanted_db:g} wanted"
)
NEXT_ANSWER_TELLS: Final = "the next answer would tell {information_bits:.2f} bit"
ALL_HEARD: Final = "everything heard at {floor_db_hl:g} dB HL"

# What shows that a listener does not attend.
MISSES: Final = "{missed} of {asked} clearly audible tones were missed"
PRESSED_IN_PAUSES: Final = "the button was pressed in {pressed} of {count} pauses before a tone"
RUN_AWAY: Final = "{away} tones were answered in runs regardless of their level, and asked again"
AWAY: Final = "{away} of {tones} tones were answered in runs regardless of their level"
INATTENTIVE: Final = "inattentive listener: {signs}"

# What seems to have happened in place of listening.
FELL_SILENT: Final = (
    "none of {count} tones was answered{since}: check earphones, button and listener"
)
PRESSES_ANYWAY: Final = "the button is pressed whatever is played{since}: explain the task again"
PRESSES_UNRELATED: Final = "presses have nothing to do with the tones: explain the task again"
ANOTHER_LISTENER: Final = (
    "the answers since about tone {began} seem to be another person's, or the earphones moved: "
    "test this ear again"
)
SINCE: Final = ", since tone {began}"  # of what did not begin at once
BROKEN_OFF: Final = "{ear} ear: the test was broken off, checks: {checks}; {why}"

# Why the test of an ear is no valid one, or is in doubt.
NOT_BEGUN_YET: Final = "no tone was played"
NOTHING_HEARD: Final = (
    "nothing was heard: a deaf ear, an earphone, the button and the listener look the same"
)
WHO_HEARS: Final = (
    "nothing was heard in this ear: hold its earphone to the listener's other ear, or to your own, "
    "and say who hears its tones"
)
ENDED_EARLY: Final = "it was ended early"
EARS_CONTRADICTED: Final = (
    "the listener heard a tone in the other ear: the earphones may be the wrong way round"
)
SEVERAL_BOARDS: Final = (
    "it was measured with several tone generators, and one may be louder than the other: {boards}"
)

# Why a test waits for the operator, who knows who sits there.
WAITS_LONG: Final = "it was broken off {since} ago: is it the same person?"
WAITS_PAUSED: Final = "it has been paused for {since} and more: is it the same person?"
WAITS_CLOCK: Final = "the clock does not say how long ago it was broken off: is it the same person?"
FOREIGN_BOARD: Final = "{differs}: use one of its kind, or end the test"
WAITS_DIFFERS: Final = "{differs}: are the levels the same?"

# Of the question which ear is which.
WHICH_EAR: Final = (
    "a clear tone is played again and again: ask the listener in which ear it is, and say which"
)
TURN_EARPHONES: Final = (
    "a tone for the {ear} ear was heard in the other one: turn the earphones round if the red one "
    "is not on the right ear, or else look at their plugs, and go on"
)
EARS_NOT_CONFIRMED: Final = "the listener did not confirm which ear is which"

# Remarks on a result.
RETEST_DIFFERS: Final = (
    "{ear} ear {verdict}: 1 kHz came out {difference_db:+.0f} dB different in the retest"
)
MOSTLY_UNSURE: Final = "{unsure} of {answered} answers were unsure: are the buttons understood?"
MASKING_UNCERTAIN: Final = "{ear} ear: masking uncertain at {frequencies_hz} Hz: {why}"
EQUIPMENT_HEARD: Final = "{ear} ear: nothing was heard; the equipment was heard by {by}"
HEARERS: Final = {"operator": "the operator", "other-ear": "the other ear"}
EARS_BY_BOARDS: Final = (
    "each ear was measured with another tone generator: do not compare them; {boards}"
)
NEVER_ANSWERED: Final = "no tone was ever answered: check earphones and button"

GAP_EXPLAINS: Final = "an air-bone gap of {gap_db:.0f} dB or more in the {ear} ear would explain it"
MOVES_WITH_NOISE: Final = (
    "{level_db_hl:g} dB HL at {frequency_hz} Hz was not heard with {noise_db_hl:g} dB of noise in "
    "the {ear} ear: the threshold may be that ear's"
)

# Why a tone has noise in the other ear, or none.
CROSS_HEARD: Final = "the other ear may have heard some of its tones: they are asked with noise"
CROSSES: Final = (
    "{level_db_hl:g} dB HL reaches the {ear} ear at {crossing_db_hl:g} dB HL, which it may hear "
    "from {cochlea_db_hl:.0f} on"
)
MASKING_OFF: Final = "masking is switched off"
CHECKED: Final = "enough to hide it from the {ear} ear behind an air-bone gap of {gap_db:.0f} dB"
NO_NOISE: Final = "the tone generator has no masking noise"
NOT_MASKED_NEARBY: Final = "no tone near it was masked"
NOT_MEASURED: Final = "the {ear} ear was not measured"
DILEMMA: Final = "masking dilemma: enough noise would hide the tone itself"
NOISE_LIMIT: Final = "enough noise would be above its limit"
NOISE_REFUSED: Final = "the tone generator refused the noise: {why}"

# Why a presentation came to nothing.
NOT_BEGUN: Final = "the tone did not begin"
CUT_SHORT: Final = "the tone was cut short"
TOO_EARLY: Final = "the button was pressed before the tone could be heard"
NOISE_ENDED: Final = "its noise had ended: this device stood still for a second"

# Why the test did, or the tone generator was lost.
NOT_PLAYED: Final = "the tone generator did not play tone {number}"
TONE_REFUSED: Final = "the tone generator refused a tone: {why}"
TOO_LOUD: Final = (
    "{what} of {level_db_hl:g} dB HL was not played: it is above the {highest_db_hl:g} dB HL that "
    "can be reached with this calibration"
)
EVENTS_LOST: Final = "{count} events of the tone generator are lost"


def false_alarms(catches: int, heard: int, unsure: int) -> str:
    """Say how many silences were answered, and how many of these with the second button."""
    of_them = f", {unsure} of them unsure" if unsure else ""
    return f"{heard + unsure} of {catches} catch trials without a tone were answered{of_them}"


def no_response(limits_db_hl: Sequence[float]) -> str:
    """Say that nothing was heard up to the limits of the audiogram frequencies."""
    low, high = min(limits_db_hl), max(limits_db_hl)
    if low == high:
        return f"no response at {high:g} dB HL"
    return f"no response at the limit of each frequency, {low:g} to {high:g} dB HL"


def cap_reached(tones_max: int, tones: int, kept: int) -> str:
    """Say that the tones are used up; `kept` are wanted for the retest."""
    cap = f"the cap of {tones_max} tones"
    left = tones_max - tones
    if not kept:
        return cap
    spared = f"{kept} kept" if left >= kept else f"{left} left, too few"
    return f"{cap}: {tones} asked, {spared} for the retest"


def perhaps_beyond(limits_db_hl: Mapping[int, float]) -> str:
    """Name the limits at the frequencies where the threshold lies perhaps beyond them."""
    levels = {*limits_db_hl.values()}
    if len(levels) == 1:
        at = ", ".join(map(str, limits_db_hl))
        return f"perhaps beyond the limit of {levels.pop():g} dB HL at {at} Hz"
    each = ", ".join(f"{limit:g} dB HL at {f} Hz" for f, limit in limits_db_hl.items())
    return f"perhaps beyond the limits of {each}"
