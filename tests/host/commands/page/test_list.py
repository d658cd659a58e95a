"""What the page makes of the device's list of sessions."""

from typing import Any, Final

from host_tools.commands.page.assemble import function_of, modules
from tests.host.javascript import compute

OWN: Final = "\n".join(function_of(each) for each in modules("lines.js").values())
NEWEST: Final = "312,complete,2026-11-21T15:01:07+00:00,both,P-17"


def test_a_list_of_some_sessions_says_of_how_many_and_has_no_session_for_it() -> None:
    tried = ["-", NEWEST, f"{NEWEST};1 of 312", f"{NEWEST};9,damaged,-,-,-;2 of 312"]
    program = "return given.tried.map((answer) => [sessionsOf(answer), shareOf(answer)]);"
    none, all_of_them, one, two = compute(OWN + program, tried=tried)
    session: dict[str, Any] = {
        "number": 312, "outcome": "complete", "started": "2026-11-21T15:01:07+00:00",
        "ears": "both", "identifier": "P-17",
    }  # fmt: skip
    assert none == [[], None]
    assert all_of_them == [[session], None]
    assert one == [[session], {"listed": "1", "all": "312"}]
    assert [each["number"] for each in two[0]] == [312, 9]
    assert two[1] == {"listed": "2", "all": "312"}
