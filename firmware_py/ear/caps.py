"""How many presentations a test may become: its cap of tones, and all that comes on top of it."""

import math
from typing import Final

from firmware_py.terms.route import RouteKind
from firmware_py.terms.settings import AIR_AND_BONE, Settings

# Of attention.
CHECKS_USUAL: Final = 4  # clear tones of an ear
CHECKS_IN_DOUBT: Final = 8  # more, when a miss was surprising
RUN_AGAIN_TONES: Final = 12  # on top of the cap, for what was answered in runs without attention
RUNS_AGAIN_MAX: Final = 1  # so often they are asked again
DECIDING_TONES_MAX: Final = 12  # about what may have been otherwise
IN_PLACE_TONES: Final = 2  # once the earphone was looked after
# Tones above the cap that the checks of attention may need.
ATTENTION_TONES_MAX: Final = (
    CHECKS_USUAL + CHECKS_IN_DOUBT + 1 + RUN_AGAIN_TONES * RUNS_AGAIN_MAX
    + DECIDING_TONES_MAX + IN_PLACE_TONES
)  # fmt: skip
# Tones above `tones_max` for what is asked again with noise: half an ear, if all was cross-heard.
AGAIN_TONES_MAX: Final = 20
# Of an ear that air has told of: 95 % take 15 without noise. Where a threshold lies at a limit no
# number of tones makes its band as narrow as is wanted.
AFTER_AIR_TONES_MAX: Final = 30
CONFIRM_TONES_MAX: Final = 20  # at a frequency; it takes some 9
CHECKS_MAX: Final = 2  # of the listener, in an ear; after each all may be asked anew
# Of what goes on by itself after a minute: a check of listener or equipment, or which ear is which.
# A presentation takes more than a second.
MINUTE_PRESENTATIONS_MAX: Final = 60


def tones_max(settings: Settings, kind: RouteKind) -> int:
    """Return the cap of an ear's tones, but for those that are asked again, and of attention."""
    return min(settings.tones_max, AFTER_AIR_TONES_MAX) if kind.follows_air else settings.tones_max


def tones_that_count_max(settings: Settings, kind: RouteKind) -> int:
    """Return how many tones may count: by air an ear is judged once more when bone is known."""
    times = 2 if settings.routes == AIR_AND_BONE and not kind.follows_air else 1
    again = times * AGAIN_TONES_MAX if settings.masked else 0
    return settings.tones_max + again + ATTENTION_TONES_MAX


def presentations_max(settings: Settings) -> int:
    """Return how many presentations a test may have; presses and pauses without end apart."""
    share = 1.0 - settings.catch_rate
    checks = MINUTE_PRESENTATIONS_MAX * (CHECKS_MAX + 1)  # of the listener, and of the equipment
    others = CHECKS_MAX * settings.tones_max + CONFIRM_TONES_MAX * len(settings.confirmed_hz)
    return MINUTE_PRESENTATIONS_MAX + sum(
        checks + math.ceil((tones_that_count_max(settings, r.kind) + others) / share)
        for r in settings.tested_routes
    )
