"""openMHA as a process: found, started where nobody else reaches it, told what to do, taken down.

It runs from a directory that nothing installs (`make aid`), through the loader and the libraries in
there. It is told over TCP what its configuration files say: `name = value` sets, `name?` asks. Who
can tell it something can have it write files and play louder, so `confined.py` starts it in a
network of its own, into which only the sockets lead that are handed over at its start.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from device.die_with_parent import die_with_parent
from device.hearing_aid import confined

VARIABLE: Final = "GP_PTA_OPENMHA"  # the directory, in place of the usual one
USUAL: Final = Path(__file__).parents[2] / "build" / "openmha"
REMEDY: Final = f"in a checkout: make aid (420 MB); or name where it is in {VARIABLE}"
LOOPBACK: Final = "127.0.0.1"
SUCCESS: Final = b"(MHA:success)\n"
FAILURE: Final = b"(MHA:failure)\n"
START_S_MAX: Final = 20.0
ANSWER_S_MAX: Final = 120.0  # a file is processed as a whole before the answer comes
END_S_MAX: Final = 3.0
PORT: Final = 33337  # in its own network; nobody else is there
SOUND_PORT: Final = 33338
CONNECT_S_MAX: Final = 1.0
WORDS_BYTES_MAX: Final = 300
NEEDED: Final = (
    "it takes a Linux that lets this user, or root, have a network of their own (user namespaces)"
)
ANSWER_BYTES_MAX: Final = 1_000_000


class OpenMhaError(Exception):
    """openMHA is not there, does not start, refuses a line, or is gone; in words."""


class Installation:
    """Where openMHA is; `OpenMhaError` if it is not there.

    `directory` is what `make aid` made; by default that of the environment, or the usual one.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self.directory = (directory or Path(os.environ.get(VARIABLE, USUAL))).absolute()
        program = self.directory / "usr" / "bin" / "mha"
        loaders = sorted((self.directory / "usr" / "lib").glob("*/ld-linux-*.so.*"))
        if not program.is_file() or not loaders:
            raise OpenMhaError(f"there is no openMHA in {str(self.directory)!r}; {REMEDY}")
        self._loader = loaders[0].relative_to(self.directory)

    def command(self, root: Path = Path("/")) -> list[str]:
        """Return its command line where its directory is `root`."""
        folder = root / self._loader.parent
        libraries = [root / "usr" / "lib", folder, folder / "pulseaudio"]
        return [
            str(root / self._loader), "--library-path", ":".join(map(str, libraries)),
            str(root / "usr" / "bin" / "mha"),
        ]  # fmt: skip

    def version(self) -> str:
        """Return its version; `OpenMhaError` if it does not run."""
        try:
            told = subprocess.run(
                [*self.command(self.directory), "--help"], capture_output=True, check=False,
                timeout=START_S_MAX,
            )  # fmt: skip
            found = re.search(rb"server version (\S+)", told.stdout + told.stderr)
        except (OSError, subprocess.TimeoutExpired):
            found = None
        if found is None:
            raise OpenMhaError(f"openMHA in {str(self.directory)!r} does not run on this machine")
        return found[1].decode()


class Engine:
    """A running openMHA, told the lines of its configuration first; used in a `with` statement.

    `OpenMhaError` if it does not start, or refuses a line, which is named.
    """

    def __init__(self, installation: Installation, configuration: str = "") -> None:
        self._installation = installation
        self._line: socket.socket | None = None
        self._place = tempfile.TemporaryDirectory(prefix="gp-pta-aid-")
        self._sockets: list[socket.socket] = []
        self._start()
        try:
            self._line = self._connect(self._sockets[0], PORT)
            self._line.settimeout(ANSWER_S_MAX)
            for line in configuration.splitlines():
                if line.strip() and not line.startswith("#"):
                    self.tell(line)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def place(self) -> Path:
        """Return the directory of its files; it sees that as `confined.WORK_PLACE`."""
        return Path(self._place.name)

    def tell(self, line: str) -> str:
        """Send a line, and return what it answers; `OpenMhaError` if it refuses it, or is gone."""
        if self._line is None:
            raise OpenMhaError("openMHA was taken down")
        try:
            self._line.sendall(f"{line}\n".encode())
            answer = self._answer()
        except OSError as error:
            raise OpenMhaError(f"openMHA is gone: {self._ending() or error}") from None
        if answer.endswith(FAILURE):
            words = answer.removesuffix(FAILURE).decode(errors="replace").strip()
            raise OpenMhaError(f"openMHA refused {line[:80]!r}: {' '.join(words.split())}")
        return answer.removesuffix(SUCCESS).decode(errors="replace").strip()

    def sound(self) -> socket.socket:
        """Return the one line that there is for sound, once it listens at `SOUND_PORT`."""
        return self._connect(self._sockets[1], SOUND_PORT)

    def close(self) -> None:
        if self._line is not None:
            with suppress(OSError):
                self._line.sendall(b"cmd=quit\n")
            self._line = None
        for each in self._sockets:
            each.close()
        try:
            self._process.wait(END_S_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._place.cleanup()

    def _start(self) -> None:
        ours, its = socket.socketpair()
        with ours, its:
            self._process = subprocess.Popen(
                [
                    sys.executable, "-I", "-S", confined.__file__, str(its.fileno()),
                    str(self._installation.directory), self._place.name,
                    *self._installation.command(), "-q", f"--port={PORT}",
                    f"--interface={LOOPBACK}",
                ],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=[its.fileno()], start_new_session=True,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - it waits for nothing
            )  # fmt: skip
            its.close()
            ours.settimeout(START_S_MAX)
            try:
                said, sockets, _, _ = socket.recv_fds(ours, WORDS_BYTES_MAX, confined.SOCKETS)
            except OSError as error:
                said, sockets = str(error).encode(), []
        self._sockets = [socket.socket(fileno=each) for each in sockets]
        if said != confined.READY:
            self.close()
            raise OpenMhaError(
                "openMHA is not started, since everybody on this computer could have it play "
                f"louder, and write files: {said.decode(errors='replace') or self._ending()}; "
                f"{NEEDED}"
            )

    def _connect(self, line: socket.socket, port: int) -> socket.socket:
        line.settimeout(CONNECT_S_MAX)
        until_s = time.monotonic() + START_S_MAX
        while time.monotonic() < until_s:
            if not self.is_alive:
                raise OpenMhaError(f"openMHA did not start: {self._ending()}")
            with suppress(OSError):
                line.connect((LOOPBACK, port))
                return line
            time.sleep(0.02)
        raise OpenMhaError(f"openMHA did not answer within {START_S_MAX:g} s")

    def _answer(self) -> bytes:
        assert self._line is not None
        answer = b""
        while not answer.endswith((SUCCESS, FAILURE)):
            more = self._line.recv(65536)
            if not more or len(answer) > ANSWER_BYTES_MAX:
                raise ConnectionError("it closed the line")
            answer += more
        return answer

    def _ending(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            return f"its process ended with code {self._process.wait(0.5)}"
        return ""
