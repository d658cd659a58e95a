"""The table of symbols and numbers that every drawing of an audiogram shares."""

import json
from functools import cache
from importlib.resources import files
from typing import Any, Final

FILE: Final = "symbols.json"


@cache
def symbol_table() -> dict[str, Any]:
    """Return the table of `symbols.json`, which says itself what is in it."""
    read: dict[str, Any] = json.loads((files("host_tools") / FILE).read_text(encoding="utf-8"))
    return read


def table_as_json() -> str:
    """Return the table as JSON that cannot end an element of HTML that it stands in."""
    shared = {name: value for name, value in symbol_table().items() if name != "about"}
    return json.dumps(shared, separators=(",", ":")).replace("<", "\\u003c")


def ear_colour(ear: str) -> str:
    colour: str = symbol_table()["ears"][ear]["colour"]
    return colour
