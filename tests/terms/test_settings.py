"""The settings of a test: every limit, refused by name, with the value and what is allowed."""

import json
import math
from dataclasses import fields
from typing import Any

import pytest

from firmware_py.terms.route import BY_AIR
from firmware_py.terms.settings import CONDUCTS, SettingError, Settings

CHOICES = {
    "conduct": ("brisk", "clinical"), "objective": ("bits", "bits-per-second"),
    "confirm": ("none", "hughson-westlake"), "ears": ("both", "left", "right"),
    "first_ear": ("better", "left", "right"), "routes": ("air", "air, bone"),
    "masking": ("automatic", "off"),
    "profile": ("default", "gp-pta-2015"),
    "threshold_convention": ("50 %", "clinical, 5 dB ascending"),
}  # fmt: skip
SWITCHES = ("ask_all", "ear_check", "loud_confirmed", "retest", "unsure_button")
LISTS = ("confirm_frequencies_hz",)
NUMBERS = {
    "response_noise_db": (0.1, 30.0, "numbers from 0.1 to 30 dB"),
    "frequency_min_hz": (125.0, 1000.0, "numbers from 125 to 1000 Hz"),
    "frequency_max_hz": (1000.0, 8000.0, "numbers from 1000 to 8000 Hz"),
    "level_min_db_hl": (-10.0, 20.0, "numbers from -10 to 20 dB HL"),
    "level_max_db_hl": (40.0, 120.0, "numbers from 40 to 120 dB HL"),
    "level_step_db": (0.1, 5.0, "numbers from 0.1 to 5 dB"),
    "familiar_level_db_hl": (-10.0, 60.0, "numbers from -10 to 60 dB HL"),
    "stop_half_width_db": (1.0, 40.0, "numbers from 1 to 40 dB"),
    "stop_information_bits": (0.0, 1.0, "numbers from 0 to 1 bit"),
    "catch_rate": (0.0, 0.5, "numbers from 0 to 0.5 a presentation"),
    "unsure_half_width_db": (0.5, 15.0, "numbers from 0.5 to 15 dB"),
}
WHOLE_NUMBERS = {
    "tones_min": (1, 100, "whole numbers from 1 to 100 tones"),
    "tones_max": (20, 120, "whole numbers from 20 to 120 tones"),
    "pause_ms_min": (300, 10000, "whole numbers from 300 to 10000 ms"),
    "pause_ms_max": (500, 20000, "whole numbers from 500 to 20000 ms"),
    "pulse_on_ms": (220, 2000, "whole numbers from 220 to 2000 ms"),
    "pulse_off_ms": (0, 1000, "whole numbers from 0 to 1000 ms"),
    "pulses": (1, 5, "whole numbers from 1 to 5 pulses"),
    "rise_ms": (35, 86, "whole numbers from 35 to 86 ms"),
    "response_ms_min": (0, 300, "whole numbers from 0 to 300 ms"),
    "response_window_ms": (300, 3000, "whole numbers from 300 to 3000 ms"),
    "seed": (0, 2**63 - 1, "whole numbers from 0 to 9223372036854775807"),
}
RANGES: dict[str, tuple[float, float, str]] = {**NUMBERS, **WHOLE_NUMBERS}

# What else has to be said so that a setting at its limit fits the others.
LONG_PAUSE = {"pause_ms_min": 10_000, "pause_ms_max": 20_000}
COMPANIONS: dict[tuple[str, float], dict[str, Any]] = {
    ("level_max_db_hl", 120.0): {"loud_confirmed": True},
    **{("unsure_half_width_db", end): {"unsure_button": True} for end in (0.5, 15.0)},
    ("tones_min", 100): {"tones_max": 100},
    ("pause_ms_min", 10_000): LONG_PAUSE, ("pulse_on_ms", 2000): LONG_PAUSE,
    ("pulse_off_ms", 1000): LONG_PAUSE, ("pulses", 5): LONG_PAUSE,
    ("rise_ms", 86): {"pulse_on_ms": 322, **LONG_PAUSE},
}  # fmt: skip


def make(**values: Any) -> Settings:
    return Settings(**values)


def refusal(**values: Any) -> str:
    with pytest.raises(SettingError) as caught:
        make(**values)
    return str(caught.value)


def test_every_setting_is_in_these_tables() -> None:
    told = [*CHOICES, *SWITCHES, *LISTS, *RANGES]
    assert sorted(told) == sorted(field.name for field in fields(Settings))


@pytest.mark.parametrize("name", RANGES)
def test_a_number_is_in_its_range_or_refused_by_name_value_and_what_is_allowed(name: str) -> None:
    low, high, allowed = RANGES[name]
    for value, end in ((low, low), (high, high), (math.ceil(low), low)):  # a whole number will do
        others = COMPANIONS.get((name, end), {})
        assert getattr(make(**{**others, name: value}), name) == value
    beyond: tuple[float, ...] = (math.nextafter(low, -math.inf), math.nextafter(high, math.inf))
    if name in WHOLE_NUMBERS:
        beyond = (low - 1, high + 1, float(low))
    no_numbers: list[Any] = [math.nan, math.inf, -math.inf, "12", True, False, [12], {}]
    for value in (*beyond, *no_numbers):
        assert refusal(**{name: value}) == f"{name} is {value!r}; allowed are {allowed}"


@pytest.mark.parametrize("name", [*RANGES, *CHOICES, *SWITCHES])
def test_nothing_may_be_none_but_what_is_inferred_then(name: str) -> None:
    if name in {"response_noise_db", "unsure_half_width_db", "response_window_ms"}:
        assert getattr(make(**{name: None}), name) is None
    else:
        assert f"{name} is None; allowed are " in refusal(**{name: None})


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_is_one_of_its_words(name: str) -> None:
    quote = '"' if name in ("routes", "threshold_convention") else ""  # a word has a comma
    allowed = ", ".join(f"{quote}{word}{quote}" for word in CHOICES[name])

    for word in CHOICES[name]:
        assert getattr(make(**{name: word}), name) == word
    for value in ("middle", "", "LEFT", 1, True, ["left"]):
        assert refusal(**{name: value}) == f"{name} is {value!r}; allowed are {allowed}"


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_is_true_or_false(name: str) -> None:
    for value in (True, False):
        assert getattr(make(**{name: value}), name) is value
    for wrong in (0, 1, "true", 1.0):
        assert refusal(**{name: wrong}) == f"{name} is {wrong!r}; allowed are true and false"


@pytest.mark.parametrize(
    "value", [(), (1000, 1000), (1100,), (1000.0,), (True,), ("1000",), [1000], 1000, "1000", None]
)
def test_frequencies_to_confirm_are_those_of_the_audiogram_each_once(value: Any) -> None:
    told = list(value) if isinstance(value, tuple) else value
    assert refusal(confirm_frequencies_hz=value) == (
        f"confirm_frequencies_hz is {told!r}; allowed is a list of one or more, each once, of "
        "250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000"
    )


def test_frequencies_out_of_range_do_not_matter_if_nothing_is_confirmed() -> None:
    assert Settings(frequency_max_hz=2000.0).confirmed_hz == ()
    confirmed = Settings(confirm="hughson-westlake", confirm_frequencies_hz=(2000, 500))
    assert confirmed.confirmed_hz == (2000, 500)


TONE = {"pulses": 2, "pulse_on_ms": 400, "pulse_off_ms": 300}


@pytest.mark.parametrize(
    ("allowed", "refused", "words"),
    [
        ({"level_max_db_hl": 101.5, "loud_confirmed": True}, {"loud_confirmed": False},
         "level_max_db_hl is 101.5 dB HL; above 100 dB HL loud_confirmed has to be true as well"),
        ({"frequency_min_hz": 1000.0, "frequency_max_hz": 1000.5}, {"frequency_max_hz": 1000.0},
         "frequency_max_hz is 1000 Hz; allowed is more than 1000 Hz (frequency_min_hz)"),
        ({"pause_ms_min": 2000, "pause_ms_max": 2000}, {"pause_ms_max": 1999},
         "pause_ms_max is 1999 ms; allowed is 2000 ms (pause_ms_min) and more"),
        ({"pause_ms_min": 1100, "conduct": "clinical", **TONE}, {"pause_ms_min": 1099},
         "pause_ms_min is 1099 ms; a pause of a clinical test may not be shorter than the tone, "
         "which lasts 1100 ms"),
        ({"pause_ms_min": 1099, "conduct": "brisk", **TONE}, {"conduct": "clinical"},
         "pause_ms_min is 1099 ms; a pause of a clinical test may not be shorter than the tone, "
         "which lasts 1100 ms"),
        ({"pulse_on_ms": 260, "rise_ms": 55}, {"rise_ms": 56},
         "pulse_on_ms is 260 ms; allowed is 262 ms and more, a plateau of 150 ms and twice "
         "56 ms (rise_ms)"),
        ({"confirm": "hughson-westlake", "confirm_frequencies_hz": (250, 8000)},
         {"frequency_max_hz": 6000.0},
         "confirm_frequencies_hz has 8000 Hz; allowed is what lies from 125 to 6000 Hz "
         "(frequency_min_hz, frequency_max_hz)"),
        ({"unsure_button": True, "unsure_half_width_db": 3.5}, {"unsure_button": False},
         "unsure_half_width_db is 3.5 dB; without a second button allowed is none: "
         "unsure_button has to be true as well"),
        ({"unsure_button": True, "profile": "default"}, {"profile": "gp-pta-2015"},
         "unsure_button is true; profile 'gp-pta-2015' makes no use of it: allowed is false"),
        ({"routes": "air, bone"}, {"profile": "gp-pta-2015"},
         "routes is 'air, bone'; with 'gp-pta-2015' allowed is 'air'"),
        ({"tones_min": 25, "tones_max": 25}, {"tones_min": 26},
         "tones_max is 25; allowed is 26 (tones_min) and more"),
    ],
)  # fmt: skip
def test_settings_have_to_fit_each_other(
    allowed: dict[str, Any], refused: dict[str, Any], words: str
) -> None:
    Settings(**allowed)
    assert refusal(**{**allowed, **refused}) == words


def test_settings_come_back_from_json() -> None:
    settings = Settings(
        ears="left", level_min_db_hl=0.1 + 0.2, seed=7, confirm_frequencies_hz=(500, 2000)
    )
    record = json.loads(json.dumps(settings.as_record(), allow_nan=False))

    assert Settings.from_record(record) == settings
    assert list(record) == [field.name for field in fields(Settings)]


def test_an_unknown_name_is_refused_with_all_that_are_known_and_a_wrong_value_as_any() -> None:
    names = ", ".join(field.name for field in fields(Settings))
    with pytest.raises(SettingError, match=f"^'tone_max' is not a setting; allowed are {names}$"):
        Settings.from_record({"tone_max": 30})
    with pytest.raises(SettingError, match="pulses is 9; allowed are whole numbers from 1 to 5"):
        Settings.from_record({"pulses": 9})


@pytest.mark.parametrize("conduct", CONDUCTS)
def test_what_is_not_told_has_the_value_of_the_conduct(conduct: str) -> None:
    settings, usual = Settings(conduct=conduct), CONDUCTS[conduct]

    assert {name: getattr(settings, name) for name in usual} == usual
    for name, value in CONDUCTS["brisk" if conduct == "clinical" else "clinical"].items():
        pauses = LONG_PAUSE if name.startswith("pause_ms") else {}
        told = {"conduct": conduct, name: value, **pauses}
        assert getattr(Settings(**told), name) == told[name]


def test_a_test_is_brisk_unless_told_otherwise() -> None:
    assert Settings() == Settings(conduct="brisk") != Settings(conduct="clinical")
    assert {*CONDUCTS["brisk"]} == {*CONDUCTS["clinical"]}


def test_chosen_is_the_conduct_and_what_differs_from_it() -> None:
    assert Settings().as_chosen() == {"conduct": "brisk"}
    clinical = Settings(conduct="clinical", tones_max=64, seed=7)
    assert clinical.as_chosen() == {"conduct": "clinical", "tones_max": 64, "seed": 7}
    for settings in (Settings(), clinical, Settings(tones_max=40)):
        assert Settings.from_record(settings.as_chosen()) == settings


def test_at_250_hz_a_quarter_more_is_wide_enough() -> None:
    settings = Settings(stop_half_width_db=8.0)

    wanted_db = [settings.wanted_half_width_db(BY_AIR, f) for f in (250.0, 251.0, 500.0)]
    assert wanted_db == [10.0, 8.0, 8.0]
