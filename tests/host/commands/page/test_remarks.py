"""The page says what a device tells as reports do, by the same table."""

import json

import pytest
from playwright.sync_api import Browser

from host_tools.catalogue import LANGUAGES, catalogue_of
from host_tools.catalogue.remarks import told
from host_tools.commands.page.assemble import function_of, modules
from host_tools.commands.page.knowledge import knowledge
from tests.host.journals import recorded_remarks
from tests.host.test_catalogue import FOREIGN, MADE_BY_THE_FIRMWARE

pytestmark = pytest.mark.xdist_group("page")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_what_a_report_says(browser: Browser, language: str) -> None:
    recorded = [*MADE_BY_THE_FIRMWARE, *sorted(recorded_remarks())]
    assert len(recorded) > 40
    said = in_words(browser, language, recorded)
    assert said == [told(each, catalogue_of(language)) for each in recorded]


def test_what_no_sentence_fits_is_not_said(browser: Browser) -> None:
    assert in_words(browser, "de", FOREIGN) == [None] * len(FOREIGN)


def in_words(browser: Browser, language: str, recorded: object) -> list[str | None]:
    """Return what the page's own modules say of recorded sentences."""
    knows = knowledge()
    given = json.dumps([knows["keys"], knows["words"], language, knows["remarks"], recorded])
    program = "\n".join(function_of(each) for each in modules("remarks.js").values())
    with browser.new_context() as context:
        page = context.new_page()
        said: list[str | None] = page.evaluate(
            f"""() => {{
                {program}
                const [keys, words, language, remarks, recorded] = {given};
                useWords(keys, words, language);
                useRemarks(remarks);
                return recorded.map(inWords);
            }}"""
        )
        return said
