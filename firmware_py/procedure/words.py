"""The words of the device for every reason: English. The host tools have other languages.

What stands here does not reach a journal.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from firmware_py.procedure.reasons import (
    DATES,
    DECIMALS,
    SEVERAL,
    SIGNED,
    TEXTS,
    UNIT,
    WORDS,
    Reason,
)
from firmware_py.procedure.route import ROUTES

BETWEEN: Final = "; "  # reasons beside one another
NOTHING: Final = "nothing"  # the key of the word for a text that is empty

# By codes, and by the words of `WORDS`; the parts in braces are filled in by `Language`.
SENTENCES: Final[Mapping[str, str]] = {
    # Why an ear ended.
    "narrow-enough": "95 % band at most +-{half_width_db} dB ({frequency_hz} Hz)",
    "wide-still": "95 % band up to +-{half_width_db} dB ({frequency_hz} Hz), +-{wanted_db} wanted",
    "next-answer-tells": "the next answer would tell {information_bits} bit",
    "all-heard": "everything heard at {floor_db_hl} {unit}",
    "no-response": "no response at {limit_db_hl} {unit}",
    "no-response-at-each": (
        "no response at the limit of each frequency, {low_db_hl} to {high_db_hl} {unit}"
    ),
    "cap": "the cap of {tones_max} tones",
    "cap-kept": "the cap of {tones_max} tones: {tones} asked, {kept} kept for the retest",
    "cap-too-few": (
        "the cap of {tones_max} tones: {tones} asked, {left} left, too few for the retest"
    ),
    "perhaps-beyond": "perhaps beyond the limit of {limit_db_hl} {unit} at {frequencies_hz} Hz",
    "perhaps-beyond-each": "perhaps beyond the limits of {limits}",
    "limit-at": "{limit_db_hl} {unit} at {frequency_hz} Hz",
    # What shows that a listener does not attend.
    "misses": "{missed} of {asked} clearly audible tones were missed",
    "pressed-in-pauses": "the button was pressed in {pressed} of {count} pauses before a tone",
    "run-away": "{away} tones were answered in runs regardless of their level, and asked again",
    "away": "{away} of {tones} tones were answered in runs regardless of their level",
    "false-alarms": "{alarms} of {catches} catch trials without a tone were answered",
    "false-alarms-unsure": (
        "{alarms} of {catches} catch trials without a tone were answered, {unsure} of them unsure"
    ),
    "inattentive": "responses of limited reliability: {signs}",
    # What seems to have happened in place of listening.
    "fell-silent": "tones without an answer: {count}; check earphones, button and listener",
    "fell-silent-since": (
        "tones without an answer since tone {began}: {count}; check earphones, button and listener"
    ),
    "fell-silent-bone": "tones without an answer: {count}; check vibrator, button and listener",
    "fell-silent-since-bone": (
        "tones without an answer since tone {began}: {count}; check vibrator, button and listener"
    ),
    "presses-anyway": (
        "the button is pressed however soft a tone is: explain the task again, or check the "
        "calibration"
    ),
    "presses-anyway-since": (
        "the button is pressed however soft a tone is, since tone {began}: explain the task again, "
        "or check the calibration"
    ),
    "presses-unrelated": "presses have nothing to do with the tones: explain the task again",
    "another-listener": (
        "the answers since about tone {began} seem to be another person's, or the earphones "
        "moved: test this ear again"
    ),
    "another-listener-bone": (
        "the answers since about tone {began} seem to be another person's, or the vibrator "
        "moved: test this ear again"
    ),
    "broken-off": "{ear}: the test was broken off, checks: {checks}; {why}",
    # Why the test of an ear is no valid one, or is in doubt.
    "not-begun-yet": "no tone was played",
    "nothing-heard": (
        "nothing was heard: a deaf ear, an earphone, the button and the listener look the same"
    ),
    "nothing-heard-bone": (
        "nothing was heard: a deaf ear, the vibrator, the button and the listener look the same"
    ),
    "who-hears": (
        "nothing was heard in this ear: hold its earphone to the listener's other ear, or to "
        "your own, put it back, and say who heard its tones"
    ),
    "who-hears-bone": (
        "nothing was heard by bone: hold the vibrator to the bone behind the listener's other "
        "ear, or behind your own, and say who hears its tones"
    ),
    "ended-early": "it was ended early",
    "ears-contradicted": (
        "the listener heard a tone in the other ear: the earphones may be the wrong way round"
    ),
    "several-boards": (
        "it was measured with several tone generators, and one may be louder than the other: "
        "{boards}"
    ),
    # Why a test waits for the operator, who knows who sits there.
    "waits-long": "it was broken off {ago} ago: is it the same person?",
    "waits-paused": "it has been paused for {ago} and more: is it the same person?",
    "waits-clock": "the clock does not say how long ago it was broken off: is it the same person?",
    "waits-differs": "{differs}: are the levels the same?",
    "waits-test": "session {number} goes first: is it the same person?",
    "foreign-board": "{differs}: use the one it began with, or end the test",
    "foreign-aid": "{differs}: use what it began with, or end the tuning",
    "ago-days": "{count} days",
    "ago-hours": "{count} hours",
    "ago-minutes": "{count} minutes",
    # In what two sessions differ, or a session and what is there now.
    "differs": "{field} {one}, not {other}",
    "differs-now": "{field}: now there is {now}, it began with {was}",
    "another-persons": "it is another person's",
    # Of the question which ear is which.
    "which-ear": (
        "a clear tone is played again and again: ask the listener in which ear it is, and say which"
    ),
    "turn-earphones": (
        "a tone for the {ear} was heard in the other one: turn the earphones round if the red "
        "one is not on the right ear, or else look at their plugs, and go on"
    ),
    "place-vibrator": (
        "put the bone vibrator behind the {ear}, on the mastoid, both ears open, and go on"
    ),
    "place-vibrator-covered": (
        "put the bone vibrator behind the {ear}, and {covered} for noise, then go on"
    ),
    "place-earphones": "take the bone vibrator off, put the earphones on both ears, and go on",
    "ears-not-confirmed": "the listener did not confirm which ear is which",
    # Remarks on a result.
    "of-ear": "{ear}: {doubt}",
    "retest-differs": "{ear} {verdict}: 1 kHz came out {difference_db} dB different in the retest",
    "mostly-unsure": "{unsure} of {answered} answers were unsure: are the buttons understood?",
    "masking-uncertain": "{ear}: masking uncertain at {frequencies_hz} Hz: {why}",
    "equipment-heard": "{ear}: nothing was heard; the equipment was heard by {hearer}",
    "ears-by-boards": (
        "each ear was measured with another tone generator: do not compare them; {by_ear}"
    ),
    "boards-of-ear": "{ear}: {boards}",
    "never-answered": "no tone was ever answered: check earphones and button",
    "gap-explains": "an air-bone gap of {gap_db} dB or more in the {ear} would explain it",
    "moves-with-noise": (
        "{level_db_hl} {unit} at {frequency_hz} Hz was not heard with {noise_db_hl} dB of noise "
        "in the {ear}: the threshold may be that ear's"
    ),
    # Why a tone has noise in the other ear, or none.
    "cross-heard": "the other ear may have heard some of its tones: they are asked with noise",
    "crosses": (
        "{level_db_hl} {unit} reaches the {ear} at {crossing_db_hl} {unit}, which it may hear "
        "from {cochlea_db_hl} on"
    ),
    "masking-is-off": "masking is switched off",
    "checked": "enough to hide it from the {ear} behind an air-bone gap of {gap_db} dB",
    "no-noise": "the tone generator has no masking noise",
    "no-transducer": "the tone generator has nothing that reaches the {ear}",
    "not-masked-nearby": "no tone near it was masked",
    "not-measured": "the {ear} was not measured",
    "dilemma": "masking dilemma: enough noise would hide the tone itself",
    "noise-limit": "enough noise would be above its limit",
    "noise-refused": "the tone generator refused the noise: {told}",
    # Why a presentation came to nothing.
    "not-begun": "the tone did not begin",
    "cut-short": "the tone was cut short",
    "too-early": "the button was pressed before the tone could be heard",
    "noise-ended": "its noise had ended: this device stood still for a second",
    # Why the test did, or what it needs was lost.
    "aborted": "aborted by the operator",
    "reset": "reset by the operator",
    "not-played": "the tone generator did not play tone {number}",
    "not-played-but": "the tone generator did not play tone {number}: {why}",
    "tone-refused": "the tone generator refused a tone: {told}",
    "tone-too-loud": (
        "a tone of {level_db_hl} {unit} was not played: it is above the {highest_db_hl} {unit} "
        "that can be reached with this calibration"
    ),
    "noise-too-loud": (
        "noise of {level_db_hl} {unit} was not played: it is above the {highest_db_hl} {unit} "
        "that can be reached with this calibration"
    ),
    "events-lost": "{count} events of the tone generator are lost",
    "board-lost": "{told}",
    "aid-lost": "{told}",
    "aid-refused": "the hearing aid refused {command}: {told}",
    # What is known of the calibration, and of the other parts of the device.
    "calibrated": "{date}, due {due}",
    "overdue": "calibrated {date}, was due {due}",
    "clock-is-wrong": "calibrated {date}, but the clock says {today}: is it right?",
    "nominal": "levels are nominal",
    "simulated-board": "CALIBRATED (simulated board)",
    "nominal-since": "levels are nominal ({told})",
    "another-boards": (
        "levels are nominal (the calibration is of tone generator {was}, and this is {now})"
    ),
    "wire-counts": "{garbled} garbled, {repeats} repeated",
    "silent": "does not answer",
    "not-pressed": "not pressed since the start",
    "presses": "{presses} presses since the start",
    "held-down": "button {button} is held down for ever",
    "free": "{free_mb} MB free",
    "no-room": "only {free_kb} kB are free on the disk, and {needed_kb} kB are needed",
    "clock-says": "{time}",
    "never-set": "never set: it says {time}",
    "told": "{told}",
    # Remarks on a tuning.
    "no-wish": (
        "the answers are as they come by chance, or by place: the prescription stays as it is"
    ),
    "changed": (
        "the later answers are not of the wish of the earlier ones: the prescription stays; "
        "compare again another day"
    ),
    "not-sure": "the wish is less sure than it should be: compare again another day",
    # Words in them.
    **{f"ear-{route}": route.words for route in ROUTES},
    "verdict-doubtful": "doubtful",
    "verdict-rejected": "rejected",
    "covered-left": "the left earphone on the left ear",
    "covered-right": "the right earphone on the right ear",
    "hearer-operator": "the operator",
    "hearer-other-ear": "the other ear",
    "field-identifier": "identifier",
    "field-sex": "sex",
    "field-born-year": "year of birth",
    "field-device": "device",
    "field-board-kind": "kind of tone generator",
    "field-board": "tone generator",
    "field-measured": "tone generator of the calibration",
    "field-calibration": "calibration",
    "field-transducer": "earphones",
    "field-earphones": "serial numbers of the earphones",
    "field-vibrator": "bone vibrator",
    "field-aid": "hearing aid",
    "field-fit": "fit",
    "unit-db-hl": "dB HL",
    "unit-nominal-db": "nominal dB",
    NOTHING: "none",
}


@dataclass(frozen=True)
class Language:
    """Says reasons.

    Parameters
    ----------
    sentences : mapping of str to str
        With the keys of `SENTENCES`.
    written : callable, optional
        Writes a number that was written with a point and a hyphen.
    date : callable, optional
        Writes a date of ISO 8601.
    """

    sentences: Mapping[str, str]
    written: Callable[[str], str] = str
    date: Callable[[str], str] = str

    def say(self, why: Reason | Iterable[Reason] | None) -> str:
        """Return one reason, or several, in words; "" of none."""
        several = [why] if isinstance(why, Reason) else why or ()
        return BETWEEN.join(map(self._sentence, several))

    def _sentence(self, why: Reason) -> str:
        parts = {UNIT: self.sentences["unit-db-hl"]}
        parts |= {name: self._part(name, part) for name, part in why.parts}
        return self.sentences[why.code.word].format_map(parts)

    def _part(self, name: str, part: Any) -> str:
        if isinstance(part, tuple):
            return SEVERAL[name].join(self._part(name, each) for each in part)
        if isinstance(part, Reason):
            return self._sentence(part)
        if name in WORDS:
            return self.sentences[f"{name}-{part}"]
        if name in TEXTS:
            return part or self.sentences[NOTHING]
        return self.date(part) if name in DATES else self.written(figure(name, part))


def figure(name: str, value: float) -> str:
    """Return a number as it is written with a point, by the name of its part."""
    sign = "+" if name in SIGNED else ""
    return format(value, f"{sign}.{DECIMALS[name]}f" if name in DECIMALS else "g")


_ENGLISH: Final = Language(SENTENCES)


def say(why: Reason | Iterable[Reason] | None) -> str:
    """Return one reason, or several, in English; "" of none."""
    return _ENGLISH.say(why)
