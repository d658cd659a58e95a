"""`gp-pta` as a person starts it: in a process, at a terminal of its own."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

REPO: Final = Path(__file__).parents[2]
WAIT_S_MAX: Final = 120.0  # on a very busy machine
MAIN: Final = "import sys; from host_tools.main import main; sys.exit(main())"
BLOCKER: Final = "import sys; sys.modules['prompt_toolkit'] = None\n"


class Person:
    """Somebody at a terminal of their own, with a command in it."""

    def __init__(self, home: Path, without: bool, *words: str) -> None:
        self._master, slave = pty.openpty()
        program = (BLOCKER if without else "") + MAIN
        environment = {**os.environ, "XDG_DATA_HOME": str(home), "TERM": "xterm"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, *words],
            cwd=REPO, stdin=slave, stdout=slave, stderr=slave, env=environment,
            start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def sees(self, words: str, after: int = 0) -> int:
        """Wait until there are these words, and return where they end."""
        self._look(lambda: words in self.seen[after:], words)
        return self.seen.index(words, after) + len(words)

    def sees_no_more(self, seconds: float = 0.3) -> None:
        while self._read(seconds):
            continue

    def sees_the_end(self) -> int:
        self._look(lambda: self.process.poll() is not None, "the end")
        self.sees_no_more()
        return self.process.wait()

    def ends_at(self, key: str) -> int:
        """Press a key until the end, as people do: a prompt that is just drawn anew swallows it."""
        until_s = time.monotonic() + WAIT_S_MAX
        while self.process.poll() is None and time.monotonic() < until_s:
            self.type(key)
            for _ in range(20):
                self._read(0.1)
        return self.sees_the_end()

    def _look(self, enough: Callable[[], bool], what: str) -> None:
        until_s = time.monotonic() + WAIT_S_MAX
        while not enough():
            assert time.monotonic() < until_s, (what, self.seen)
            if not self._read(0.1) and self.process.poll() is not None:
                assert enough(), (what, self.seen)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            come = os.read(self._master, 65536)
        except OSError:  # the other end is closed
            return False
        self.seen += come.decode(errors="replace")
        if b"\x1b[6n" in come:  # where is the cursor?
            os.write(self._master, b"\x1b[1;1R")
        return True

    def hang_up(self) -> None:
        if self._master >= 0:
            os.close(self._master)
        self._master = -1


@contextmanager
def at_a_terminal(home: Path, *words: str, without: bool = False) -> Iterator[Person]:
    """Start a command, `without` prompt_toolkit or with it, of a user with this data directory."""
    person = Person(home, without, *words)
    try:
        yield person
    finally:
        person.process.kill()
        person.process.wait()
        person.hang_up()
