"""The one drawing of an audiogram, in JavaScript: for pages as a script, for paper as an SVG.

`audiogram.js` and `marks.js` are ES modules beside `symbols.json`. A page of one file cannot import
any, so `inline_script` has all, and gives its names to the script that follows in the same element.
Paper has no browser: QuickJS runs the same script, with the little of a browser that it uses.
"""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from host_tools.catalogue import Catalogue
from host_tools.drawings.drawing import FONT, ear_colour, table_as_json

HERE: Final = files("host_tools.drawing_js")
NAMES: Final = ("drawAudiogram", "drawMark", "xOf", "yOf")
SCRIPTS: Final = ("audiogram.js", "marks.js")
_IMPORT: Final = re.compile(r'^import [^"]*"[^"]*"[^;\n]*;$', re.MULTILINE)
_COLOUR: Final = re.compile(r"--(\w+): (#\w+);")
_USE: Final = re.compile(r"var\(--(\w+)\)")


def inline_script() -> str:
    """Return JavaScript that needs nothing else and declares `NAMES`."""
    names = ", ".join(NAMES)
    return f"const {{ {names} }} = (() => {{\n{_script()}\nreturn {{ {names} }};\n}})();\n"


def svg_for_paper(data: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """Return an audiogram of one ear as an SVG element; its words are text.

    It takes what `drawAudiogram` takes.
    """
    import quickjs

    # Read anew for each drawing, which so has the same bytes every time.
    draw = quickjs.Function("asText", f"{_script()}\n{_content('on_paper.js')}")
    drawn: str = draw(data, words, _style_for_paper(data["ears"][-1]["ear"]))
    return drawn


def paper_words(catalogue: Catalogue, *, nominal: bool) -> dict[str, str]:
    """Return what is written on the paper of an audiogram; `nominal`: levels are no dB HL."""
    level = "nominal_level" if nominal else "level"
    return {"hz": catalogue.say("picture", "frequency"), "db_hl": catalogue.say("picture", level)}


def sheet() -> str:
    return _content("sheet.css")


def style() -> str:
    """Return the style sheet of the drawing; the page sets its colours."""
    return _content("audiogram.css")


def _content(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _script() -> str:
    source = _IMPORT.sub("", "".join(map(_content, SCRIPTS)))
    bare = re.sub(r"^export ", "", source, flags=re.MULTILINE)
    return f"const TABLE = {table_as_json()};\n{bare}"


def _style_for_paper(ear: str) -> str:
    """Return the style sheet with the colours and the font in it: an SVG alone has no page."""
    light, _, _ = sheet().partition("@media")
    colours = {**dict(_COLOUR.findall(light)), "ear": ear_colour(ear)}
    filled = _USE.sub(lambda found: colours[found[1]], style() + _content("paper.css"))
    return filled.replace("system-ui, sans-serif", f'"{FONT}"')
