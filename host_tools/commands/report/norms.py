"""What is usual at an age: ISO 7029:2017, thresholds of otologically normal people.

The median rises above that at 18 years by a (age - 18)^b dB; around it thresholds scatter as two
halves of normal distributions, with SDs that are polynomials of (age - 18): one for what is worse
than the median, one for what is better (tables 1 to 5). The median at 18 years is 0 dB HL, as the
reference zero of audiometers is made (ISO 389).

The coefficients were taken from two secondary sources that agree in every figure; the standard
itself was not at hand.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, NamedTuple

from firmware_py.procedure.person import FEMALE, MALE, Person, Sex

STANDARD: Final = "ISO 7029:2017"
AGE_MIN_YEARS: Final = 18.0
AGE_MAX_YEARS: Final = 80.0
# Above this frequency the standard gives people above this age for information only.
INFORMATIVE_ABOVE_HZ: Final = 2000
INFORMATIVE_ABOVE_YEARS: Final = 70.0
_STANDARD_NORMAL: Final = NormalDist()


class _Row(NamedTuple):
    """Of one frequency: a and b of the median, and both polynomials, lowest power first, in dB."""

    median: tuple[float, float]
    worse: tuple[float, ...]
    better: tuple[float, ...]


_TABLE: Final[dict[str, dict[int, _Row]]] = {
    MALE: {
        125: _Row(
            (2.5e-06, 3.841),
            (4.63, 0.645, -0.0885, 0.00369, -5.98e-05, 3.39e-07),
            (3.34, 0.131, -0.0202, 0.00112, -2.28e-05, 1.57e-07),
        ),
        250: _Row(
            (0.000139, 2.832),
            (5.27, 0.71, -0.0913, 0.00364, -5.74e-05, 3.22e-07),
            (3.32, 0.23, -0.0254, 0.0012, -2.27e-05, 1.46e-07),
        ),
        500: _Row(
            (0.000459, 2.537),
            (4.98, 0.751, -0.092, 0.00368, -5.84e-05, 3.28e-07),
            (3.43, 0.362, -0.0411, 0.00187, -3.44e-05, 2.21e-07),
        ),
        750: _Row(
            (0.00057, 2.512),
            (4.65, 0.733, -0.0881, 0.00359, -5.76e-05, 3.24e-07),
            (3.6, 0.384, -0.0443, 0.00198, -3.55e-05, 2.22e-07),
        ),
        1000: _Row(
            (0.000702, 2.494),
            (4.42, 0.714, -0.0854, 0.00357, -5.82e-05, 3.29e-07),
            (3.77, 0.363, -0.0419, 0.00182, -3.14e-05, 1.89e-07),
        ),
        1500: _Row(
            (0.00109, 2.446),
            (4.14, 0.679, -0.0804, 0.00352, -5.89e-05, 3.35e-07),
            (3.93, 0.365, -0.0422, 0.00179, -2.96e-05, 1.7e-07),
        ),
        2000: _Row(
            (0.00156, 2.404),
            (4.1, 0.632, -0.0753, 0.00346, -5.94e-05, 3.4e-07),
            (4.01, 0.387, -0.0447, 0.00187, -3.02e-05, 1.69e-07),
        ),
        3000: _Row(
            (0.00254, 2.35),
            (4.29, 0.53, -0.0628, 0.00309, -5.37e-05, 2.95e-07),
            (4.11, 0.405, -0.0456, 0.00186, -2.83e-05, 1.46e-07),
        ),
        4000: _Row(
            (0.0034, 2.325),
            (4.68, 0.455, -0.0552, 0.00295, -5.3e-05, 2.92e-07),
            (4.09, 0.439, -0.0478, 0.00192, -2.84e-05, 1.4e-07),
        ),
        6000: _Row(
            (0.00453, 2.315),
            (5.61, 0.363, -0.0472, 0.00292, -5.58e-05, 3.12e-07),
            (4.01, 0.497, -0.0497, 0.00193, -2.67e-05, 1.18e-07),
        ),
        8000: _Row(
            (0.00506, 2.328),
            (6.62, 0.291, -0.0416, 0.00292, -5.85e-05, 3.33e-07),
            (3.9, 0.559, -0.0562, 0.0024, -3.92e-05, 2.29e-07),
        ),
    },
    FEMALE: {
        125: _Row(
            (0.000616, 2.451),
            (5.05, 0.4, -0.046, 0.00173, -2.75e-05, 1.71e-07),
            (3.64, 0.047, 0.00228, -6.68e-05, -8.72e-07, 2.3e-08),
        ),
        250: _Row(
            (0.000398, 2.568),
            (5.01, 0.481, -0.0488, 0.0018, -2.81e-05, 1.67e-07),
            (3.11, 0.226, -0.00771, 9.83e-05, -7.11e-07, 9.02e-09),
        ),
        500: _Row(
            (0.000261, 2.708),
            (4.68, 0.51, -0.0516, 0.00195, -3.07e-05, 1.77e-07),
            (2.98, 0.338, -0.0174, 0.000353, -2.78e-06, 1.01e-08),
        ),
        750: _Row(
            (0.000225, 2.775),
            (4.45, 0.511, -0.0525, 0.00203, -3.18e-05, 1.81e-07),
            (3.03, 0.378, -0.0224, 0.00052, -4.6e-06, 1.5e-08),
        ),
        1000: _Row(
            (0.000221, 2.805),
            (4.34, 0.492, -0.0515, 0.00203, -3.18e-05, 1.78e-07),
            (3.15, 0.382, -0.0239, 0.000562, -4.6e-06, 9.87e-09),
        ),
        1500: _Row(
            (0.000253, 2.813),
            (4.23, 0.479, -0.0512, 0.00207, -3.26e-05, 1.8e-07),
            (3.32, 0.387, -0.0264, 0.000671, -5.76e-06, 1.07e-08),
        ),
        2000: _Row(
            (0.000312, 2.792),
            (4.26, 0.456, -0.0491, 0.00201, -3.16e-05, 1.7e-07),
            (3.47, 0.392, -0.0284, 0.000779, -7.35e-06, 1.71e-08),
        ),
        3000: _Row(
            (0.000488, 2.728),
            (4.36, 0.476, -0.0515, 0.00219, -3.51e-05, 1.91e-07),
            (3.69, 0.392, -0.0296, 0.000844, -7.55e-06, 8.16e-09),
        ),
        4000: _Row(
            (0.000737, 2.66),
            (4.61, 0.477, -0.0507, 0.00219, -3.51e-05, 1.88e-07),
            (3.84, 0.402, -0.0317, 0.000999, -1.08e-05, 2.99e-08),
        ),
        6000: _Row(
            (0.00147, 2.539),
            (5.22, 0.483, -0.0483, 0.00213, -3.39e-05, 1.74e-07),
            (4.04, 0.403, -0.0315, 0.00106, -1.21e-05, 3.44e-08),
        ),
        8000: _Row(
            (0.00253, 2.439),
            (5.84, 0.516, -0.0489, 0.00218, -3.49e-05, 1.77e-07),
            (4.15, 0.413, -0.0301, 0.001, -9.97e-06, 8.74e-09),
        ),
    },
}


@dataclass(frozen=True)
class AgeNorm:
    """What is usual for people of an age and sex; made by `norm_of`."""

    age_years: float
    sex: Sex

    @property
    def title(self) -> str:
        """Return whom it is about."""
        people = "women" if self.sex == FEMALE else "men"
        source = STANDARD
        if self.age_years > INFORMATIVE_ABOVE_YEARS:
            source += f", above {INFORMATIVE_ABOVE_HZ} Hz for information only"
        return f"otologically normal {people} of {self.age_years:g} ({source})"

    @property
    def frequencies_hz(self) -> tuple[int, ...]:
        """Return where there is one."""
        return tuple(_TABLE[self.sex])

    def threshold_db_hl(self, frequency_hz: int, share: float) -> float:
        """Return the threshold that this share of people do not exceed; 0.5: the median."""
        z = _STANDARD_NORMAL.inv_cdf(share)
        return self._median_db_hl(frequency_hz) + z * self._sd_db(frequency_hz, z > 0.0)

    def share_better(self, frequency_hz: int, threshold_db_hl: float) -> float:
        """Return the share of people whose threshold is lower than this."""
        above_db = threshold_db_hl - self._median_db_hl(frequency_hz)
        return _STANDARD_NORMAL.cdf(above_db / self._sd_db(frequency_hz, above_db > 0.0))

    def _median_db_hl(self, frequency_hz: int) -> float:
        a, b = _TABLE[self.sex][frequency_hz].median
        return float(a * self._years**b)

    def _sd_db(self, frequency_hz: int, worse: bool) -> float:
        row = _TABLE[self.sex][frequency_hz]
        powers = enumerate(row.worse if worse else row.better)
        return float(sum(c * self._years**power for power, c in powers))

    @property
    def _years(self) -> float:
        return self.age_years - AGE_MIN_YEARS


def norm_of(person: Person) -> AgeNorm | None:
    """Return what is usual for a person; None: see `why_no_norm`."""
    if why_no_norm(person) or person.age_years is None or person.sex is None:
        return None
    return AgeNorm(person.age_years, person.sex)


def why_no_norm(person: Person) -> str:
    """Say why there is no norm for a person, "" if there is one."""
    if person.age_years is None or person.sex is None:
        return f"age and sex were not told, which {STANDARD} needs"
    if not AGE_MIN_YEARS <= person.age_years <= AGE_MAX_YEARS:
        return (
            f"age is {person.age_years:g} years; {STANDARD} has {AGE_MIN_YEARS:g} to "
            f"{AGE_MAX_YEARS:g}"
        )
    return ""
