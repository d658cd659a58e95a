"""The device's English of papers; the host tools have other languages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from firmware_py.console.wording import readable
from firmware_py.paper.blocks import Block, Section, Table, is_to_type, section
from firmware_py.paper.head import JudgedEar, verdict_blocks
from firmware_py.terms.words import SENTENCES, Language, english_of


@cache
def paper_sentences() -> Mapping[str, str]:
    return english_of("firmware_py.paper")


@cache
def english() -> Language:
    told = {**SENTENCES, **paper_sentences()}
    return Language({code: readable(sentence) for code, sentence in told.items()})


def verdict_lines(ears: Sequence[JudgedEar]) -> list[str]:
    return [*lines_of([section("verdict", None, *verdict_blocks(ears))])]


def lines_of(sections: Iterable[Section]) -> Iterator[str]:
    language = english()
    for each in sections:
        if each["title"] is not None:
            yield language.say(each["title"])
        for block in each["blocks"]:
            yield from _lines(block, language)


def _lines(block: Block, language: Language) -> Iterator[str]:
    match block["block"]:
        case "facts":
            told = [pair for pair in block["facts"] if not is_to_type(pair[1])]
            yield from (": ".join(map(language.cell, pair)) for pair in told)
        case "audiograms":
            yield from (language.say(row) for each in block["of"] for row in each["rows"])
        case "tables":
            yield from (line for each in block["tables"] for line in _numbers(each, language))
        case "alarm":
            yield from map(language.say, (block["headline"], *block["rows"]))
        case "rows":
            yield from map(language.say, block["rows"])


def _numbers(table: Table, language: Language) -> Iterator[str]:
    """Yield a line a row: each of its cells behind the name of the column."""
    _, *columns = map(language.cell, table["columns"])
    for name, cells in table["rows"]:
        said = zip(columns, map(language.cell, cells), strict=True)
        head = f"{language.cell(table['caption'])}, {language.cell(name)}"
        yield f"{head}: {'; '.join(f'{column} {cell}' for column, cell in said)}"
