"""Puts the operator's page together: HTML, CSS and ES modules become one file of text.

An ES module of a file cannot import another file's. So each module becomes a function that is
called once, in the order of their imports, and gives its exports as names to those after it.
"""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from host_tools import drawing_js
from host_tools.commands.page.knowledge import knowledge

ASSETS: Final = files("host_tools.commands.page") / "assets"
MAIN: Final = "main.js"
DRAWING: Final = "../../../drawing_js/"  # which comes as a script of its own
IN_HTML: Final = str.maketrans("<{", ",.")  # signs of base 85 that mean something there
PAGE_BYTES_MAX: Final = 188_000
_IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_WAITS: Final = re.compile(r"^export const \w+ = await ", re.MULTILINE)
# What stays as it is in a script: texts; templates, in whose places others may stand; expressions
# that are matched, after whose first stroke there is no space, as there is after that of a
# division. Comments go, and so do the spaces around the signs of the language and what ends a last
# statement.
_TEXT: Final = r'"(?:[^"\\\n]|\\.)*"'
_PLAIN: Final = r"`(?:[^`\\]|\\.)*`"
_PLACE: Final = rf"\$\{{(?:[^{{}}`]|\{{[^{{}}`]*\}}|{_PLAIN})*\}}"
_TEMPLATE: Final = rf"`(?:[^`\\$]|\\.|\$(?!\{{)|{_PLACE})*`"
_MATCHED: Final = r"/(?![*/ ])(?:[^/\\\n[]|\\.|\[(?:[^\]\\]|\\.)*\])+/"
_COMMENT: Final = r"(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)"
_SCRIPT: Final = re.compile(
    rf"(?P<kept>{_TEXT}|{_TEMPLATE}|{_MATCHED})"
    r"|\s*;(?=\s*\})"
    rf"|\s*{_COMMENT}"
    rf"|\s*(?P<sign>!==?|[-+](?![-+])|[{{}}();,=<>?:&|*[\]])(?:\s|{_COMMENT})*|(?P<space>\s+)"
)
# What a style sheet does without: comments, the last sign before a brace, and these spaces.
_STYLE: Final = re.compile(rf"{_COMMENT}|;(?=\s*\}})|\s*([{{}};,])\s*|(?<=:)\s+")

# Before what begins or ends a block a line break is nothing.
_BLOCKS: Final = re.compile(
    r"\n+(?=</?(?:body|d[dlt]|details|dialog|div|fieldset|footer|form|h\d|head|header|legend|main"
    r"|meta|p|script|section|style|summary|t(?:able|body|head|itle|r)|ul)\b)"
)


def page(ordered: Mapping[str, Any] | None = None) -> str:
    """Return the page: all of it in one file, with nothing from outside.

    `ordered`: the person of an order, by the fields of the page.
    """
    program, style = _program(), _STYLE.sub(r"\1", f"{drawing_js.style()}\n{asset('page.css')}")
    parts = {
        "policy": _policy(program, style),
        "style": style,
        "frequencies": "".join(
            f"<option{' selected' if hz == 1000 else ''}>{hz}</option>"
            for hz in AUDIOGRAM_FREQUENCIES_HZ
        ),
        "knowledge": _pack(knowledge() | ({"ordered": ordered} if ordered else {})),
        "program": program,
    }
    html = _BLOCKS.sub("", asset("page.html"))
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], html)


def modules(last: str = MAIN) -> dict[str, str]:
    """Return the ES modules that one needs, by name, each after those that it imports."""
    found: dict[str, str] = {}
    _add(last, found)
    return found


def exports_of(source: str) -> list[str]:
    return [name for _, name in _EXPORT.findall(source)]


def _add(name: str, found: dict[str, str]) -> None:
    source = asset(name)
    for _, imported in _IMPORT.findall(source):
        if not imported.startswith(DRAWING) and imported.removeprefix("./") not in found:
            _add(imported.removeprefix("./"), found)
    found[name] = source


def _program() -> str:
    scripts = [drawing_js.inline_script(), *(function_of(each) for each in modules().values())]
    return _SCRIPT.sub(_bare, "\n".join(scripts)).strip()


def _bare(found: re.Match[str]) -> str:
    if found["space"]:
        return "\n" if "\n" in found["space"] else " "
    return found["kept"] or found["sign"] or ""


def function_of(source: str) -> str:
    """Return a module as a function that is called, with the names that it exports."""
    names = ", ".join(exports_of(source))
    body = _EXPORT.sub(r"\1", _IMPORT.sub("", source))
    call = "await (async () =>" if _WAITS.search(source) else "(() =>"
    return f"const {{ {names} }} = {call} {{\n{body}\nreturn {{ {names} }};\n}})();"


def _policy(program: str, style: str) -> str:
    """Return what the page may do: run this script, look like this, and talk to a bridge here."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(program)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",  # the icon
            "connect-src 'self' ws://127.0.0.1:* ws://localhost:*",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _pack(value: Any) -> str:
    """Return JSON as gzip has it, in letters: the sentences of all languages fill a third then."""
    told = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    packed = base64.b85encode(gzip.compress(told.encode(), mtime=0)).decode("ascii")
    return packed.translate(IN_HTML)


def asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
