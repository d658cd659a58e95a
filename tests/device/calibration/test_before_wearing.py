"""Each check refuses what cannot be right, remarks on a missed goal, and tells its figures."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeVar

import pytest

from device.calibration.before_wearing import CHECKS, CHECKS_OF_VIBRATOR
from device.calibration.check_bench import VOLTS, Check, Setup, Tone, number_of
from device.calibration.distortion_by_frequency import distortion_by_frequency
from device.calibration.readings import ImplausibleError, Point
from device.calibration.retfl import reference_forces
from device.calibration.retspl import reference_levels
from firmware_py.calibration.checked import FIGURES, check_outcome
from firmware_py.terms.calibration_states import CHECKS as NAMES

T = TypeVar("T")

SETUP: Final = Setup(
    kind="supra-aural", safe_dbfs=-20.0, safe_words="build B", loud_dbfs=-20.0, soft_dbfs=-40.0,
    full_scale_v=(0.16,), noise_nv=89.0,
)  # fmt: skip
# A device that gives 125 dB at full scale, and is not to be louder than 100 dB.
POINTS: Final = {
    f"{ear}{via}": {hz: Point(125.0, 100.0) for hz in (125, 250, 500, 1000, 2000, 4000)}
    for ear in ("left", "right")
    for via in ("", "-bone")
}
OF_LEVELS: Final = (
    distortion_by_frequency(reference_levels("tdh39").levels_db_spl, POINTS, bone=False),
    distortion_by_frequency(reference_forces("b71").levels_db_un, POINTS, bone=True),
)
ALL: Final = (*CHECKS, *CHECKS_OF_VIBRATOR, *OF_LEVELS)
BY_NAME: Final = {check.name: check for check in ALL}


class Typist:
    """A bench at which answers are typed in turn; what is refused is taken for the next one."""

    def __init__(self, answers: str = "", setup: Setup = SETUP, limit_dbfs: float = -25.0) -> None:
        self.setup = setup
        self.limit = limit_dbfs
        self.refused: list[str] = []
        self.tones: list[Tone] = []
        self._answers = [each.strip() for each in answers.split(";")]

    def limit_dbfs(self, _ear: str, from_dbfs: float) -> float:
        return min(from_dbfs, self.limit)

    def answer(self, tone: Tone, _question: str, read: Callable[[str], T]) -> tuple[T, float]:
        while True:
            self.tones.append(tone)
            try:
                return read(self._answers.pop(0)), tone.level_dbfs
            except ImplausibleError as error:
                self.refused.append(str(error))


def made(name: str, answers: str = "", setup: Setup = SETUP) -> tuple[dict[str, Any], Typist]:
    """Return the figures of a check, which its file allows, and the bench."""
    bench = Typist(answers, setup)
    figures = BY_NAME[name].figures(bench)
    check_outcome(name, figures)
    return figures, bench


def refusal(name: str, answers: str, setup: Setup = SETUP) -> str:
    with pytest.raises(ImplausibleError) as error:
        BY_NAME[name].figures(Typist(answers, setup))
    return str(error.value)


def steps(first_db: float, by: list[float]) -> str:
    levels = [first_db]
    for step in by:
        levels.append(levels[-1] - step)
    return "; ".join(f"{level:.2f}" for level in levels)


def test_the_output_limit_comes_first_and_every_check_is_in_the_file() -> None:
    assert [check.name for check in ALL] == [*NAMES]
    assert NAMES[0] == "output-limit"
    assert FIGURES.keys() == {*NAMES}


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.name)
def test_each_says_what_to_do_its_limit_and_whose_that_is(check: Check) -> None:
    assert 1 <= check.do.count(".") <= 2 + check.do.count("0.")
    assert check.limit
    assert check.source


def test_a_limit_of_the_board_above_the_first_one_is_refused() -> None:
    figures, _ = made("output-limit")
    assert figures == {"safe_dbfs": -20.0, "left_dbfs": -25.0, "right_dbfs": -25.0}
    with pytest.raises(ImplausibleError) as error:
        BY_NAME["output-limit"].figures(Typist(limit_dbfs=-19.5))
    assert "plays -19.5 dBFS in the left ear; allowed is -20 dBFS (build B)" in str(error.value)
    assert "gp-pta install-board --limit-left -20 --limit-right -20" in str(error.value)
    assert made("output-limit", setup=replace(SETUP, safe_dbfs=0.0))[0]["left_dbfs"] == -25.0


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ("right", "the ears are swapped: the right earphone sounds for the left ear. Change the "),
        ("left; left", "the ears are swapped: the left earphone sounds for the right ear"),
        ("both", "both sound: the channels touch, or a mono plug"),
        ("none", "nothing sounds: look after plug"),
    ],
)
def test_ears_in_another_order_are_refused_with_what_to_do(answers: str, words: str) -> None:
    assert words in refusal("channel-order", answers)
    figures, bench = made("channel-order", "l; left; right")
    assert figures == {"swapped": 0}
    assert bench.refused == ["'l'; allowed are left, right, both, none, return, quit"]
    assert {tone.level_dbfs for tone in bench.tones} == {SETUP.soft_dbfs}, "a soft tone"


def test_full_scale_is_what_was_computed_within_1_db() -> None:
    """16 mV at -20 dBFS are 160 mV at full scale."""
    assert made("full-scale", "16 mV; 0.0175 V")[0] == {"left_v": 0.16, "right_v": 0.175}
    assert "1.2 dB above the computed" in refusal("full-scale", "18.4 mV")
    below = made("full-scale", "16 mV; 14 mV")[0]
    assert below["remark"] == "right 1.2 dB low"
    assert "remark" not in made("full-scale", "16 mV; 14.4 mV")[0]
    unknown = replace(SETUP, full_scale_v=())
    assert "remark" not in made("full-scale", "100 mV; 80 mV", unknown)[0]
    apart = made("full-scale", "100 mV; 79 mV", unknown)[0]
    assert apart["remark"] == "channels 2.0 dB apart"
    assert "full scale would be 20 V; allowed is 0.001 to 10 V: is it mV?" in refusal(
        "full-scale", "2 V"
    )


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("16", "'16'; allowed are numbers in V, mV, uV, nV, return and quit"),
        ("0 V", "0 V; a reading is above 0 V, and up to 10 V"),
        ("-3 mV", "-0.003 V; a reading is above 0 V, and up to 10 V"),
        ("230 V", "230 V; a reading is above 0 V, and up to 10 V"),
        ("nan mV", "'nan mV'; allowed are"),
        ("volts", "'volts'; allowed are"),
    ],
)
def test_volts_that_are_none_are_asked_again(typed: str, words: str) -> None:
    _, bench = made("full-scale", f"{typed}; 16 mV; 16 mV")
    assert [words in each for each in bench.refused] == [True]


@pytest.mark.parametrize(
    ("typed", "volts"),
    [("16mV", 0.016), ("16,5 MV", 0.0165), ("3 \u00b5V", 3e-6), ("89 nV", 89e-9)],
)
def test_volts_are_typed_as_people_do(typed: str, volts: float) -> None:
    assert number_of(typed, VOLTS) == pytest.approx(volts)


def test_crosstalk_has_a_goal_of_70_db_and_masking_needs_40() -> None:
    assert made("crosstalk", "1 V; 0.3 mV; 1 V; 0.1 mV")[0] == {"left_db": 70.5, "right_db": 80.0}
    figures = made("crosstalk", "1 V; 0.1 mV; 1 V; 0.32 mV")[0]
    assert figures["remark"] == "right 69.9 dB, goal 70 dB"
    words = refusal("crosstalk", "1 V; 10.1 mV")
    assert "the right earphone is 39.9 dB softer; allowed is 40 dB and more, which masking" in words
    assert "a shared return of 0.1 Ohm leaves 40 dB between earphones of 10 Ohm" in words
    assert made("crosstalk", "1 V; 9.9 mV; 1 V; 9.9 mV")[0]["left_db"] == 40.1
    inserts = replace(SETUP, kind="insert")
    assert "54.9 dB softer; allowed is 55 dB" in refusal("crosstalk", "1 V; 1.8 mV", inserts)


def test_noise_has_a_goal_20_db_below_0_db_hl() -> None:
    """89 nV of a TDH39 in the critical band are -20 dB HL; twice as much are 6 dB more."""
    figures, bench = made("noise", "89 nV; 0.178 uV")
    assert figures == {
        "left_nv": 89.0,
        "right_nv": 178.0,
        "remark": "right -14 dB HL, goal -20 dB HL",
    }
    assert {tone.level_dbfs for tone in bench.tones} == {-100.0}, "in silence a DAC may be mute"
    assert "remark" not in made("noise", "1 uV; 1 uV", replace(SETUP, noise_nv=None))[0]
    assert "0.5 nV; allowed is 1 nV and more" in refusal("noise", "0.5 nV")


@pytest.mark.parametrize(("name", "most"), [("distortion", 2.5), ("distortion-by-bone", 5.5)])
def test_distortion_is_that_of_the_standard_or_the_tone_is_softer(name: str, most: float) -> None:
    figures, bench = made(name, f"{most + 0.1}; softer; {most}; 0.5 %")
    assert f"{most + 0.1:g} %; allowed is up to {most:g} % (IEC 60645-1)" in bench.refused[0]
    assert figures["left_percent"] == most
    assert (figures["left_dbfs"], figures["right_dbfs"]) == (-25.0, -20.0)
    bone = "-bone" * (name != "distortion")
    assert [tone.route for tone in bench.tones] == [f"left{bone}"] * 3 + [f"right{bone}"]
    assert "101 %; a reading is from 0 to 100 %" in made(name, "101; 1; 1")[1].refused[0]
    assert "softer than the soft tone" in refusal(name, "; ".join(["softer"] * 5))


@pytest.mark.parametrize(
    ("name", "most", "dbfs"),
    [
        # 45 + 75, 25.5 + 75, 11.5 + 110 ... dB SPL, but none above 100.
        ("distortion-by-frequency", 2.5, (-25.0, -25.0, -25.0, -25.0, -25.0, -25.0)),
        # 67 + 20, 58 + 50, 42.5 + 60, 31 + 60, 35.5 + 60 dB re 1 uN.
        ("distortion-by-frequency-by-bone", 5.5, (-38.0, -25.0, -25.0, -34.0, -29.5)),
    ],
)
def test_distortion_is_measured_at_the_levels_that_iec_60645_1_names(
    name: str, most: float, dbfs: tuple[float, ...]
) -> None:
    figures, bench = made(name, "; ".join([f"{most + 0.1}", *[f"{most}"] * 2 * len(dbfs)]))
    assert "quit, measure all anew (new), and answer softer there" in bench.refused[0]
    assert {*figures.values()} == {most}
    assert [tone.level_dbfs for tone in bench.tones[1:]] == [*dbfs, *dbfs]
    assert f"left_{bench.tones[0].frequency_hz}_percent" in figures
    assert len(figures) == 2 * len(dbfs)


def test_a_quieter_level_than_the_highest_is_that_of_the_standard() -> None:
    loud = {ear: {hz: Point(140.0, 135.0) for hz in POINTS[ear]} for ear in ("left", "right")}
    check = distortion_by_frequency(reference_levels("tdh39").levels_db_spl, loud, bone=False)
    bench = Typist("; ".join(["1"] * 12))
    check.figures(bench)
    assert [tone.level_dbfs for tone in bench.tones][:3] == [-20.0, -39.5, -18.5]


def test_each_step_of_10_db_is_right_within_1_db_down_to_the_lowest_level() -> None:
    levels = steps(-10.0, [10.0, 10.9, 9.1, *[10.0] * 7])
    figures, bench = made("linearity", f"{levels}; {levels}")
    assert figures == {
        "left_worst_db": 0.9, "left_lowest_dbfs": -120.0,
        "right_worst_db": 0.9, "right_lowest_dbfs": -120.0,
    }  # fmt: skip
    assert [tone.level_dbfs for tone in bench.tones[:11]] == [-20.0 - 10.0 * i for i in range(11)]
    off = steps(-10.0, [10.6, 10.6, *[10.0] * 8])
    assert made("linearity", f"{levels}; {off}")[0]["remark"] == "right 1.2 dB off"


def test_a_meter_that_shows_its_own_noise_ends_the_linearity() -> None:
    figures, bench = made(
        "linearity", f"10 mV; end; 3.16 mV; 1 mV; 0.8 mV; end; {steps(0, [10] * 10)}"
    )
    assert figures["left_lowest_dbfs"] == -40.0
    assert figures["remark"] == "left to -40 dBFS"
    assert bench.refused == [
        "levels read: 1; allowed is 3 and more",
        "10 dB less gave -1.9 dB on the meter; allowed is 1 dB off: is a digit wrong, or the "
        "meter's range? Where it shows its own noise, answer end",
    ]


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (83.0, "10 dB less gave -7.0 dB on the meter; allowed is 1 dB off: the meter or the "
         "output clips at the louder one. Take the meter's next range and answer back"),
        (89.8, "10 dB less gave -0.2 dB on the meter: the reading stays the same"),
        (78.9, "10 dB less gave -11.1 dB on the meter; allowed is 1 dB off: is a digit wrong"),
        (100.0, "10 dB less gave +10.0 dB on the meter"),
        (300.0, "300 dB; a reading is from -200 to 200 dB"),
    ],
)  # fmt: skip
def test_a_meter_that_clips_or_stands_still_is_named(second: float, words: str) -> None:
    """The reading before can be taken again."""
    rest = steps(90.0, [10.0] * 10)
    _, bench = made("linearity", f"90; {second}; back; back; {rest}; {rest}")
    assert words in bench.refused[0]
    assert bench.refused[1:] == ["this is the first level"]


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("full-scale", "1.5 mV; 1.1 mV"),
        ("crosstalk", "1 V; 9 mV; 1 V; 9 mV"),
        ("noise", "999 uV; 999 uV"),
        ("linearity", "; ".join([steps(0.0, [10.9] * 8), "end"] * 2)),
    ],
)
def test_what_is_remarked_of_both_ears_has_room_in_the_file(name: str, answers: str) -> None:
    """At its longest: else nothing would be written at the end of a long session."""
    remark = made(name, answers)[0]["remark"]
    assert "left" in remark
    assert "right" in remark


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ("19.9; 20; 20; 150", "the rise is 19.9 ms; allowed is 20 to 50 ms (IEC 60645-1)"),
        ("20; 50.1 ms; 50; 150", "the fall is 50.1 ms; allowed is 20 to 50 ms (IEC 60645-1)"),
        ("20; 20; 149; 150", "the plateau is 149 ms; allowed is 150 to"),
    ],
)
def test_rise_fall_and_plateau_are_those_of_the_standard(answers: str, words: str) -> None:
    figures, bench = made("rise-and-fall", answers)
    assert [words in each for each in bench.refused] == [True]
    assert figures["plateau_ms"] == 150.0
    assert all(tone.pulsed for tone in bench.tones)
