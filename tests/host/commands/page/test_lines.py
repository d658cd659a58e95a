"""What the page reads and writes of the console: lists, identifiers that are like, and lines."""

from typing import Any, Final

import pytest

from host_tools.commands.page.knowledge import knowledge
from host_tools.commands.sessions import people
from tests.host.commands.page.in_javascript import run

NEWEST: Final = "312,complete,2026-11-21T15:01:07+00:00,both,P-17"


def test_a_list_of_some_sessions_says_of_how_many_and_has_no_session_for_it() -> None:
    tried = ["-", NEWEST, f"{NEWEST};1 of 312", f"{NEWEST};9,damaged,-,-,-;2 of 312"]
    program = "return given.tried.map((answer) => [sessionsOf(answer), shareOf(answer)]);"
    none, all_of_them, one, two = run("lines.js", program, tried=tried)
    session: dict[str, Any] = {
        "number": 312, "outcome": "complete", "started": "2026-11-21T15:01:07+00:00",
        "ears": "both", "identifier": "P-17",
    }  # fmt: skip
    assert none == [[], None]
    assert all_of_them == [[session], None]
    assert one == [[session], {"listed": "1", "all": "312"}]
    assert [each["number"] for each in two[0]] == [312, 9]
    assert two[1] == {"listed": "2", "all": "312"}


LIKE: Final = [
    ("P-17", "p17"), ("P-17", "P_17"), ("P-17", "Ｐ-１７"), ("ﬁnn", "FINN"), ("Straße", "STRASSE"),
    ("Zoë", "ZOË"), ("ΟΔΟΣ", "οδος"), ("각", "\u1100\u1161\u11a8"),
]  # fmt: skip
UNLIKE: Final = [("P-17", "P-18"), ("-", "_"), ("", ""), ("Zoë", "Zoe"), ("कि", "का"), ("O1", "01")]


@pytest.mark.parametrize(("pairs", "like"), [(LIKE, True), (UNLIKE, False)])
def test_page_and_host_take_the_same_identifiers_for_like(
    pairs: list[tuple[str, str]], like: bool
) -> None:
    program = "return given.pairs.map(([one, other]) => isLike(one, other));"
    assert run("lines.js", program, pairs=pairs) == [like] * len(pairs)
    for one, other in pairs:
        found = people.alike_of(one, [one, other])
        assert found == ((other,) if like else ()), (one, other)


# It refuses what the console would refuse, before anything is sent.
PROGRAM: Final = """
return given.tried.map(([header, told]) => {
  try {
    return lineOf(given.commands, header, told);
  } catch (error) {
    return [error.key, error.values];
  }
});
"""
EXACT_MAX: Final = 2**53  # of JavaScript's numbers


def test_a_number_is_allowed_up_to_its_bounds_and_not_beyond() -> None:
    commands = knowledge()["commands"]
    tried: list[object] = []
    expected: list[object] = []
    for header, command in commands.items():
        for argument in command.get("arguments", ()):
            if any("optional" not in each for each in command["arguments"]):
                continue  # it does not stand alone
            name, low, high = argument["name"], argument.get("low"), argument.get("high")
            if low is None or high > EXACT_MAX or "optional" not in argument:
                continue
            word = f"{name}=" if "named" in command else ""
            bounds = {"least": low, "most": high, "unit": argument["unit"]}
            for value in (int(low), int(high)):
                tried.append((header, {name: value}))
                expected.append(f"{header} {word}{value}")
            for value in (int(low) - 1, int(high) + 1):
                tried.append((header, {name: value}))
                expected.append(["value_bounds", {"name": name, "value": f"{value}", **bounds}])

    assert run("table.js", PROGRAM, commands=commands, tried=tried) == expected
    assert len(tried) > 20
