"""All sentences of the procedure for people: why a test or an ear ended, and what is to be doubted.

They stand in results and in journals, so that another word here makes another record.
"""

from collections.abc import Mapping, Sequence
from typing import Final

# Why an ear ended


def plus_minus(half_width_db: float, frequency_hz: int) -> str:
    """Name half the width of a band."""
    return f"+-{half_width_db:.1f} dB ({frequency_hz} Hz)"


def narrow_enough(half_width_db: float, frequency_hz: int) -> str:
    """Say that the bands are as narrow as wanted."""
    return f"95 % band at most {plus_minus(half_width_db, frequency_hz)}"


def cap_reached(tones_max: int, tones: int, kept: int) -> str:
    """Say that the tones are used up; `kept` are wanted for the retest."""
    cap = f"the cap of {tones_max} tones"
    left = tones_max - tones
    if not kept:
        return cap
    spared = f"{kept} kept" if left >= kept else f"{left} left, too few"
    return f"{cap}: {tones} asked, {spared} for the retest"


def next_answer_tells(information_bits: float) -> str:
    """Say that another answer would tell little."""
    return f"the next answer would tell {information_bits:.2f} bit"


def short_of_wanted(
    end: str,
    widest: str,
    wanted_half_width_db: float,
    limits_db_hl: Mapping[int, float],
    inattention: str,
) -> str:
    """Say why an ear ended with wider bands than wanted, and what they are short of.

    `limits_db_hl`: by frequency, where the threshold lies perhaps beyond the limit.
    """
    words = [end, f"95 % band up to {widest}, +-{wanted_half_width_db:g} wanted"]
    if limits_db_hl:
        words.append(f"perhaps beyond {_limits(limits_db_hl)}")
    if inattention:
        words.append(inattention)
    return "; ".join(words)


def _limits(limits_db_hl: Mapping[int, float]) -> str:
    """Name the limits at these frequencies."""
    levels = {*limits_db_hl.values()}
    if len(levels) == 1:
        return f"the limit of {levels.pop():g} dB HL at {', '.join(map(str, limits_db_hl))} Hz"
    each = ", ".join(f"{limit:g} dB HL at {f} Hz" for f, limit in limits_db_hl.items())
    return f"the limits of {each}"


def no_response(limits_db_hl: Sequence[float]) -> str:
    """Say that nothing was heard up to the limits of the audiogram frequencies."""
    low, high = min(limits_db_hl), max(limits_db_hl)
    if low == high:
        return f"no response at {high:g} dB HL"
    return f"no response at the limit of each frequency, {low:g} to {high:g} dB HL"


def all_heard(floor_db_hl: float) -> str:
    """Say that everything was heard."""
    return f"everything heard at {floor_db_hl:g} dB HL"


# Listeners who do not attend


def false_alarms(catches: int, heard: int, unsure: int) -> str:
    """Say how many silences were answered, and how many of these with the second button."""
    of_them = f", {unsure} of them unsure" if unsure else ""
    return f"{heard + unsure} of {catches} catch trials without a tone were answered{of_them}"


def misses(lapse_rate: float) -> str:
    """Say how many clear tones were missed."""
    return f"misses about {100.0 * lapse_rate:.0f} % of what can be heard"


def answers_the_inaudible(false_alarm_rate: float) -> str:
    """Say how many tones were answered that cannot be heard."""
    return f"answers about {100.0 * false_alarm_rate:.0f} % of what cannot be heard"


def inattentive(signs: Sequence[str]) -> str:
    """Say by which signs a listener is inattentive."""
    return "inattentive listener: " + ", ".join(signs)


# Remarks on a result


def retest_differs(ear: str, verdict: str, difference_db: float) -> str:
    """Say that the retest came out otherwise."""
    return f"{ear} ear {verdict}: 1 kHz came out {difference_db:+.0f} dB different in the retest"


def mostly_unsure(unsure: int, answered: int) -> str:
    """Say that nearly all answers were of the second button."""
    return f"{unsure} of {answered} answers were unsure: are the buttons understood?"


def of_ear(ear: str, words: str) -> str:
    """Say something of an ear."""
    return f"{ear} ear: {words}"


def masking_uncertain(ear: str, frequencies_hz: Sequence[int], why: str) -> str:
    """Say where the other ear may have heard the tones."""
    at = ", ".join(map(str, frequencies_hz))
    return f"{ear} ear: masking uncertain at {at} Hz: {why}"


NEVER_ANSWERED: Final = "no tone was ever answered: check earphones and button"

# Masking

CROSS_HEARD: Final = "the other ear may have heard some of its tones: they are asked with noise"
NO_NOISE: Final = "the tone generator has no masking noise"
NOT_MASKED_NEARBY: Final = "no tone near it was masked"
DILEMMA: Final = "masking dilemma: enough noise would hide the tone itself"
NOISE_LIMIT: Final = "enough noise would be above its limit"


def crosses(level_db_hl: float, other: str, crossing_db_hl: float, heard_from_db_hl: float) -> str:
    """Say why a tone needs noise in the other ear."""
    return (
        f"{level_db_hl:g} dB HL reaches the {other} ear at {crossing_db_hl:g} dB HL, which it may "
        f"hear from {heard_from_db_hl:.0f} on"
    )


def not_measured(ear: str) -> str:
    """Say that nobody knows what the other ear hears."""
    return f"the {ear} ear was not measured"


def noise_refused(why: str) -> str:
    """Say that the board did not take a noise."""
    return f"the tone generator refused the noise: {why}"


# Why a presentation came to nothing, or the test did

NOT_BEGUN: Final = "the tone did not begin"
CUT_SHORT: Final = "the tone was cut short"
TOO_EARLY: Final = "the button was pressed before the tone could be heard"
NOISE_ENDED: Final = "its noise had ended: this device stood still for a second"


def not_played(number: int, void_why: str) -> str:
    """Say that a tone was asked for again and again."""
    why = f": {void_why}" if void_why else ""
    return f"the tone generator did not play tone {number}{why}"


def tone_refused(what: str) -> str:
    """Say that the board did not take a tone."""
    return f"the tone generator refused a tone: {what}"


def events_lost(count: int) -> str:
    """Say that the board's memory overflowed."""
    return f"{count} events of the tone generator are lost"


def too_loud(what: str, level_db_hl: float, highest_db_hl: float) -> str:
    """Say that a sound was not played, for it is above what the calibration allows."""
    return (
        f"{what} of {level_db_hl:g} dB HL was not played: it is above the {highest_db_hl:g} dB HL "
        "that can be reached with this calibration"
    )
