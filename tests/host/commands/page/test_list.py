"""What the page makes of the device's list of sessions, and which identifiers it takes for like."""

from typing import Any, Final

import pytest

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
