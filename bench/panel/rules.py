"""What the panel takes away: each rule of the procedure, by the code that leaves it out."""

from collections.abc import Mapping
from typing import Final

from bench.panel.changes import Change

EAR: Final = "firmware_py.ear"
SESSION: Final = "firmware_py.session"
INFERENCE: Final = "firmware_py.inference"


def _without_reason(name: str) -> tuple[Change, ...]:
    code = f"REASONS_TO_ASK = tuple(each for each in REASONS_TO_ASK if each.why != {name!r})"
    return (Change(f"{EAR}.reasons_to_ask", code),)


def _without_of_session(*names: str) -> tuple[Change, ...]:
    code = (
        "SESSION_REASONS = tuple(each for each in SESSION_REASONS "
        f"if each.propose.__name__ not in {names!r})"
    )
    return (Change(f"{SESSION}.agenda", code),)


def _without_story(name: str) -> tuple[Change, ...]:
    code = (
        "_all = ThresholdEstimator.stories.fget\n"
        "ThresholdEstimator.stories = property("
        f"lambda self: [each for each in _all(self) if each.story != {name!r}])"
    )
    return (Change(f"{INFERENCE}.estimator", code),)


def _without_otherwise(name: str) -> tuple[Change, ...]:
    code = (
        "_all = Explanations.all\n"
        f"Explanations.all = lambda self: [e for e in _all(self) if e.story != {name!r}]"
    )
    return (Change(f"{EAR}.otherwise", code),)


def _one_kind_of_listener(kinds: str) -> tuple[Change, ...]:
    code = f"import dataclasses\nPROFILES['default'] = dataclasses.replace(_DEFAULT, {kinds})"
    return (Change(f"{INFERENCE}.profiles", code),)


# One component of 0.2 in place of the eight unlikely shapes beside that of flat ears.
_ONE_UNUSUAL: Final = """
import dataclasses
_shipped = shipped_prior
def shipped_prior():
    prior = _shipped()
    one = dataclasses.replace(prior.components[8], weight=0.2)
    return dataclasses.replace(prior, components=(*prior.components[:8], one))
"""


RULES: Final[Mapping[str, tuple[Change, ...]]] = {
    # The reasons of an ear.
    "story-in-doubt": (Change(f"{EAR}.reasons_to_ask", "INTERRUPTS = ()"),),
    **{
        name: _without_reason(name)
        for name in (
            "bracket", "late-start", "deciding", "still-in-place", "without-attention", "retest",
            "clear-tone", "last-tones-in-doubt",
        )
    },
    "silence-due": (
        Change(f"{EAR}.catch_trials", "CatchTrials.due = lambda self, number: False"),
    ),
    # Those of a session.
    "which-ear": (
        Change(
            f"{SESSION}.which_ear",
            "EarCheck.under_way = property(lambda self: False, lambda self, value: None)",
        ),
    ),
    "behind-noise": _without_of_session("behind_noise"),
    "asked-again": _without_of_session("asked_again", "asked_again_elsewhere"),
    "more-noise": _without_of_session("more_noise"),
    "who-hears": _without_of_session("who_hears_before_bone", "who_hears"),
    # What is believed of the listener.
    **{f"story {name}": _without_story(name) for name in ("silent", "pressing", "unrelated")},
    **{f"story {name}": _without_otherwise(name) for name in ("moved", "pitch", "cue", "rising")},
    "story changed": (
        Change(f"{EAR}.listening", "Listening.change_of = lambda self, answers: None"),
    ),
    "doubt by a story": (
        Change(f"{SESSION}.ear_result", "_doubted_stories = lambda ear: iter(())"),
    ),
    "heard across": (
        Change(f"{EAR}.listening", "Listening._may_be_heard_across = lambda self: False"),
    ),
    "listener of the other ear": (
        Change(f"{SESSION}.by_air", "Air.let_begin = lambda self: None"),
    ),
    "nine kinds of listeners": _one_kind_of_listener(
        "kinds=(Listener(3.2, 0.01, 0.01, 0.8), Listener(3.0, 0.1, 0.05, 0.2))"
    ),
    "seven dead zones": _one_kind_of_listener("dead_zones=((3.5, 0.6), (13.0, 0.4))"),
    "nine unusual ears": (Change(f"{INFERENCE}.mixture.population_prior", _ONE_UNUSUAL),),
    # What is found.
    "inferred bands": (Change(f"{EAR}.threshold_estimates", "suppose = list"),),
    "strides": (Change(f"{EAR}.objective", "()", "STRIDES_DB"),),
    "settled frequencies": (
        Change(f"{EAR}.threshold_estimates", "ThresholdEstimates.settled_hz = lambda self: []"),
    ),
    "second answers": (
        Change(f"{EAR}.bracketing", "Bracketing.second_tone = lambda self, again_hz=(): None"),
    ),
    "several silences below": (Change(f"{EAR}.marks", "1", "SILENT_BELOW_MIN"),),
    "answers against": (Change(f"{EAR}.marks", "1000", "AGAINST_TONES"),),
    "wider at 250 Hz": (Change(f"{INFERENCE}.enough", "{}", "WIDER_AT_HZ"),),
    # What the other ear may hear.
    "said beside": (Change(f"{SESSION}.by_air", "_said_beside_db = lambda verdicts: {}"),),
    "own gap in the noise": (
        Change(f"{SESSION}.by_air", "Air._own_gap_db = lambda self, f: masking.AIR_BONE_GAP_DB"),
    ),
    "gaps said": (Change(f"{SESSION}.by_air", "_said_db = lambda verdicts: {}"),),
}  # fmt: skip
