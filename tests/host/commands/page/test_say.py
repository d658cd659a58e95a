"""The page says rows and reasons as `Language` in terms/words.py does, in every language."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest

from firmware_py.findings.rows import row
from firmware_py.terms.reasons import Code, as_json
from host_tools.catalogue import LANGUAGES, REASONS, catalogue_of, language_of
from host_tools.commands.page import knowledge
from host_tools.commands.page.knowledge import UNSHOWN
from tests.host.commands.page.in_javascript import run, say_all, words
from tests.host.journals import GpPta, recorded_remarks
from tests.host.reports import rows_in
from tests.paper.test_codes import papers
from tests.said import example

pytestmark = pytest.mark.xdist_group("recorded")  # they read the same sessions, once

CATALOGUE: Final = files("host_tools.catalogue")
TIMES: Final = (
    "2026-11-28T21:00:07+00:00", "2026-12-31T23:59:30+09:00", "2026-01-02T03:04:05.678-03:30",
    "2026-03-08T09:30:00Z", "2026-03-08T09:30:00", "2026-03-08", "1970-01-01T00:00:05+00:00",
    "yesterday", "",
)  # fmt: skip
NUMBERS: Final = (0, -0.04, 0.5, 1.5, -2.5, 0.25, 12.345, 1000, -10, 99.996, 1234567, 0.05)
NAMES: Final = ("level", "mean_level", "retest_db", "difference_db", "shift", "frequency_hz")
# What no catalogue has, and each way in which a figure is written.
MADE: Final[list[dict[str, Any]]] = [
    *(row("begun", begun_at=[time, TIMES[0]]) for time in TIMES[:-1]),
    *({"code": "begun", "begun_at": time} for time in TIMES),
    *({"code": "later", "date": time, "due": time, "today": time} for time in TIMES),
    *({"code": "later", name: value} for name in NAMES for value in NUMBERS),
    {"code": "later"},
    {"code": "constructor", "of": "toString"},
    {"code": "later", "constructor": 2.5, "valueOf": [1, 2]},
    {"code": "later", "ear": "right-bone", "of": ["left", 2.5, row("unknown")]},
    {"code": "later", "unit": "nominal-db"},
    row("the-ear", ear="left-bone"),
    row("verdict-ear-not", ear="right", verdict=row("test-doubtful")),
    row("verdict-not", verdict=row("test-could-not-be-tested")),
    row("row-level", ear="right"),
    row("row-level", ear="right", unit="nominal-db"),
    row("ear-sentence", ear="left", parts=[row("part-above", frequencies_hz=[500, 1000])] * 2),
    row("pta4", ear="right", mean=row("mean", mean_level=9.96, low=-0.4, high=14.5),
        grades=row("listed", of=[row("percent", percent=61.4), row("percent-below", percent=1)])),
    row("wide", value=row("doubtful", value=row("level-perhaps-above", level=-9.6))),
    row("fact-name"),
    {"code": "differs", "field": "sex", "one": "", "other": "F"},
]  # fmt: skip


OF_ITS_OWN: Final = """
return given.languages.map((each) => {
  useWords(given, each);
  return given.times.map(dateAndTime);
});
"""


def rows_and_reasons() -> Iterator[Any]:
    yield from MADE
    yield from (as_json(example(code)) for code in Code if code not in UNSHOWN)
    yield from map(as_json, recorded_remarks())
    yield from rows_in(json.loads(json.dumps(papers())))


def test_the_page_says_what_python_says() -> None:
    rows = {json.dumps(each): each for each in rows_and_reasons()}
    said = say_all([*rows.values()])
    for language in LANGUAGES:
        python = language_of(language)
        for each, text in zip(rows.values(), said[language], strict=True):
            assert text == python.say(each), (language, each)
    assert len(rows) > 500


def test_several_are_said_one_after_another_and_none_is_nothing() -> None:
    several = [[row("unknown"), row("the-ear", ear="left")], [], None]
    said = say_all(several)["de"]
    assert said == [language_of("de").say(each) for each in several]
    assert said[1:] == ["", ""]


def test_a_row_without_a_figure_that_its_sentence_has_is_shown_all_the_same() -> None:
    assert "{frequencies_hz}" in say_all([{"code": "part-above"}])["en"][0]


def test_what_a_language_lacks_is_english_and_whoever_makes_the_page_is_told(
    monkeypatch: pytest.MonkeyPatch, gp_pta: GpPta, tmp_path: Path
) -> None:
    assert [*map(knowledge.lacking, LANGUAGES)] == [[]] * len(LANGUAGES)
    lacks = {"paper": "fact-name", REASONS: "misses", "page": "print"}
    for language in LANGUAGES:
        text = (CATALOGUE / f"{language}.toml").read_text("utf-8")
        for code in lacks.values() if language == "nl" else ():
            text, count = re.subn(f"^{code} = .*\n", "", text, flags=re.MULTILINE)
            assert count == 1
        (tmp_path / f"{language}.toml").write_text(text, "utf-8")
    monkeypatch.setattr("host_tools.catalogue._FILES", tmp_path)
    read_anew()
    said = knowledge.sentences_of("nl")
    assert said["page-print"] == knowledge.sentences_of("en")["page-print"]
    assert said["fact-name"] == language_of("en").sentences["fact-name"]
    _, _, err = gp_pta("page", "-o", tmp_path / "operator.html")
    monkeypatch.undo()
    read_anew()
    assert err.splitlines() == [
        "nl.toml lacks page.print, remarks.misses, paper.fact-name: the page says it in English"
    ]


def read_anew() -> None:
    language_of.cache_clear()
    catalogue_of.cache_clear()


def test_a_time_that_the_page_says_of_its_own_is_the_same() -> None:
    said = run("words.js", OF_ITS_OWN, languages=[*LANGUAGES], times=TIMES, **words())
    clock = [catalogue_of(language).clock_time for language in LANGUAGES]
    assert said == [[say(time) for time in TIMES] for say in clock]
