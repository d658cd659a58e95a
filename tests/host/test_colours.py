"""What has which colour: ears theirs in every drawing, and green nothing that is not calibrated."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import pytest
from rich.console import Console, RenderableType

from device.simulator.audiogram import Audiogram
from device.simulator.audiograms import audiogram_named
from firmware_py.console.audiogram_text import draw_audiogram, legend
from firmware_py.terms.calibration_states import CALIBRATED, OVERDUE, UNCALIBRATED
from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.results import SessionResult, ThresholdResult
from firmware_py.terms.route import BY_AIR, EARS, Route
from firmware_py.terms.tells import AnswerTold, EarOverTold, ToneTold
from firmware_py.terms.words import say
from host_tools.colours import (
    EAR_STYLES,
    audiogram_in_colours,
    calibration_style,
    legend_in_colours,
)
from host_tools.commands import listen
from host_tools.devices.live import TRUTH_WORDS, show_result, show_verdict
from host_tools.devices.unasked_lines import Progress, show_line
from host_tools.recordings.replayed import Verdict, replay_journal
from tests.host.journals import session_of
from tests.said import line_of

GOLDEN: Final = Path(__file__).parents[1] / "golden"
UNTESTED: Final = "silent-ear"
JOURNALS: Final = ("left-ear-s2", "both-ears-n3", "masked", UNTESTED, "two-buttons")
RIGHT, LEFT = map(Route, EARS)
RED, BLUE, GREEN, YELLOW = 31, 34, 32, 33
COLOUR: Final = {RIGHT: RED, LEFT: BLUE}
OTHER: Final = {RIGHT: LEFT, LEFT: RIGHT}
OWN: Final = {
    ear: {symbols[ear.ear] for symbols in BY_AIR.characters.values()} for ear in (RIGHT, LEFT)
}

Ears = Mapping[Route, Sequence[ThresholdResult]]

pytestmark = pytest.mark.xdist_group("recorded")  # they read the same sessions, once


def terminal(columns: int, **options: Any) -> tuple[Console, io.StringIO]:
    said = io.StringIO()
    settings: dict[str, Any] = {"force_terminal": True, "color_system": "standard"} | options
    return Console(file=said, width=columns, highlight=False, **settings), said


def show(what: RenderableType, columns: int) -> str:
    screen, said = terminal(columns)
    screen.print(what)
    return said.getvalue()


def colours_of(said: str) -> list[tuple[str, int | None]]:
    """Return characters, each with its colour, None if it has none."""
    found: list[tuple[str, int | None]] = []
    colour: int | None = None
    for code, characters in re.findall(r"\x1b\[([\d;]*)m|([^\x1b]+)", said):
        if characters:
            found += [(character, colour) for character in characters]
        else:
            numbers = [int(number) for number in code.split(";") if number]
            colour = next((n for n in numbers if 30 <= n <= 37), None)
    return found


def words_in(said: str, colour: int) -> str:
    return "".join(character if its == colour else "\n" for character, its in colours_of(said))


def result_of(name: str) -> SessionResult:
    return session_of(GOLDEN / f"{name}.journal").result


@cache
def verdict_on(name: str) -> Verdict:
    """Return what a replay comes to, done once for all who ask; none of them may change it."""
    return replay_journal(GOLDEN / f"{name}.journal")


def ears_of(name: str) -> dict[Route, Sequence[ThresholdResult]]:
    return {ear.route: ear.thresholds for ear in result_of(name).ears}


COMBINATIONS: Final[Mapping[str, Callable[[], Ears]]] = {
    "right": lambda: {RIGHT: ears_of("both-ears-n3")[RIGHT]},
    "left": lambda: {LEFT: ears_of("both-ears-n3")[LEFT]},
    "both": lambda: ears_of("both-ears-n3"),
    "left first": lambda: dict(reversed(ears_of("both-ears-n3").items())),
    "masked": lambda: ears_of("masked"),
    "right not begun": lambda: {RIGHT: [], LEFT: ears_of("both-ears-n3")[LEFT]},
    "silent": lambda: ears_of("silent-ear"),
    "none": lambda: {},
}


@pytest.fixture(params=COMBINATIONS)
def ears(request: pytest.FixtureRequest) -> Ears:
    return COMBINATIONS[request.param]()


def test_what_belongs_to_an_ear_has_its_colour_and_nothing_else_has_one(ears: Ears) -> None:
    lines = audiogram_in_colours(ears)
    paper = draw_audiogram({})
    assert [line.plain for line in lines] == draw_audiogram(ears)

    for line, blank in zip(lines, paper, strict=True):
        for (character, colour), before in zip(colours_of(show(line, 80)), blank, strict=False):
            if character == before:
                assert colour is None, "paper has no colour"
            else:
                assert colour in {COLOUR[ear] for ear in ears}
            for ear, symbols_of_ear in OWN.items():
                if character in symbols_of_ear and character != before:
                    assert colour == COLOUR[ear]


def test_a_band_has_the_colour_of_the_symbol_it_is_around() -> None:
    ears = ears_of("both-ears-n3")
    columns: dict[int, set[tuple[str, int | None]]] = {}
    for line in audiogram_in_colours(ears)[1:]:
        for place, (character, colour) in enumerate(colours_of(show(line, 80))):
            if character in ":OXox":
                columns.setdefault(place, set()).add((character.upper(), colour))
    assert len(columns) > 10
    seen = set()
    for found in columns.values():
        colours = {colour for _, colour in found}
        assert len(colours) == 1, found
        seen |= found
    assert {(":", RED), (":", BLUE), ("O", RED), ("X", BLUE)} <= seen


def test_the_truth_belongs_to_no_ear() -> None:
    lines = audiogram_in_colours({LEFT: ears_of("both-ears-n3")[LEFT]}, [(125.0, 0.0)])
    (plus,) = [
        (c, colour) for line in lines for c, colour in colours_of(show(line, 80)) if c == "+"
    ]
    assert plus == ("+", None)


@pytest.mark.parametrize("columns", [30, 60, 80, 140])
def test_the_legend_is_whole_and_no_explanation_is_torn(ears: Ears, columns: int) -> None:
    text = legend_in_colours(ears, columns)
    parts = legend(ears).split("   ")
    lines = text.plain.split("\n")
    assert [part for line in lines for part in line.split("   ")] == parts
    assert all(len(line) <= max(columns, *map(len, parts)) for line in lines)
    for ear in ears:
        its = words_in(show(text, 140), COLOUR[ear]).split("\n")
        wanted = [p for p in parts if re.match(rf"\S {ear}", p)]
        assert [words.strip() for words in its if words.strip()] == wanted


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("name", [*(each for each in JOURNALS if each != UNTESTED), "deaf"])
def test_the_result_has_the_ears_in_their_colours(name: str, columns: int, deaf_ear: Path) -> None:
    result = session_of(deaf_ear).result if name == "deaf" else result_of(name)
    screen, said = terminal(columns)
    show_result(screen, result, nominal=False)
    everything = "".join(character for character, _ in colours_of(said.getvalue()))
    for ear in result.ears:
        heading = f"{ear.route} ear, {ear.tones} tones"
        assert heading in words_in(said.getvalue(), COLOUR[ear.route])
        assert everything.count(heading) == 1
        assert heading not in words_in(said.getvalue(), COLOUR[OTHER[ear.route]])
    assert "+-" not in everything
    assert "     ±" in everything
    lines = everything.splitlines()
    assert max(map(len, lines)) <= columns
    beside = len(result.ears) == 2 and columns == 140
    assert any(line.count(" tones") == 2 for line in lines) == beside


@pytest.mark.parametrize("columns", [80, 140])
def test_an_ear_that_could_not_be_tested_has_no_colour_and_no_number(columns: int) -> None:
    screen, said = terminal(columns)
    show_result(screen, result_of(UNTESTED), nominal=False)
    characters = colours_of(said.getvalue())
    everything = "".join(character for character, _ in characters)
    (verdict,) = re.findall(
        r"Verdict on the test: COULD NOT BE TESTED\n.*\.(?=\n)", everything, re.S
    )

    told = " ".join(verdict.split()).lower()
    assert say(reason(Code.NOTHING_HEARD)).lower() in told
    assert verdict in words_in(said.getvalue(), YELLOW)
    assert not {COLOUR[ear] for ear in (RIGHT, LEFT)} & {colour for _, colour in characters}
    assert not [each for each in ("±", " tones", "dB HL", "X left") if each in everything]
    assert max(map(len, everything.splitlines())) <= columns


def test_what_lies_beyond_a_limit_has_no_half_width() -> None:
    """It was told as 100 ± 0.4 dB, of an ear with 105 dB."""
    result = result_of("left-ear-s2")
    (ear,) = result.ears
    first, *rest = ear.thresholds
    beyond = replace(
        first, mark=Outcome.INFERRED, threshold_db_hl=105.0, low_db_hl=99.2, high_db_hl=111.0,
        limit_db_hl=None, floor_db_hl=-10.0, ceiling_db_hl=100.0,
    )  # fmt: skip
    told = replace(ear, thresholds=(beyond, *rest))
    screen, said = terminal(80, no_color=True)
    show_result(screen, replace(result, ears=(told,)), nominal=False)
    rows = {line[:6].strip(): line[6:].split() for line in said.getvalue().splitlines()}
    assert rows["found"][0] == "i>100"
    assert rows["±"][0] == "-"
    assert rows["±"][1] != "-"


def test_the_truth_is_explained_where_it_is_shown_and_only_there() -> None:
    result = result_of("both-ears-n3")
    for truth in (
        None,
        {ear: audiogram_named("N3")[cast(Any, ear.ear)] for ear in (RIGHT, LEFT)},
    ):
        screen, said = terminal(80, no_color=True)
        show_result(screen, result, truth, nominal=False)
        pluses = [line for line in said.getvalue().splitlines() if "+" in line]
        assert (f"{TRUTH_WORDS}" in said.getvalue()) == (truth is not None)
        assert (len(pluses) > 1) == (truth is not None), "the truth is not there without one"
    lacking = Audiogram((500.0, 1000.0), (30.0, 40.0), ((1000.0, float("inf")),))
    screen, said = terminal(80, no_color=True)
    show_result(screen, result, dict.fromkeys((RIGHT, LEFT), lacking), nominal=False)
    assert f"{TRUTH_WORDS}; ? not known" in said.getvalue()
    assert len(re.findall(r"^ *true .*   40 +\?", said.getvalue(), re.MULTILINE)) == 2
    assert TRUTH_WORDS == "+ the simulated listener's true threshold"


@pytest.mark.parametrize(
    ("headline", "green"),
    [
        (f"{UNCALIBRATED}: levels are nominal", False),
        (UNCALIBRATED, False),
        (f"{OVERDUE}: was due 2026-01-01", False),
        (f"{CALIBRATED} 2026-05-06, due 2027-05-06", True),
    ],
)
def test_green_is_what_is_calibrated_and_nothing_else(headline: str, green: bool) -> None:
    assert calibration_style(headline) == ("green" if green else "bold yellow")
    verdict = Verdict(Path("x.journal"), 0, 60, 300, 0, calibration=headline)
    screen, said = terminal(140)
    show_verdict(screen, verdict)
    assert "bit for bit" in words_in(said.getvalue(), GREEN)
    assert (headline in words_in(said.getvalue(), GREEN)) == green
    assert (headline in words_in(said.getvalue(), YELLOW)) != green


def test_a_replay_that_differs_is_red_and_its_calibration_is_not() -> None:
    verdict = replace(verdict_on("left-ear-s2"), code=1)
    screen, said = terminal(80)
    show_verdict(screen, verdict)
    assert "DIFFER" in words_in(said.getvalue(), RED)
    assert "UNCALIBRATED: levels are nominal" in words_in(said.getvalue(), YELLOW)


def test_whoever_listens_is_warned_in_yellow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    listen._warn(listen.UNCALIBRATED)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"\x1b[1;33m{listen.UNCALIBRATED}\x1b[0m\n"


def test_an_answer_names_its_ear_in_its_colour() -> None:
    for ear in (RIGHT, LEFT):
        screen, said = terminal(80)
        progress = Progress(ToneTold(3, ear, Purpose.MEASURE, 1000.0, 40.0))
        answer = AnswerTold(3, ear, Purpose.MEASURE, heard=True, half_width_db=8.25)
        show_line(line_of(answer), progress, screen)
        why = reason(Code.NARROW_ENOUGH, half_width_db=7.3, frequency_hz=250)
        show_line(line_of(EarOverTold(ear, Outcome.MEASURED, (why,))), progress, screen)
        plain = "".join(character for character, _ in colours_of(said.getvalue()))
        assert plain == (
            f"   3  {ear!s:<5}   1000 Hz   40 dB HL  heard      ± 8.2 dB\n"
            f"{ear} ear measured: 95 % band at most ±7.3 dB (250 Hz)\n"
        )
        assert words_in(said.getvalue(), COLOUR[ear]).split() == [
            str(ear),
            str(ear),
            "ear",
            "measured",
        ]


@pytest.mark.parametrize(
    "options", [{"no_color": True}, {"force_terminal": False, "color_system": "auto"}]
)
def test_there_is_no_colour_for_who_wants_none(options: dict[str, Any]) -> None:
    screen, said = terminal(140, **options)
    show_result(screen, result_of("left-ear-s2"), nominal=True)
    show_verdict(screen, verdict_on("left-ear-s2"))
    assert {colour for _, colour in colours_of(said.getvalue())} == {None}
    assert EAR_STYLES == {"right": "bold red", "left": "bold blue"}
