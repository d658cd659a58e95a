"""`gp-pta console`: as a script uses it, and as a person does, with prompt_toolkit and without."""

import importlib.util
import io
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from firmware_py.console.pin import PinHash, PinLock
from firmware_py.platform.program import INTERRUPTED
from firmware_py.terms.route import Route
from host_tools.commands.console import command as console_module
from host_tools.commands.console.command import Talk, history_path, is_pin
from host_tools.commands.console.prompt import CommandCompleter, history, words_of
from host_tools.devices.device_answers import CONSOLE_WANTED
from host_tools.devices.patience import LONGEST_S, Wait
from host_tools.devices.processes import ConsoleLine
from host_tools.errors import HostError
from host_tools.main import main
from host_tools.terminal import say
from tests.console.instrument import PICTURE, Recorder, connect
from tests.firmware.rig import Served as BoardServed
from tests.firmware.whole_sessions import a_listener
from tests.host.journals import GpPta
from tests.host.terminal import MAIN, REPO, WAIT_S_MAX, at_a_terminal

PIN = "471108"
NO_ANSWER = r"no answer to 'SESS:STAT\?' at '/dev/"


class Firmware(Recorder):
    """Says who it is, and whether it tells what happens, as the firmware does."""

    telling = "OFF"

    def take_call(self, name: str, *values: object) -> str:
        super().take_call(name, *values)
        if name == "set_events":
            self.telling = "ON" if values[0] else "OFF"
        answers = {"identify": "GP-PTA,fitting device,0,0.1.0", "events": self.telling}
        return answers.get(name, name)


class Served:
    """The firmware's own console at a pty, in a thread, in front of an instrument that is none."""

    def __init__(self, lock: PinLock | None = None) -> None:
        self.instrument = Firmware()
        _, self.console = connect(lock, self.instrument)
        self.unasked: list[str] = []
        self.mute = False
        self._line = ConsoleLine()
        self.port = self._line.port
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        master = self._line._master
        while not self._stop.is_set():
            if not select.select([master], [], [], 0.02)[0]:
                continue
            answers = self.console.receive(os.read(master, 4096))
            if not self.mute:
                told = "".join(f"{line}\r\n" for line in (*self.unasked, *answers))
                self.unasked.clear()
                os.write(master, told.encode())

    def say(self, text: str) -> None:
        os.write(self._line._master, text.encode())

    def stop(self) -> None:
        if self._stop.is_set():
            return
        self._stop.set()
        self._thread.join(WAIT_S_MAX)
        self._line.close()


@pytest.fixture
def server() -> Iterator[Served]:
    served = Served()
    yield served
    served.stop()


@contextmanager
def woken(server: Served, show: Callable[[str], None] = print) -> Iterator[Talk]:
    with closing(Talk(server.port, show)) as talk:
        talk.wake()
        yield talk


@pytest.fixture
def locked_server() -> Iterator[Served]:
    locked = Served(PinLock(PinHash.of(PIN, b"0123456789abcdef"), time.monotonic))
    yield locked
    locked.stop()


def test_who_leaves_a_console_leaves_it_locked(locked_server: Served) -> None:
    talk = Talk(locked_server.port, print)
    talk.wake()
    assert talk.unlock(lambda _: PIN) == PIN
    assert locked_server.console.lock.state == "UNLOCKED"
    talk.leave()
    until_s = time.monotonic() + WAIT_S_MAX
    while locked_server.console.lock.state != "LOCKED":
        assert time.monotonic() < until_s
        time.sleep(0.01)


def test_an_answer_is_written_with_its_newline_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unasked lines come from another thread: one between them would be in the same line."""
    writes: list[str] = []
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(write=writes.append, flush=lambda: None))
    say("HELP", "OK")
    assert [text for text in writes if text] == ["HELP\nOK\n"]


# `gp-pta console` as a script uses it, in this process: with a pipe for standard input.
Piped = Callable[..., tuple[list[str], str]]


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch, gp_pta: GpPta) -> Piped:
    """Return what gives what a script is told, and what is said on standard error."""

    def run(port: str, text: str | bytes, *options: str, code: int = 0) -> tuple[list[str], str]:
        octets = io.BytesIO(text.encode() if isinstance(text, str) else text)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(octets, encoding="utf-8"))
        found, said, errors = gp_pta("console", port, *options)
        assert found == code, (said, errors)
        return said.splitlines(), errors

    return run


# Scripts


def test_a_script_is_told_every_answer_and_nothing_else(server: Served, pipe: Piped) -> None:
    said, errors = pipe(server.port, "sess:stat?\n\n  \nAUD\r\nSESS:ABOR\nTHR? LEFT")

    assert said == ["state", *PICTURE, "OK", "OK", "threshold"]
    assert errors == ""
    assert server.instrument.calls == [
        ("identify",), ("state",), ("audiogram", None), ("abort",),
        ("threshold", Route("left"), None),
    ]  # fmt: skip


def test_a_line_that_was_not_done_is_in_the_exit_code(server: Served, pipe: Piped) -> None:
    said, _ = pipe(server.port, "NONSENSE\n*TST?\nSETT\n", code=1)

    assert [line[:11] for line in said] == ["ERROR -113,", "self_test", "ERROR -109,"]


def test_what_somebody_typed_by_half_is_forgotten(server: Served, pipe: Piped) -> None:
    server.console.receive(b"SESS:ABOR")
    server.say("an old answer\r\nanother\r\n")
    said, _ = pipe(server.port, "*TST?\n")

    assert said == ["self_test"]
    assert ("abort",) not in server.instrument.calls


def test_unasked_lines_are_told_and_are_no_answers(server: Served, pipe: Piped) -> None:
    server.unasked += ["! tone number=1", "! answer number=1"]
    said, _ = pipe(server.port, "SESS:STAT?\n", "--until", "answer number=1")

    assert said == ["! tone number=1", "! answer number=1", "state"]


@pytest.mark.parametrize("found", ["ON", "OFF"])
def test_whether_it_tells_what_happens_is_left_as_it_was_found(
    server: Served, found: str, pipe: Piped
) -> None:
    server.instrument.telling = found
    other = {"ON": "OFF", "OFF": "ON"}[found]
    server.unasked += ["! session-over"]
    pipe(server.port, f"SYST:EVEN {other}\n", "--until", "session-over")
    assert server.instrument.telling == found
    assert ("set_events", other == "ON") in server.instrument.calls

    pipe(server.port, f"SYST:EVEN {other}\n")
    assert server.instrument.telling == other, "who waits for nothing has set it"


def test_whether_it_tells_what_happens_is_left_as_it_was_found_by_ctrl_c_too(
    server: Served,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, "console", server.port, "--until", "never said"],
        cwd=REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("SYST:EVEN ON\n")
        process.stdin.close()
        assert process.stdout.readline() == "OK\n"
        assert server.instrument.telling == "ON"
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S_MAX) == INTERRUPTED

    assert server.instrument.telling == "OFF"


def test_what_is_waited_for_in_vain_ends_when_the_port_is_gone(
    server: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Hangup(io.StringIO):
        """A script that ends with somebody pulling the cable."""

        def __next__(self) -> str:  # type: ignore[override]
            server.stop()
            raise StopIteration

    monkeypatch.setattr(sys, "stdin", Hangup())
    assert main(["console", server.port, "--until", "never said"]) == 2
    assert capsys.readouterr().err.startswith(f"gp-pta: console: '{server.port}' is gone")


def test_what_is_no_ascii_is_not_made_a_query(server: Served, pipe: Piped) -> None:
    for line in ("SESS:STATé\n", b"SESS:STAT\xff\n"):
        said, _ = pipe(server.port, line, code=1)
        assert said[0].startswith("ERROR -113,")
    assert ("state",) not in server.instrument.calls


def test_who_is_no_firmware_is_named(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    server.mute = True
    monkeypatch.setattr(console_module, "WAKE_TIMEOUT_S", 0.3)
    with pytest.raises(HostError) as refusal, woken(server):
        raise AssertionError("nobody answers")
    assert str(refusal.value) == (
        f"no GP-PTA firmware answers at '{server.port}': asked *IDN?, and waited 0.3 s; "
        f"{CONSOLE_WANTED}"
    )


@pytest.mark.parametrize("command", [["console"], ["calibrate", "-o", "new.toml"]])
def test_at_the_port_of_the_tone_generator_it_is_said_which_one_is_wanted(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console_module, "WAKE_TIMEOUT_S", 0.3)
    name, *options = command
    board = BoardServed(a_listener())
    try:
        assert main([name, board.port, *options]) == 2
    finally:
        board.stop()
    assert capsys.readouterr().err == (
        f"gp-pta: the tone generator answers at '{board.port}', and no GP-PTA firmware; "
        "the operator's console is wanted: the port that gp-pta-device has as --console, or the "
        "other end of its cable\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_there_is_not_is_named(pipe: Piped) -> None:
    said, errors = pipe("/dev/there-is-none", "", code=2)

    assert said == []
    assert errors == (
        "gp-pta: console: cannot open '/dev/there-is-none': No such file or directory; "
        f"{CONSOLE_WANTED}\n"
    )


def test_a_line_without_an_answer_is_named_and_a_pin_is_not(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console_module, "SILENT_S_MAX", 0.2)
    with woken(server) as talk:
        server.mute = True
        with pytest.raises(HostError, match=NO_ANSWER):
            talk.ask("SESS:STAT?")
        with pytest.raises(HostError, match="no answer to the PIN at") as refusal:
            talk.ask(f"SYST:PIN {PIN}")
    assert PIN not in str(refusal.value)


class Watched:
    """A clock that stands until it is told to go on, and knows when somebody looks at it."""

    def __init__(self) -> None:
        self.s = 0.0
        self.looked = threading.Event()

    def now_s(self) -> float:
        self.looked.set()
        return self.s

    def go_on(self, silent_times: float) -> None:
        """Go on by so many times what a silent firmware is given; nobody has looked since."""
        self.s += silent_times * console_module.SILENT_S_MAX
        self.looked.clear()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Watched:
    watched = Watched()
    monkeypatch.setattr(console_module, "Wait", partial(Wait, now_s=watched.now_s))
    return watched


def test_who_says_something_meanwhile_is_waited_for(server: Served, clock: Watched) -> None:
    """A busy machine: the answer comes after more time than a silent firmware is given."""

    def show(_: str) -> None:
        clock.go_on(0.9)
        assert clock.looked.wait(WAIT_S_MAX), "it is looked whether to wait any longer"

    with woken(server, show) as talk:
        server.unasked += [f"! tone number={number}" for number in range(4)]
        assert talk.ask("SESS:STAT?") == ["state"]


def test_an_answer_that_was_lost_is_not_waited_for_as_long_as_a_test_goes_on(
    server: Served, clock: Watched
) -> None:
    """Every line that it tells of the test is a sign of life, and none of them is the answer."""

    def show(_: str) -> None:
        clock.go_on(0.5)
        if clock.looked.wait(1.0) and clock.s < 2.0 * LONGEST_S:  # nobody looks who waits no longer
            server.say("! tone number=1\r\n")

    with woken(server, show) as talk:
        server.mute = True
        server.say("! tone number=1\r\n")
        with pytest.raises(HostError, match=NO_ANSWER):
            talk.ask("SESS:STAT?")
    assert console_module.ANSWER_S_MAX < clock.s < LONGEST_S


def test_a_refusal_names_the_port_and_the_command_and_no_pin(locked_server: Served) -> None:
    refused = r"^the firmware at '/dev/.*' refused SYST:PIN: -\d+,"
    with woken(locked_server) as talk:
        assert talk.insist("SESS:STAT?") == "state"
        with pytest.raises(HostError, match=refused) as refusal:
            talk.insist(f"SYST:PIN {PIN}9")
    assert PIN not in str(refusal.value)


# People


def talk_through(port: str, tmp_path: Path, *typed: tuple[str, ...], without: bool = False) -> str:
    """Return what a person sees who types this, and goes on when the words after it have come."""
    with at_a_terminal(tmp_path, "console", port, without=without) as person:
        at = person.sees(">", person.sees("ends"))
        for text, *words in typed:
            person.type(text)
            for word in words:
                at = person.sees(word, at)
        assert person.ends_at("\x04") in (0, 1)
    return person.seen


def test_a_person_without_prompt_toolkit_has_a_plain_loop(
    tmp_path: Path, locked_server: Served
) -> None:
    seen = talk_through(
        locked_server.port, tmp_path,
        ("SESS:STAT?\n", "state\r\n", ">"), ("SYST:PIN\n", "PIN:"), (f"{PIN}\n", "OK", ">"),
        ("SYST:PIN?\n", "UNLOCKED", ">"),
        without=True,
    )  # fmt: skip

    assert "GP-PTA,fitting device" in seen
    assert PIN not in seen
    assert not history_of(tmp_path).exists()


@pytest.mark.skipif(
    importlib.util.find_spec("prompt_toolkit") is None, reason="prompt_toolkit is not installed"
)
def test_a_person_with_prompt_toolkit_has_completion_and_a_history_without_the_pin(
    tmp_path: Path, locked_server: Served
) -> None:
    seen = talk_through(
        locked_server.port, tmp_path,
        ("sess:abo", "sess:abo"), ("\t", "r", "SESS:ABOR"), ("\r", "OK", ">"),
        (f"SYST:PIN {PIN}\r", "OK", ">"), ("SYST:PIN\r", "PIN:"), (f"{PIN}\r", "OK", ">"),
        ("syst:pin?\r", "UNLOCKED", ">"), ("sess:star left, id = P-17\r", "OK", ">"),
    )  # fmt: skip

    assert ("abort",) in locked_server.instrument.calls
    assert "UNLOCKED" in seen
    history = history_of(tmp_path).read_text()
    assert "sess:abor" in history
    assert "syst:pin?" in history
    assert PIN not in history
    assert "P-17" not in history
    assert history_of(tmp_path).stat().st_mode & 0o077 == 0


def history_of(tmp_path: Path) -> Path:
    return tmp_path / "gp-pta" / "console-history"


def test_the_history_is_in_the_data_directory_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert history_path() == history_of(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", "relative/is/not/allowed")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert history_path() == tmp_path / ".local" / "share" / "gp-pta" / "console-history"


def test_everything_that_help_lists_is_completed_in_its_short_form() -> None:
    _, console = connect()
    words = words_of(console.execute("HELP"))

    assert len(words) == len(console.execute("HELP")) - 3
    assert words["SESS:ABOR"] == "end the test; what was measured is kept"
    assert words["SETT"] == "NAME,VALUE  change a setting of the next test"
    for header in words:
        assert not console.execute(header)[0].startswith("ERROR -113")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("SESS:STAR ", ["EAR=BOTH", "EAR=LEFT", "EAR=RIGHT", "AGE=", "SEX=F", "SEX=M", "ID=",
                        "SEED="]),
        ("sess:star e", ["EAR=BOTH", "EAR=LEFT", "EAR=RIGHT"]),
        ("SESS:STAR EAR=L", ["EAR=LEFT"]),
        ("SESS:STAR LEFT,", ["AGE=", "SEX=F", "SEX=M", "ID=", "SEED="]),
        ("SESS:STAR SEX=F, EAR=LEFT , s", ["SEED="]),
        ("SESS:STAR ID=Zo", []),
        ("SESS:ABOR ", []),
        ("NONSENSE ", []),
    ],
)  # fmt: skip
def test_arguments_with_names_are_completed(typed: str, offered: list[str]) -> None:
    _, console = connect()
    words = CommandCompleter(words_of(console.execute("HELP")))
    found = [*words.get_completions(Document(typed), CompleteEvent())]

    assert [each.text for each in found] == offered
    for each in found:
        line = typed[: len(typed) + each.start_position] + each.text
        assert console.execute(line if line[-1] != "=" else f"{line}7") == ["OK"]


def test_an_identifier_of_any_script_reaches_the_firmware_as_it_was_typed(
    server: Served, pipe: Piped
) -> None:
    said, _ = pipe(server.port, "SESS:STAR ID=患者7\nSESS:STAR ID=Zoe\u0308\n")

    assert said == ["OK", "OK"]
    assert [call[4] for call in server.instrument.calls if call[0] == "start"] == [
        "患者7", "Zoe\u0308",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line", ["SYST:PIN 1", "syst:pin", ":SYSTEM:PIN 1", "  Syst:Pin  1 ", "system:pin 1,2"]
)
def test_a_line_with_a_pin_is_known(line: str) -> None:
    assert is_pin(line)
    assert not is_pin(line.replace("PIN", "PIN?").replace("pin", "pin?").replace("Pin", "Pin?"))


def test_the_history_has_no_pin_and_nothing_of_a_person(tmp_path: Path) -> None:
    kept = history(tmp_path / "gp-pta" / "history", is_pin)
    for line in ("SESS:NEW left", f"SYST:PIN {PIN}", "SESS:NEW left, ID=j-12, AGE=61"):
        kept.append_string(line)

    assert [*kept.load_history_strings()] == ["SESS:NEW left"]
