"""The PIN: what needs it, what wrong ones cost, and that it is never repeated."""

import hmac
import io
import tomllib
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py.console.command_row import page_lines
from firmware_py.console.console import OWN_COMMANDS, Console
from firmware_py.console.grammar import COMMAND_PROTECTED, ConsoleError
from firmware_py.console.pin import (
    DELAY_S_MAX,
    LOCKED,
    NONE,
    RELOCK_S,
    SALT_BYTES,
    UNLOCKED,
    PinHash,
    PinLock,
)
from firmware_py.main import main
from firmware_py.operator.commands import COMMANDS
from tests.budget import examples
from tests.console.instrument import Recorder, connect

PIN = "471108"
STORED = PinHash.of(PIN, b"0123456789abcdef")


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.s = 1000.0

    def __call__(self) -> float:
        return self.s


def lock_up() -> tuple[Recorder, Console, Clock]:
    clock = Clock()
    return *connect(PinLock(STORED, clock)), clock


def refusal_of(lock: PinLock, pin: str) -> str:
    with pytest.raises(ConsoleError) as refusal:
        lock.enter(pin)
    assert refusal.value.number == COMMAND_PROTECTED
    return str(refusal.value)


# --- The hash ------------------------------------------------------------------------------------


def test_a_hash_comes_back_from_its_text_and_knows_its_pin() -> None:
    assert PinHash.parse(str(STORED)) == STORED
    assert STORED.is_of(PIN)
    assert not STORED.is_of(PIN[:-1])
    assert PIN not in str(STORED)
    assert str(PinHash.of(PIN, b"another salt....")).split("$")[3] != str(STORED).split("$")[3]


@pytest.mark.parametrize(
    "pin", ["", "123", "1" * 13, "12a4", " 1234", "1234\n", "\u0661234", "12.4"]
)
def test_what_is_no_pin_is_refused_and_not_repeated(pin: str) -> None:
    with pytest.raises(ValueError, match="a PIN has 4 to 12 digits; this one has not") as refusal:
        PinHash.of(pin, bytes(SALT_BYTES))
    assert not pin or pin not in str(refusal.value).replace("4 to 12", "")


def type_at(monkeypatch: pytest.MonkeyPatch, *typed: str) -> None:
    """Have this be typed at a terminal, line by line, or come from a pipe if it is one line."""
    lines = iter(typed)
    piped = io.StringIO(f"{typed[0]}\n")
    monkeypatch.setattr(piped, "isatty", lambda: len(typed) > 1)
    monkeypatch.setattr("sys.stdin", piped)
    monkeypatch.setattr("getpass.getpass", lambda _asks: next(lines))


@pytest.mark.parametrize("typed", [(PIN,), (PIN, PIN)])
def test_the_command_prints_the_line_of_the_configuration(
    typed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    type_at(monkeypatch, *typed)
    with pytest.raises(SystemExit) as end:
        main(["--hash-pin"])
    told = capsys.readouterr()
    assert (end.value.code, told.err) == (0, "")
    assert PinHash.parse(tomllib.loads(told.out)["console"]["pin"]).is_of(PIN)
    assert PIN not in told.out


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (("123",), "a PIN has 4 to 12 digits; this one has not"),
        ((PIN, PIN[:-1]), "the two are not the same; nothing was done"),
    ],
)
def test_the_command_refuses_in_one_line_with_code_2(
    typed: tuple[str, ...],
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    type_at(monkeypatch, *typed)
    with pytest.raises(SystemExit) as end:
        main(["--hash-pin"])
    assert (end.value.code, *capsys.readouterr()) == (2, "", f"gp-pta-device: {why}\n")


@pytest.mark.parametrize(
    "text",
    [
        PIN,
        4711,
        None,
        "",
        str(STORED).replace("sha256", "md5"),
        str(STORED).replace("$50000$", "$999$"),
        str(STORED).replace("$50000$", "$200001$"),
        str(STORED)[:-1],
        str(STORED).upper(),
        str(STORED) + "\n",
    ],
)
def test_what_is_no_hash_is_refused_and_not_repeated(text: object) -> None:
    with pytest.raises(ValueError, match="which is not repeated here") as refusal:
        PinHash.parse(text)
    assert "4711" not in str(refusal.value)


def test_hashes_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []
    real = hmac.compare_digest

    def compare(a: bytes, b: bytes) -> bool:
        compared.append((a, b))
        return real(a, b)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert STORED.is_of(PIN)
    assert compared == [(STORED.digest, STORED.digest)]


# --- The lock ------------------------------------------------------------------------------------


def test_without_a_pin_nothing_is_locked() -> None:
    lock = PinLock(None, Clock())

    assert lock.state == NONE
    lock.require()
    assert "no PIN is configured" in refusal_of(lock, PIN)


def test_wrong_ones_cost_twice_as_much_every_time_up_to_a_limit() -> None:
    clock = Clock()
    lock = PinLock(STORED, clock)
    delays_s = []
    for _ in range(13):
        words = refusal_of(lock, "0000")
        assert words.startswith("wrong PIN; the next one is looked at in ")
        delays_s.append(float(words.split()[-2]))
        clock.s += delays_s[-1] - 0.5
        assert "the next one is looked at in 1 s" in refusal_of(lock, PIN), "even the right one"
        assert lock.state == LOCKED
        clock.s += 0.5

    assert delays_s == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, *[DELAY_S_MAX] * 3]
    many: Any = SimpleNamespace(count=lambda: 5000)
    assert "looked at in 600 s" in refusal_of(PinLock(STORED, clock, many), PIN)
    lock.enter(PIN)
    assert lock.state == UNLOCKED
    refusal_of(lock, "0000")
    assert lock.state == LOCKED
    clock.s += 1.0
    lock.enter(PIN)


def test_what_comes_too_soon_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = PinLock(STORED, Clock())
    refusal_of(lock, "0000")
    monkeypatch.setattr(PinHash, "is_of", lambda *_: pytest.fail("it was looked at"))
    refusal_of(lock, PIN)


def test_the_time_that_it_takes_to_look_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow card holds up the count of wrong ones for as long as the wait is, or longer."""
    _, console, clock = lock_up()

    def slow(*_: object) -> bool:
        clock.s += 5.0
        return False

    monkeypatch.setattr(PinHash, "is_of", slow)
    refusal_of(console.lock, "0000")
    assert "looked at in 1 s" in refusal_of(console.lock, PIN)


def test_it_locks_again_when_nothing_needs_it_for_long() -> None:
    clock = Clock()
    lock = PinLock(STORED, clock)
    lock.enter(PIN)
    for _ in range(3):
        clock.s += RELOCK_S - 1.0
        lock.require()
    clock.s += RELOCK_S

    assert lock.state == LOCKED
    with pytest.raises(ConsoleError, match="this needs the operator's PIN: SYST:PIN"):
        lock.require()


def test_what_is_no_pin_costs_no_time() -> None:
    lock = PinLock(STORED, Clock())
    with pytest.raises(ConsoleError, match="a PIN has 4 to 12 digits; this is none"):
        lock.enter("12")
    lock.enter(PIN)


# --- The console ---------------------------------------------------------------------------------

NEED_IT = [
    "SETT pulses,2", "SESS:STAR AGE=67", "SESS:STAR LEFT,SEX=F", "SESS:STAR ID=P-17", "SESS:LIST?",
    "SESS:RES? 3", "THR? ,3", "THR? LEFT,3", "AUD 3", "CAL:NOB",
    "CAL:TONE LEFT,1000,-30",
]  # fmt: skip
# For a test that was begun before the device was switched on.
NEED_IT_FOR_AN_EARLIER_TEST = ["SESS:RES?", "SESS:MEAN?", "THR?", "THR? LEFT", "AUD", "SESS:DISC?"]
NEED_NONE = [
    "HELP", "*IDN?", "*TST?", "*RST", "*CLS", "SYST:ERR?", "SYST:VERS?", "SYST:TEST?",
    "SYST:TIME?", "SYST:PIN?",
    "SYST:LOCK", "SYST:EVEN ON", "SYST:EVEN?", "SYST:EXIT", "SESS:STAR", "SESS:STAR LEFT",
    "SESS:STAR SEED=7,EAR=LEFT", "SESS:PAUS", "SESS:CONT", "SESS:HEAR OTHER", "SESS:EAR LEFT",
    "SESS:ABOR", "SESS:STAT?", "SESS:DISC LEFT=1000:95",
    "TONE LEFT,1000,40", "TONE:LIM?", "TONE:STOP", "CAL?", "CAL:LIM?", "CAL:TONE?", "CAL:STOP",
    "CAL:MIC?",
    "SETT?", "SETT? pulses",
]  # fmt: skip


@pytest.mark.parametrize("line", NEED_IT + NEED_IT_FOR_AN_EARLIER_TEST)
def test_settings_calibration_and_what_is_known_of_people_need_the_pin(line: str) -> None:
    instrument, console, _ = lock_up()

    assert console.execute(line) == [
        'ERROR -203,"this needs the operator\'s PIN: SYST:PIN; nothing was done"'
    ]
    assert instrument.calls == []
    assert console.execute(f"SYST:PIN {PIN}") == ["OK"]
    assert not console.execute(line)[0].startswith("ERROR")
    assert console.execute("SYST:LOCK") == ["OK"]
    assert console.execute(line)[0].startswith("ERROR -203")
    assert len(instrument.calls) == 1


@pytest.mark.parametrize("line", NEED_IT_FOR_AN_EARLIER_TEST)
def test_the_result_of_a_test_begun_since_the_start_does_not(line: str) -> None:
    _, console = connect(PinLock(STORED, Clock()), begun_since_start=True)

    assert not console.execute(line)[0].startswith("ERROR")
    assert console.lock.state == LOCKED


def test_who_goes_on_with_what_waits_to_be_known_needs_it() -> None:
    instrument, console, _ = lock_up()
    instrument.waits = True

    assert console.execute("SESS:CONT")[0].startswith("ERROR -203")
    assert instrument.calls == []
    assert console.execute(f"SYST:PIN {PIN}") == ["OK"]
    assert console.execute("SESS:CONT") == ["OK"]


def test_the_page_tells_what_needs_it_in_one_column() -> None:
    rows = page_lines((*OWN_COMMANDS, *COMMANDS))
    told = {row.split("`")[1].split()[0]: row.split(" | ")[-1].strip("| ") for row in rows[2:]}

    assert {header for header, words in told.items() if words} == {
        "SESSion:STARt", "SESSion:LIST?", "SESSion:RESult?", "SESSion:MEAN?", "THReshold?",
        "AUDiogram", "SESSion:DISComfort?",
        "CALibration:NOBody", "CALibration:TONE", "SETTing", "SESSion:CONTinue",
    }  # fmt: skip
    assert told["AUDiogram"] == "with number; for a test begun before the last start"


@pytest.mark.parametrize("line", NEED_NONE)
def test_everything_else_does_not(line: str) -> None:
    _, console, _ = lock_up()

    assert not console.execute(line)[0].startswith("ERROR")
    assert console.lock.state == LOCKED


def test_every_command_is_in_one_of_the_two() -> None:
    known = (*NEED_IT, *NEED_IT_FOR_AN_EARLIER_TEST, *NEED_NONE, "SYST:PIN")
    headers = {line.split()[0] for line in known}

    for row in (*OWN_COMMANDS, *COMMANDS):
        assert any(row.pattern.fullmatch(header) for header in headers), row.header


@pytest.mark.parametrize(
    "line",
    [
        f"SYST:PIN {PIN}", f"SYST:PIN {PIN},{PIN}", f"SYST:PIN 0000,{PIN}", f"SYST:PNI {PIN}", PIN,
        f"SYST:PIN{PIN}", f"SYST:PIN:{PIN}", f"PIN {PIN}", f"SYST:PIN  {PIN} {PIN}",
        f"SYST:PIN? {PIN}x"[:-1].replace("?", "="), f"SYST:PIN ,{PIN}", f"SYST:PIN {PIN}99",
        f"SYST:PIN '{PIN}'", f'SYST:PIN "{PIN}"', f"\tSYST:PIN {PIN}",
    ],
)  # fmt: skip
def test_it_is_never_repeated(line: str) -> None:
    _, console, clock = lock_up()
    for _ in range(3):
        said = console.execute(line)
        errors = iter(console.errors.next, '0,"No error"')
        assert PIN not in " ".join((*said, *errors))
        clock.s += DELAY_S_MAX


@settings(max_examples=examples(200))
@given(st.text(f"SYT:PIN?, {PIN}", max_size=8), st.text(":?, '=x", max_size=3))
def test_it_is_never_repeated_wherever_it_stands(before: str, after: str) -> None:
    _, console, _ = lock_up()
    said = console.execute(f"{before}{PIN}{after}")
    errors = iter(console.errors.next, '0,"No error"')
    shown = " ".join((*said, *errors))

    if not before.strip(" :") or before.strip(" :").startswith(("SYST", "P")):
        assert PIN not in shown
