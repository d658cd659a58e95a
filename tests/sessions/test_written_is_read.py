"""Whatever is written can be read again: the writer of a journal has the reader's rule."""

from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.simulator.virtual_clock import STARTED, VirtualClock
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.comparisons.events import AidEvent
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.inference.preference.answer import Answer
from firmware_py.journal import JournalRecordError, JournalWriter, read_journal
from firmware_py.journal.records import HEADER_KEYS
from firmware_py.link import aid
from firmware_py.link.frames import SEQUENCE_MAX
from firmware_py.link.messages import SERIAL_CHARACTERS_MAX, US_MAX
from firmware_py.sessions.replay import Replay
from firmware_py.sessions.session import Session
from firmware_py.sessions.session_course import Input, inputs_and_outputs
from firmware_py.sessions.session_record import BoardMark, SessionHeader, SessionRecordError
from firmware_py.terms import events
from firmware_py.terms.discomfort import levels_of_words
from firmware_py.terms.discomfort_levels import DiscomfortLevel, DiscomfortLevels
from firmware_py.terms.person import Person
from firmware_py.terms.reasons import TEXTS as TEXTS_OF_OTHERS
from firmware_py.terms.reasons import WORDS, Code, Reason, reason
from firmware_py.terms.route import BY_AIR
from firmware_py.terms.settings import Settings
from firmware_py.tuning.tuning_record import TuningHeader
from tests.calibration.calibrations import MADE, on_file
from tests.journal.simulated_disk import SimulatedDisk

PATH: Final = Path("/data/session-000001.journal")
TEXTS: Final = st.one_of(
    st.text(max_size=12),
    st.sampled_from(("", "openMHA 4.18.1", "e\x1b[2Jx", "a\nb", "\u202e", "\ud800", "sim e66")),
)
TIMES: Final = st.sampled_from((STARTED.isoformat(), "2026-01-02", "2026-01-02T03:04:05", "", "x"))
NUMBERS: Final = st.sampled_from((1, 2, 999_999, 0, -1, 10**9))
CALIBRATIONS: Final = st.sampled_from((CalibrationInForce(), on_file().judge(MADE)))
SPEEDS: Final = st.sampled_from((1.0, None, 20.0, 0.0, 1e6))
FIT: Final = TuningSettings("0" * 64, ((-6.0, 6.0),) * 4, (3.0,) * 4)

TESTS: Final = st.builds(
    SessionHeader, NUMBERS, TIMES, st.just(Settings()), st.just(Person()), CALIBRATIONS,
    device=TEXTS, tone_generator=TEXTS, speed=SPEEDS, firmware=TEXTS, python=TEXTS,
)  # fmt: skip
TUNINGS: Final = st.builds(
    TuningHeader, NUMBERS, TIMES, st.just(FIT), TEXTS, st.none() | TEXTS,
    device=TEXTS, firmware=TEXTS, python=TEXTS,
)  # fmt: skip
HEADERS: Final[dict[str, Any]] = {
    "test": SessionHeader(1, STARTED.isoformat(), Settings(), Person(), CalibrationInForce()),
    "tuning": TuningHeader(1, STARTED.isoformat(), FIT, "aid", None),
}
KINDS_OF: Final = {"test": events.Event.KINDS, "tuning": AidEvent.KINDS}

# What somebody may tell: anything; or what boards, aids, ports and operators can.
ANYTHING: Final[dict[Any, st.SearchStrategy[Any]]] = {
    bool: st.booleans() | st.none(),
    int: st.integers() | st.sampled_from((0, 1, 2, US_MAX, US_MAX + 1, 10**30)),
    str: TEXTS | st.sampled_from((*events.HEARERS, *events.NAMED, *Answer, "office")),
    float: st.floats(),
    events.RoomLevels: st.lists(st.floats(), max_size=12).map(tuple),
    DiscomfortLevels: st.lists(
        st.builds(DiscomfortLevel, st.integers(), st.floats(), st.booleans()), max_size=2
    ).map(tuple),
}
DB: Final = st.sampled_from((-20.0, 0.0, 31.5, 140.0))
LONG: Final = TEXTS | st.sampled_from(("\U0001f9bb" * 5000, "\x1b" * 5000, "a" * 501))
SIGNS: Final = st.characters(min_codepoint=0x21, max_codepoint=0x7E)  # of the wire
SERIALS: Final = st.text(SIGNS, min_size=1, max_size=SERIAL_CHARACTERS_MAX)
TELLABLE: Final[dict[str, st.SearchStrategy[Any]]] = {
    "board": st.builds("{} {}".format, st.text(SIGNS, min_size=1, max_size=6), SERIALS),
    "by": st.sampled_from(events.HEARERS),
    "named": st.sampled_from(events.NAMED),
    "answer": st.sampled_from(Answer),
    "ear": st.sampled_from(("left", "right")),
    "levels": st.sampled_from(((), levels_of_words("500:90;1000:>110"))),
    "source": st.just("Dr Müller"),
    "day": st.sampled_from(("", "2026-11-02")),
    "levels_db_spl": st.tuples(*[DB] * len(BY_AIR.calibrated_hz)),
    "dba": DB,
    **dict.fromkeys(("uncertainty_db", *aid.NUMBERS), DB),
    "spectrum": st.sampled_from(WORDS["spectrum"]),
    "button": st.sampled_from((events.HEARD_BUTTON, events.UNSURE_BUTTON)),
    "count": st.sampled_from((1, SEQUENCE_MAX)),
}
MOMENTS: Final = st.sampled_from((0, 7, US_MAX))
BOOTS: Final = st.sampled_from(("0123abcd", "ffffffff"))
CODES: Final = [Code.EVENTS_LOST, *(each for each in Code if {*each.parts} & {*TEXTS_OF_OTHERS})]


class Nothing:
    """A procedure that does nothing, whatever it is told."""

    outcome = ""

    def handle(self, now_us: int, event: events.Event) -> list[events.Action]:
        return []


def draw(data: st.DataObject, kind: Any, *, tellable: bool) -> events.Event:
    """Return an event of this kind; `ValueError` if there can be none of these values."""
    values: dict[str, Any] = {}
    for each in fields(kind):
        if each.name == "why":
            values["why"] = (drawn_reason(data, tellable=tellable),)
        elif tellable:
            others = st.booleans() if each.type is bool else MOMENTS
            values[each.name] = data.draw(TELLABLE.get(each.name, others))
        else:
            values[each.name] = data.draw(ANYTHING[each.type])
    event: events.Event = kind(**values)
    return event


def drawn_reason(data: st.DataObject, *, tellable: bool) -> Reason:
    """Return a reason with what somebody else wrote in it, or counted."""
    told = [each for each in CODES if {*each.parts} <= {"count", "told", "command"}]
    code = data.draw(st.sampled_from(told if tellable else CODES))
    counts = TELLABLE["count"] if tellable else ANYTHING[int]
    parts = {"count": counts, "boards": st.lists(LONG, min_size=1, max_size=120)}
    return reason(code, **{name: data.draw(parts.get(name, LONG)) for name in code.parts})


@pytest.mark.parametrize("tellable", [True, False])
@pytest.mark.parametrize("of", KINDS_OF)
@settings(max_examples=60)
@given(data=st.data())
def test_an_event_is_read_again_as_it_came_or_is_not_recorded(
    of: str, tellable: bool, data: st.DataObject
) -> None:
    """What somebody can tell is recorded; what nobody can tell is refused if it could not be."""
    disk, header = SimulatedDisk(), HEADERS[of]
    journal = JournalWriter.create(PATH, header.to_record(), disk=disk)
    clock = VirtualClock()
    session: Any = Session(journal, Replay(header, Nothing()), clock)
    recorded: list[events.Event] = []
    for kind in data.draw(st.lists(st.sampled_from([*KINDS_OF[of].values()]), max_size=6)):
        before = journal.record_count
        number = data.draw(st.just(SEQUENCE_MAX) if tellable else ANYTHING[int])
        mark = BoardMark(data.draw(BOOTS if tellable else TEXTS), number)
        try:
            event = draw(data, kind, tellable=tellable)
            clock.us = data.draw(MOMENTS)
            session.feed(event, mark)
        except (ValueError, JournalRecordError):
            assert not tellable
            assert journal.record_count == before
        else:
            recorded.append(event)
    session.sync()
    session.close()
    read = inputs_and_outputs(header, read_journal(PATH, disk=disk).records)
    assert [told.event for told in read if isinstance(told, Input)] == recorded


@settings(max_examples=40)
@given(header=TESTS | TUNINGS)
def test_a_header_is_read_again_as_it_was_written_or_no_journal_is_begun(header: Any) -> None:
    disk = SimulatedDisk()
    try:
        begun: Any = Session.begin(PATH, header, VirtualClock(), disk=disk)
    except SessionRecordError:
        assert disk.paths() == []
        return
    begun.close()
    record = read_journal(PATH, disk=disk).header
    assert type(header).from_record(record) == header
    assert record.keys() - HEADER_KEYS == header.to_record().keys()


@pytest.mark.parametrize("of", HEADERS)
@given(name=st.text(min_size=1, max_size=8), value=st.none() | st.integers() | TEXTS)
def test_what_nobody_reads_is_in_no_header(of: str, name: str, value: Any) -> None:
    told = HEADERS[of].to_record()
    if name in told or name in HEADER_KEYS:
        return
    with pytest.raises(SessionRecordError, match="and a h"):
        type(HEADERS[of]).from_record({**told, name: value})
