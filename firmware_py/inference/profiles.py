"""Named ways of doing the inference."""

import math
from dataclasses import dataclass
from typing import Final

from firmware_py.inference.scales import SCALES


@dataclass(frozen=True)
class LogNormal:
    """A log-normal prior: median, and SD of the natural logarithm (infinite: flat)."""

    median: float
    log_sd: float

    @property
    def precision(self) -> float:
        """Return the precision of the logarithm, 0 for a flat prior."""
        return 1.0 / (self.log_sd * self.log_sd)


@dataclass(frozen=True)
class Profile:
    """What distinguishes one way of inference from another.

    Lengths are in Bark and are scaled to the extent of another frequency scale in proportion.
    """

    name: str
    length_bark: LogNormal
    sd_db: LogNormal
    length_limits_bark: tuple[float, float]
    sd_limits_db: tuple[float, float]
    response_noise_db: float = 2.0
    offset_sd_db: float = 0.0
    frequency_weight: tuple[tuple[float, float], ...] = ((1000.0, 1.0),)
    annealing_start_db: float = 0.0
    annealing_factor: float = 1.0

    def noise_db(self, response_noise_db: float, trial_count: int) -> float:
        """Return the response noise used for inference after so many trials.

        Far from the prior mean a likelihood much narrower than the prior is a step, and Laplace's
        mode sticks to its edge with far too small a variance. Inference therefore starts with a
        broad likelihood and narrows it, sigma_n = max(sigma, start factor**n). The power is
        multiplied out, so that it has the same bits on every machine.
        """
        annealed_db = self.annealing_start_db
        for _ in range(trial_count):
            if annealed_db <= response_noise_db:
                break
            annealed_db *= self.annealing_factor
        return max(response_noise_db, annealed_db)


PROFILES: Final = {
    "default": Profile(
        name="default",
        length_bark=LogNormal(median=4.0, log_sd=0.5),
        sd_db=LogNormal(median=12.0, log_sd=0.6),
        length_limits_bark=(0.5, 40.0),
        sd_limits_db=(1.0, 80.0),
        # How far the mean of one standard audiogram lies from the mean of all ten (SD 28 dB).
        offset_sd_db=28.0,
        # Beyond 250-6000 Hz the threshold counts less; otherwise a third of the tones go there.
        frequency_weight=((125.0, 0.3), (250.0, 1.0), (6000.0, 1.0), (8000.0, 0.6)),
        annealing_start_db=20.0,
        annealing_factor=0.85,
    ),
    # Cox & de Vries to the letter: maximum evidence after every trial, no prior on hyperparameters.
    "gp-pta-2015": Profile(
        name="gp-pta-2015",
        length_bark=LogNormal(median=4.0, log_sd=math.inf),
        sd_db=LogNormal(median=12.0, log_sd=math.inf),
        length_limits_bark=(0.5, 40.0),
        sd_limits_db=(1.0, 80.0),
    ),
}


def profile_named(name: str) -> Profile:
    """Return the profile of this name.

    Raises
    ------
    ValueError
        If there is no such profile.
    """
    try:
        return PROFILES[name]
    except (KeyError, TypeError):
        raise ValueError(f"profile is {name!r}; allowed are {', '.join(PROFILES)}") from None


def units_per_bark(scale_name: str) -> float:
    """Return the extent of 125-8000 Hz on a scale relative to its extent in Bark."""
    scale, bark = SCALES[scale_name], SCALES["bark"]
    return (scale.warp(8000.0) - scale.warp(125.0)) / (bark.warp(8000.0) - bark.warp(125.0))
