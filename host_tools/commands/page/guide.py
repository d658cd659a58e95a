"""The operator's guide: what to do, in what order, and what each question means, as one paper.

It is made of the sentences of the operator's page, and has none of its own.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from firmware_py.console.grammar import WARMS_UP
from firmware_py.findings.rows import Row, row, verdict_row
from firmware_py.paper import blocks
from firmware_py.platform.version import full_version
from firmware_py.terms.outcomes import Verdict
from firmware_py.terms.reasons import UNIT
from firmware_py.terms.route import RIGHT
from firmware_py.terms.words import Language
from host_tools.catalogue import ENGLISH, catalogue_of
from host_tools.commands.page.assemble import asset
from host_tools.commands.page.knowledge import INSTRUCTION, PLACE, sentences_of
from host_tools.papers import Shown
from host_tools.papers.html import escape, header_as_html, page_as_html, sections_as_html

# What the page asks while a test is under way, in the order in which a test comes to it, and the
# buttons that answer; the sentences are `check_ear` and `check_ear_note`, and so on.
QUESTIONS: Final[Mapping[str, Sequence[str]]] = {
    "ear": ("ear_title_right", "ear_title_left", "ear_unsure"),
    "earphones": ("continue",),
    "listener": ("continue",),
    "silence": ("continue", "hear_operator", "hear_other_ear"),
    "equipment": ("hear_operator", "hear_other_ear", "hear_nobody"),
    "placing": ("continue",),
    "pause": ("same_go_on", "another_end"),
    "identity": ("same_go_on", "another_end"),
}
# What it asks before a test begins, and its answers.
BEFORE: Final[Mapping[str, Sequence[str]]] = {
    "ask_same": ("same_person", "ask_other"),
    "ask_spelling": ("ask_known", "ask_other"),
    "ask_order": ("ask_known", "ask_other"),
}
# What is typed, by what the page says of it.
FIELDS: Final[Mapping[str, Sequence[str]]] = {
    "identifier_note": ("about_identifier", "about_birth_year", "about_sex"),
    "name_note": ("about_name", "about_tester", "about_place", "about_remarks"),
    "room_ask": ("room_dba",),
    "conduct_note_brisk": ("conduct_brisk",),
    "conduct_note_clinical": ("conduct_clinical",),
    "loud_confirmed": ("level_max_db_hl",),
}
PARTS: Final = ("board", "button", "calibration", "disk", "clock")  # of the self-test
ERRORS: Final = (101, 105, 106, 109)  # that an operator sees to during a test
VERDICTS: Final = (Verdict.DOUBTFUL, Verdict.NOT_TESTED)  # what else a test may be
COLUMNS: Final = 2  # so it fits on one sheet
FILLED_IN: Final = "..."
_PLACE: Final = re.compile(r"\{(\w+)\}")


class GuideShown(Shown):
    """Says the sentences of the page, too."""

    @property
    def language(self) -> Language:
        said = super().language
        return replace(said, sentences={**said.sentences, **sentences_of(self.name)})


def guide() -> blocks.Paper:
    instruction = catalogue_of(ENGLISH).tables[INSTRUCTION]
    read_out = [row(f"{INSTRUCTION}-{key}") for key in instruction if key != "title"]
    version = full_version()
    return blocks.paper(
        title=_page("title"),
        headline=_page("title"),
        standing=row("listed", of=f"gp-pta {version}"),
        final=True,
        footer=row("footer", version=version),
        sections=[
            blocks.section(
                "connect",
                _page("connect_heading"),
                _lines("connect_words", "connect_note"),
                _buttons("connect"),
            ),
            blocks.section(
                "check",
                _page("check_heading"),
                *(_named([_page(f"part_{part}")], _page(f"fault_{part}")) for part in PARTS),
                _lines("error_112"),
            ),
            blocks.section(
                "prepare",
                _page("prepare_heading"),
                *(_named(map(_page, names), _page(note)) for note, names in FIELDS.items()),
                *(_asked(_page(each), BEFORE[each]) for each in BEFORE),
                _lines(f"error_{WARMS_UP}"),
            ),
            blocks.section(
                "instruction",
                row(f"{INSTRUCTION}-title"),
                blocks.rows(read_out),
                _buttons("start"),
            ),
            blocks.section(
                "live",
                _page("live_heading"),
                _lines("keys_note"),
                *(
                    _asked(_page(f"check_{each}"), QUESTIONS[each], _page(f"check_{each}_note"))
                    for each in QUESTIONS
                ),
                _lines(*(f"error_{number}" for number in ERRORS)),
            ),
            blocks.section(
                "result",
                row("audiogram"),
                *(_named([verdict_row(each)], row(f"test-{each}-means")) for each in VERDICTS),
                _lines("legend"),
                _buttons("print", "save_json", "next_person", "same_person"),
            ),
        ],
    )


def guide_as_html(language: str) -> str:
    paper, shown = guide(), GuideShown(language)
    body = "\n".join(
        [
            header_as_html(paper, shown),
            f"<main>\n{sections_as_html(paper['sections'], shown)}\n</main>",
            f"<footer><p>{escape(shown.say(paper['footer']))}</p></footer>",
        ]
    )
    return page_as_html(shown, shown.title_of(paper), asset("guide.css"), body)


def _page(key: str) -> Row:
    """Return a sentence of the page; what the page fills in are dots, and an ear is an example."""
    places = dict.fromkeys(_PLACE.findall(catalogue_of(ENGLISH).tables[PLACE][key]), FILLED_IN)
    figures = {name.lower(): each for name, each in places.items() if name != UNIT}
    said = row(f"{PLACE}-{key}", **figures | {"ear": RIGHT} if "ear" in figures else figures)
    return row("listed", of=said) if figures else said  # a figure `typed` is no field here


def _lines(*keys: str) -> blocks.Block | None:
    return blocks.rows(map(_page, keys))


def _buttons(*keys: str) -> blocks.Block | None:
    return blocks.rows([row("guide-answers", parts=map(_page, keys))])


def _named(names: Iterable[Row], meaning: Row) -> blocks.Block:
    return blocks.alarm(row("joined", parts=names), [meaning], calm=True)


def _asked(question: Row, answers: Sequence[str], *notes: Row) -> blocks.Block:
    """Return a question with what it means, and the buttons that answer it."""
    answered = row("guide-answers", parts=map(_page, answers))
    return blocks.alarm(question, [*notes, answered], calm=True)
