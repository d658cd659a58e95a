"""The operator of the demonstration tells answers from everything else that comes."""

import os
from collections.abc import Iterator
from typing import cast

import pytest

from host_tools import processes
from host_tools.errors import HostError
from host_tools.processes import ConsoleLine, FirmwareProcess, Operator

WAIT_S = 5.0


class Script:
    """A firmware whose console says what is written here, whatever is typed.

    Every time somebody looks whether it was killed it says the next part; `None`: it was killed,
    and started again.
    """

    def __init__(self, console: ConsoleLine, *parts: bytes | None) -> None:
        self._parts = [*parts]
        self._port = os.open(console.port, os.O_RDWR | os.O_NOCTTY)

    def say(self) -> None:
        """Say the next part."""
        part = self._parts.pop(0)
        assert part is not None
        os.write(self._port, part)

    def restart_if_killed(self) -> bool:
        if self._parts and self._parts[0] is None:
            self._parts.pop(0)
            return True
        if self._parts:
            self.say()
        return False

    def close(self) -> None:
        os.close(self._port)


@pytest.fixture
def console() -> Iterator[ConsoleLine]:
    console = ConsoleLine()
    yield console
    console.close()


def test_a_letter_whose_bytes_come_apart_is_one_letter(console: ConsoleLine) -> None:
    port = os.open(console.port, os.O_RDWR | os.O_NOCTTY)
    said = "1,complete,-,left,患者7\r\n".encode()
    lines: list[str] = []
    for part in (said[:19], said[19:]):
        os.write(port, part)
        lines += console.lines(WAIT_S)
    os.close(port)

    assert lines == ["1,complete,-,left,患者7"]


def asked(console: ConsoleLine, question: str, *parts: bytes | None) -> str:
    script = Script(console, *parts)
    try:
        return Operator(console, cast(FirmwareProcess, script)).ask(question)
    finally:
        script.close()


def test_lines_that_were_not_taken_are_not_lost(console: ConsoleLine) -> None:
    script = Script(console, b"one\r\ntwo\r\nthr", b"ee\r\n")
    script.say()
    assert next(iter(console.lines(WAIT_S))) == "one"
    assert [*console.lines(WAIT_S)] == ["two"]
    script.say()
    assert [*console.lines(WAIT_S)] == ["three"]
    script.close()


def test_an_answer_is_what_does_not_come_unasked(console: ConsoleLine) -> None:
    assert (
        asked(console, "*TST?", b"! tone number=3\r\n", b'! answer\r\n0,"well"\r\n') == '0,"well"'
    )


def test_an_answer_to_the_knocking_is_no_answer_to_anything_else(console: ConsoleLine) -> None:
    late = b"GP-PTA,fitting device,0,0.1.0\r\n"
    assert asked(console, "SESS:STAT?", late, late + b"state=idle\r\n") == "state=idle"
    assert asked(console, "*IDN?", late).startswith("GP-PTA,")


def test_a_question_to_a_firmware_that_was_killed_is_asked_again(console: ConsoleLine) -> None:
    """What the old one had said is no sign that the new one has opened its console."""
    awake = b"GP-PTA,fitting device,0,0.1.0\r\n"
    stale = b'ERROR 101,"no tone generator"\r\n'
    assert asked(console, "SESS:STAT?", None, stale, awake, b"state=idle\r\n") == "state=idle"


def test_a_firmware_that_does_not_answer_is_no_firmware(
    console: ConsoleLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "ANSWER_TIMEOUT_S", 0.3)
    with pytest.raises(HostError, match=r"did not answer '\*TST\?' within 0.3 s"):
        asked(console, "*TST?", *[b"! tone\r\n"] * 10)
