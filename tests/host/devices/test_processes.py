"""The operator of the demonstration tells answers from everything else that comes.

Who waits for a process waits while it says something or works.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from host_tools.devices import patience, processes
from host_tools.devices.patience import SILENT_S_MAX, Wait
from host_tools.devices.processes import SERVED, ConsoleLine, FirmwareProcess, Operator, Simulator
from host_tools.devices.simulation import add_board_arguments, options_of
from host_tools.errors import HostError

WAIT_S = 60.0  # on a very busy machine


class Script:
    """A firmware whose console says what is written here, whatever is typed.

    Every time somebody looks whether it was killed it says the next part; `None`: it was killed,
    and started again.
    """

    def __init__(
        self, console: ConsoleLine, *parts: bytes | None, silent_s_max: float = SILENT_S_MAX
    ) -> None:
        self._parts = [*parts]
        self._silent_s_max = silent_s_max
        self._port = os.open(console.port, os.O_RDWR | os.O_NOCTTY)

    def say(self) -> None:
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

    def wait_for(self, what: str) -> Wait:
        return Wait("the firmware", what, lambda: 0.0, silent_s_max=self._silent_s_max)

    def hear(self, wait: Wait) -> None:
        """It says nothing but at its console."""

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


def test_lines_that_were_not_taken_are_not_lost(console: ConsoleLine) -> None:
    script = Script(console, b"one\r\ntwo\r\nthr", b"ee\r\n")
    script.say()
    assert next(iter(console.lines(WAIT_S))) == "one"
    assert [*console.lines(WAIT_S)] == ["two"]
    script.say()
    assert [*console.lines(WAIT_S)] == ["three"]
    script.close()


AWAKE = b"GP-PTA,fitting device,0,0.1.0\r\n"
STALE = b'ERROR 101,"no tone generator"\r\n'  # said by one that was killed


@pytest.mark.parametrize(
    ("question", "parts", "answer"),
    [
        ("*TST?", [b"! tone number=3\r\n", b'! answer\r\n0,"well"\r\n'], '0,"well"'),
        ("SESS:STAT?", [AWAKE, AWAKE + b"state=idle\r\n"], "state=idle"),
        ("*IDN?", [AWAKE], AWAKE.decode().strip()),
        ("SESS:STAT?", [None, STALE, AWAKE, b"state=idle\r\n"], "state=idle"),
    ],
    ids=["unasked lines", "an answer to the knocking", "knocking", "a firmware that was killed"],
)
def test_an_answer_is_told_from_what_else_comes(
    console: ConsoleLine, question: str, parts: list[bytes | None], answer: str
) -> None:
    script = Script(console, *parts)
    assert Operator(console, cast(FirmwareProcess, script)).ask(question) == answer
    script.close()


def test_a_firmware_that_does_not_answer_is_no_firmware(console: ConsoleLine) -> None:
    script = Script(console, *[b"! tone\r\n"] * 10, silent_s_max=0.3)
    refused = (
        r"the firmware did not answer '\*TST\?' within \d+ s: it has said nothing for 0 s and does "
        r"not work \(last it said: ! tone\); run the command again, and report it"
    )
    with pytest.raises(HostError, match=refused):
        Operator(console, cast(FirmwareProcess, script)).ask("*TST?")
    script.close()


def test_a_firmware_that_is_in_doubt_is_not_waited_for_long(
    console: ConsoleLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "DOUBT_S", 0.2)
    script = Script(console, silent_s_max=60.0)
    with pytest.raises(HostError, match=r"^it has stood still since tone 29$"):
        Operator(console, cast(FirmwareProcess, script)).ask(
            "SESS:STAT?", "it has stood still since tone 29"
        )
    script.close()


class Program(FirmwareProcess):
    """A firmware that is this piece of Python; `CONSOLE` is the descriptor of its console."""

    def __init__(
        self, console: ConsoleLine, program: str, now_s: Callable[[], float] = lambda: 0.0
    ) -> None:
        opened = f"import os, sys, time\nCONSOLE = os.open({console.port!r}, os.O_RDWR)\n"
        self._command = [sys.executable, "-c", opened + program]
        self.told: list[str] = []
        self._tell = self.told.append
        self._now_s = now_s
        self.kills = 0
        self._start()

    def wait_for(self, what: str) -> Wait:
        return Wait("the firmware", what, self.work_s, self._tell, now_s=self._now_s)


@pytest.fixture
def start(console: ConsoleLine) -> Iterator[Callable[..., Program]]:
    with ExitStack() as stack:

        def begin(program: str, now_s: Callable[[], float] = lambda: 0.0) -> Program:
            firmware = Program(console, program, now_s)
            stack.callback(firmware.end)
            return firmware

        yield begin


ANSWERS = """
while b"*IDN?" not in os.read(CONSOLE, 4096):
    pass
os.write(CONSOLE, b"GP-PTA,fitting device,0,0.1.0\\r\\n")
time.sleep(60)
"""


def test_a_firmware_that_says_what_it_does_is_waited_for_and_it_is_shown(
    console: ConsoleLine, start: Callable[..., Program]
) -> None:
    """Four steps of 45 s, where a silence of 60 s is allowed."""
    steps = [f"compiling kernel {n} of 4 with Numba: infer" for n in range(1, 5)]
    program = f"""
for step in {steps}:
    print(f"gp-pta: {{step}}", file=sys.stderr, flush=True)
print("gp-pta-device: ready; tone generator sim 1", flush=True)
"""
    firmware: Program = start(program + ANSWERS, lambda: 0.75 * SILENT_S_MAX * len(firmware.told))
    assert Operator(console, firmware).ask("*IDN?").startswith("GP-PTA,")
    while len(firmware.told) < len(steps):
        firmware.hear(firmware.wait_for("say it all"))
    assert firmware.told == steps


def test_a_firmware_that_works_silently_is_waited_for(
    console: ConsoleLine, start: Callable[..., Program], monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    """It computes for longer than silence is allowed, by a clock that is fast."""
    monkeypatch.setattr(patience, "WORK_S", 0.02)
    enough, began_s = tmp_path / "enough", time.monotonic()

    def now_s() -> float:
        if any("but it works" in line for line in firmware.told):
            enough.touch()
        return 50.0 * (time.monotonic() - began_s) if firmware.told else 0.0

    program = f"""
print("gp-pta: compiling", file=sys.stderr, flush=True)
while not os.path.exists({str(enough)!r}):
    pass
"""
    firmware = start(program + ANSWERS)
    firmware._now_s = now_s
    assert Operator(console, firmware).ask("*IDN?").startswith("GP-PTA,")
    assert now_s() > SILENT_S_MAX
    assert "the firmware has said nothing for " in firmware.told[1]
    assert firmware.told[1].endswith(" s, but it works; waiting")


def test_whatever_a_firmware_says_its_pipes_are_never_full(
    console: ConsoleLine, start: Callable[..., Program]
) -> None:
    program = """
for _ in range(4000):
    print(99 * "o", flush=True)
    print(99 * "e", file=sys.stderr, flush=True)
"""
    firmware = start(program + ANSWERS)
    assert Operator(console, firmware).ask("*IDN?").startswith("GP-PTA,")


def test_the_words_of_an_end_are_those_of_the_error_and_not_of_progress(
    console: ConsoleLine, start: Callable[..., Program]
) -> None:
    program = """
print("gp-pta: compiling kernel 1 of 14", file=sys.stderr)
sys.exit("gp-pta-device: no room on the disk")
"""
    firmware = start(program)
    said = "^the firmware ended with exit code 1: gp-pta-device: no room on the disk$"
    with pytest.raises(HostError, match=said):
        Operator(console, firmware).greet()
    assert firmware.told == ["compiling kernel 1 of 14"]


def test_a_firmware_that_will_not_end_is_ended_with_all_it_started(
    start: Callable[..., Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "END_SILENT_S_MAX", 0.2)
    program = """
import signal, subprocess
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print("gp-pta: compiling", file=sys.stderr, flush=True)
child.wait()
"""
    firmware = start(program)
    while not firmware.told:
        firmware.hear(firmware.wait_for("start another"))
    firmware.end()
    assert not firmware.kill(), "there is nothing left to be killed"
    for reader in firmware._readers:
        reader.join(WAIT_S)
        assert not reader.is_alive(), "nobody has its standard error any more"


def simulator(
    program: str, monkeypatch: pytest.MonkeyPatch, silent_s_max: float = SILENT_S_MAX
) -> tuple[Simulator, list[str]]:
    """Start this piece of Python in the simulator's place; return what was told as well."""
    start = processes.start_process
    monkeypatch.setattr(processes, "Wait", partial(Wait, silent_s_max=silent_s_max))
    monkeypatch.setattr(
        processes, "start_process",
        lambda _: start([sys.executable, "-c", f"import sys, time\n{program}"]),
    )  # fmt: skip
    told: list[str] = []
    return Simulator([], told.append), told


def test_what_a_simulator_says_before_it_serves_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    program = f"""
print("started: board pico", file=sys.stderr, flush=True)
print("/dev/pts/77", flush=True)
print({SERVED!r}, file=sys.stderr, flush=True)
time.sleep(60)
"""
    served, told = simulator(program, monkeypatch)
    monkeypatch.undo()
    served.end()
    assert (served.port, told) == ("/dev/pts/77", ["started: board pico"])


def test_a_simulator_that_ends_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        HostError, match=r"^the tone generator did not start: there is no pty to be had$"
    ):
        simulator("sys.exit('gp-pta: there is no pty to be had')", monkeypatch)


def test_a_silent_simulator_is_given_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HostError, match=r"^the tone generator did not start within \d+ s: it has"):
        simulator("time.sleep(60)", monkeypatch, silent_s_max=0.5)


@pytest.mark.parametrize(
    "words",
    [[], ["--audiogram", "N4", "--skull-attenuation", "3.0"], ["--occlusion"]],
)
def test_a_simulator_is_told_the_options_that_were_typed(words: list[str]) -> None:
    p = argparse.ArgumentParser()
    add_board_arguments(p)
    assert options_of(p.parse_args(words)) == words
