"""The page says the reasons of a device as reports do, by the same table."""

from functools import cache
from typing import Any, Final

import pytest

from firmware_py.procedure.reasons import Code, as_json
from firmware_py.procedure.words import say
from host_tools.catalogue import LANGUAGES, catalogue_of
from host_tools.catalogue.remarks import say_reasons
from host_tools.commands.page.assemble import function_of, modules
from host_tools.commands.page.knowledge import UNSHOWN, knowledge
from tests.host.javascript import compute
from tests.host.journals import recorded_remarks
from tests.said import example

pytestmark = pytest.mark.xdist_group("remarks")  # they are read once
REASONS: Final = tuple(example(code) for code in Code if code not in UNSHOWN)
PROGRAM: Final = """
globalThis.document = { documentElement: {} };
useRemarks(given.remarks);
return given.languages.map((language) => {
  useWords(given.keys, given.words, language);
  return given.reasons.map((each) => inWords([each]));
});
"""


@cache
def in_words() -> dict[str, list[Any]]:
    """Return by language what the page's own modules say of reasons."""
    own = "\n".join(function_of(each) for each in modules("remarks.js").values())
    knows = {name: knowledge()[name] for name in ("keys", "words", "remarks")}
    reasons = as_json([*REASONS, *remarks()])
    said = compute(own + PROGRAM, languages=[*LANGUAGES], reasons=reasons, **knows)
    return dict(zip(LANGUAGES, said, strict=True))


@cache
def remarks() -> tuple[Any, ...]:
    return (*sorted(recorded_remarks(), key=say),)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_what_a_report_says(language: str) -> None:
    reasons, catalogue = (*REASONS, *remarks()), catalogue_of(language)
    for each, said in zip(reasons, in_words()[language], strict=True):
        assert said == say_reasons(each, catalogue)
