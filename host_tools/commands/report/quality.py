"""How good the test of an ear was: answers to silence, clear tones, retest, response times.

What checks the answers depends on how the test was conducted: the pauses as silent trials, clear
tones and doubted tones asked again in any, catch trials and a retest at 1 kHz in a clinical one.
Each is counted, and none stands for another.
"""

from dataclasses import dataclass
from statistics import mean

from firmware_py.procedure.counted import Checks
from firmware_py.procedure.given import ResponseTimes
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.results import EarResult
from host_tools.recordings.recorded_session import RecordedSession


@dataclass(frozen=True)
class Quality:
    """How good the test of an ear was."""

    tones: int
    tones_heard: int
    tones_unsure: int
    tones_set_aside: int  # whose answers do not count: the other ear may have given them
    catch_trials: int
    false_alarms: int
    unsure_alarms: int
    # `pauses`, `pauses_pressed`: silent trials that the pauses between tones make, and those with a
    # press
    pauses: int
    pauses_pressed: int
    # `checks`, `checks_missed`: clear tones that were asked to see if the listener attends, and
    # those not heard; None: the profile of the test does not ask them
    checks: int | None
    checks_missed: int | None
    doubted_tones: int | None  # asked again because their answer left two explanations; None: same
    response_times: ResponseTimes
    retest_wanted: bool
    retest_difference_db: float | None
    # "repeatable", "doubtful" (over 5 dB), "rejected" (over 10 dB), both only if that is improbable
    # with this listener, or "" without a retest
    retest_verdict: str
    # `clear_tones`, `clear_missed`: tones 5 dB or more above the threshold that was found there,
    # and those not heard
    clear_tones: int
    clear_missed: int
    trial_s: float | None  # median from answer to answer
    posterior_sd_db: float | None  # mean over the frequencies that were measured
    posterior_sd_max_db: float | None
    response_noise_db: float
    lapse_rate: float
    false_alarm_rate: float


def quality_of(session: RecordedSession, found: EarResult) -> Quality:
    """Return how good the test of an ear was; `found`: its recorded result."""
    ear, given = session.test.ears[found.route], session.test.given
    checked = Checks.of(found, ear, given, session.settings)
    measured = [t for t in found.thresholds if t.mark == Outcome.MEASURED]
    sds = [t.sd_db for t in measured if t.sd_db is not None]
    listener = ear.estimator.hyperparameters
    difference_db = found.retest_difference_db
    return Quality(
        tones=found.tones,
        tones_heard=found.tones_heard,
        tones_unsure=found.tones_unsure,
        tones_set_aside=checked.set_aside,
        catch_trials=found.catch_trials,
        false_alarms=found.false_alarms,
        unsure_alarms=found.unsure_alarms,
        pauses=checked.pauses,
        pauses_pressed=checked.pauses_pressed,
        checks=checked.checks,
        checks_missed=checked.checks_missed,
        doubted_tones=checked.doubted_tones,
        response_times=given.response_times(found.route),
        retest_wanted=session.settings.retest,
        retest_difference_db=difference_db,
        retest_verdict=checked.retest,
        clear_tones=checked.clear_tones,
        clear_missed=checked.clear_missed,
        trial_s=checked.trial_s,
        posterior_sd_db=mean(sds) if sds else None,
        posterior_sd_max_db=max(sds, default=None),
        response_noise_db=listener.response_noise_db,
        lapse_rate=listener.lapse_rate,
        false_alarm_rate=listener.false_alarm_rate,
    )
