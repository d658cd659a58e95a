"""Routes: each is told from all others wherever it is written, and its table is whole."""

import math
from dataclasses import replace
from itertools import chain

import pytest

from firmware_py.ear.course import next_presentation, take_answer
from firmware_py.ear.ear import EarTest
from firmware_py.link.messages import TRANSDUCERS
from firmware_py.terms.outcomes import MaskingMark
from firmware_py.terms.reasons import as_json
from firmware_py.terms.record_checks import ResultError, one_route
from firmware_py.terms.route import (
    BY_AIR,
    BY_BONE,
    EARS,
    HIGHEST_DB_HL,
    LEFT,
    LOWEST_DB_HL,
    RIGHT,
    ROUTE_KINDS,
    ROUTE_NAMES,
    ROUTES,
    Route,
    RouteKind,
    gather_routes,
    spell_routes,
)
from firmware_py.terms.settings import Settings
from firmware_py.terms.tells import EarTold


def test_one_of_air_is_written_as_its_ear() -> None:
    assert [*map(str, map(Route, EARS))] == ["right", "left"]
    assert Route(LEFT).parts() == as_json(EarTold(Route(LEFT))) == {"ear": "left"}
    assert EarTold(Route(RIGHT)).figures() == {"ear": "right"}
    assert Route(LEFT).words == "left ear"


def test_another_one_names_what_is_not_usual_of_it() -> None:
    another = Route(LEFT, "bone", "discomfort")
    assert str(another) == "left-bone-discomfort"
    assert another.parts() == {"ear": "left", "transducer": "bone", "measured": "discomfort"}
    assert another.words == "left ear by bone"


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_what_is_written_in_parts_is_gathered_again(route: Route) -> None:
    values = {"number": 3, "route": route, "level_db_hl": 40.0}
    assert gather_routes(spell_routes(values)) == values
    assert one_route("ear", gather_routes(spell_routes(values))["route"]) is route


ALL = ", ".join(ROUTE_NAMES) + "$"


@pytest.mark.parametrize("parts", [{"ear": "middle"}, {"ear": "left", "transducer": "horn"}])
def test_parts_of_no_route_are_refused_by_what_they_are(parts: dict[str, str]) -> None:
    with pytest.raises(ResultError, match=r"^ear is .*(middle|horn).*; allowed are " + ALL):
        one_route("ear", gather_routes(parts)["route"])
    assert gather_routes({"number": 3}) == {"number": 3}


def test_each_is_told_from_all_others() -> None:
    characters = [route.character(mark) for route in ROUTES for mark in MaskingMark]
    codes = [*chain.from_iterable(k.loinc[ear].values() for k in ROUTE_KINDS for ear in EARS)]
    wire = {(kind.transducer, kind.wire_number) for kind in ROUTE_KINDS}
    for each in ([*map(str, ROUTES)], [route.words for route in ROUTES], characters, codes):
        assert [one for one in each if each.count(one) > 1] == []
    assert sorted(number for _, number in wire) == [*range(TRANSDUCERS)]
    assert [route.wire["ear"] for route in ROUTES] == [1, 0] * len(ROUTE_KINDS)


@pytest.mark.parametrize("kind", ROUTE_KINDS, ids=lambda kind: kind.transducer)
def test_the_table_is_whole_of_each(kind: RouteKind) -> None:
    assert [*kind.frequencies_hz] == sorted({*kind.frequencies_hz}) != []
    assert {*kind.frequencies_hz, int(kind.familiar_hz)} <= {*kind.calibrated_hz}
    assert {*kind.inter_octave_hz} < {*kind.frequencies_hz}
    assert {*kind.wider_at_hz} <= {*kind.frequencies_hz}
    for ear in EARS:
        coded = {*kind.frequencies_hz} if kind is BY_AIR else set()  # LOINC has others of none
        assert kind.loinc[ear].keys() == coded, f"LOINC codes of the {ear} ear"
    lowest_db_hl, highest_db_hl = kind.levels_db_hl
    assert LOWEST_DB_HL <= lowest_db_hl < highest_db_hl <= HIGHEST_DB_HL
    for frequency_hz in kind.calibrated_hz:
        assert lowest_db_hl < kind.highest_db_hl(frequency_hz) <= highest_db_hl


def test_the_highest_level_by_air_is_the_same_at_all_frequencies() -> None:
    assert {BY_AIR.highest_db_hl(f) for f in (100.0, 250.0, 1111.0, 8000.0)} == {120.0}
    assert {BY_AIR.vibrotactile_db_hl(f) for f in (125.0, 250.0, 1000.0)} == {math.inf}


@pytest.mark.parametrize(
    ("frequency_hz", "highest_db_hl", "felt_from_db_hl"),
    [
        (200.0, 45.0, 25.0), (250.0, 45.0, 25.0),
        (250.0 * math.sqrt(2.0), 57.5, 32.5),  # half an octave on, half the way
        (500.0, 70.0, 40.0), (750.0, 75.0, 40.0 + 15.0 * math.log2(1.5)), (1000.0, 75.0, 55.0),
        (2000.0, 80.0, math.inf), (4000.0, 80.0, math.inf),
    ],
)  # fmt: skip
def test_what_a_vibrator_gives_and_from_when_on_the_skin_feels_it(
    frequency_hz: float, highest_db_hl: float, felt_from_db_hl: float
) -> None:
    assert BY_BONE.highest_db_hl(frequency_hz) == pytest.approx(highest_db_hl, abs=1e-9)
    assert BY_BONE.vibrotactile_db_hl(frequency_hz) == pytest.approx(felt_from_db_hl, abs=1e-9)


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_noise_goes_to_the_other_ear_by_air(route: Route) -> None:
    assert route.noise.ear != route.ear
    assert route.noise in map(Route, EARS)


def test_nothing_is_asked_beyond_the_frequencies_at_which_its_kind_is_calibrated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    octaves_hz = (500, 1000, 2000, 4000)
    narrow = replace(BY_AIR, frequencies_hz=octaves_hz, calibrated_hz=octaves_hz)
    monkeypatch.setattr(Route, "kind", property(lambda _: narrow))
    settings = Settings(confirm="hughson-westlake", confirm_frequencies_hz=(2000, 8000))
    ear = EarTest(Route(LEFT), settings)

    candidates_hz = ear.estimator.candidate_frequencies_hz
    assert (min(candidates_hz), max(candidates_hz)) == (500.0, 4000.0)
    ear.begin_confirmation()
    while not ear.over:
        tone = next_presentation(ear, 1)
        assert tone.frequency_hz == 2000.0
        take_answer(ear, tone, heard=True)
