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


def test_one_of_air_is_written_as_its_ear_and_another_names_what_is_not_usual_of_it() -> None:
    assert [*map(str, map(Route, EARS))] == ["right", "left"]
    assert Route(LEFT).parts() == as_json(EarTold(Route(LEFT))) == {"ear": "left"}
    assert EarTold(Route(RIGHT)).figures() == {"ear": "right"}
    assert Route(LEFT).words == "left ear"
    another = Route(LEFT, "bone", "discomfort")
    assert str(another) == "left-bone-discomfort"
    assert another.parts() == {"ear": "left", "transducer": "bone", "measured": "discomfort"}
    assert another.words == "left ear by bone"


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_what_is_written_in_parts_is_gathered_again_and_has_its_noise(route: Route) -> None:
    values = {"number": 3, "route": route, "level_db_hl": 40.0}
    assert gather_routes(spell_routes(values)) == values
    assert one_route("ear", gather_routes(spell_routes(values))["route"]) is route
    assert route.noise in set(map(Route, EARS)) - {Route(route.ear)}, "to the other ear by air"
    assert replace(route, transducer="insert").noise.transducer == "insert"


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
    all_hz = kind.any_hz
    assert [*all_hz] == sorted({*all_hz})
    assert {*kind.wider_at_hz} <= {*all_hz}
    assert kind is not BY_BONE or {*kind.wider_at_hz} == {*all_hz}, "all bands by bone are wider"
    for ear in EARS:
        coded = {*kind.frequencies_hz} if kind is BY_AIR else set()  # LOINC has others of none
        assert kind.loinc[ear].keys() == coded, f"LOINC codes of the {ear} ear"
    lowest_db_hl, highest_db_hl = kind.levels_db_hl
    assert LOWEST_DB_HL <= lowest_db_hl < highest_db_hl <= HIGHEST_DB_HL
    for frequency_hz in kind.calibrated_hz:
        assert lowest_db_hl < kind.highest_db_hl(frequency_hz) <= highest_db_hl


@pytest.mark.parametrize(
    ("kind", "frequency_hz", "highest_db_hl", "felt_from_db_hl"),
    [
        *((BY_AIR, f, 120.0, math.inf) for f in (100.0, 125.0, 250.0, 1000.0, 1111.0, 8000.0)),
        (BY_BONE, 200.0, 45.0, 40.0), (BY_BONE, 250.0, 45.0, 40.0),
        (BY_BONE, 250.0 * math.sqrt(2.0), 57.5, 50.0),  # half an octave on, half the way
        (BY_BONE, 500.0, 70.0, 60.0), (BY_BONE, 750.0, 75.0, 60.0 + 10.0 * math.log2(1.5)),
        (BY_BONE, 1000.0, 75.0, 70.0), (BY_BONE, 2000.0, 80.0, math.inf),
        (BY_BONE, 4000.0, 80.0, math.inf), (BY_BONE, 6000.0, 60.0, math.inf),
    ],
)  # fmt: skip
def test_what_a_transducer_gives_and_from_when_on_the_skin_feels_it(
    kind: RouteKind, frequency_hz: float, highest_db_hl: float, felt_from_db_hl: float
) -> None:
    assert kind.highest_db_hl(frequency_hz) == pytest.approx(highest_db_hl, abs=1e-9)
    assert kind.vibrotactile_db_hl(frequency_hz) == pytest.approx(felt_from_db_hl, abs=1e-9)


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
