"""Distortion at the frequencies and levels that IEC 60645-1 names, once the levels are measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from device.calibration.before_wearing import EARS, IEC, percent_of
from device.calibration.check_bench import Bench, Check, Tone
from device.calibration.readings import Point
from firmware_py.calibration import checked


@dataclass(frozen=True)
class DistortionByFrequency(Check):
    """Distortion at the levels that the standard names, once it is known how loud the device is."""

    most_percent: float = checked.DISTORTION_MAX_PERCENT
    tones: tuple[Tone, ...] = ()

    def figures(self, bench: Bench) -> dict[str, Any]:
        return {
            f"{tone.route.removesuffix(self.via)}_{tone.frequency_hz}_percent": bench.answer(
                tone, "% of distortion", self._read
            )[0]
            for tone in self.tones
        }

    def _read(self, words: str) -> float:
        advice = "quit, measure all anew (new), and answer softer there; or skip and why"
        return percent_of(words, self.most_percent, advice)


def distortion_by_frequency(
    reference_db: Mapping[int, float], points: Mapping[str, Mapping[int, Point]], *, bone: bool
) -> Check:
    """Return the check of what was measured: `points` by route and frequency, and 0 dB HL."""
    via = "-bone" if bone else ""
    levels_db_hl = checked.DISTORTION_BY_BONE_DB_HL if bone else checked.DISTORTION_DB_HL
    most = checked.DISTORTION_BY_BONE_MAX_PERCENT if bone else checked.DISTORTION_MAX_PERCENT
    tones = [
        _tone_at(f"{ear}{via}", hz, level_db_hl + reference_db[hz], points[f"{ear}{via}"][hz])
        for ear in EARS
        for hz, level_db_hl in levels_db_hl.items()
    ]
    return DistortionByFrequency(
        checked.DISTORTION_BY_HZ_BY_BONE if bone else checked.DISTORTION_BY_HZ,
        "distortion by frequency" + " by bone" * bone,
        "Put what each question names on its coupler, and read the total harmonic distortion.",
        f"{most:g} %, at the levels of the standard or the highest of the device",
        IEC,
        by_coupler=True,
        via=via,
        most_percent=most,
        tones=tuple(tones),
    )


def _tone_at(route: str, frequency_hz: int, level_db: float, point: Point) -> Tone:
    loud_db = min(level_db, point.level_max_db_spl)
    return Tone(route, frequency_hz, round(loud_db - point.sensitivity_db_spl, 2))
