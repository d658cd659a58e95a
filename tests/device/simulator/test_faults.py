"""The bad cable: what it does to lines, how often, and what it never does."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.simulator.faults import DELAY_US, LINES_MAX, FaultRates, FaultyBoard

S = 1_000_000


class Echo:
    """A board that hands over what it was told to, and keeps what came, each with its time."""

    def __init__(self) -> None:
        self.come: list[tuple[int, bytes]] = []
        self.now_us = 0
        self.to_send: list[bytes] = []

    def next_deadline_us(self) -> int | None:
        return None

    def advance(self, now_us: int) -> None:
        assert now_us >= self.now_us
        self.now_us = now_us

    def receive(self, data: bytes, now_us: int) -> None:
        self.advance(now_us)
        self.come.append((now_us, data))

    def transmit(self, frames_max: int | None = None) -> bytes:
        frames = self.to_send[:frames_max]
        del self.to_send[:frames_max]
        return b"".join(frames)


def lines(count: int) -> list[bytes]:
    return [b"%d a line of the wire\n" % number for number in range(count)]


def echo_of(rates: FaultRates, count: int = 2000, seed: int = 1, speed: float = 1.0) -> Echo:
    """Return a board that was sent so many lines, 10 ms apart."""
    board = Echo()
    cable = FaultyBoard(board, rates, seed, speed)
    for number, line in enumerate(lines(count)):
        cable.receive(line, 10_000 * number)
    cable.advance(10_000 * count + round(speed * S))
    return board


def send(rates: FaultRates, count: int = 500) -> list[bytes]:
    board = Echo()
    cable = FaultyBoard(board, rates, 1)
    come = []
    for number, line in enumerate(lines(count)):
        board.to_send.append(line)
        cable.advance(10_000 * number)
        come.append(cable.transmit(frames_max=1))
    cable.advance(10_000 * count + S)
    come.append(cable.transmit())
    return b"".join(come).splitlines(keepends=True)


def test_a_good_cable_does_nothing() -> None:
    board = echo_of(FaultRates())

    assert board.come == [(10_000 * number, line) for number, line in enumerate(lines(2000))]
    assert send(FaultRates()) == lines(500)


@pytest.mark.parametrize("fault", ["drop", "garble", "duplicate", "merge"])
def test_lines_meet_a_fault_at_its_rate_and_no_other(fault: str) -> None:
    """100 of 2000, with an SD of 10."""
    come = [line for _, line in echo_of(FaultRates(**{fault: 0.05})).come]
    sent = lines(2000)
    met = {
        "drop": len(sent) - len(come), "duplicate": len(come) - len(sent),
        "garble": sum(line != right for line, right in zip(come, sent, strict=False)),
        "merge": sum(not line.endswith(b"\n") for line in come),
    }  # fmt: skip

    assert 60 <= met[fault] <= 140
    match fault:
        case "drop":
            assert [line for line in sent if line in {*come}] == come, "in order, and whole"
        case "garble":
            assert len(come) == len(sent)
        case "duplicate":
            assert list(dict.fromkeys(come)) == sent
        case _:
            assert b"".join(come).replace(b"\n", b"") == b"".join(sent).replace(b"\n", b"")


@pytest.mark.parametrize(("speed", "count"), [(1.0, 2000), (40.0, 400)])
def test_late_lines_hold_up_what_is_behind_them_by_delays_of_the_world(
    speed: float, count: int
) -> None:
    come = echo_of(FaultRates(delay=0.05), count, speed=speed).come

    assert [line for _, line in come] == lines(count)
    late_us = [us - 10_000 * number for number, (us, _) in enumerate(come)]
    assert min(late_us) == 0
    assert speed * DELAY_US[1] / 2 < max(late_us) <= speed * DELAY_US[1]


def test_the_other_direction_has_luck_of_its_own() -> None:
    rates = FaultRates(drop=0.05)
    there = [line for _, line in echo_of(rates, 500).come]
    back = send(rates)

    assert there != back
    assert 440 <= len(back) < 500
    assert len(send(FaultRates(duplicate=0.5))) > 700
    assert send(FaultRates(delay=0.5)) == lines(500)


def test_the_same_seed_is_the_same_luck() -> None:
    rates = FaultRates(0.05, 0.05, 0.05, 0.05)

    assert echo_of(rates).come == echo_of(rates).come
    assert echo_of(rates).come != echo_of(rates, seed=2).come


def test_the_rate_of_one_fault_does_not_change_the_luck_of_another() -> None:
    lost = set(lines(2000)) - {line for _, line in echo_of(FaultRates(drop=0.05)).come}
    both = echo_of(FaultRates(drop=0.05, delay=0.3, duplicate=0.3)).come

    assert set(lines(2000)) - {line for _, line in both} == lost


def test_what_is_late_is_waited_for_and_what_nobody_fetches_is_not() -> None:
    board = Echo()
    cable = FaultyBoard(board, FaultRates(delay=0.5), 1)
    board.to_send += lines(20)
    assert cable.transmit(frames_max=1) or cable.next_deadline_us() is not None
    due_us = cable.next_deadline_us()
    assert due_us is not None
    cable.advance(due_us)
    later_us = cable.next_deadline_us()
    assert later_us is None or later_us > due_us > 0
    cable.advance(S)
    assert cable.next_deadline_us() is None
    assert cable.transmit().count(b"\n") >= 19


def test_nothing_grows_when_nobody_fetches_and_no_line_ends() -> None:
    board = Echo()
    cable = FaultyBoard(board, FaultRates(delay=0.5), 1)
    board.to_send += lines(3 * LINES_MAX)
    cable.transmit(frames_max=0)
    assert len(board.to_send) >= 2 * LINES_MAX
    for _ in range(100):
        cable.receive(b"x" * 100, 0)
    assert len(cable._partial) <= 600


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=8))
def test_bytes_may_come_in_any_pieces(data: bytes, cuts: list[int]) -> None:
    board, whole = Echo(), Echo()
    cable = FaultyBoard(board, FaultRates(), 1)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, end in itertools.pairwise(edges):
        cable.receive(data[start:end], 0)
    FaultyBoard(whole, FaultRates(), 1).receive(data, 0)

    assert [line for _, line in board.come] == [line for _, line in whole.come]


# The command line


def test_rates_are_read() -> None:
    assert FaultRates.parse("drop=.02, garble=.01,delay=0.5,duplicate=0") == FaultRates(
        0.02, 0.01, 0.5, 0.0
    )
    assert FaultRates.parse("delay=.05") == FaultRates(delay=0.05)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("loss=.1", "faults are 'loss=.1', allowed are NAME=RATE, with commas between them"),
        ("drop=.1,drop=.2", "each once: drop, garble, delay, duplicate"),
        ("drop", "drop is '', allowed is a number"),
        ("drop=many", "drop is 'many', allowed is a number"),
        ("drop=.6", "drop is 0.6, allowed are 0 to 0.5 a line"),
        ("drop=-.1", "drop is -0.1, allowed are 0 to 0.5 a line"),
        ("drop=nan", "drop is nan, allowed are 0 to 0.5 a line"),
        ("", "faults are '', allowed are NAME=RATE"),
    ],
)
def test_what_is_no_rate_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - its words are looked at
        FaultRates.parse(text)
    assert words in str(refusal.value)
