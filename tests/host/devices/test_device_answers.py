"""No answer of a device is believed as it comes, and none trips a tool."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st
from rich.console import Console

from firmware_py.operator.replies import pairs, result_words
from firmware_py.terms.outcomes import Outcome, Purpose, SessionOutcome, Why
from firmware_py.terms.reasons import Code, Reason, Reasons, reason
from firmware_py.terms.route import Route
from firmware_py.terms.shown_threshold import as_shown
from firmware_py.terms.tells import BoardLostTold, Tell
from host_tools.commands import update
from host_tools.commands.console.command import Talk
from host_tools.devices.device_answers import told_pairs, told_result, told_unasked, told_values
from host_tools.devices.tuning import _show
from host_tools.devices.unasked_lines import Progress, show_line
from host_tools.devices.unfinished import why_of
from host_tools.errors import HostError
from tests.budget import examples
from tests.firmware.rig import REPO
from tests.host.journals import session_of
from tests.said import line_of

BUNDLE = update.MAGIC + b"a system"
STRANGE = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["[" * 9000, "9" * 5000, "1e999", "nan", "receiving,0,12,", '"', 'ear="x']),
    st.lists(
        st.tuples(
            st.sampled_from(["ear", "purpose", "heard", "number", "why", "state", "half_width_db"]),
            st.sampled_from(["left", "measure", "true", "1", "-1", "nan", "", '"', "9" * 400]),
        )
    ).map(lambda told: " ".join(f"{name}={value}" for name, value in told)),
)


class Answering:
    """A firmware that gives one answer to all queries, and does the rest."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    def ask(self, line: str) -> list[str]:
        return [self.insist(line)]

    def insist(self, line: str) -> str:
        return self.answer if line.endswith("?") else "OK"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("receiving", "the answer to SYST:UPD? is not understood: it has no size"),
        ("receiving,abc,12", "offset is 'abc'; allowed are whole numbers from 0 to 12"),
        ("receiving,-5,12", "offset is '-5'; allowed are whole numbers from 0 to 12"),
        ("receiving,13,12", "offset is '13'; allowed are whole numbers from 0 to 12"),
        ("receiving,0,13", "size is '13'; allowed are whole numbers from 12 to 12"),
        ("received,0,12", "state is 'received'; allowed are none, receiving, installing, trial"),
        ("installing", "the device says 'installing' where it would receive an update"),
    ],
)
def test_an_update_goes_on_where_the_device_says_only_if_that_can_be(
    answer: str, said: str
) -> None:
    with pytest.raises(HostError) as error:
        update.begin(cast(Talk, Answering(answer)), BUNDLE)
    assert said in str(error.value)


def test_an_update_goes_on_where_it_was() -> None:
    assert update.begin(cast(Talk, Answering("receiving,7,12")), BUNDLE) == 7


@budget(max_examples=examples(400) // 5)
@given(answer=STRANGE)
def test_whatever_a_device_answers_is_taken_or_refused_in_words(answer: str) -> None:
    talk, screen = cast(Talk, Answering(answer)), Console(quiet=True)

    def leave() -> None:
        with Talk.events_as_found(talk):
            pass

    def tell(what: str) -> None:
        _show(told_unasked(f"! {what} {answer}")[1], screen)

    takes: tuple[Callable[[], object], ...] = (
        lambda: update.begin(talk, BUNDLE),
        lambda: Talk.unlock(talk, lambda _: ""),
        leave,
        lambda: told_result(answer),
        lambda: why_of(answer),
        *(
            partial(show_line, f"! {what} {answer}", Progress(), screen)
            for what in ("tone", "answer", "ear-over", "ear-check", "void", "error", "")
        ),
        *(partial(tell, what) for what in ("speech", "comparison", "again")),
    )
    for take in takes:
        with suppress(HostError):
            take()


def test_numbers_are_numbers_within_bounds() -> None:
    told = told_pairs("Q?", "a=1.5 b=nan c=1e999 d=x e=٣ f=7")
    assert told.number("a", 1.0, 2.0) == 1.5
    assert told.whole("f", 7, 7) == 7
    for name in "bcd":
        with pytest.raises(HostError, match=r"the answer to Q\? is not understood"):
            told.number(name, 0.0, 9.0)
    for name in "abcde":
        with pytest.raises(HostError, match=f"{name} is .*; allowed are whole numbers from 0 to 9"):
            told.whole(name, 0, 9)
    assert told_values("Q?", "none", "state", "words") == {"state": "none"}
    assert told_values("Q?", "none,1, 2", "state", "words")["words"] == "1, 2"


SILENT = reason(Code.FELL_SILENT, count=9)
TOLD: dict[Any, Any] = {
    int: 3, float: -1.5, str: "left", bool | None: None, int | None: 7, float | None: 2.5,
    Route: Route("left"), Reason: SILENT,
    Reasons: (SILENT, SILENT), Reason | None: None, Purpose: Purpose.CATCH,
    Outcome: Outcome.MEASURED, SessionOutcome: SessionOutcome.COMPLETE, Why | None: Why.RETEST,
}  # fmt: skip


@pytest.mark.parametrize("what", Tell.KINDS)
def test_what_is_told_unasked_is_read_as_it_was_told(what: str) -> None:
    kind = Tell.KINDS[what]
    told = kind(**{each.name: TOLD[each.type] for each in fields(kind)})
    assert told_unasked(line_of(told)) == (what, told)


@pytest.mark.parametrize("words", ["", "it's", '"', "a\\b", "two words", 'a "b" c\\', "ä#=b"])
def test_words_of_others_are_read_as_they_were_told(words: str) -> None:
    """A board or a hearing aid says what it likes, and its words stand beside ours."""
    told = BoardLostTold((reason(Code.BOARD_LOST, told=words),))
    assert told_unasked(line_of(told)) == (told.WHAT, told)
    assert told_pairs("TUNE:STAT?", pairs({"aid": words, "state": "paused"}))["aid"] == words


LEVELS = st.floats(-200.0, 300.0)


@given(st.tuples(LEVELS, LEVELS, LEVELS), st.sampled_from([Outcome.MEASURED, Outcome.INFERRED]))
@budget(max_examples=examples(100), deadline=None)
def test_a_result_that_was_told_reads_as_the_one_that_was_recorded(
    levels_db_hl: tuple[float, float, float], mark: Outcome
) -> None:
    """A bound of which the limit was told was read as a number, such as 100 ± 0.4 dB HL."""
    low_db_hl, level_db_hl, high_db_hl = sorted(levels_db_hl)
    session = session_of(REPO / "tests" / "golden" / "left-ear-s2.journal")
    (ear,) = session.result.ears
    first, *rest = ear.thresholds
    found = replace(
        first, mark=mark, threshold_db_hl=level_db_hl, low_db_hl=low_db_hl, high_db_hl=high_db_hl,
        limit_db_hl=None, masking=first.masking if mark == Outcome.MEASURED else None,
    )  # fmt: skip
    recorded = replace(session.result, ears=(replace(ear, thresholds=(found, *rest)),))
    told = told_result(result_words(recorded, session.header, named=False))

    assert [*map(as_shown, told.ears[0].thresholds)] == [
        *map(as_shown, recorded.ears[0].thresholds)
    ]
