"""The client against the simulated board, over a line that loses and spoils what it carries."""

import itertools
from dataclasses import replace
from typing import Any, Final

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.faults import FaultRates, FaultyBoard
from device.simulator.listener import SimulatedListener
from device.simulator.microphones import MicrophoneKind
from device.simulator.room_around import RoomAround
from device.simulator.rooms import NoisyRoom
from device.simulator.simulated_board import SimulatedBoard
from device.tone_generator.server import ToneGenerator
from device.tone_generator.sounding import EARPHONES
from firmware_py.link import command
from firmware_py.link.board_start import ASKS_MAX
from firmware_py.link.client import REPEATS_MAX, Client, Tone
from firmware_py.link.command import ANSWER_TIMEOUT_US, QUEUE_MAX, UnansweredError
from firmware_py.link.frames import decode, encode
from firmware_py.link.messages import NO_TONE, ROOM_BANDS_HZ
from firmware_py.link.notices import (
    BoardEvent,
    ButtonPressed,
    ButtonReleased,
    Greeted,
    Lost,
    Missed,
    Notice,
    Refused,
    TimeTold,
    ToneEnded,
    ToneStarted,
    UnknownEvent,
)
from firmware_py.terms.route import LEFT, Route

STEP_US = 5_000


def make_board(unsure_half_width_db: float = 0.0, **options: Any) -> SimulatedBoard:
    ear = Audiogram((1000,), (20.0,))
    listener = SimulatedListener(
        {"left": ear, "right": ear}, lapse_rate=0.0, false_alarm_rate=0.0, seed=3,
        unsure_half_width_db=unsure_half_width_db,
    )  # fmt: skip
    return SimulatedBoard(listener, boot=0xB007, **options)


def make_client() -> Client:
    numbers = itertools.count(1)
    return Client(lambda: f"{next(numbers):08x}")


class Line:
    """Carries bytes both ways in time steps, and may drop, garble and double whole lines."""

    def __init__(
        self, client: Client, board: SimulatedBoard, fault_rate: float = 0.0, seed: int = 11
    ) -> None:
        self.client = client
        rates = dict.fromkeys(("drop", "garble", "duplicate"), fault_rate / 3.0)
        self._rates, self._seed = FaultRates(**rates), seed
        self.now_us = 0
        self.notices: list[Notice] = []
        self.plug(board)

    def plug(self, board: SimulatedBoard) -> None:
        self.board = board
        self._cable = FaultyBoard(board, self._rates, self._seed)

    def run(self, duration_us: int) -> list[Notice]:
        end_us = self.now_us + duration_us
        fresh = len(self.notices)
        while self.now_us < end_us:
            self.now_us += STEP_US
            self.notices += self.client.advance(self.now_us)
            self._cable.receive(self.client.transmit(), self.now_us)
            self.notices += self.client.receive(self._cable.transmit(), self.now_us)
        return self.notices[fresh:]

    def board_events(self) -> list[BoardEvent]:
        return [notice for notice in self.notices if isinstance(notice, BoardEvent)]

    def next_host(self, recorded: int | None = None) -> "Line":
        """Connect another client to the board; it has recorded the events up to this one."""
        line = Line(Client(lambda: "0000ffff"), self.board)
        line.now_us = self.now_us
        if recorded is not None:
            line.client.remember(self.client.boot, recorded)
        line.client.connect(line.now_us)
        return line


TONE = Tone("1-1", Route("left"), 1000.0, -60.0, on_ms=225, off_ms=225, pulses=3, rise_ms=25)


def connect(
    run_us: int,
    tone: Tone | None = None,
    fault_rate: float = 0.0,
    board: SimulatedBoard | None = None,
    **of_board: Any,
) -> Line:
    """Connect a client to a board, play a tone if one is given, and let time pass."""
    line = Line(make_client(), board or make_board(**of_board), fault_rate)
    line.client.connect(0)
    if tone is not None:
        line.client.play(tone)
    line.run(run_us)
    return line


@pytest.mark.parametrize("fault_rate", [0.0, 0.3])
def test_events_of_both_buttons_come_whole_and_in_order(fault_rate: float) -> None:
    """Well above the threshold the first button is pressed, at the threshold the second."""
    line = connect(2_000_000, fault_rate=fault_rate, unsure_half_width_db=6.0)
    for number, level_dbfs in enumerate((-60.0, -112.0, -60.0, -112.0), 1):
        line.client.play(replace(TONE, tone_id=f"1-{number}", level_dbfs=level_dbfs))
        line.run(6_000_000)

    buttons = [
        t.button for t in line.board_events() if isinstance(t, ButtonPressed | ButtonReleased)
    ]
    assert buttons == [1, 1, 2, 2] * 2
    assert [t.event for t in line.board_events()] == list(range(1, 17))
    assert (line.client.counters.repeats > 0) == (fault_rate > 0.0)
    assert len(line.board.played) == 4


BY_PRESS = replace(TONE, press_ms=100, press_buttons=3)


class OldServer(ToneGenerator):
    """The program of before: it knows nothing of the end at a press, and reads shorter lines."""

    said: list[dict[str, str]]

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self.said = []

    def receive(self, data: bytes, now_us: int, told_us: int) -> None:
        for line in data.splitlines(keepends=True):
            assert len(line) <= 96
            _, verb, fields = decode(line)
            if verb == "tone":
                assert "buttons" not in fields
                assert "press" not in fields
                assert "hi" not in fields
                self.said.append(fields)
        super().receive(data, now_us, told_us)

    def _identify(self, _values: dict[str, Any]) -> dict[str, Any]:
        return {
            "serial": "of-old",
            "press_ends": 0,
            "transducers": EARPHONES,
            "in_noise": 0,
            "room": 0,
            "hi": 0,
        }


class OldBoard(SimulatedBoard):
    server_type = OldServer


@pytest.mark.parametrize("fault_rate", [0.0, 0.3])
def test_a_press_ends_a_tone_while_the_host_knows_of_none(fault_rate: float) -> None:
    line = connect(2_000_000, fault_rate=fault_rate)
    assert line.client.press_ends
    line.client.play(BY_PRESS)
    line.run(6_000_000)

    on, pressed, ended, released = line.board_events()
    assert isinstance(on, ToneStarted)
    assert isinstance(pressed, ButtonPressed)
    assert ended == ToneEnded(3, "1-1", pressed.at_us, cut=True)
    assert isinstance(released, ButtonReleased)
    assert len(line.board.played) == 1


def test_an_old_board_is_sent_nothing_that_it_does_not_know() -> None:
    board = OldBoard(make_board().hand.listener, boot=0xB007)
    line = connect(2_000_000, BY_PRESS, board=board)
    longest = replace(
        BY_PRESS, tone_id="12345678", frequency_hz=16000.0, level_dbfs=-160.0, on_ms=5000,
        off_ms=5000, pulses=20, rise_ms=100, press_ms=5000, loud=True,
    )  # fmt: skip
    line.client.play(longest)
    line.run(1_000_000)

    assert not line.client.press_ends
    assert not line.client.can_mask, "nothing would show that its noise arrives"
    assert line.client.reaches(Route(LEFT))
    assert not line.client.reaches(BY_BONE)
    assert isinstance(board.server, OldServer)
    assert [fields["id"] for fields in board.server.said] == ["1-1", "12345678"]
    assert any(isinstance(told, ButtonPressed) for told in line.board_events())
    assert not board.played[0].cut, "it plays to its end unless the host says stop"


def test_what_a_board_can_do_is_forgotten_with_it() -> None:
    line = connect(2_000_000)
    line.client.disconnect()
    assert not line.client.press_ends
    line.plug(OldBoard(make_board().hand.listener, boot=0xB008))
    line.board.advance(line.now_us)
    line.client.connect(line.now_us)
    line.client.play(BY_PRESS)
    line.run(1_000_000)
    assert len(line.board.played) == 1


HEARD: Final = RoomAround(NoisyRoom("steady", 40.0, 1), microphone=MicrophoneKind())


def test_a_board_with_a_microphone_tells_the_room_with_the_end_of_a_tone() -> None:
    line = connect(500_000, TONE, room=HEARD)
    assert line.client.hears_room
    line.run(3_000_000)
    (ended,) = [told for told in line.notices if isinstance(told, ToneEnded)]
    assert len(ended.room_db_spl) == len(ROOM_BANDS_HZ)
    assert 20.0 < min(ended.room_db_spl[:6]) < max(ended.room_db_spl) < 50.0

    line.client.ask_time()
    line.run(500_000)
    told = [told for told in line.notices if isinstance(told, TimeTold)][-1]
    assert told.room_db_spl == ended.room_db_spl


def test_a_host_that_changes_boards_knows_what_the_other_hears() -> None:
    line = connect(500_000, room=HEARD)
    line.plug(OldBoard(make_board().hand.listener, boot=0xB008))
    line.board.advance(line.now_us)
    line.client.connect(line.now_us)
    line.run(500_000)
    assert line.client.connected
    assert not line.client.hears_room


def test_a_room_that_the_page_does_not_allow_makes_the_board_lost() -> None:
    line = connect(500_000, room=HEARD)
    off = (("id", "1-1"), ("us", line.board.now_us), ("cut", 0), ("room", "4040"))
    number = line.client.last_event + 1
    (lost,) = line.client.receive(encode(number, "tone-off", off), line.now_us)
    assert isinstance(lost, Lost)
    assert lost.why == "'tone-off' has room=4040, which wire 1 does not allow"


BY_BONE: Final = Route(LEFT, "bone")


@pytest.mark.parametrize("has_vibrator", [True, False])
def test_a_board_says_whether_it_has_a_vibrator(has_vibrator: bool) -> None:
    board = SimulatedBoard(make_board().hand.listener, boot=0xB007, has_vibrator=has_vibrator)
    line = connect(500_000, board=board)
    assert line.client.reaches(Route(LEFT))
    assert line.client.reaches(BY_BONE) == has_vibrator
    line.client.play(replace(TONE, route=BY_BONE))
    line.run(500_000)
    assert [(tone.ear, tone.via) for tone in board.played] == [(LEFT, 1)] * has_vibrator


def test_the_board_is_kept_alive_and_falls_silent_without_its_host() -> None:
    line = connect(2_000_000, replace(TONE, on_ms=5000, off_ms=0, pulses=1))
    assert not line.board.played[0].cut
    line.client.disconnect()
    line.run(1_500_000)
    assert line.board.played[0].cut


def test_before_the_numbers_run_out_a_conversation_begins_anew_and_no_command_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "SEQUENCE_RENEWAL", 30)
    line, ids = connect(1_000_000), [f"1-{number}" for number in range(1, 41)]
    for tone_id in ids:
        line.client.mask(Route("right"), 1000.0, -80.0)
        line.client.play(replace(TONE, tone_id=tone_id, on_ms=100, off_ms=0, pulses=1))
        line.run(400_000)
    started = [each.tone_id for each in line.notices if isinstance(each, ToneStarted)]
    assert started == ids
    assert 3 <= sum(isinstance(each, Greeted) for each in line.notices) <= 12
    assert not [each for each in line.notices if isinstance(each, Lost | Missed)]


@pytest.mark.parametrize("met_before", [False, True])
def test_nobody_at_the_other_end_is_lost_after_the_repeats(met_before: bool) -> None:
    line = connect(1_000_000) if met_before else Line(make_client(), make_board())
    began_us = line.now_us
    line.client.connect(began_us)
    notices: list[Notice] = []
    while not notices:
        line.now_us += STEP_US
        notices = line.client.advance(line.now_us)
    assert notices == [Lost(f"'hello' was sent {REPEATS_MAX + 1} times without answer")]
    assert line.now_us - began_us == (REPEATS_MAX + 1) * ANSWER_TIMEOUT_US
    assert not line.client.connected


@pytest.mark.parametrize(
    ("heard", "words"),
    [
        *((garbage, f"{8 * len(garbage)} bytes came that are not of the wire")
          for garbage in (b"login: \r\n", b"login: ", bytes(range(256)))),
        (None, "frames came, but none that answers (does the line echo?)"),
    ],
)  # fmt: skip
def test_garbage_and_an_echo_at_the_other_end_are_named(heard: bytes | None, words: str) -> None:
    client = make_client()
    client.connect(0)
    notices: list[Notice] = []
    now_us = 0
    while not notices:
        now_us += ANSWER_TIMEOUT_US
        echo = client.transmit()
        notices = client.advance(now_us) or client.receive(heard or echo, now_us)
    assert isinstance(notices[0], Lost)
    assert words in notices[0].why


@pytest.mark.parametrize(
    ("verb", "fields", "why"),
    [
        (
            "error",
            {"code": "version", "wire": 2},
            "the tone generator speaks wire 2, this firmware 1",
        ),
        ("ok", {"board": "x"}, "the answer to 'hello' has no wire, and wire 1 asks for it"),
    ],
)
def test_an_answer_of_another_language_is_named(verb: str, fields: Any, why: str) -> None:
    client = make_client()
    client.connect(0)
    sequence, _, _ = decode(client.transmit())
    assert client.receive(encode(sequence, verb, fields), 1) == [Lost(why)]


def test_a_level_above_the_limit_of_the_board_is_refused_and_not_played() -> None:
    line = connect(1_000_000, TONE, output_limit_dbfs=-70)
    assert Refused("tone", "limit", "") in line.notices
    assert line.board.played == []


def test_what_is_recorded_is_not_told_again_and_the_rest_is() -> None:
    second = connect(2_000_000, TONE).next_host(recorded=2)
    second.run(1_000_000)

    assert [told.event for told in second.board_events()] == [3, 4]


def test_a_board_that_started_anew_begins_its_events_anew() -> None:
    client = make_client()
    client.remember("0000aaaa", 17)
    line = Line(client, make_board())
    client.connect(0)
    line.run(50_000)
    client.play(TONE)
    line.run(2_000_000)
    assert [told.event for told in line.board_events()] == [1, 2, 3, 4]


def test_acknowledged_events_are_forgotten_by_the_board() -> None:
    line = connect(2_000_000, TONE)
    line.client.acknowledge(3)
    line.run(100_000)
    line.board.receive(encode(1000, "events", (("after", 0),)), line.now_us)
    numbers = [decode(frame)[0] for frame in line.board.transmit().splitlines(keepends=True)]
    assert numbers == [1000, 4]


def test_what_happened_before_a_board_was_met_is_not_told() -> None:
    other = connect(2_000_000, TONE).next_host()
    other.run(500_000)
    assert other.board_events() == []


def test_a_flood_of_commands_is_refused() -> None:
    client = make_client()
    for _ in range(QUEUE_MAX):
        client.request("ping")
    with pytest.raises(UnansweredError, match="16 commands wait"):
        client.request("ping")


def test_the_time_asked_for_again_and_again_is_told_once() -> None:
    line = connect(50_000)
    for _ in range(3 * QUEUE_MAX):
        line.client.ask_time()
    assert sum(isinstance(notice, TimeTold) for notice in line.run(1_000_000)) == 1


def test_how_far_the_board_has_told_is_known_only_when_no_event_is_missing() -> None:
    line = connect(400_000)
    board = line.board
    before_us = line.client.told_until_us
    assert 0 < before_us <= line.now_us

    board.server.button(1, True, line.now_us)
    board.transmit()  # and it is lost
    while not line.board_events():
        assert line.client.told_until_us == before_us
        line.run(STEP_US)
    line.run(300_000)

    (pressed,) = line.board_events()
    assert isinstance(pressed, ButtonPressed)
    assert line.client.told_until_us > pressed.at_us
    line.client.disconnect()
    assert line.client.told_until_us == 0


def test_a_tone_can_be_stopped_however_much_waits() -> None:
    line = connect(100_000, TONE)
    for _ in range(QUEUE_MAX):
        line.client.request("ping")
    line.client.silence()
    line.client.silence()
    line.run(50_000)
    assert line.board.played[0].cut


@pytest.mark.parametrize("presses", [40, 400])
def test_events_that_the_board_does_not_have_any_more_are_missed_and_not_waited_for(
    presses: int,
) -> None:
    first = connect(2_000_000, TONE)
    board = first.board
    for _ in range(presses):  # two events each, of which the board keeps 64
        board.server.button(1, True, board.now_us)
        board.server.button(1, False, board.now_us)
    newest = board.server.outbox.newest_event

    second = first.next_host(recorded=2)
    second.run(1_000_000)
    second.client.ask_time()
    notices = second.run(1_000_000)

    assert [n for n in second.notices if isinstance(n, Missed)] == [
        Missed(newest - 64 - 2, newest - 64)
    ]
    assert [told.event for told in second.board_events()] == list(range(newest - 63, newest + 1))
    assert [type(notice) for notice in notices] == [TimeTold]


def test_events_that_another_host_had_forgotten_are_missed_and_not_waited_for() -> None:
    first = connect(2_000_000, TONE)
    first.board.receive(encode(1000, "ack", (("event", 4),)), first.now_us)

    second = first.next_host(recorded=1)
    second.client.ask_time()
    second.run((ASKS_MAX + 1) * 300_000)

    assert [type(notice) for notice in second.notices] == [Greeted, Missed, TimeTold]
    assert Missed(3, 4) in second.notices
    assert second.client.counters.events_missed == 3


def test_a_greeting_says_up_to_which_event_all_was_told_whatever_comes_with_it() -> None:
    """Of the board as it was known, and of one that is met for the first time."""
    first = connect(3_000_000, TONE)
    board = first.board
    newest = first.client.last_event
    assert newest == len(first.board_events()) > 0

    for client in (first.client, Client(lambda: "0000ffff")):
        client.connect(first.now_us)
        for _ in ("hello", "serial"):
            board.receive(client.transmit(), first.now_us)
            assert client.receive(board.transmit(), first.now_us) == []
        board.receive(client.transmit(), first.now_us)
        board.server.button(1, False, first.now_us)
        line = Line(client, board)
        line.now_us = first.now_us
        line.notices = client.receive(board.transmit(), first.now_us)
        line.run(10 * STEP_US)
        greeted, told = line.notices
        first.now_us = line.now_us

        assert isinstance(greeted, Greeted)
        assert isinstance(told, ButtonReleased)
        assert (greeted.event, told.event) == (newest, newest + 1)
        newest += 1


def test_a_board_that_never_says_which_it_is_is_lost() -> None:
    client = make_client()
    client.connect(0)
    for reply in ("hello", "serial"):
        sequence, verb, _ = decode(client.transmit())
        assert verb == reply
        fields: dict[str, str | int] = {"wire": 1, "board": "b", "version": "1", "event": 0}
        answer = encode(
            sequence, "ok", {**fields, "boot": "0000b007", "tone": "-"} if verb == "hello" else {}
        )
        notices = client.receive(answer, 0)
    assert notices == [Lost("the answer to 'serial' has no serial, and wire 1 asks for it")]


NO_BUTTON = "'button-down' has button={}, which wire 1 does not allow"
ODD_EVENTS: list[tuple[str, dict[str, str], BoardEvent]] = [
    *(("button-down", {"us": "5", "button": b}, UnknownEvent(1, "button-down", NO_BUTTON.format(b)))
      for b in ("3", "7", "0", "left")),
    ("lamp-on", {"us": "5"}, UnknownEvent(1, "lamp-on")),
    ("tone-on", {"id": "1-1", "us": "5", "colour": "red"}, ToneStarted(1, "1-1", 5)),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "fields", "told"), ODD_EVENTS)
def test_what_is_not_on_the_page_is_named_and_means_nothing(
    verb: str, fields: dict[str, str], told: BoardEvent
) -> None:
    line = connect(50_000)
    assert line.client.receive(encode(1, verb, fields), line.now_us) == [told]
    assert line.client.connected


@pytest.mark.parametrize(
    ("verb", "fields", "why"),
    [
        ("button-down", {"button": "2"}, "has no us, and wire 1 asks for it"),
        ("button-down", {"us": "-5"}, "has us=-5, which wire 1 does not allow"),
        ("button-down", {"us": str(2**63)}, f"has us={2**63}, which wire 1 does not allow"),
        ("tone-on", {"us": "soon", "id": "1-1"}, "has us=soon, which wire 1 does not allow"),
        (
            "tone-off",
            {"us": "5", "id": "1-1", "cut": "2"},
            "has cut=2, which wire 1 does not allow",
        ),
    ],
)
def test_a_board_whose_event_cannot_be_is_named_and_met_anew(
    verb: str, fields: dict[str, str], why: str
) -> None:
    line = connect(2_000_000, TONE)
    newest = line.client.last_event + 1
    told = line.client.receive(encode(newest, verb, fields), line.now_us)
    assert told == [Lost(f"{verb!r} {why}", disbelieved=True)]
    assert line.client.boot == line.board.server.boot, "what came in the same bytes is of it"

    line.client.connect(line.now_us)
    (greeted,) = (n for n in line.run(200_000) if isinstance(n, Greeted))
    assert greeted.tone_id == NO_TONE, "what it plays belongs to nothing here"
