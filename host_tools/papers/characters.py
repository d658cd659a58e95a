"""Any paper on a terminal, or in a pipe."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from firmware_py.findings.rows import Cell
from firmware_py.paper.blocks import Block, Paper, Section, Table
from firmware_py.terms.printable import printable
from host_tools.papers import Shown, ear_of, turn
from host_tools.terminal import NO_BREAK, show

if TYPE_CHECKING:
    from rich.console import Console

CALM, ALARM, TITLE = "bold", "bold red", "bold"
LEGEND_GAP: Final = "   "  # after an entry: a mark may be any sign
COLOURS: Final = {"right": "red", "left": "blue"}


def show_paper(screen: "Console", paper: Paper, shown: Shown, *, details: bool = False) -> None:
    """Print a paper; `details`: with what stands behind it."""
    for name, style in (("headline", TITLE), ("standing", CALM if paper["final"] else ALARM)):
        _line(screen, shown.say(paper[name]), style)
    show_sections(screen, [*paper["sections"], *(paper["details"] if details else ())], shown)
    _line(screen, "")
    _line(screen, shown.say(paper["footer"]))


def show_sections(screen: "Console", sections: Iterable[Section], shown: Shown) -> None:
    for section in sections:
        blocks = [each for each in section["blocks"] if _is_shown(each, shown)]
        if not blocks:
            continue
        _line(screen, "")
        if title := shown.say(section["title"]):
            _line(screen, title, TITLE)
        for block in blocks:
            _BLOCKS.get(block["block"], _sentences)(screen, block, shown)


def _is_shown(block: Block, shown: Shown) -> bool:
    """Return whether a block is anything here: nobody signs a terminal, or writes on it."""
    kind: str = block["block"]
    return bool(shown.heading.comments) if kind == "comments" else kind != "sign"


def _line(screen: "Console", line: str, style: str = "") -> None:
    show(screen, line, style, soft_wrap=not screen.is_terminal)


def _alarm(screen: "Console", block: Block, shown: Shown) -> None:
    _line(screen, shown.say(block["headline"]), CALM if block["calm"] else ALARM)
    if told := " ".join(shown.say(each) for each in block["rows"]):
        _line(screen, told)


def _sentences(screen: "Console", block: Block, shown: Shown) -> None:
    for each in block.get("rows", ()):  # of a block of a later version there may be none
        _line(screen, shown.say(each))


def _facts(screen: "Console", block: Block, shown: Shown) -> None:
    for name, value in shown.facts(block["facts"]):
        _line(screen, f"{name}: {value}")


def _audiograms(screen: "Console", block: Block, shown: Shown) -> None:
    for each in block["of"]:
        _line(screen, "")
        _line(screen, shown.say(each["title"]), _colour(each["route"]))
        _drawing(screen, shown.drawings.get(each["route"], ""))
        _sentences(screen, each, shown)


def _figure(screen: "Console", block: Block, shown: Shown) -> None:
    _drawing(screen, shown.drawings.get(block["name"], ""))


def _drawing(screen: "Console", drawing: str) -> None:
    for line in drawing.splitlines():
        _line(screen, line)


def _legend(screen: "Console", block: Block, shown: Shown) -> None:
    """Say what each mark means that the audiogram in characters has."""
    drawn = [(shown.mark(mark), meaning) for mark, meaning in block["entries"]]
    entries = [f"{mark} {shown.say(meaning)}" for mark, meaning in drawn if mark]
    if entries:
        _line(screen, LEGEND_GAP.join(entries))


def _tables(screen: "Console", block: Block, shown: Shown) -> None:
    for each in block["tables"]:
        _line(screen, "")
        _table(screen, turn(each) if block["turned"] else each, shown)


def _table(screen: "Console", table: Table, shown: Shown) -> None:
    from rich.table import Table as Drawn
    from rich.text import Text

    def text(cell: Cell) -> Text:
        return Text(printable(shown.say(cell).replace(NO_BREAK, " ")))

    _line(screen, shown.say(table["caption"]), _colour(table["of"]))
    head, *columns = table["columns"]
    drawn = Drawn(box=None, pad_edge=False, collapse_padding=True, header_style=TITLE)
    drawn.add_column(text(head))
    for each in columns:
        drawn.add_column(text(each), justify="right")
    for name, cells in table["rows"]:
        drawn.add_row(text(name), *map(text, cells))
    screen.print(drawn)


def _colour(route: str) -> str:
    return f"{TITLE} {COLOURS.get(ear_of(route), '')}".strip()


def _comments(screen: "Console", block: Block, shown: Shown) -> None:
    _line(screen, shown.say(block["title"]), TITLE)
    _drawing(screen, shown.heading.comments)


_BLOCKS: Final[Mapping[str, Callable[["Console", Block, Shown], None]]] = {
    "alarm": _alarm,
    "facts": _facts,
    "audiograms": _audiograms,
    "figure": _figure,
    "legend": _legend,
    "tables": _tables,
    "rows": _sentences,
    "comments": _comments,
}
