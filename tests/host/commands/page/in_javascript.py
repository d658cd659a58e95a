"""The page's own modules without a browser: what they say, and a paper as elements."""

from functools import cache
from pathlib import Path
from typing import Any, Final

from firmware_py.paper.blocks import Paper
from host_tools import drawing_js
from host_tools.catalogue import LANGUAGES, catalogue_of
from host_tools.commands.page.assemble import function_of, modules
from host_tools.commands.page.knowledge import knowledge
from host_tools.papers import Shown
from tests.host.javascript import compute

ELEMENTS: Final = (Path(__file__).parent / "elements.js").read_text("utf-8")
SAY: Final = """
return given.languages.map((language) => {
  useWords(given, language);
  return given.told.map((each) => say(each));
});
"""
SHOW: Final = """
useWords(given, given.language);
const shown = { typed: given.typed, draw: (figure, label) => figure.append(label) };
const { headline, standing, footer, sections, details } = given.paper;
const elements = sectionsOf([...sections, ...details], shown);
return [say(headline), say(standing), ...elements.map(textOf), say(footer)].join("\\n");
"""


def run(name: str, program: str, **given: Any) -> Any:
    """Run a program after a module of the page, and all that it imports."""
    own = "\n".join(function_of(each) for each in modules(name).values())
    return compute(f"{ELEMENTS}\n{drawing_js.inline_script()}\n{own}\n{program}", **given)


@cache
def words() -> dict[str, Any]:
    return {name: knowledge()[name] for name in ("codes", "words", "figures")}


def say_all(told: list[Any]) -> dict[str, list[str]]:
    """Return rows and reasons, each as JSON, as the page says them, by language."""
    said = run("words.js", SAY, languages=[*LANGUAGES], told=told, **words())
    return dict(zip(LANGUAGES, said, strict=True))


def text_of_paper(paper: Paper, language: str = "en", typed: dict[str, str] | None = None) -> str:
    text: str = run("paper.js", SHOW, paper=paper, language=language, typed=typed or {}, **words())
    return text


def elements_of(paper: Paper, shown: Shown) -> str:
    """Return the same of what was typed on the host."""
    heading = shown.heading
    typed = {"name": heading.name, "tester": heading.tester, "place": heading.place}
    if heading.birth_date:
        typed["birth_date"] = catalogue_of(shown.name).date(heading.birth_date.isoformat())
    return text_of_paper(paper, shown.name, typed | {"remarks": heading.comments})
