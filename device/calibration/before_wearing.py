"""What is checked of a device before a person wears it: the tone, the reading, its limit. No I/O.

A new check is a row of `CHECKS`, its name and figures in `firmware_py`.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from device.calibration.check_bench import Bench, Check, Tone, decibels_of, number_of, volts_of
from device.calibration.readings import LINEAR_DB, ImplausibleError, MissedError
from firmware_py.calibration import checked
from firmware_py.calibration.checked import REMARK
from firmware_py.operator.meter_tone import DBFS_LIMITS
from firmware_py.session.masking import attenuation_db
from firmware_py.terms.route import LEFT, RIGHT
from firmware_py.terms.settings import PLATEAU_MS_MIN, RISE_TIME_MS

AT_HZ: Final = 1000
LIMIT_STEP_DB: Final = 0.5  # in which the tone generator's own limit is looked for
FULL_SCALE_OFF_DB: Final = 1.0  # of the volts that were computed (own goal)
APART_V_DB: Final = 2.0 * FULL_SCALE_OFF_DB  # of one channel and the other
CROSSTALK_DB: Final = 70.0  # own goal
SHARED_RETURN_DB: Final = 45.0  # about as little as a shared return leaves
# The noise is measured with a soft tone beside it: in silence a DAC may mute itself.
NOISE_HZ: Final = 250
NOISE_DBFS: Final = -100.0
NOISE_DB_HL: Final = -20.0  # 10 dB below the softest tone of an audiogram: nearly nobody hears it
STEP_DB: Final = 10.0
STUCK_DB: Final = 0.5  # another reading by less is the same one
END, BACK = "end", "back"
LEVELS_MIN: Final = 3  # of a linearity
SOFTER_DB: Final = 5.0  # per step, where a tone is distorted
IEC: Final = "IEC 60645-1"
OWN: Final = "own goal"

EARS: Final = (LEFT, RIGHT)


def _remarked(figures: dict[str, Any], remarks: list[str]) -> dict[str, Any]:
    return figures | ({REMARK: "; ".join(remarks)} if remarks else {})


class _OutputLimit(Check):
    def figures(self, bench: Bench) -> dict[str, Any]:
        safe_dbfs = bench.setup.safe_dbfs
        from_dbfs = min(safe_dbfs + LIMIT_STEP_DB, DBFS_LIMITS[1])
        figures = {"safe_dbfs": safe_dbfs}
        for ear in EARS:
            found_dbfs = bench.limit_dbfs(ear, from_dbfs)
            if found_dbfs > safe_dbfs:
                raise ImplausibleError(
                    f"the tone generator plays {found_dbfs:g} dBFS in the {ear} ear; allowed is "
                    f"{safe_dbfs:g} dBFS ({bench.setup.safe_words}): gp-pta install-board "
                    f"--limit-left {safe_dbfs:g} --limit-right {safe_dbfs:g} lowers its limit"
                )
            figures[f"{ear}_dbfs"] = found_dbfs
        return figures


class _ChannelOrder(Check):
    def figures(self, bench: Bench) -> dict[str, Any]:
        for ear in EARS:
            tone = Tone(ear, AT_HZ, bench.setup.soft_dbfs)
            found, _ = bench.answer(tone, "which sounds: left, right, both, none", self._word)
            if found == "none":
                raise ImplausibleError(
                    "nothing sounds: look after plug, amplifier, and the mute pin of the DAC"
                )
            if found == "both":
                raise ImplausibleError(
                    "both sound: the channels touch, or a mono plug is in a stereo jack"
                )
            if found != ear:
                raise ImplausibleError(
                    f"the ears are swapped: the {found} earphone sounds for the {ear} ear. Change "
                    "the two plugs, or left and right at the DAC"
                )
        return {"swapped": 0}

    @staticmethod
    def _word(words: str) -> str:
        if words not in (*EARS, "both", "none"):
            raise ImplausibleError(f"{words!r}; allowed are left, right, both, none, return, quit")
        return words


class _FullScale(Check):
    def figures(self, bench: Bench) -> dict[str, Any]:
        full_scale_v = {}
        remarks = []
        for ear in EARS:
            # As loud as it may be: -20 dBFS are 2 mV in build A, and a multimeter shows tenths.
            tone = Tone(ear, AT_HZ, bench.setup.loud_dbfs)
            volts, level_dbfs = bench.answer(tone, f"at the {ear} earphone, V or mV", volts_of)
            full_scale_v[ear] = round(volts * 10.0 ** (-level_dbfs / 20.0), 4)
            low_v, high_v = checked.FULL_SCALE_LIMITS_V
            if not low_v <= full_scale_v[ear] <= high_v:
                raise ImplausibleError(
                    f"full scale would be {full_scale_v[ear]:g} V; allowed is {low_v:g} to "
                    f"{high_v:g} V: is it mV?"
                )
            remarks += self._beside_computed(ear, full_scale_v[ear], bench.setup.full_scale_v)
        apart_db = abs(_ratio_db(full_scale_v[LEFT], full_scale_v[RIGHT]))
        if apart_db > APART_V_DB:
            remarks.append(f"channels {apart_db:.1f} dB apart")
        return _remarked({f"{ear}_v": volts for ear, volts in full_scale_v.items()}, remarks)

    @staticmethod
    def _beside_computed(ear: str, found_v: float, computed_v: tuple[float, ...]) -> list[str]:
        if not computed_v:
            return []
        off_db = min((_ratio_db(found_v, each) for each in computed_v), key=abs)
        if off_db > FULL_SCALE_OFF_DB:
            raise ImplausibleError(
                f"full scale is {found_v:.3g} V in the {ear} ear, {off_db:.1f} dB above the "
                f"computed; allowed is {FULL_SCALE_OFF_DB:g} dB: see to the resistor; its first "
                "limit is not safe with this one"
            )
        return [f"{ear} {-off_db:.1f} dB low"] if off_db < -FULL_SCALE_OFF_DB else []


class _Crosstalk(Check):
    def figures(self, bench: Bench) -> dict[str, Any]:
        figures, remarks = {}, []
        for ear, other in (EARS, EARS[::-1]):
            tone = Tone(ear, AT_HZ, bench.setup.loud_dbfs)
            loud_v, _ = bench.answer(tone, f"at the {ear} earphone, V or mV", volts_of)
            soft_v, _ = bench.answer(tone, f"at the {other} earphone, mV or uV", volts_of)
            apart_db = round(_ratio_db(loud_v, soft_v), 1)
            shared = (
                "; a shared return of 0.1 Ohm leaves 40 dB between earphones of 10 Ohm: give each "
                "a wire of its own, from the star point on"
                if apart_db <= SHARED_RETURN_DB
                else ""
            )
            least_db = attenuation_db(bench.setup.kind, AT_HZ)
            if apart_db < least_db:
                raise ImplausibleError(
                    f"the {other} earphone is {apart_db:g} dB softer; allowed is {least_db:g} dB "
                    f"and more, which masking counts with{shared}"
                )
            if apart_db < CROSSTALK_DB:
                remarks.append(f"{ear} {apart_db:g} dB, goal {CROSSTALK_DB:g} dB")
            figures[f"{ear}_db"] = min(apart_db, checked.CROSSTALK_LIMITS_DB[1])
        return _remarked(figures, remarks)


class _Noise(Check):
    def figures(self, bench: Bench) -> dict[str, Any]:
        figures, remarks = {}, []
        most_nv = bench.setup.noise_nv
        for ear in EARS:
            question = f"noise at the {ear} earphone from 920 to 1080 Hz, nV or uV"
            volts, _ = bench.answer(Tone(ear, NOISE_HZ, NOISE_DBFS), question, volts_of)
            noise_nv = round(1e9 * volts, 1)
            low_nv = checked.NOISE_LIMITS_NV[0]
            if noise_nv < low_nv:
                raise ImplausibleError(
                    f"{noise_nv:g} nV; allowed is {low_nv:g} nV and more: no meter reads less"
                )
            if most_nv is not None and noise_nv > most_nv:
                level_db_hl = NOISE_DB_HL + _ratio_db(noise_nv, most_nv)
                remarks.append(f"{ear} {level_db_hl:.0f} dB HL, goal {NOISE_DB_HL:g} dB HL")
            figures[f"{ear}_nv"] = noise_nv
        return _remarked(figures, remarks)


@dataclass(frozen=True)
class _Distortion(Check):
    most_percent: float = checked.DISTORTION_MAX_PERCENT

    def figures(self, bench: Bench) -> dict[str, Any]:
        figures: dict[str, Any] = {}
        for ear in EARS:
            level_dbfs = bench.setup.loud_dbfs
            percent = math.nan
            while math.isnan(percent):
                tone = Tone(f"{ear}{self.via}", AT_HZ, level_dbfs)
                question = f"% of distortion (softer: {SOFTER_DB:g} dB less)"
                percent, level_dbfs = bench.answer(tone, question, self._read)
                if math.isnan(percent):
                    level_dbfs -= SOFTER_DB
                if level_dbfs < bench.setup.soft_dbfs:
                    raise ImplausibleError("softer than the soft tone: see to the amplifier")
            figures |= {f"{ear}_percent": percent, f"{ear}_dbfs": level_dbfs}
        return figures

    def _read(self, words: str) -> float:
        if words == "softer":
            return math.nan
        return percent_of(
            words, self.most_percent,
            f"softer plays {SOFTER_DB:g} dB less, which is then the device's highest level",
        )  # fmt: skip


def percent_of(words: str, most_percent: float, advice: str) -> float:
    percent = number_of(words, {"%": 1.0}, "%")
    if not 0.0 <= percent <= 100.0:
        raise ImplausibleError(f"{percent:g} %; a reading is from 0 to 100 %")
    if percent > most_percent:
        raise MissedError(f"{percent:g} %; allowed is up to {most_percent:g} % ({IEC}): {advice}")
    return percent


class _Linearity(Check):
    def figures(self, bench: Bench) -> dict[str, Any]:
        figures: dict[str, Any] = {}
        remarks = []
        for ear in EARS:
            heard = self._down(bench, ear)
            offsets_db = [level_db - level_dbfs for level_dbfs, level_db in heard]
            worst_db = round(max(abs(each - offsets_db[0]) for each in offsets_db), 2)
            lowest_dbfs = heard[-1][0]
            if worst_db > LINEAR_DB:
                remarks.append(f"{ear} {worst_db:.1f} dB off")
            if lowest_dbfs >= DBFS_LIMITS[0] + STEP_DB:
                remarks.append(f"{ear} to {lowest_dbfs:.0f} dBFS")
            figures |= {f"{ear}_worst_db": worst_db, f"{ear}_lowest_dbfs": lowest_dbfs}
        return _remarked(figures, remarks)

    @staticmethod
    def _down(bench: Bench, ear: str) -> list[tuple[float, float]]:
        """Return what was read at each level, dBFS and dB, the loudest first."""
        heard: list[tuple[float, float]] = []
        level_dbfs = bench.setup.loud_dbfs
        while level_dbfs >= DBFS_LIMITS[0]:
            tone = Tone(ear, AT_HZ, level_dbfs)
            read = partial(_step_of, heard, level_dbfs)
            found, sounded_dbfs = bench.answer(tone, "dB or volts (end: only noise; back)", read)
            if found == END:
                break
            if found == BACK:
                heard.pop()
            else:
                heard.append((sounded_dbfs, float(found)))
            level_dbfs = heard[-1][0] - STEP_DB if heard else bench.setup.loud_dbfs
        return heard


def _step_of(heard: list[tuple[float, float]], level_dbfs: float, words: str) -> float | str:
    """Read the next step down, `END` or `BACK`; refuse one that does not follow those before."""
    if words == END and len(heard) < LEVELS_MIN:
        raise ImplausibleError(f"levels read: {len(heard)}; allowed is {LEVELS_MIN} and more")
    if words == BACK and not heard:
        raise ImplausibleError("this is the first level")
    if words in (END, BACK):
        return words
    level_db = decibels_of(words)
    if heard:
        before_dbfs, before_db = heard[-1]
        _check_step(before_dbfs - level_dbfs, before_db - level_db, len(heard) == 1)
    return level_db


def _check_step(told_db: float, read_db: float, first: bool) -> None:
    gave = f"{told_db:g} dB less gave {-read_db:+.1f} dB on the meter"
    if abs(read_db) < STUCK_DB:
        raise ImplausibleError(
            f"{gave}: the reading stays the same. The meter holds it, clips, or shows its own noise"
        )
    if read_db < told_db - LINEAR_DB and first:
        raise ImplausibleError(
            f"{gave}; allowed is {LINEAR_DB:g} dB off: the meter or the output clips at the louder "
            "one. Take the meter's next range and answer back, or begin again with a softer --loud"
        )
    if abs(read_db - told_db) > LINEAR_DB:
        raise ImplausibleError(
            f"{gave}; allowed is {LINEAR_DB:g} dB off: is a digit wrong, or the meter's range? "
            "Where it shows its own noise, answer end"
        )


class _RiseAndFall(Check):
    def figures(self, bench: Bench) -> dict[str, Any]:
        tone = Tone(LEFT, AT_HZ, bench.setup.loud_dbfs, pulsed=True)
        asked = {
            "rise": "rise, a tenth to nine tenths",
            "fall": "fall, nine tenths to a tenth",
            "plateau": "plateau between",
        }
        return {
            f"{name}_ms": bench.answer(tone, f"{words}, ms", partial(_ms, name))[0]
            for name, words in asked.items()
        }


def _ms(name: str, words: str) -> float:
    ms = number_of(words, {"ms": 1.0}, "ms")
    low_ms, high_ms = checked.FIGURES[checked.RISE_AND_FALL][f"{name}_ms"]
    if not low_ms <= ms <= high_ms:
        raise MissedError(
            f"the {name} is {ms:g} ms; allowed is {low_ms:g} to {high_ms:g} ms ({IEC})"
        )
    return ms


def _ratio_db(one: float, other: float) -> float:
    return 20.0 * math.log10(one / other)


# In the order in which they are made. Levels come after those of the earphones, and then the
# vibrator.
CHECKS: Final = (
    _OutputLimit(
        checked.OUTPUT_LIMIT,
        "output limit",
        "Put both earphones on the table. What is above the limit has to be refused; soft tones "
        "sound on the way.",
        "the safe first limit, or --limit",
        "device/build/README.md",
    ),
    _ChannelOrder(
        checked.CHANNEL_ORDER,
        "left and right",
        "Hold the earphones in the hand, and listen which one sounds.",
        "left is left",
        IEC,
    ),
    _FullScale(
        checked.FULL_SCALE,
        "full scale in volts",
        "Put a true-rms multimeter across each earphone, or a resistor of its impedance, behind "
        "the resistor in series.",
        f"the computed volts of the build, {FULL_SCALE_OFF_DB:g} dB off",
        OWN,
    ),
    _Crosstalk(
        checked.CROSSTALK,
        "crosstalk",
        "Leave both earphones connected. Read the volts of the one that sounds, and of the other; "
        "where a multimeter shows too little, behind an amplifier (x100), divided by its gain.",
        f"{CROSSTALK_DB:g} dB; what masking counts with is needed",
        f"{OWN}; ISO 8253-1",
    ),
    _Noise(
        checked.NOISE,
        "noise floor",
        "Put an amplifier (x100) and an FFT behind each earphone, and divide by its gain.",
        f"{NOISE_DB_HL:g} dB HL in the critical band of {AT_HZ} Hz",
        "computed from the earphone's sensitivity",
    ),
    _Distortion(
        checked.DISTORTION,
        "distortion",
        "Put the earphone of each question on the coupler, and read the total harmonic distortion.",
        f"{checked.DISTORTION_MAX_PERCENT:g} %",
        IEC,
        by_coupler=True,
    ),
    _Linearity(
        checked.LINEARITY,
        "linearity",
        f"Read the tone in steps of {STEP_DB:g} dB, down to where the meter shows only noise.",
        f"{LINEAR_DB:g} dB, down to {DBFS_LIMITS[0]:g} dBFS",
        OWN,
    ),
    _RiseAndFall(
        checked.RISE_AND_FALL,
        "rise and fall",
        "Put an oscilloscope on the left earphone. The tone has the pulses of a test.",
        f"{RISE_TIME_MS[0]:g} to {RISE_TIME_MS[1]:g} ms, plateau {PLATEAU_MS_MIN} ms and more",
        IEC,
    ),
)  # fmt: skip
CHECKS_OF_VIBRATOR: Final = (
    _Distortion(
        checked.DISTORTION_BY_BONE,
        "distortion by bone",
        "Put the vibrator on the mechanical coupler, and read the total harmonic distortion.",
        f"{checked.DISTORTION_BY_BONE_MAX_PERCENT:g} %",
        IEC,
        by_coupler=True,
        most_percent=checked.DISTORTION_BY_BONE_MAX_PERCENT,
        via="-bone",
    ),
)
