"""A prescription on the screen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from device.hearing_aid.fit import Fit
from device.speech import (
    CONVERSATION_DB_SPL,
    LOUD_DB_SPL,
    SOFT_DB_SPL,
    SPEECH_LEVELS_DB_SPL,
)
from firmware_py.procedure.printable import printable
from host_tools.catalogue import ENGLISH
from host_tools.catalogue.remarks import unit_words
from host_tools.commands.prescribe.ear_prescription import EarPrescription
from host_tools.commands.prescribe.figures import both, differences_db
from host_tools.commands.prescribe.words import PrescriptionWords
from host_tools.terminal import show

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WORDS: Final = PrescriptionWords.of(ENGLISH)
BAND: Final = "95 %\nband"
COLUMNS: Final = (
    "gain,\ndB", BAND, "at 50\ndB SPL", "at 80\ndB SPL", "ratio",
    "knee,\ndB SPL", "most\ngain", "most\nout,\ndB SPL", "limited\nfrom,\ndB SPL",
)  # fmt: skip
NOT_COMPRESSED: Final = 1.05  # a ratio of less is written as 1.0


def print_prescription(
    ears: Sequence[EarPrescription], fit: Fit, against: Fit | None, remarks: Sequence[str]
) -> None:
    """Print a table an ear, and what has to be known beside it."""
    from rich.console import Console

    screen = Console(highlight=False)
    rule = WORDS.rule_and_source(ears[0].rule, ears[0].coupling)
    screen.print(f"[bold]{rule}[/bold]", soft_wrap=True)
    for ear in ears:
        screen.print(_table(ear, fit))
    if against is not None:
        _print_difference(screen, fit, against)
    for remark in remarks:
        show(screen, remark, "yellow", soft_wrap=True)


def _table(ear: EarPrescription, fit: Fit) -> "Table":
    from rich.table import Table

    table = Table(
        title=f"{ear.ear} ear", title_justify="left", box=None, pad_edge=False,
        collapse_padding=True,
    )  # fmt: skip
    unit = unit_words(WORDS.catalogue, nominal=not ear.given.calibrated).replace(" ", "\n", 1)
    for heading in ("Hz", unit, *COLUMNS):
        if heading != BAND or ear.given.has_bands:
            table.add_column(heading, justify="right", no_wrap=True)
    limited_from_db_spl = fit.of_ear(ear.ear).limited_from_db_spl
    for k, (frequency_hz, from_db_spl) in enumerate(
        zip(ear.frequencies_hz, limited_from_db_spl, strict=True)
    ):
        table.add_row(str(frequency_hz), *_row(ear, k), f"{from_db_spl:.0f}")
    return table


def _row(ear: EarPrescription, k: int) -> list[str]:
    soft, loud = (ear.gain_at_db[level].value[k] for level in (SOFT_DB_SPL, LOUD_DB_SPL))
    gain = ear.gain_at_db[CONVERSATION_DB_SPL]
    compresses = ear.ratio.value[k] >= NOT_COMPRESSED
    return [
        WORDS.threshold(ear, k),
        WORDS.gain(ear, k),
        *([f"{gain.low[k]:.0f} to {gain.high[k]:.0f}"] if ear.given.has_bands else []),
        f"{soft:.0f}",
        f"{loud:.0f}",
        f"{ear.ratio.value[k]:.1f}",
        f"{ear.knee_db_spl.value[k]:.0f}" if compresses else "-",
        f"{ear.prescribed.limits.gain_max_db[k]:.0f}",
        f"{ear.output_max_db_spl.value[k]:.0f}",
    ]


def _print_difference(screen: "Console", fit: Fit, against: Fit) -> None:
    for ear in both(fit, against):
        at_db = differences_db(fit, against, ear.ear)
        means = ", ".join(
            f"{np.mean(row):+.1f} dB at {level:.0f} dB SPL"
            for level, row in zip(SPEECH_LEVELS_DB_SPL, at_db, strict=True)
        )
        where = int(np.argmax(np.abs(at_db[1])))
        largest = f"{at_db[1, where]:+.1f} dB at {ear.bands[where].center_hz:g} Hz"
        other = f"{printable(WORDS.rule_of_fit(against.rule))} from {printable(against.source)}"
        show(
            screen,
            f"{ear.ear} ear against {other}: on average {means}; the most for conversation "
            f"{largest}",
            "cyan",
            soft_wrap=True,
        )
