"""Stories that are written out: one in which nothing happens, and those that once ended badly."""

from dataclasses import replace
from typing import Final

from device.simulator.faults import FaultRates
from tests.simulation.story import SHORT, Story, Trouble, drawn

QUIET: Final = replace(
    drawn(1),
    settings={**drawn(1).settings, "ears": "left", "profile": "annealed-laplace",
              "stop_half_width_db": 25.0, "response_noise_db": 2.0},
    listener={"audiogram": "N3", "lapse_rate": 0.0, "false_alarm_rate": 0.0, "seed": 1},
    troubles=(),
).only((), ())  # fmt: skip

# With the seed at which each was found; written out, so that they stay what they are.
ONCE_BAD: Final[dict[str, Story]] = {
    "a release that was passed over pauses the test for ever": Story(
        649,
        {**SHORT, "ears": "right", "profile": "default", "stop_half_width_db": 8.0,
         "level_max_db_hl": 80.0, "catch_rate": 0.0, "retest": False, "response_noise_db": 2.0,
         "seed": 841},
        {"audiogram": "N5", "lapse_rate": 0.0, "false_alarm_rate": 0.0, "seed": 681},
        23.957663800635096,
        (Trouble("listener answers everything", 6.940453, 13.681, 3711895589),),
        FaultRates(garble=0.25, delay=0.25),
    ),
    "a test resumed before its start waits for ever for a board that was lost": Story(
        103175,
        {**SHORT, "ears": "right", "profile": "gp-pta-2015", "stop_half_width_db": 25.0,
         "level_max_db_hl": 80.0, "catch_rate": 0.0, "retest": False, "response_noise_db": 2.0,
         "seed": 190},
        {"audiogram": "N3", "lapse_rate": 0.2, "false_alarm_rate": 0.0, "seed": 128},
        18.189281018464015,
        (Trouble("power cut while writing", 4.515347, 0.0, 3332552923),),
        FaultRates(drop=0.25, merge=0.25),
    ),
    "noise ended by itself while the host stood still, and its tone came without": Story(
        3974,
        {**SHORT, "ears": "both", "profile": "default", "stop_half_width_db": 40.0,
         "level_max_db_hl": 100.0, "catch_rate": 0.1, "retest": False, "response_noise_db": None,
         "seed": 957},
        {"audiogram": "N3", "lapse_rate": 0.0, "false_alarm_rate": 0.02, "seed": 515},
        29.842672940958778,
        (Trouble("power cut of all", 7.174218, 0.0, 4011736952),
         Trouble("not scheduled", 28.220725, 3.822, 1626328427)),
        FaultRates(garble=0.1, duplicate=0.1),
        talkative=True,
        pin=True,
        calibration="good",
    ),
    "the ledger looked for a press from before the test, in a journal not written yet": Story(
        69681,
        {**SHORT, "ears": "left", "profile": "default", "stop_half_width_db": 25.0,
         "level_max_db_hl": 60.0, "catch_rate": 0.3, "retest": True, "response_noise_db": 2.0,
         "seed": 700},
        {"audiogram": "S1", "lapse_rate": 0.2, "false_alarm_rate": 0.2, "seed": 985},
        14.465890777116412,
        (Trouble("button bounces", 0.770016, 0.0, 281323022),
         Trouble("disk error", 2.05206, 0.0, 4224512717)),
        FaultRates(drop=0.25),
        sealed=True,
        calibration="good",
    ),
    "the ledger passed over a line that was on the disk, because of what was torn after it": Story(
        121151,
        {**SHORT, "ears": "right", "profile": "gp-pta-2015", "stop_half_width_db": 40.0,
         "level_max_db_hl": 60.0, "catch_rate": 0.1, "retest": True, "response_noise_db": 2.0,
         "seed": 370},
        {"audiogram": "N3", "lapse_rate": 0.0, "false_alarm_rate": 0.0, "seed": 323},
        18.034971572498574,
        (Trouble("button bounces", 0.498351, 0.0, 1643923315),
         Trouble("power cut while writing", 2.204416, 0.0, 2002657285),
         Trouble("power cut of all", 6.474194, 0.0, 4090939228),
         Trouble("button bounces", 11.343991, 0.0, 1913085),
         Trouble("power cut while writing", 11.635084, 0.0, 2000357345)),
        FaultRates(delay=0.1, merge=0.1),
        talkative=True,
    ),
    "a journal is followed as it was before a failed write was taken back": Story(
        200033,
        {**SHORT, "profile": "gp-pta-2015", "stop_half_width_db": 25.0, "level_max_db_hl": 60.0,
         "catch_rate": 0.3, "retest": True, "response_noise_db": None, "seed": 817},
        {"audiogram": "N3", "lapse_rate": 0.2, "false_alarm_rate": 0.02, "seed": 780},
        15.999620604587934,
        (Trouble("disk read-only", 5.685007, 8.237, 3804215682),),
        pin=True,
        sealed=True,
    ),
}  # fmt: skip
