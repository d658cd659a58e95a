"""The simulated listener: the promised psychometric function, and the same answer for ever."""

import math
import random
import re
import statistics
from typing import Any, ClassVar

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from device.simulator.kinds import Kind
from device.simulator.listener import (
    IDLE_SLOT_S,
    RESPONSE_TIME_S_MAX,
    RESPONSE_TIME_S_MIN,
    START,
    Ear,
    Noise,
    Press,
    SimulatedListener,
    Tone,
)
from tests.budget import quick

SLOPE = Audiogram((500.0, 1000.0, 4000.0), (20.0, 30.0, 70.0))
FLAT = Audiogram((1000.0,), (50.0,))
EARS: dict[Ear, Audiogram] = {"left": SLOPE, "right": FLAT}
PINNED_ANSWER = Press(delay_us=716523, hold_us=246889)
PINNED_PRESS = Press(delay_us=101458, hold_us=217762)
TRIALS = 4000  # binomial standard error at most 0.8 %
SEED = 20240


def listener(**parameters: Any) -> SimulatedListener:
    seed = int(parameters.pop("seed", SEED))
    return SimulatedListener(EARS, **parameters, seed=seed)


def presses_of(
    someone: SimulatedListener, ear: Ear, level_db_hl: float, tones: int = TRIALS
) -> list[Press]:
    """Return the answers to so many tones of 1 kHz."""
    answers = (someone.answer(Tone(f"t{i}", ear, 1000.0, level_db_hl)) for i in range(tones))
    return [answer for answer in answers if answer is not None]


def share_answered(someone: SimulatedListener, ear: Ear, level_db_hl: float) -> float:
    return len(presses_of(someone, ear, level_db_hl)) / TRIALS


class TestAudiogram:
    @pytest.mark.parametrize(
        ("frequency_hz", "threshold_db_hl"),
        [
            (100.0, 20.0),
            (500.0, 20.0),
            (500.0 * math.sqrt(2.0), 25.0),
            (1000.0, 30.0),
            (2000.0, 50.0),
            (4000.0, 70.0),
            (16000.0, 70.0),
        ],
    )
    def test_is_linear_on_log2_frequency_and_constant_outside(
        self, frequency_hz: float, threshold_db_hl: float
    ) -> None:
        assert SLOPE.threshold_db_hl(frequency_hz) == pytest.approx(threshold_db_hl, abs=1e-9)

    def test_an_infinite_entry_reaches_to_its_neighbours(self) -> None:
        audiogram = Audiogram((500.0, 1000.0, 2000.0, 4000.0), (10.0, math.inf, 30.0, math.inf))

        heard = [audiogram.threshold_db_hl(f) for f in (250.0, 500.0, 2000.0)]
        unheard = [audiogram.threshold_db_hl(f) for f in (501.0, 1000.0, 1999.0, 2001.0, 9000.0)]
        assert heard == [10.0, 10.0, 30.0]
        assert unheard == [math.inf] * 5


class TestPsychometricFunction:
    @pytest.mark.parametrize("z", quick((-1.0, 0.5, -3.0, 0.0, 2.0), -1.0, 0.5))
    @pytest.mark.parametrize(
        ("noise_db", "lapse", "false_alarm"), [(2.0, 0.01, 0.01), (5.0, 0.05, 0.2)]
    )
    def test_answers_follow_the_formula(
        self, z: float, noise_db: float, lapse: float, false_alarm: float
    ) -> None:
        someone = listener(
            response_noise_db=noise_db, lapse_rate=lapse, false_alarm_rate=false_alarm
        )
        wanted = false_alarm + (1 - false_alarm - lapse) * 0.5 * math.erfc(-z / math.sqrt(2))
        level_db_hl = 50.0 + z * noise_db

        share = share_answered(someone, "right", level_db_hl)

        tolerance = 4 * math.sqrt(wanted * (1 - wanted) / TRIALS)
        assert someone.probabilities("right", 1000.0, level_db_hl)[0] == pytest.approx(wanted)
        assert abs(share - wanted) < tolerance, f"seed {SEED}"

    @pytest.mark.parametrize("z", quick((-1.5, 1.0, -4.0, 0.0, 2.5), -1.5, 1.0))
    @pytest.mark.parametrize(
        ("noise_db", "unsure_db", "lapse", "false_alarm"),
        [(2.0, 3.0, 0.01, 0.01), (5.0, 2.0, 0.05, 0.2), (3.0, 10.0, 0.0, 0.0)],
    )
    def test_with_a_dead_zone_answers_are_those_of_an_ordinal_probit(
        self, z: float, noise_db: float, unsure_db: float, lapse: float, false_alarm: float
    ) -> None:
        someone = listener(
            response_noise_db=noise_db, lapse_rate=lapse, false_alarm_rate=false_alarm,
            unsure_half_width_db=unsure_db,
        )  # fmt: skip
        level_db_hl = 50.0 + z * noise_db
        above_upper, above_lower = (
            0.5 * math.erfc(-(z + shift_db / noise_db) / math.sqrt(2))
            for shift_db in (-unsure_db, unsure_db)
        )
        attentive = 1 - 2 * false_alarm - lapse
        wanted = {
            1: false_alarm + attentive * above_upper,
            2: false_alarm + attentive * (above_lower - above_upper),
        }

        buttons = [press.button for press in presses_of(someone, "right", level_db_hl)]

        for button, share in wanted.items():
            pressed = buttons.count(button) / TRIALS
            tolerance = 4 * math.sqrt(share * (1 - share) / TRIALS) + 1e-12
            assert abs(pressed - share) < tolerance, f"button {button}, seed {SEED}"

    def test_without_a_dead_zone_the_second_button_is_never_pressed(self) -> None:
        someone = listener(false_alarm_rate=0.1)
        assert {press.button for press in presses_of(someone, "right", 50.0)} == {1}

    def test_a_dead_zone_turns_answers_only_where_it_lies(self) -> None:
        """The same chance decides: who was surely heard before is so still, far above."""
        plain = listener(false_alarm_rate=0.0)
        doubting = listener(false_alarm_rate=0.0, unsure_half_width_db=3.0)
        for i in range(500):
            level_db_hl = 70.0 + i % 30
            tone = Tone(f"t{i}", "right", 1000.0, level_db_hl)
            assert doubting.answer(tone) == plain.answer(tone)

    def test_each_button_is_pressed_by_itself_at_the_same_rate(self) -> None:
        someone = listener(false_alarm_rate=0.2, unsure_half_width_db=5.0)
        presses = [someone.spontaneous_press("t", slot) for slot in range(TRIALS)]
        buttons = [press.button for press in presses if press is not None]

        for button in (1, 2):
            assert buttons.count(button) / TRIALS == pytest.approx(0.2, abs=0.025), f"seed {SEED}"

    @pytest.mark.parametrize(
        ("noise", "left_db_hl", "right_db_hl"),
        [
            (None, 30.0, 50.0),  # by the ear itself; the threshold of the other is 50 dB further
            (Noise("left", 1000.0, 70.0), 70.0, 50.0),
            (Noise("left", 1000.0, 30.0), 33.0, 50.0),  # twice the power
            (Noise("left", 1000.0, 110.0), 110.0, 60.4),  # 60 dB cross, beside the 50 of the ear
            (Noise("right", 1000.0, 70.0), 30.4, 70.0),  # 20 dB cross
            (Noise("right", 1000.0, 140.0), 90.0, 140.0),  # 90 dB cross
            (Noise("left", 1500.0, 70.0), 30.0, 50.0),  # too far from the tone
        ],
    )
    def test_noise_raises_the_threshold_of_its_ear_and_crosses(
        self, noise: Noise | None, left_db_hl: float, right_db_hl: float
    ) -> None:
        """Half of the tones at the threshold are heard."""
        someone = listener(lapse_rate=0.0, false_alarm_rate=0.0, response_noise_db=0.5)
        left = someone.probabilities("left", 1000.0, left_db_hl, noise)[0]
        right = someone.probabilities("right", 1000.0, right_db_hl, noise)[0]

        assert left == pytest.approx(0.5, abs=0.08)
        assert right == pytest.approx(0.5, abs=0.08)

    def test_a_tone_is_heard_by_the_ear_that_hears_it_better(self) -> None:
        deaf = Audiogram((1000.0,), (math.inf,))
        ears: dict[Ear, Audiogram] = {"left": deaf, "right": FLAT}
        someone = SimulatedListener(ears, head=Head(interaural_attenuation_db=45.0))
        alone = SimulatedListener(ears, head=Head(interaural_attenuation_db=math.inf))

        assert someone.probabilities("left", 1000.0, 95.0)[0] == pytest.approx(0.5)
        assert alone.probabilities("left", 1000.0, 120.0)[0] == pytest.approx(0.01)
        with pytest.raises(ValueError, match="interaural_attenuation_db is 0, allowed is above 0"):
            Head(interaural_attenuation_db=0)

    @pytest.mark.parametrize(
        ("rates", "loud_heard", "soft_heard"),
        [
            ({"lapse_rate": 1.0}, 0.0, 0.0),
            ({"false_alarm_rate": 1.0}, 1.0, 1.0),
            ({"lapse_rate": 0.0, "false_alarm_rate": 0.0}, 1.0, 0.0),
        ],
    )
    def test_rates_of_0_and_1_are_never_and_always(
        self, rates: dict[str, float], loud_heard: float, soft_heard: float
    ) -> None:
        someone = listener(**rates)
        presses = [someone.spontaneous_press(START, slot) for slot in range(1000)]

        assert share_answered(someone, "right", 120.0) == loud_heard
        assert share_answered(someone, "right", -20.0) == soft_heard
        assert {press is not None for press in presses} == {soft_heard == 1.0}


class TestConductiveLoss:
    """The cochlea behind an air-bone gap: through the skull it is better than its ear."""

    FLAT: ClassVar[dict[Ear, Audiogram]] = {
        "right": Audiogram((1000.0,), (45.0,)), "left": Audiogram((1000.0,), (math.inf,)),
    }  # fmt: skip

    def someone(self, gap_db: float = 40.0) -> SimulatedListener:
        return SimulatedListener(self.FLAT, head=Head({"right": gap_db}))

    def test_through_the_air_it_changes_nothing(self) -> None:
        noise = Noise("right", 1000.0, 70.0)
        for level_db_hl in (40.0, 45.0, 50.0, 70.0):
            for masked in (None, noise):
                behind, without = (
                    self.someone(gap_db).probabilities("right", 1000.0, level_db_hl, masked)
                    for gap_db in (40.0, 0.0)
                )
                assert behind == pytest.approx(without, abs=1e-12)

    def test_a_dead_ear_seems_to_hear_at_the_attenuation_and_the_cochlea(self) -> None:
        at_shadow = self.someone().probabilities("left", 1000.0, 55.0)[1]
        without = self.someone(0.0).probabilities("left", 1000.0, 55.0)[1]

        assert at_shadow == pytest.approx(0.5, abs=0.01)
        assert without == pytest.approx(0.01, abs=0.001)

    def test_noise_by_air_is_weakened_by_the_gap_as_well(self) -> None:
        """75 dB are 35 at the cochlea, behind which a tone of 85 dB in the dead ear is heard."""
        noise = Noise("right", 1000.0, 75.0)

        at_the_noise = self.someone().probabilities("left", 1000.0, 85.0, noise)[1]
        assert at_the_noise == pytest.approx(0.5, abs=0.01)

    def test_gaps_are_checked(self) -> None:
        with pytest.raises(ValueError, match=r"air_bone_gap_db is -1\.0, allowed is 0 and more"):
            self.someone(-1.0)


class TestTimes:
    def test_response_times_are_log_normal_within_limits(self) -> None:
        someone = listener(false_alarm_rate=1.0)
        times_s = sorted(press.delay_us * 1e-6 for press in presses_of(someone, "left", 90.0))
        logs = [math.log(time_s) for time_s in times_s]

        assert len(times_s) == TRIALS
        assert statistics.median(times_s) == pytest.approx(0.4, abs=0.01), f"seed {SEED}"
        assert statistics.stdev(logs) == pytest.approx(0.25, abs=0.015), f"seed {SEED}"
        assert RESPONSE_TIME_S_MIN <= times_s[0] < times_s[-1] <= RESPONSE_TIME_S_MAX

    def test_with_a_slope_soft_tones_are_answered_later(self) -> None:
        """By the slope for each SD, and no further than to the end of the slope."""

        def median_log(above_db: float) -> float:
            someone = listener(kind=Kind(response_time_slope=0.1))
            level_db_hl = EARS["left"].threshold_db_hl(1000.0) + above_db
            presses = presses_of(someone, "left", level_db_hl)
            return statistics.median(math.log(press.delay_us * 1e-6) for press in presses)

        at_2_sds, at_0, at_3, far = (median_log(above_db) for above_db in (4.0, 0.0, 6.0, 60.0))
        assert at_0 == pytest.approx(math.log(0.4), abs=0.03), f"seed {SEED}"
        assert at_0 - at_2_sds == pytest.approx(0.2, abs=0.03), f"seed {SEED}"
        assert at_3 == pytest.approx(far, abs=0.03), f"seed {SEED}"

    @pytest.mark.parametrize("median_s", [RESPONSE_TIME_S_MIN, RESPONSE_TIME_S_MAX])
    def test_limits_hold_for_the_quickest_and_the_slowest(self, median_s: float) -> None:
        someone = listener(false_alarm_rate=1.0, response_time_s=median_s)
        times_us = {press.delay_us for press in presses_of(someone, "left", 90.0, 200)}

        assert min(times_us) >= 150_000
        assert max(times_us) <= 5_000_000
        assert round(median_s * 1e6) in times_us

    def test_the_button_is_held_about_a_fifth_of_a_second(self) -> None:
        someone = listener(false_alarm_rate=1.0)
        holds_us = [press.hold_us for press in presses_of(someone, "left", 90.0, 500)]

        assert min(holds_us) >= 150_000
        assert max(holds_us) <= 250_000
        assert statistics.mean(holds_us) == pytest.approx(200_000, abs=5_000), f"seed {SEED}"

    def test_spontaneous_presses_come_at_their_rate_all_over_the_slot(self) -> None:
        someone = listener(false_alarm_rate=0.2)
        presses = [someone.spontaneous_press("t7", slot) for slot in range(TRIALS)]
        delays_s = [press.delay_us * 1e-6 for press in presses if press is not None]

        assert len(delays_s) / TRIALS == pytest.approx(0.2, abs=0.025), f"seed {SEED}"
        assert statistics.mean(delays_s) == pytest.approx(IDLE_SLOT_S / 2, abs=0.1), f"seed {SEED}"
        assert 0.0 <= min(delays_s) < max(delays_s) < IDLE_SLOT_S


class TestPurity:
    TONES = tuple(Tone(f"t{i}", "left", 500.0 + 3 * i, 40.0 + i % 30) for i in range(200))

    def test_order_and_repetition_change_nothing(self) -> None:
        first = listener()
        answers = {tone: first.answer(tone) for tone in self.TONES}
        shuffled = list(self.TONES) * 2
        random.Random(SEED).shuffle(shuffled)
        second = listener()

        for tone in shuffled:
            second.spontaneous_press(tone.tone_id, 3)
            assert second.answer(tone) == answers[tone], f"seed {SEED}"

    @pytest.mark.parametrize("change", ["id", "ear", "frequency", "level", "seed"])
    def test_every_part_of_the_question_counts(self, change: str) -> None:
        def ask(changed: bool) -> list[Press | None]:
            seed = SEED + 1 if changed and change == "seed" else SEED
            someone = listener(false_alarm_rate=1.0, seed=seed)
            ear: Ear = "right" if changed and change == "ear" else "left"
            prefix = "u" if changed and change == "id" else "t"
            frequency_hz = 1001.0 if changed and change == "frequency" else 1000.0
            level_db_hl = 60.5 if changed and change == "level" else 60.0
            tones = [Tone(f"{prefix}{i}", ear, frequency_hz, level_db_hl) for i in range(20)]
            return [*map(someone.answer, tones)]

        assert ask(False) == ask(False)
        assert not set(ask(False)) & set(ask(True))

    def test_answers_are_the_same_for_ever(self) -> None:
        """Pinned: a journal of last year's demonstration has to replay."""
        someone = SimulatedListener(EARS, false_alarm_rate=1.0, seed=1)

        assert someone.answer(Tone("r1", "left", 1000.0, 40.0)) == PINNED_ANSWER
        assert someone.spontaneous_press("r1", 0) == PINNED_PRESS

    def test_a_whole_number_asks_the_same_as_its_float(self) -> None:
        someone = listener()

        whole, same = Tone("a", "left", 1000, 60), Tone("a", "left", 1000.0, 60.0)
        assert someone.answer(whole) == someone.answer(same)


class TestParameters:
    @pytest.mark.parametrize(
        ("parameters", "words"),
        [
            ({"response_noise_db": 0.0}, "response_noise_db is 0.0, allowed is above 0"),
            ({"response_noise_db": math.nan}, "response_noise_db is nan, allowed is above 0"),
            ({"lapse_rate": -0.1}, "lapse_rate is -0.1, allowed are 0 to 1"),
            ({"lapse_rate": math.nan}, "lapse_rate is nan, allowed are 0 to 1"),
            ({"false_alarm_rate": 1.1}, "false_alarm_rate is 1.1, allowed are 0 to 1"),
            ({"lapse_rate": 0.6, "false_alarm_rate": 0.5}, "add up to 1.1, allowed is at most 1"),
            ({"lapse_rate": 1, "false_alarm_rate": 1}, "add up to 2, allowed is at most 1"),
            ({"response_time_s": 0.1}, "response_time_s is 0.1, allowed are 0.15 to 5 s"),
            (
                {"kind": Kind(response_time_slope=-0.1)},
                "response_time_slope is -0.1, allowed are 0 to 1",
            ),
            (
                {"kind": Kind(response_time_slope=math.nan)},
                "response_time_slope is nan, allowed are 0 to 1",
            ),
            ({"response_time_s": math.nan}, "response_time_s is nan, allowed are 0.15 to 5 s"),
            (
                {"unsure_half_width_db": 3.0, "lapse_rate": 0.2, "false_alarm_rate": 0.5},
                "false_alarm_rate is 0.5 of each button; with lapse_rate 0.2 allowed is at most "
                "0.4",
            ),
            ({"unsure_half_width_db": -1.0}, "unsure_half_width_db is -1.0, allowed is 0 and more"),
            ({"unsure_half_width_db": math.nan}, "unsure_half_width_db is nan, allowed is 0"),
            ({"seed": -1}, "seed is -1, allowed are 0 to 18446744073709551615"),
            ({"seed": 2**64}, "seed is 18446744073709551616, allowed are 0 to"),
        ],
    )
    def test_are_checked(self, parameters: dict[str, Any], words: str) -> None:
        with pytest.raises(ValueError, match=re.escape(words)):
            listener(**parameters)
