"""Every form of an export keeps what all of them promise, and one that does not is found."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

import pytest

from host_tools.commands.export.cells import COMMA, SEMICOLON, TAB, Spelling, spelling_of
from host_tools.commands.export.document_session import DocumentSession
from host_tools.commands.export.formats import CSV_FORMS, Encode
from host_tools.commands.export.threshold_rows import THRESHOLDS
from tests.host.commands.export.promises import (
    FORMS,
    PROMISES,
    bone_comes_back,
    come_back,
    limits_that_come_back,
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PROMISES)
def test_every_form_of_an_export_keeps_every_promise(name: str, form: str) -> None:
    PROMISES[name](FORMS[form].encode)


@pytest.mark.parametrize("form", CSV_FORMS)
@pytest.mark.parametrize("separator", [SEMICOLON, TAB])
def test_a_csv_comes_back_however_it_is_spelt(form: str | None, separator: str) -> None:
    come_back(partial(CSV_FORMS[form], spelling=spelling_of(separator, COMMA)))


def test_the_codes_of_nhanes_alone_have_no_limit_and_no_bone() -> None:
    without_limit = {name for name, form in FORMS.items() if not limits_that_come_back(form.encode)}
    without_bone = {name for name, form in FORMS.items() if not bone_comes_back(form.encode)}
    assert without_limit == without_bone == {"csv --nhanes"}


def as_careless(sessions: Iterable[DocumentSession]) -> Iterator[bytes]:
    """Yield levels and nothing else: what somebody writes who has read no page."""
    yield b"ear,frequency_hz,level_db_hl\r\n"
    for session in sessions:
        for ear in session.ears:
            for found in ear.thresholds:
                level = found["reading"]["level_db_hl"]
                yield f"{ear.route},{found['frequency_hz']},{level}\r\n".encode()


def breaches_of(encode: Encode) -> list[str]:
    return [name for name, promise in PROMISES.items() if breaks(promise, encode)]


def breaks(promise: Callable[[Encode], None], encode: Encode) -> bool:
    try:
        promise(encode)
    except Exception:  # whatever a form does that is no form
        return True
    return False


def test_a_careless_format_of_a_few_lines_breaks_every_promise() -> None:
    assert breaches_of(as_careless) == ["verdict", "nominal", *AND_THREE]


AND_THREE: Final = ["only what was asked", "which ear", "round trip"]


def without(*columns: str, **instead: str) -> Encode:
    """Return the tidy form without some columns, or with another's value in their place."""

    def encode(sessions: Iterable[DocumentSession]) -> Iterator[bytes]:
        content = b"".join(THRESHOLDS.as_csv(sessions, Spelling())).decode()
        rows: list[dict[str, Any]] = [*csv.DictReader(io.StringIO(content))]
        told = io.StringIO()
        names = [name for name in rows[0] if name not in columns]
        writer = csv.DictWriter(told, names, extrasaction="ignore")
        writer.writeheader()
        for row in rows:
            writer.writerow(row | {name: row[name] or row[of] for name, of in instead.items()})
        yield told.getvalue().encode()

    return encode


@pytest.mark.parametrize(
    ("form", "broken"),
    [
        (without(), []),
        (without("verdict"), ["verdict"]),
        (without("calibration", "calibration_words", "level_unit"), ["nominal"]),
        (without(threshold_db_hl="inferred_db_hl"), ["only what was asked", "round trip"]),
        (without("which_ear"), ["which ear"]),
        (without("frequency_hz"), ["round trip"]),
        (without(threshold_db_hl="limit_db_hl", mark="measured"), ["round trip"]),
    ],
    ids=["nothing", "verdict", "calibration", "inferred", "which ear", "place", "limits"],
)
def test_a_form_that_forgets_one_thing_breaks_that_promise(form: Encode, broken: list[str]) -> None:
    assert breaches_of(form) == broken
