"""The page says what a device tells as reports do, by the same table."""

from functools import cache
from typing import Final

import pytest

from host_tools.catalogue import LANGUAGES, catalogue_of
from host_tools.catalogue.remarks import told
from host_tools.commands.page.assemble import function_of, modules
from host_tools.commands.page.knowledge import knowledge
from tests.host.javascript import computed
from tests.host.journals import recorded_remarks
from tests.host.test_catalogue import FOREIGN, MADE_BY_THE_FIRMWARE

pytestmark = pytest.mark.xdist_group("remarks")  # they are read once
PROGRAM: Final = """
globalThis.document = { documentElement: {} };
useWords(given.keys, given.words, "en");
useRemarks(given.remarks);
return given.languages.map((language) => {
  useWords(given.keys, given.words, language);
  return given.recorded.map(inWords);
});
"""


@cache
def recorded() -> list[str]:
    return [*MADE_BY_THE_FIRMWARE, *sorted(recorded_remarks())]


@cache
def in_words() -> dict[str, list[str | None]]:
    """Return by language what the page's own modules say of recorded sentences."""
    own = "\n".join(function_of(each) for each in modules("remarks.js").values())
    knows = {name: knowledge()[name] for name in ("keys", "words", "remarks")}
    sentences = [*recorded(), *FOREIGN]
    said = computed(own + PROGRAM, languages=[*LANGUAGES], recorded=sentences, **knows)
    return dict(zip(LANGUAGES, said, strict=True))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_what_a_report_says(language: str) -> None:
    assert len(recorded()) > 40
    said = in_words()[language][: len(recorded())]
    assert said == [told(each, catalogue_of(language)) for each in recorded()]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_no_sentence_fits_is_not_said(language: str) -> None:
    assert in_words()[language][len(recorded()) :] == [None] * len(FOREIGN)
