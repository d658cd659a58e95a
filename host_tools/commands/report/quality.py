"""How good the test of an ear was: answers to silence, clear tones, retest, response times.

What checks the answers depends on how the test was conducted: the pauses as silent trials, clear
tones and doubted tones asked again in any, catch trials and a retest at 1 kHz in a clinical one.
Each is counted, and none stands for another.
"""

from dataclasses import dataclass
from statistics import mean
from typing import Any

from firmware_py.findings.checks import Checks
from firmware_py.procedure.given import ResponseTimes
from firmware_py.procedure.hearing import HearingTest
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.results import EarResult
from host_tools.recordings.recorded_session import RecordedSession


@dataclass(frozen=True)
class Quality:
    """How good the test of an ear was."""

    tones: int
    tones_heard: int
    tones_unsure: int
    # whose answers do not count: the other ear may have given them; None, here and below: no replay
    # tells it
    tones_set_aside: int | None
    catch_trials: int
    false_alarms: int
    unsure_alarms: int
    # `pauses`, `pauses_pressed`: silent trials that the pauses between tones make, and those with a
    # press
    pauses: int | None
    pauses_pressed: int | None
    # `checks`, `checks_missed`: clear tones that were asked to see if the listener attends, and
    # those not heard; None: the profile of the test does not ask them, too
    checks: int | None
    checks_missed: int | None
    doubted_tones: int | None  # asked again because their answer left two explanations; None: same
    response_times: ResponseTimes | None
    retest_wanted: bool
    retest_difference_db: float | None
    # "repeatable", "scattered" (over 5 dB), or, if that is improbable with this listener,
    # "doubtful" (over 5 dB) or "rejected" (over 10 dB); "" without a retest
    retest_verdict: str
    # `clear_tones`, `clear_missed`: tones 5 dB or more above the threshold that was found there,
    # and those not heard
    clear_tones: int | None
    clear_missed: int | None
    trial_s: float | None  # median from answer to answer
    posterior_sd_db: float | None  # mean over the frequencies that were measured
    posterior_sd_max_db: float | None
    response_noise_db: float | None
    lapse_rate: float | None
    false_alarm_rate: float | None


def quality_of(session: RecordedSession, found: EarResult) -> Quality:
    """Return how good the test of an ear was; `found`: its recorded result."""
    measured = [t for t in found.thresholds if t.mark == Outcome.MEASURED]
    sds = [t.sd_db for t in measured if t.sd_db is not None]
    recorded = {
        "tones": found.tones,
        "tones_heard": found.tones_heard,
        "tones_unsure": found.tones_unsure,
        "catch_trials": found.catch_trials,
        "false_alarms": found.false_alarms,
        "unsure_alarms": found.unsure_alarms,
        "retest_wanted": session.settings.retest,
        "retest_difference_db": found.retest_difference_db,
        "posterior_sd_db": mean(sds) if sds else None,
        "posterior_sd_max_db": max(sds, default=None),
    }
    replayed: dict[str, Any] = dict.fromkeys(Quality.__dataclass_fields__)
    if session.test is not None:
        replayed |= _from_replay(session.test, found)
    return Quality(**{**replayed, "retest_verdict": replayed["retest_verdict"] or "", **recorded})


def _from_replay(test: HearingTest, found: EarResult) -> dict[str, Any]:
    """Return what a replay tells of an ear beside its recorded result."""
    ear, given = test.ears[found.route], test.given
    checked = Checks.of(found, ear, given, test.settings)
    listener = ear.estimator.hyperparameters
    return {
        "tones_set_aside": checked.set_aside,
        "pauses": checked.pauses,
        "pauses_pressed": checked.pauses_pressed,
        "checks": checked.checks,
        "checks_missed": checked.checks_missed,
        "doubted_tones": checked.doubted_tones,
        "response_times": given.response_times(found.route),
        "retest_verdict": checked.retest,
        "clear_tones": checked.clear_tones,
        "clear_missed": checked.clear_missed,
        "trial_s": checked.trial_s,
        "response_noise_db": listener.response_noise_db,
        "lapse_rate": listener.lapse_rate,
        "false_alarm_rate": listener.false_alarm_rate,
    }
