"""`gp-pta console`: the operator's console from a host, for people and for scripts.

On a terminal with prompt_toolkit there are a history and completion, which is made from the
firmware's own HELP. Without prompt_toolkit, or in a pipe, it is a plain loop over lines. Either way
a line is sent as it was typed.
"""

import argparse
import io
import queue
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final

from firmware_py.console.grammar import header_pattern
from firmware_py.console.pin import LOCKED, NONE, UNLOCKED
from firmware_py.platform.ports import Port, PortError
from host_tools.devices.device_answers import (
    CONSOLE_WANTED,
    IDENTITY,
    UNASKED,
    answer_to_hello,
    hello,
    told_word,
)
from host_tools.devices.patience import Wait
from host_tools.errors import HostError
from host_tools.files import user_directory
from host_tools.terminal import say, say_wrapped

EXAMPLE = """\
example:
  gp-pta console /dev/ttyACM0
  printf '*TST?\\nSESS:LIST?\\n' | gp-pta console /dev/ttyACM0
exit codes: 0 every line was done, 1 a line was answered with an error, 2 there was no answer
"""

NEEDS: Final = {"completion and history": ("prompt_toolkit",)}
# It answers within a second whatever it does; on a busy host, some. What it says unasked shows that
# it is there, but not that an answer is still to come: that may have been lost.
SILENT_S_MAX: Final = 30.0
ANSWER_S_MAX: Final = 120.0
WAKE_TIMEOUT_S: Final = 5.0
HELLO_TIMEOUT_S: Final = 1.0  # of a tone generator, at the wrong port
QUIET_S: Final = 0.1
POLL_S: Final = 0.02
BEGIN_ANEW: Final = b"\x15\r"  # ^U: forget what somebody typed by half
WAKE: Final = "*IDN?"
PROMPT: Final = "> "
LINE_BYTES_MAX: Final = 1_000_000  # a result of both ears has some 20,000

QUERY: Final = re.compile(r"\S+\?")
PIN_HEADER: Final = header_pattern("SYSTem:PIN")

EXIT_DONE: Final = 0
EXIT_REFUSED: Final = 1


def is_pin(line: str) -> bool:
    """Tell whether a line has, or should have, the PIN: it is kept nowhere."""
    header = line.strip().removeprefix(":").partition(" ")[0]
    return PIN_HEADER.fullmatch(header) is not None


class Talk:
    """A conversation with a console, at a device or any URL that pyserial knows.

    `show` is given every line that comes unasked; `lost` is called in a thread when the port is
    gone.
    """

    def __init__(
        self,
        port: str | Port,
        show: Callable[[str], None],
        lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._port: Port = Port(port, "console") if isinstance(port, str) else port
        self.show = show
        self._tell_lost = lost
        self._answers: queue.Queue[str | None] = queue.Queue()
        self._partial = b""
        self._lost = ""
        self._stop = threading.Event()
        self._wait = self._answering()
        try:
            self._port.open()
        except PortError as error:
            raise HostError(f"{error}; {CONSOLE_WANTED}") from None
        self._writing = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wake(self) -> str:
        """Make sure that it is the firmware that answers; return who it is."""
        self._write(BEGIN_ANEW)
        while self._next(QUIET_S) is not None:  # what somebody else had asked
            continue
        self._write(f"{WAKE}\r".encode())
        until_s = time.monotonic() + WAKE_TIMEOUT_S
        while time.monotonic() < until_s:
            line = self._next(POLL_S)
            if line is not None and line.startswith(IDENTITY):
                return line
        raise HostError(f"{self._who_else()}; {CONSOLE_WANTED}")

    def _who_else(self) -> str:
        if not self._lost:
            self._write(b"\n" + hello())  # the newline ends what a tone generator took for a line
        until_s = time.monotonic() + HELLO_TIMEOUT_S
        while not self._lost and time.monotonic() < until_s:
            line = self._next(POLL_S)
            if line is not None and answer_to_hello(f"{line}\n".encode()) is not None:
                return f"the tone generator answers at {self._port.url!r}, and no GP-PTA firmware"
        return (
            f"no GP-PTA firmware answers at {self._port.url!r}: asked {WAKE}, and waited "
            f"{WAKE_TIMEOUT_S:g} s{self._why()}"
        )

    def ask(self, line: str) -> list[str]:
        """Send a line and return its answer, which may have several lines before its OK."""
        # Bytes that are not UTF-8 are sent as they were read, and the firmware refuses them.
        self._write(f"{line}\r".encode(errors="surrogateescape"))
        query = QUERY.fullmatch(line.split(maxsplit=1)[0]) is not None
        answer: list[str] = []
        self._wait = self._answering()
        while not self._wait.in_vain():
            come = self._next(POLL_S)
            if come is not None:
                answer.append(come)
                if query or come == "OK" or come.startswith("ERROR "):
                    return answer
            elif self._lost:
                break
        shown = "the PIN" if is_pin(line) else repr(line)
        raise HostError(f"no answer to {shown} at {self._port.url!r}{self._why()}")

    def stream(self, lines: Iterable[str], ahead: int) -> Iterator[str]:
        """Send lines, up to so many before the first is answered, and yield the answers.

        Each line is one that is answered by one line.
        """
        sent: deque[str] = deque()
        for line in lines:
            self._write(f"{line}\r".encode())
            sent.append(line)
            if len(sent) == ahead:
                yield self._answer_to(sent.popleft())
        while sent:
            yield self._answer_to(sent.popleft())

    def _answer_to(self, line: str) -> str:
        self._wait = self._answering()
        while not self._wait.in_vain() and not self._lost:
            if (answer := self._next(POLL_S)) is not None:
                return answer
        raise HostError(f"no answer to {line!r} at {self._port.url!r}{self._why()}")

    def insist(self, line: str) -> str:
        """Send a line that has to be done, and return the last line of its answer."""
        answer = self.ask(line)[-1]
        if answer.startswith("ERROR "):
            told = line.split(maxsplit=1)[0]  # not the PIN
            raise HostError(f"the firmware at {self._port.url!r} refused {told}: {answer[6:]}")
        return answer

    def check(self) -> None:
        if self._lost:
            raise HostError(self._lost)

    def unlock(self, ask_secret: Callable[[str], str], known: str = "") -> str:
        """Enter the operator's PIN, if the firmware wants it; return what was entered.

        `ask_secret` asks a question, and returns what is typed and not shown; `known` is the PIN,
        if it was asked for before.
        """
        if told_word("SYST:PIN?", self.insist("SYST:PIN?"), (NONE, LOCKED, UNLOCKED)) != LOCKED:
            return known
        known = known or ask_secret("operator's PIN: ").strip()
        self.insist(f"SYST:PIN {known}")
        return known

    @contextmanager
    def events_as_found(self) -> Iterator[None]:
        """Leave SYST:EVEN as it was found."""
        found = told_word("SYST:EVEN?", self.insist("SYST:EVEN?"), ("ON", "OFF"))
        try:
            yield
        finally:
            with suppress(HostError):  # it is gone already
                self.insist(f"SYST:EVEN {found}")

    def leave(self) -> None:
        """Lock the console for whoever comes next, without waiting for an answer, and hang up."""
        with suppress(HostError):  # it is gone already
            self._write(b"SYST:LOCK\r")
        self.close()

    def close(self) -> None:
        self._stop.set()
        self._reader.join(1.0)
        self._port.close()

    def _answering(self) -> Wait:
        # What works at the other end of a port cannot be seen, only heard.
        return Wait(
            "the firmware", "answer", lambda: 0.0,
            silent_s_max=SILENT_S_MAX, longest_s=ANSWER_S_MAX,
        )  # fmt: skip

    def _why(self) -> str:
        return f": {self._lost}" if self._lost else ""

    def _write(self, data: bytes) -> None:
        try:
            with self._writing:
                self._port.write(data)
                self._port.drain(1.0)
        except PortError as error:
            raise HostError(str(error)) from None

    def _next(self, timeout_s: float) -> str | None:
        try:
            return self._answers.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def _read(self) -> None:
        while not self._stop.is_set():
            try:
                data = self._port.read()
            except PortError as error:
                self._lost = str(error)
                self._tell_lost()
                return
            if not data:
                time.sleep(POLL_S)
                continue
            *whole, self._partial = (self._partial + data).split(b"\n")
            if len(self._partial) > LINE_BYTES_MAX:
                self._lost = (
                    f"a line of more than {LINE_BYTES_MAX} bytes came: no firmware is there"
                )
                self._tell_lost()
                return
            for line in (part.decode(errors="replace").strip("\r") for part in whole):
                self._wait.hear(line)
                if line.startswith(UNASKED):
                    self.show(line)
                elif line:
                    self._answers.put(line)


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("port", metavar="PORT", help="the console's serial port, or a URL of pyserial")
    p.add_argument(
        "--until",
        metavar="WORDS",
        default="",
        help="after the last line, go on until an unasked line (SYST:EVEN ON) has these words, and "
        "leave SYST:EVEN as it was",
    )


def run(arguments: argparse.Namespace) -> int:
    wanted, come = arguments.until, threading.Event()

    def tell(line: str) -> None:
        say_wrapped(line)
        if wanted in line:  # before the last line, too
            come.set()

    talk = Talk(arguments.port, tell)
    try:
        identity = talk.wake()
        with talk.events_as_found() if wanted else nullcontext():
            if sys.stdin.isatty() and sys.stdout.isatty():
                say(identity, "HELP lists the commands; ^D ends")
                return converse(talk, lines_of_people(talk))
            code = converse(talk, lines_of_a_script())
            while wanted and not come.wait(POLL_S):
                talk.check()
            return code
    finally:
        talk.leave()


def converse(talk: Talk, lines: Iterable[str]) -> int:
    """Have each line done, print its answer, and return the exit code."""
    code = EXIT_DONE
    for line in lines:
        if not line.strip():
            continue
        answer = talk.ask(line)
        say_wrapped(*answer)
        if answer[-1].startswith("ERROR "):
            code = EXIT_REFUSED
    return code


def lines_of_a_script() -> Iterator[str]:
    if isinstance(sys.stdin, io.TextIOWrapper):  # the firmware refuses what is not UTF-8
        sys.stdin.reconfigure(errors="surrogateescape")
    return (line.rstrip("\r\n") for line in sys.stdin)


def lines_of_people(talk: Talk) -> Iterator[str]:
    typed, hidden, around = _prompts(talk)
    with around:
        while True:
            try:
                line = typed()
                if PIN_HEADER.fullmatch(line.strip()):
                    line = f"{line.strip()} {hidden()}"
                yield line
            except EOFError:
                return
            except KeyboardInterrupt:
                talk.check()


def _prompts(talk: Talk) -> tuple[Callable[[], str], Callable[[], str], Any]:
    """Return what asks for a line, what asks for a PIN, and a context for both."""
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.patch_stdout import patch_stdout
    except ImportError:
        from getpass import getpass

        return lambda: input(PROMPT), lambda: getpass("PIN: "), nullcontext()

    from host_tools.commands.console.prompt import CommandCompleter, history, words_of

    session: PromptSession[str] = PromptSession(
        history=history(history_path(), is_pin),
        completer=CommandCompleter(words_of(talk.ask("HELP"))),
    )
    secret: PromptSession[str] = PromptSession()
    return (
        lambda: session.prompt(PROMPT),
        lambda: secret.prompt("PIN: ", is_password=True),
        patch_stdout(),
    )


def history_path() -> Path:
    return user_directory("XDG_DATA_HOME", ".local/share") / "gp-pta" / "console-history"
