"""A fit from a table: on the screen, as figures, and in files; `table_fit` says what it is."""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from device.hearing_aid.fit import FitError
from device.hearing_aid.rules import rule_named, within_publication
from device.speech import CONVERSATION_DB_SPL, LOUD_DB_SPL, SOFT_DB_SPL
from firmware_py.procedure.settings import FIFTY_PERCENT
from host_tools.catalogue import ENGLISH
from host_tools.commands.prescribe import exports, librepods
from host_tools.commands.prescribe.screen import empty_table
from host_tools.commands.prescribe.table_fit import TableFit, TablePrescription, fit_of_table
from host_tools.commands.prescribe.words import (
    HELD_SIGN,
    SIGNS,
    UNPUBLISHED_SIGN,
    PrescriptionWords,
)
from host_tools.errors import HostError
from host_tools.files import check_name, write_text
from host_tools.terminal import say, say_aside, show

if TYPE_CHECKING:
    from rich.table import Table

# What is made of a table: paper and equalisers rest on bands, and a table has none.
ENDINGS: Final = (".json", *exports.AID_ENDINGS)
NAMES: Final = (*exports.AID_ENDINGS, ".json", exports.LIBREPODS, exports.LIBREPODS_LINUX)
# Of a session, and not of a table: options with what they are when nobody gives them.
OF_A_SESSION: Final = {
    "journal": None, "against": None, "tuning": None, "heading": None, "unfinished": False,
}  # fmt: skip
COLUMNS: Final = (
    "gain,\ndB", "at 50\ndB SPL", "at 80\ndB SPL", "most\ngain", "most\nout,\ndB SPL",
    "limited\nfrom,\ndB SPL",
)  # fmt: skip
WORDS: Final = PrescriptionWords.of(ENGLISH)


def prescribe_table(arguments: argparse.Namespace) -> int:
    """Prescribe from ``--audiogram``, print it, and write what was asked for."""
    for name, usual in OF_A_SESSION.items():
        if getattr(arguments, name) != usual:
            option = "a journal" if name == "journal" else f"--{name}"
            raise HostError(f"--audiogram and {option}: one of them is allowed")
    for path in arguments.out:
        _check_out(path, force=arguments.force)
    made = fit_of_table(
        arguments.audiogram, arguments.rule, arguments.coupling, arguments.ear,
        uncalibrated=arguments.uncalibrated,
    )  # fmt: skip
    exports.check_ears(arguments.out, [ear.ear for ear in made.ears])
    said = [*remarks_on(made)]
    for path in arguments.out:
        write_text(path, _text(made, path, said))
        say_aside(f"{path} written")
    if arguments.json:
        say(json.dumps(as_json(made, said)))
    else:
        _print(made, said)
    return 0


def _check_out(path: Path, *, force: bool) -> None:
    ending = exports.ear_ending(path)
    if path.suffix not in ENDINGS or ending in (exports.EASYEFFECTS, exports.AUTOEQ):
        raise HostError(
            f"-o is {str(path)!r}; with --audiogram allowed are {', '.join(NAMES)}: paper and "
            "equalisers need to know how sure a threshold is, and a table does not say it"
        )
    check_name(path, "-o", ENDINGS, force)


def remarks_on(made: TableFit) -> Iterator[str]:
    """Yield what has to be known of a fit from a table."""
    ears, fit = made.ears, made.fit
    for table in made.tables:
        yield from table.remarks
    yield (
        f"The thresholds are those of {fit.source}: they were not measured here, and how sure they "
        "are it does not say. So no gain has a band."
    )
    for ear in ears:
        yield from map(f"{ear.ear} ear: {{}}".format, _of_ear(ear))
    yield from _of_frequencies(ears[0])
    yield from WORDS.for_whom([ear.ear for ear in ears], fit.for_whom)
    if not all(_is_published(ear, f) for ear in ears for f in ear.frequencies_hz):
        yield WORDS.say("unpublished")
    if any(ear.held.any() for ear in ears):
        yield WORDS.say("held")
    yield from WORDS.limits(ears)
    yield WORDS.spread()
    yield WORDS.say_limited(fit)
    yield WORDS.say("verify")


def _of_ear(ear: TablePrescription) -> Iterator[str]:
    """Yield what is to be known of the thresholds of an ear."""
    if not ear.calibrated:
        yield f"{ear.found.nominal}. {WORDS.say('uncalibrated_fit')}"
    silent = [f for f, is_silent in zip(ear.frequencies_hz, ear.silent, strict=True) if is_silent]
    if silent:
        yield (
            f"no response at {_list(silent)} Hz; the rule was given the limit, and the gain is the "
            f"least there can be ({SIGNS['no-response']})"
        )
    if ear.without_limit_hz:
        yield (
            f"no response at {_list(ear.without_limit_hz)} Hz, and the table does not tell up to "
            "which level: there is no gain for it; in the table the limit is written >110"
        )
    if ear.too_high_hz:
        yield f"{_list(ear.too_high_hz)} Hz is left out: an aid has no band there"
    if ear.left_out_hz:
        yield (
            f"{_list(ear.left_out_hz)} Hz is left out, as it is not known of the other ear, and "
            f"two ears have the same bands; --ear {ear.ear} fits this one alone"
        )
    if ear.unknown_hz:
        yield f"not known at {_list(ear.unknown_hz)} Hz: no threshold is made up there"
    if ear.found.by_bone:
        yield "its thresholds by bone are not taken: the gains have no part for a conductive loss"
    if ear.found.convention == FIFTY_PERCENT:
        yield (
            "its thresholds are heard half of the time; those of a clinic, for which rules are "
            "made, lie some 3 dB higher: of a session of gp-pta prescribe from the journal"
        )


def _of_frequencies(ear: TablePrescription) -> Iterator[str]:
    """Yield what becomes of frequencies that are not known."""
    known = ear.frequencies_hz
    yield (
        f"Gains are for {_list(known)} Hz. An aid has that of {known[0]:g} Hz below, that of "
        f"{known[-1]:g} Hz above, and between two bands that of the nearer one."
    )
    if lacking := rule_named(ear.rule).lacks_hz(known):
        yield (
            f"The rule takes a mean that has {_list(lacking)} Hz in it; for that it took what lies "
            "between the neighbours"
        )


def as_json(made: TableFit, said: Sequence[str]) -> dict[str, Any]:
    """Return a fit from a table as JSON values."""
    first, fit = made.ears[0], made.fit
    return {
        "audiogram": made.named,
        "measured_here": False,
        "of": fit.of.as_record(),
        "rule": first.rule,
        "source": rule_named(first.rule).source,
        "coupling": first.coupling,
        "for_whom": [found.as_record() for found in fit.for_whom],
        "ears": [_ear_as_json(ear) for ear in made.ears],
        "tuning": {
            name: {"low_db": low_db, "high_db": high_db}
            for name, (low_db, high_db) in fit.ranges_db().items()
        },
        "remarks": [*said],
    }


def _ear_as_json(ear: TablePrescription) -> dict[str, Any]:
    within, gains = ear.prescribed.limits, ear.fitted.gain_of_speech_db
    columns = {
        "threshold_db_hl": ear.threshold_db_hl,
        "rule_gain_db": ear.prescribed.target_db,
        "soft_gain_db": gains(SOFT_DB_SPL),
        "gain_db": gains(CONVERSATION_DB_SPL),
        "loud_gain_db": gains(LOUD_DB_SPL),
        "gain_max_db": within.gain_max_db,
        "compression_ratio": ear.prescribed.compression.ratio,
        "knee_db_spl": ear.prescribed.compression.knee_db_spl,
        "output_max_db_spl": within.output_max_db_spl,
        "limited_from_db_spl": ear.fitted.limited_from_db_spl,
    }
    bands = [
        {
            "frequency_hz": frequency_hz,
            "mark": "no-response" if ear.silent[k] else "of-the-table",
            "published": _is_published(ear, frequency_hz),
            "held": bool(ear.held[k]),
            "gain_max_why": within.why_gain(k),
            "output_max_why": within.why_output(k),
            **{name: round(float(column[k]), 2) for name, column in columns.items()},
        }
        for k, frequency_hz in enumerate(ear.frequencies_hz)
    ]
    return {
        "ear": ear.ear,
        "not_known_hz": [*ear.unknown_hz],
        "no_response_without_limit_hz": [*ear.without_limit_hz],
        "left_out_hz": [*ear.left_out_hz],
        "output_peak_max_db_spl": ear.fitted.output_max_db_spl,
        "bands": bands,
    }


def _text(made: TableFit, path: Path, said: Sequence[str]) -> str:
    told = [f"{made.fit.rule} from {made.fit.source}", *said]
    ending = exports.ear_ending(path)
    try:
        if ending is None and path.suffix in exports.AID_ENDINGS:
            return exports.fit_as(path.suffix, made.fit, told)
    except FitError as error:
        raise HostError(f"-o {path}: {error}") from None
    if ending is None:
        return json.dumps(as_json(made, said), indent=2) + "\n"
    write = librepods.linux_settings if ending == exports.LIBREPODS_LINUX else librepods.settings
    frequencies_hz = [round(f) for f in made.ears[0].frequencies_hz]
    return write(frequencies_hz, {ear.ear: ear.threshold_db_hl for ear in made.ears}, told)


def _print(made: TableFit, said: Sequence[str]) -> None:
    from rich.console import Console

    screen = Console(highlight=False)
    first = made.ears[0]
    rule = WORDS.rule_and_source(first.rule, first.coupling)
    screen.print(f"[bold]{rule}[/bold]", soft_wrap=True)
    for ear in made.ears:
        screen.print(_table(ear))
    for remark in said:
        show(screen, remark, "yellow", soft_wrap=True)


def _table(ear: TablePrescription) -> "Table":
    table = empty_table(ear.ear, ear.calibrated, COLUMNS)
    within, gains = ear.prescribed.limits, ear.fitted.gain_of_speech_db
    for k, frequency_hz in enumerate(ear.frequencies_hz):
        sign = SIGNS["no-response"] if ear.silent[k] else ""
        marks = HELD_SIGN if ear.held[k] else ""
        marks += "" if _is_published(ear, frequency_hz) else UNPUBLISHED_SIGN
        table.add_row(
            f"{frequency_hz:g}",
            f"{'>' if sign else ''}{round(ear.threshold_db_hl[k], 1):g}",
            f"{sign}{ear.gain_db[k]:.0f}{marks}",
            *(f"{gains(level)[k]:.0f}" for level in (SOFT_DB_SPL, LOUD_DB_SPL)),
            f"{within.gain_max_db[k]:.0f}",
            f"{within.output_max_db_spl[k]:.0f}",
            f"{ear.fitted.limited_from_db_spl[k]:.0f}",
        )
    return table


def _is_published(ear: TablePrescription, frequency_hz: float) -> bool:
    return within_publication(ear.rule, frequency_hz)


def _list(frequencies_hz: Sequence[float]) -> str:
    return ", ".join(f"{f:g}" for f in frequencies_hz)
