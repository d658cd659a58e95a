"""How a view is drawn in a terminal."""

from typing import Final

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from firmware_py.console.audiogram_text import axis_unit
from firmware_py.console.wording import readable
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.printable import printable
from host_tools.catalogue import ENGLISH, language_of
from host_tools.colours import (
    EAR_STYLES,
    audiogram_in_colours,
    calibration_style,
    legend_in_colours,
    verdicts_in_colours,
)
from host_tools.commands.watch.view import Answered, View, blocks

ANSWERS_SHOWN: Final = 14
INFORMATION_BITS_MAX: Final = 1.0  # of a yes or no
WORDS: Final = {True: "heard", False: "-", None: "unsure"}
CATCH_WORDS: Final = {True: "pressed", False: "silent", None: "unsure"}


def draw(view: View) -> RenderableType:
    if not view.result:
        return _title(view)
    answers = Table.grid()
    answers.add_row(_answers(view))
    answers.add_row(_information(view))
    parts: list[RenderableType] = [_title(view)]
    if view.over:  # until then there is none
        parts.append(verdicts_in_colours(view.ears))
    return Group(*parts, Columns([_audiogram(view), answers]), _status(view))


def _title(view: View) -> Text:
    text = Text(printable(": ".join(filter(None, (view.name, view.state)))), style="bold")
    if view.resumed:
        times = "once" if view.resumed == 1 else f"{view.resumed} times"
        text.append(f"   resumed {times}", style="yellow")
    if view.calibration:
        text.append(f"   {view.calibration}", style=calibration_style(view.calibration))
    return text


def _audiogram(view: View) -> Panel:
    thresholds = view.thresholds()
    lines = audiogram_in_colours(thresholds, unit=axis_unit(nominal=view.nominal))
    words = legend_in_colours(thresholds, max(map(len, lines)))
    return Panel.fit(Group(*lines, words), title="thresholds and 95 % bands")


def _answers(view: View) -> Panel:
    table = Table(box=None, pad_edge=False)
    for heading in ("no.", "ear", "Hz", axis_unit(nominal=view.nominal), "answer", "bit", "±dB"):
        table.add_column(heading, justify="left" if heading in ("ear", "answer") else "right")
    for answer in view.answers[-ANSWERS_SHOWN:]:
        table.add_row(*_row(answer))
    return Panel.fit(table, title="last answers")


def _row(answer: Answered) -> tuple[str | Text, ...]:
    words = CATCH_WORDS if answer.purpose == Purpose.CATCH else WORDS
    word = words[answer.heard]
    if answer.purpose not in (Purpose.CATCH, Purpose.MEASURE):
        word += f" ({answer.purpose})"
    return (
        str(answer.number),
        Text(str(answer.route), style=EAR_STYLES[answer.route.ear]),
        _number(answer.frequency_hz, 0),
        _number(answer.level_db_hl, 0),
        word,
        _number(answer.information_bits, 2),
        _number(answer.half_width_db, 1),
    )


def _information(view: View) -> Text:
    """Draw what each measured tone was expected to tell, an ear a row."""
    text = Text()
    routes = [*view.thresholds()]
    width = max((len(str(route)) for route in routes), default=0) + 1
    for route in routes:
        bits = [
            a.information_bits
            for a in view.answers
            if a.route == route and a.purpose == Purpose.MEASURE
        ]
        text.append(f"{route!s:<{width}}", style=EAR_STYLES[route.ear])
        text.append(f"{blocks(bits, INFORMATION_BITS_MAX)}\n")
    if text:
        text.append("information per tone, a full block is 1 bit", style="dim")
    return text


def _status(view: View) -> Text:
    text, say = Text(), language_of(ENGLISH).say
    tones = sum(answer.purpose != Purpose.CATCH for answer in view.answers)
    text.append(f"{tones} tones in {_minutes(view.elapsed_s)}")
    if view.seconds_to_go is not None:
        text.append(f", about {_minutes(view.seconds_to_go)} to go")
    if view.check:
        text.append(f"\nbroken off: {readable(view.check)}", style="bold yellow")
    for ear in view.ears:
        if ear.why:
            text.append(f"\n{ear.route.words} {ear.outcome}", EAR_STYLES[ear.route.ear])
            text.append(f": {say(ear.why)}")
    for remark in view.result.remarks if view.result else ():
        text.append(f"\nremark: {say(remark)}", style="yellow")
    return text


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min"


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
