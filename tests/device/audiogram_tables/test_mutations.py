"""Whatever is done to a good table: the right numbers, or a refusal with the place and the cure.

Each of 300 tables has one change of what people's programs and hands do to tables. For each change
it is known beforehand what follows from it: the numbers that are then in the table, or a refusal.
"""

import math
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from device.audiogram_tables.ears import AudiogramError
from tests.device.audiogram_tables.good_tables import (
    FREQUENCIES_HZ,
    SHAPES,
    Sheet,
    good_table,
    thresholds_of,
)

SEED: Final = 39
MUTATIONS: Final = 300
PATH: Final = "clinic.csv"
# How a refusal says what to do.
CURE: Final = re.compile(
    r"allowed (is|are)|did you mean|a level is written|wanted is|save it as CSV|name it, or|unpack"
    r"|cells are taken to be separated|are separated by a|cells separated by a"
)
# What a table is after a change, or that it has to be refused with these words in the message.
Outcome = Sheet | tuple[bytes, str]
Mutation = Callable[[Sheet, random.Random], Outcome]

ODD_CELLS: Final = (
    "abc", "999", "445", "-60", "45?", "4¹", "45 dB SPL", "4 5", "1e3", "--5", "10/15", "0x1E",
    "inf", "1.000,5", "45;50x", "<10", ">999",
)  # fmt: skip
NO_RESPONSES: Final = ("NR", "nr", "N.R.", "no response", "No_Response", "DNR", "↓", "666", "666.0")
LIMITS: Final = (">105", "105+", "> 105 dB", "105 NR", "NR@105", "NR (105)", "＞105", ">105.0")
UNKNOWN: Final = ("", " ", "-", "—", "NA", "n/a", "nt", "CNT", "888", "888.0", "not tested")
INVISIBLE: Final = ("\u200b", "\u00ad", "\ufeff", "\u2060", "\u200f")


def of_all(change: Callable[[Sheet], Sheet]) -> Mutation:
    """Return a change without any chance."""
    return lambda sheet, chance: change(sheet)


def a_cell(sheet: Sheet, chance: random.Random) -> tuple[int, int]:
    """Return the place of a threshold that is known, and stays the only one of its kind."""
    return chance.choice([at for at, place in sheet.cells.items() if place in sheet.truth])


def refusal(sheet: Sheet, words: str) -> tuple[bytes, str]:
    """Return that a table has to be refused, with these words."""
    return sheet.content(), words


def row_of(sheet: Sheet, row: int) -> str:
    """Return how a row is called in messages."""
    return f"row {row + 1}"


def separate_by(sign: str) -> Mutation:
    """Return a change of the separator."""
    return of_all(lambda sheet: replace(sheet, separator=sign))


def with_sep_line(sheet: Sheet, chance: random.Random) -> Outcome:
    sign = chance.choice(",;\t|")
    return replace(sheet, separator=sign, before=f"{chance.choice(('sep', 'SEP'))}={sign}\n")


def with_decimals(sheet: Sheet, chance: random.Random) -> Outcome:
    """Write a level with a fraction, by a point or a comma."""
    at, mark = a_cell(sheet, chance), chance.choice(".,")
    return sheet.with_cell(at, f"12{mark}5", (12.5, None))


def with_loose_comma(sheet: Sheet, chance: random.Random) -> Outcome:
    """Write a decimal comma in a table that is separated by commas, without quotes."""
    sheet = replace(sheet, separator=",")
    row, column = a_cell(sheet, chance)
    cells = [*sheet.rows[row]]
    cells[column : column + 1] = ["12", "5"]
    rows = [*sheet.rows]
    rows[row] = tuple(cells)
    return refusal(replace(sheet, rows=tuple(rows)), row_of(sheet, row))


def with_empty_columns(sheet: Sheet) -> Sheet:
    rows = tuple((*row, "", "") for row in sheet.rows)
    return replace(sheet, header=(*sheet.header, "", ""), rows=rows)


def with_trailing_separators(sheet: Sheet) -> Sheet:
    return replace(sheet, rows=tuple((*row, "") for row in sheet.rows))


def with_one_more(sheet: Sheet, chance: random.Random) -> Outcome:
    """Shift a row to the right, or give it a cell too many at its end."""
    row = chance.randrange(len(sheet.rows))
    cells = sheet.rows[row]
    longer = chance.choice((("", *cells), (*cells, ""), (*cells, "15")))
    rows = (*sheet.rows[:row], longer, *sheet.rows[row + 1 :])
    return refusal(replace(sheet, rows=rows), row_of(sheet, row))


def with_one_less(sheet: Sheet, chance: random.Random) -> Outcome:
    """Shift a row to the left, or cut it off."""
    row = chance.randrange(len(sheet.rows))
    cells = sheet.rows[row]
    shorter = chance.choice((cells[1:], cells[:-1]))
    rows = (*sheet.rows[:row], shorter, *sheet.rows[row + 1 :])
    return refusal(replace(sheet, rows=rows), row_of(sheet, row))


def shift_into_blank(sheet: Sheet, chance: random.Random) -> Outcome:
    """Shift a row to the right whose last cell was empty: it has as many cells as before."""
    row = chance.randrange(len(sheet.rows))
    rows = (*sheet.rows[:row], ("", *sheet.rows[row][:-1]), *sheet.rows[row + 1 :])
    return refusal(replace(sheet, rows=rows), row_of(sheet, row))


def with_invisible(sheet: Sheet, chance: random.Random) -> Outcome:
    """Put a sign that nobody sees into a heading or a cell."""
    sign, (row, column) = chance.choice(INVISIBLE), a_cell(sheet, chance)
    if chance.random() < 0.5:
        text = sheet.header[column]
        return sheet.with_heading(column, text[:1] + sign + text[1:])
    text = sheet.rows[row][column]
    return sheet.with_text((row, column), text[:1] + sign + text[1:] + "\u00a0")


def in_other_case(sheet: Sheet, chance: random.Random) -> Outcome:
    change = chance.choice((str.upper, str.lower, str.title))
    return replace(sheet, header=tuple(map(change, sheet.header)))


def in_other_words(sheet: Sheet, chance: random.Random) -> Outcome:
    """Write a heading of thresholds otherwise, so that it means the same."""
    column = chance.choice(sheet.columns_of_thresholds())
    text = sheet.header[column]
    number = re.search(r"\d{3,}", text)
    if text.startswith("AUXU") or number is None:
        return sheet.with_heading(column, f"  {text} ")
    kilo = f"{int(number[0]) / 1000:g}"
    others = (f"{number[0]}.0", f"{number[0]} Hz", f"{kilo} kHz", f"{kilo}kHz", f"_{number[0]}_")
    return sheet.with_heading(column, text.replace(f"{number[0]} Hz", number[0]).replace(
        number[0], chance.choice(others)
    ))  # fmt: skip


def nearly_a_heading(sheet: Sheet, chance: random.Random) -> Outcome:
    """Make a mistake in a heading of thresholds."""
    column = chance.choice(sheet.columns_of_thresholds())
    text = sheet.header[column]
    if not re.search(r"\d", text):
        changed = chance.choice(("treshold", "threshhold", "thrshold"))
        return refusal(sheet.with_heading(column, changed), changed if len(
            sheet.columns_of_thresholds()) == 1 else PATH)  # fmt: skip
    changed = chance.choice(
        (
            text.replace("00", "OO").replace("1K", "1KK").replace("2K", "2X").replace("4K", "4X")
            .replace("8K", "8X"),
            re.sub(r"\d00+", lambda m: f"{m[0]}.1", text),
            re.sub(r"(\d)(0+)", lambda m: f"{m[1]} {m[2]}", text),
            re.sub(r"\d00+", lambda m: f"{int(m[0]) / 1000:g}", text).replace(" Hz", ""),
        )
    )  # fmt: skip
    if changed == text:
        changed = f"{text[:4]}9{text[4:]}" if text.startswith("AUXU") else f"{text}.1"
    return refusal(sheet.with_heading(column, changed), changed.strip())


def a_zero_off(sheet: Sheet, chance: random.Random) -> Outcome:
    """Write a zero too much or too few in a frequency."""
    column = chance.choice(sheet.columns_of_thresholds())
    found = re.search(r"\d00+", sheet.header[column])
    if found and not sheet.header[column].endswith("Hz"):
        text = sheet.header[column]
        changed = text.replace(found[0], found[0] + "0" if found[0] in ("500", "1000", "2000")
                               and chance.random() < 0.5 else found[0][:-1])  # fmt: skip
        return refusal(sheet.with_heading(column, changed), changed)
    if "frequency" in sheet.header:
        row = chance.randrange(len(sheet.rows))
        cell = sheet.rows[row][2]
        return refusal(sheet.with_text((row, 2), cell[:-1]), row_of(sheet, row))
    return nearly_a_heading(sheet, chance)


def silent(sheet: Sheet, chance: random.Random) -> Outcome:
    return sheet.with_cell(a_cell(sheet, chance), chance.choice(NO_RESPONSES), (math.inf, None))


def beyond(sheet: Sheet, chance: random.Random) -> Outcome:
    return sheet.with_cell(a_cell(sheet, chance), chance.choice(LIMITS), (math.inf, 105.0))


def make_unknown(sheet: Sheet, chance: random.Random) -> Outcome:
    return sheet.with_cell(a_cell(sheet, chance), chance.choice(UNKNOWN), None)


def odd_cell(sheet: Sheet, chance: random.Random) -> Outcome:
    at = a_cell(sheet, chance)
    return refusal(sheet.with_text(at, chance.choice(ODD_CELLS)), row_of(sheet, at[0]))


def columns_shuffled(sheet: Sheet, chance: random.Random) -> Outcome:
    return sheet.with_columns(chance.sample(range(len(sheet.header)), len(sheet.header)))


def rows_shuffled(sheet: Sheet, chance: random.Random) -> Outcome:
    return replace(sheet, rows=tuple(chance.sample(sheet.rows, len(sheet.rows))))


def column_twice(sheet: Sheet, chance: random.Random) -> Outcome:
    """Have a column of thresholds twice, by the same name or by another."""
    column = chance.choice(sheet.columns_of_thresholds())
    text = chance.choice((sheet.header[column], f"{sheet.header[column]} ".lower()))
    header = (*sheet.header, text)
    rows = tuple((*row, "10") for row in sheet.rows)
    return refusal(replace(sheet, header=header, rows=rows), sheet.header[column])


def in_sound_pressure(sheet: Sheet, chance: random.Random) -> Outcome:
    """Have the heading say dB SPL."""
    column = chance.choice(sheet.columns_of_thresholds())
    text = f"{re.sub(r'dB HL', '', sheet.header[column])} dB SPL"
    return refusal(sheet.with_heading(column, text), text)


def in_tenths(sheet: Sheet, chance: random.Random) -> Outcome:
    """Have the levels ten times what they are."""
    at = chance.choice(sorted(sheet.cells))
    sheet = sheet.with_text(at, "30")
    for row, column in sheet.cells:
        text = sheet.rows[row][column]
        if re.fullmatch(r"-?\d+", text) and text not in ("666", "888"):
            sheet = sheet.with_text((row, column), f"{text}0" if text != "0" else "0")
    return refusal(sheet, " dB HL, allowed are -30 to 140")


def in_kilohertz(sheet: Sheet, chance: random.Random) -> Outcome:
    """Have frequencies in kHz that do not say so."""
    if "frequency" in map(str.lower, sheet.header):
        column = [h.lower() for h in sheet.header].index("frequency")
        rows = [[*row] for row in sheet.rows]
        for row in rows:
            row[column] = f"{float(row[column].split()[0]) / 1000:g}"
        return refusal(replace(sheet, rows=tuple(map(tuple, rows))), "row 1")
    header = tuple(
        f"t{FREQUENCIES_HZ[k % 5] / 1000:g}" if k in sheet.columns_of_thresholds() else text
        for k, text in enumerate(sheet.header)
    )
    return refusal(replace(sheet, header=header), "is nearly one that means something: did you")


def with_column_of_no_response(sheet: Sheet, chance: random.Random) -> Outcome:
    """List what was not heard in a column, as tables of ears have it."""
    sheet = good_table("ear", chance)
    row, column = a_cell(sheet, chance)
    place = sheet.cells[row, column]
    entry = chance.choice(("{:g}", " {:g} ", "{:g};", "{:g} Hz", "t{:g}")).format(place[2])
    name = chance.choice(("no_response", "No_Response", "NO RESPONSE", "NoResponse", "NR"))
    kind = chance.choice(("read", "both", "misspelt", "elsewhere"))
    if kind in ("read", "misspelt", "elsewhere"):
        sheet = sheet.with_cell((row, column), "", (math.inf, None))
    if kind == "both":
        sheet = sheet.with_text((row, column), "40")
    entry = "3000" if kind == "elsewhere" else entry
    name = "no_reponse" if kind == "misspelt" else name
    rows = tuple((*r, entry if k == row else "") for k, r in enumerate(sheet.rows))
    sheet = replace(sheet, header=(*sheet.header, name), rows=rows)
    if kind == "read":
        return sheet
    return refusal(sheet, "'no_reponse'" if kind == "misspelt" else row_of(sheet, row))


def header_again(sheet: Sheet, chance: random.Random) -> Outcome:
    """Have the header in the middle, as where two tables were joined."""
    row = chance.randrange(1, len(sheet.rows))
    rows = (*sheet.rows[:row], sheet.header, *sheet.rows[row:])
    return refusal(replace(sheet, rows=rows), row_of(sheet, row))


def title_above(sheet: Sheet, chance: random.Random) -> Outcome:
    return refusal(replace(sheet, before="Audiograms of our clinic\n"), "its first line")


def in_another_encoding(sheet: Sheet, chance: random.Random) -> Outcome:
    row = chance.randrange(len(sheet.rows))
    who = next(k for k, text in enumerate(sheet.header) if text in ("subject", "id", "Name",
               "SEQN", "patient"))  # fmt: skip
    return refusal(replace(sheet.with_text((row, who), "Zoë"), encoding="latin-1"), "UTF-8")


def cut_off(sheet: Sheet, chance: random.Random) -> Outcome:
    content = replace(sheet, quoted=True).content()
    return content[: content.rindex(b'"')], "is not a CSV file"


def in_single_quotes(sheet: Sheet, chance: random.Random) -> Outcome:
    at = a_cell(sheet, chance)
    return refusal(sheet.with_text(at, f"'{sheet.rows[at[0]][at[1]]}'"), row_of(sheet, at[0]))


def with_empty_lines(sheet: Sheet) -> Sheet:
    return replace(sheet, newline="\n\n")


def spaces_for_separators(sheet: Sheet, chance: random.Random) -> Outcome:
    sheet = good_table("ear", chance)
    sheet = sheet.with_columns(sheet.columns_of_thresholds())
    return refusal(replace(sheet, separator=" "), "separated by spaces")


def named_row_again(sheet: Sheet, chance: random.Random) -> Outcome:
    """Have a threshold of somebody twice."""
    sheet = good_table(chance.choice(("long", "two")), chance)
    row = chance.randrange(len(sheet.rows))
    return refusal(replace(sheet, rows=(*sheet.rows, sheet.rows[row])), "comes twice")


def wrong_ear(sheet: Sheet, chance: random.Random) -> Outcome:
    """Have an ear that is none."""
    sheet = good_table("long", chance)
    row = chance.randrange(len(sheet.rows))
    return refusal(sheet.with_text((row, 1), chance.choice(("X", "both", ""))), row_of(sheet, row))


def workbook(sheet: Sheet, chance: random.Random) -> Outcome:
    begin = chance.choice((b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b", b"%PDF"))
    return begin + sheet.content(), "is not a CSV file"


ALL: Final[dict[str, Mutation]] = {
    **{f"separator {sign!r}": separate_by(sign) for sign in ",;\t|"},
    "sep=": with_sep_line,
    "BOM": of_all(lambda sheet: replace(sheet, encoding="utf-8-sig")),
    "UTF-16": of_all(lambda sheet: replace(sheet, encoding="utf-16")),
    "CRLF": of_all(lambda sheet: replace(sheet, newline="\r\n")),
    "CR": of_all(lambda sheet: replace(sheet, newline="\r")),
    "quoted": of_all(lambda sheet: replace(sheet, quoted=True)),
    "empty lines": of_all(with_empty_lines),
    "empty columns": of_all(with_empty_columns),
    "trailing separators": of_all(with_trailing_separators),
    "decimals": with_decimals,
    "loose comma": with_loose_comma,
    "one more": with_one_more,
    "one less": with_one_less,
    "shifted into a blank": shift_into_blank,
    "invisible": with_invisible,
    "case": in_other_case,
    "other words": in_other_words,
    "nearly": nearly_a_heading,
    "a zero off": a_zero_off,
    "no response": silent,
    "beyond": beyond,
    "unknown": make_unknown,
    "odd cell": odd_cell,
    "columns shuffled": columns_shuffled,
    "rows shuffled": rows_shuffled,
    "column twice": column_twice,
    "dB SPL": in_sound_pressure,
    "tenths": in_tenths,
    "kHz": in_kilohertz,
    "no_response": with_column_of_no_response,
    "header again": header_again,
    "title": title_above,
    "encoding": in_another_encoding,
    "cut off": cut_off,
    "single quotes": in_single_quotes,
    "spaces": spaces_for_separators,
    "twice": named_row_again,
    "wrong ear": wrong_ear,
    "workbook": workbook,
}


def mutate(number: int) -> tuple[str, Outcome]:
    """Return the table of a number, and what was done to it."""
    chance = random.Random(SEED * 1000 + number)
    name, shape = [*ALL][number % len(ALL)], [*SHAPES][number // len(ALL) % len(SHAPES)]
    return f"{name} of {shape}", ALL[name](good_table(shape, chance), chance)


@pytest.mark.parametrize("number", range(MUTATIONS))
def test_a_change_gives_the_right_numbers_or_a_refusal(number: int) -> None:
    name, outcome = mutate(number)
    print(f"seed {SEED}, number {number}: {name}")
    if isinstance(outcome, Sheet):
        assert thresholds_of(PATH, outcome.content()) == outcome.truth
        return
    content, words = outcome
    with pytest.raises(AudiogramError) as error:
        print("read as", thresholds_of(PATH, content))
    message = str(error.value)
    assert message.startswith(PATH), "the file"
    assert words in message, "the place"
    assert CURE.search(message), "the cure"


def test_good_tables_are_read_and_the_changes_are_many() -> None:
    for shape in SHAPES:
        sheet = good_table(shape, random.Random(SEED))
        assert thresholds_of(PATH, sheet.content()) == sheet.truth
        assert len(sheet.truth) > 20
    kinds = Counter(isinstance(mutate(number)[1], Sheet) for number in range(MUTATIONS))
    assert min(kinds.values()) > MUTATIONS / 3
