"""Named ways of doing the inference."""

from dataclasses import dataclass
from typing import Final

from firmware_py.inference.scales import SCALES


@dataclass(frozen=True)
class Listener:
    """A kind of listener, and the share of listeners who are like that."""

    response_noise_db: float  # SD of the noise between the threshold and the answer
    # `lapse_rate`, `false_alarm_rate`: shares of tones missed, and of silences answered, whatever
    # the level
    lapse_rate: float
    false_alarm_rate: float
    share: float  # prior probability
    unsure_half_width_db: float = 0.0  # of the dead zone; 0: there is no unsure answer


@dataclass(frozen=True)
class MixtureProfile:
    """Inference with a prior learned from people, by expectation propagation."""

    name: str
    kinds: tuple[Listener, ...]  # of listeners, where noise and rates are not given
    # (half width, dB; share) of the dead zones of each kind, where there is one and it is not given
    dead_zones: tuple[tuple[float, float], ...]
    frequency_weight: tuple[tuple[float, float], ...]

    def listeners(
        self,
        response_noise_db: float | None,
        lapse_rate: float | None,
        false_alarm_rate: float | None,
        unsure_half_width_db: float | None,
    ) -> list[Listener]:
        """Return the kinds of listeners when some of noise, rates and half width are given."""
        shares: dict[tuple[float, float, float], float] = {}
        for kind in self.kinds:
            given = (
                kind.response_noise_db if response_noise_db is None else response_noise_db,
                kind.lapse_rate if lapse_rate is None else lapse_rate,
                kind.false_alarm_rate if false_alarm_rate is None else false_alarm_rate,
            )
            shares[given] = shares.get(given, 0.0) + kind.share
        dead_zones = self.dead_zones
        if unsure_half_width_db is not None:
            dead_zones = ((unsure_half_width_db, 1.0),)
        return [
            Listener(*given, share * zone_share, half_width)
            for half_width, zone_share in dead_zones
            for given, share in shares.items()
        ]


@dataclass(frozen=True)
class LaplaceProfile:
    """Inference with one Gaussian process of linear mean, by Laplace's approximation.

    Lengths are in Bark and are scaled to the extent of another frequency scale in proportion.
    """

    name: str
    # `length_bark`, `sd_db`: where the search for them begins, and its limits
    length_bark: float
    sd_db: float
    length_limits_bark: tuple[float, float]
    sd_limits_db: tuple[float, float]
    response_noise_db: float
    frequency_weight: tuple[tuple[float, float], ...]


# The prior learned from people and a likelihood with lapses: the smallest errors measured.
_DEFAULT: Final = MixtureProfile(
    name="default",
    # The noise of people in print is 1.5 to 9 dB, with rates of 1 to 15 %.
    kinds=(
        *(
            Listener(noise_db, 0.01, 0.01, 0.78 * share)  # attentive
            for noise_db, share in (
                (1.0, 0.2),
                (1.8, 0.24),
                (3.2, 0.22),
                (5.7, 0.2),
                (10.0, 0.14),
            )
        ),
        Listener(3.0, 0.06, 0.02, 0.07),  # misses some
        Listener(3.0, 0.02, 0.08, 0.07),  # presses too easily
        Listener(3.0, 0.16, 0.03, 0.05),  # misses many
        Listener(3.0, 0.15, 0.15, 0.03),  # hardly there
    ),
    # From those who never say "perhaps" to those who say it of most tones. With none this wide the
    # bands of the latter are too narrow. Tones are asked at the edges: a true width far from all of
    # these would move the threshold.
    dead_zones=(
        (0.5, 0.22),
        (2.0, 0.22),
        (3.5, 0.17),
        (6.0, 0.15),
        (9.0, 0.1),
        (13.0, 0.07),
        (18.0, 0.07),
    ),
    # The frequencies that hearing aids are fitted by count in full. 750 and 1500 Hz follow from
    # their neighbours, and the borders must not take tones from the middle.
    frequency_weight=(
        (125.0, 0.1),
        (250.0, 0.7),
        (500.0, 1.0),
        (750.0, 0.3),
        (1000.0, 1.0),
        (1500.0, 0.3),
        (2000.0, 1.0),
        (8000.0, 1.0),
        (12000.0, 0.5),
    ),
)

PROFILES: Final[dict[str, LaplaceProfile | MixtureProfile]] = {
    "default": _DEFAULT,
    # Cox & de Vries to the letter: maximum evidence after every trial, no prior on hyperparameters.
    "gp-pta-2015": LaplaceProfile(
        name="gp-pta-2015",
        length_bark=4.0,
        sd_db=12.0,
        length_limits_bark=(0.5, 40.0),
        sd_limits_db=(1.0, 80.0),
        response_noise_db=2.0,
        frequency_weight=((1000.0, 1.0),),
    ),
}


def profile_named(name: str) -> LaplaceProfile | MixtureProfile:
    """Return the profile of this name, or say in a `ValueError` which there are."""
    try:
        return PROFILES[name]
    except (KeyError, TypeError):
        raise ValueError(f"profile is {name!r}; allowed are {', '.join(PROFILES)}") from None


def units_per_bark(scale_name: str) -> float:
    """Return the extent of 125-8000 Hz on a scale relative to its extent in Bark."""
    scale, bark = SCALES[scale_name], SCALES["bark"]
    return (scale.warp(8000.0) - scale.warp(125.0)) / (bark.warp(8000.0) - bark.warp(125.0))
