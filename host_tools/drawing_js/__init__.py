"""The drawing of an audiogram in JavaScript, as one text to put into a page.

`audiogram.js` is an ES module beside `symbols.json`. A page of one file cannot import either, so
`inline_script` has both, and gives its names to the script that follows in the same element.
"""

import re
from importlib.resources import files
from typing import Final

from host_tools.drawings.symbols import table_as_json

HERE: Final = files("host_tools.drawing_js")
NAMES: Final = ("drawAudiogram", "xOf", "yOf")
_IMPORT: Final = re.compile(r'^import TABLE from "[^"]*" with \{ type: "json" \};$', re.MULTILINE)


def inline_script() -> str:
    """Return JavaScript that needs nothing else and declares `NAMES`."""
    source = (HERE / "audiogram.js").read_text(encoding="utf-8")
    source = _IMPORT.sub(lambda _: f"const TABLE = {table_as_json()};", source)
    source = re.sub(r"^export ", "", source, flags=re.MULTILINE)
    names = ", ".join(NAMES)
    return f"const {{ {names} }} = (() => {{\n{source}\nreturn {{ {names} }};\n}})();\n"


def sheet() -> str:
    """Return the style sheet of a page that a command writes, with the colours of the drawing."""
    return (HERE / "sheet.css").read_text(encoding="utf-8")


def style() -> str:
    """Return the style sheet of the drawing; the page sets its colours."""
    return (HERE / "audiogram.css").read_text(encoding="utf-8")
