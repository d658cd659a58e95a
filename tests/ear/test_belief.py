"""What is believed of an ear is a function of its evidence, however it came to that."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from firmware_py.ear.belief import Belief
from firmware_py.ear.evidence import Evidence, Item, Pauses
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import NO_COVER, SILENCE, Observation, Presentation

FREQUENCIES_HZ = (250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0)


def heard(level_db_hl: float, answer: bool | None = True, at_hz: float = 1000.0) -> Observation:
    return Observation(Presentation(Purpose.MEASURE, at_hz, level_db_hl), answer, NO_COVER)


def believed(belief: Belief) -> tuple[Any, ...]:
    """The posterior to the bit."""
    estimator = belief.estimator
    mean_db_hl, sd_db = estimator.threshold(FREQUENCIES_HZ)
    return mean_db_hl.tolist(), sd_db.tolist(), estimator.log_evidence, estimator.trial_count


ITEMS = st.one_of(
    st.booleans(),
    st.booleans().map(lambda pressed: Observation(SILENCE, pressed, NO_COVER)),
    st.builds(
        heard, st.integers(-10, 100).map(float), st.booleans(), st.sampled_from(FREQUENCIES_HZ)
    ),
)  # fmt: skip


@given(st.lists(st.lists(ITEMS, max_size=6), min_size=1, max_size=4), st.data())
def test_it_does_not_matter_what_was_believed_before(
    paths: list[list[Item]], data: st.DataObject
) -> None:
    """Answers were added, forgotten and gone back over, or it is believed at once."""
    belief = Belief(ThresholdEstimator())
    for items in paths:
        evidence = belief.evidence
        for each in items:
            evidence = Evidence((*evidence.given, each))
        belief.take(evidence)
        belief.suppose(evidence.up_to(0), lambda estimator: estimator.log_evidence)
        if evidence.tones:
            dropped = data.draw(st.sampled_from(evidence.tones))
            belief.take(evidence.without([dropped]))
    at_once = Belief(ThresholdEstimator())
    at_once.take(belief.evidence)

    assert believed(belief) == believed(at_once)


def test_what_is_only_supposed_is_not_believed() -> None:
    belief, first, second = Belief(ThresholdEstimator()), heard(40.0), heard(10.0, False)
    belief.take(Evidence((first,)))
    alone = believed(belief)
    both = belief.suppose(Evidence((first, second)), lambda estimator: estimator.trial_count)

    assert both == 2
    assert believed(belief) == alone
    assert belief.evidence.given == (first,)


def test_what_is_the_ears_own_begins_with_what_either_answered() -> None:
    """The tones so far count once, in what is expected; pauses and silences stay."""
    silence, tone, own = Observation(SILENCE, False, NO_COVER), heard(40.0), heard(30.0)
    belief = Belief(ThresholdEstimator())
    evidence = Evidence((False, tone, silence))
    belief.take(evidence)
    expected = belief.estimator.curves_at_knots()
    belief.take(evidence.of_own(expected).with_answer(own, pressed=True))

    assert belief.evidence.of_either == (tone,)
    assert belief.evidence.given == (False, silence, True, own)
    assert belief.evidence.pauses == Pauses(2, 1)
    assert evidence.pauses == Pauses(1, 0), "a change of evidence is another one"
    assert belief.evidence.observations == [tone, silence, own]
    assert belief.evidence.tones == [own]
    assert belief.estimator.trial_count == 1
    assert belief.evidence.up_to(0).given == (False, silence)
    assert belief.evidence.without([tone]).observations == [silence, own]
    assert belief.evidence.threshold is expected
