"""The hearing aid as a process, by its lines."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from device.hearing_aid.chain import SAMPLE_RATE_HZ, output_limit
from device.hearing_aid.fit_file import fit_digest, write_fit
from device.hearing_aid.last_limiter import LastLimiter
from device.hearing_aid.openmha import Installation
from device.hearing_aid.player import FilePlayer, PlayerError
from device.hearing_aid.serve import is_of_this_user
from device.hearing_aid.sound import read_wav, write_wav
from device.hearing_aid.whose import Whose
from device.simulator.talker import synthetic_speech
from tests.device.hearing_aid.fits import plain_fit

# They share an aid that is served.
pytestmark = pytest.mark.xdist_group("served_aid")

ANSWER_S_MAX = 60.0
ZERO = "overall_db=0 tilt_db=0 mid_db=0 soft_db=0"


class Served:
    def __init__(self, place: Path, installation: Installation, *options: str) -> None:
        self.fit, self.out = place / "aid.fit", place / "out.wav"
        write_fit(self.fit, replace(plain_fit(15.0, 30.0), of=Whose("P-Ä")))
        write_wav(place / "speech.wav", synthetic_speech(1.2, SAMPLE_RATE_HZ, 1))
        self.process = subprocess.Popen(
            [
                sys.executable, "-m", "device.hearing_aid.serve", "--fit", str(self.fit),
                "--speech", str(place / "speech.wav"), "--openmha", str(installation.directory),
                "--out", str(self.out), "--pace", "100", *options,
            ],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rpartition(":")[2])
        self._stack = ExitStack()
        self.connect()

    def connect(self) -> None:
        line = socket.create_connection(("127.0.0.1", self.port), ANSWER_S_MAX)
        self.line = self._stack.enter_context(line)
        self.read = self._stack.enter_context(line.makefile("r", newline="\n"))

    def ask(self, text: str) -> str:
        self.line.sendall(f"{text}\n".encode())
        return self.read.readline().strip()

    def end(self) -> str:
        """End it as a shell would; return what it said of errors."""
        self._stack.close()
        self.process.send_signal(signal.SIGTERM)
        return self.process.communicate(timeout=ANSWER_S_MAX)[1]


@pytest.fixture
def server(tmp_path: Path, installation: Installation) -> Iterator[Served]:
    """Return one that this test may play with and end."""
    aid = Served(tmp_path, installation)
    yield aid
    aid.end()


@pytest.fixture(scope="module")
def silent_aid(
    tmp_path_factory: pytest.TempPathFactory, installation: Installation
) -> Iterator[Served]:
    aid = Served(tmp_path_factory.mktemp("aid"), installation)
    yield aid
    aid.end()


@pytest.fixture
def silent(silent_aid: Served) -> Served:
    """Return one, newly connected to, that nothing is ever played through."""
    silent_aid.connect()
    return silent_aid


def test_it_greets_with_its_fit_and_its_ranges(silent: Served) -> None:
    answer = silent.ask("hello")
    assert answer.startswith("ok aid=openmha version=")
    fit = plain_fit(15.0, 30.0)
    low_db, high_db = fit.ranges_db()["overall_db"]
    assert f" fit={fit_digest(fit)} overall_db={low_db:g},{high_db:g} " in answer
    assert " tilt_sd_db=" in answer
    assert answer.endswith(" person=P-%C3%84"), "whose fit it is"


def test_what_is_played_is_the_speech_through_the_aid(server: Served) -> None:
    assert server.ask(f"play number=1 {ZERO}") == f"ok {ZERO}"
    assert server.read.readline().strip() == "played number=1"
    setting = "overall_db=6 tilt_db=0 mid_db=0 soft_db=0"
    assert server.ask(f"play number=2 {setting}") == f"ok {setting}"
    assert server.read.readline().strip() == "played number=2"
    server.end()
    heard, rate_hz = read_wav(server.out)
    assert rate_hz == SAMPLE_RATE_HZ
    first, second = np.split(heard, 2)
    louder_db = 10.0 * np.log10(np.mean(second**2) / np.mean(first**2))
    assert louder_db == pytest.approx(6.0, abs=1.0)
    assert np.abs(heard).max() <= output_limit(plain_fit(15.0, 30.0))


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("", "error what=line value= allowed=hello,_play,_set,_stop"),
        ("louder", "error what=command value=louder allowed=hello, play, set, stop"),
        (f"play number=x {ZERO}", "error what=number value=x allowed=0,999999999"),
        (f"play {ZERO}", "error what=number value=- allowed=0,999999999"),
        ("play number=1 overall_db=13", "error what=overall_db value=13 allowed=-5,12"),
        ("set overall_db=nan", "error what=overall_db value=nan allowed=-5,12"),
        ("set overall_db=1e9", "error what=overall_db value=1e9 allowed=-5,12"),
        ("set overall_db=0", "error what=tilt_db value=- allowed="),
        ("set overall_db", "error what=line value=set_overall_db allowed="),
        ("\x1b[2J\xff", "error what=command value=?[2J"),
    ],
)
def test_what_is_not_allowed_is_named(silent: Served, line: str, answer: str) -> None:
    assert silent.ask(line).replace(", ", ",_").startswith(answer.replace(", ", ",_"))
    assert silent.ask(f"set {ZERO}") == "ok"


def test_a_new_connection_takes_the_place_of_the_old(silent: Served) -> None:
    assert silent.ask("hello").startswith("ok")
    old = silent.read
    silent.connect()
    assert silent.ask("hello").startswith("ok")
    assert old.readline() == ""


def test_who_never_reads_is_hung_up_on_and_keeps_nobody_else_from_the_aid(silent: Served) -> None:
    deaf = silent.line
    deaf.settimeout(ANSWER_S_MAX)
    with suppress(ConnectionError):  # it is hung up on as soon as its answers find no room
        while True:
            deaf.sendall(b"hello\n" * 10_000)
    silent.connect()
    assert silent.ask("stop") == "ok"


def test_a_connection_of_another_user_is_none(silent: Served, tmp_path: Path) -> None:
    assert silent.ask("hello").startswith("ok"), "one of this user"
    row = " 0: 0100007F:0007 0100007F:0008 {} 00000000:00000000 00:00000000 00000000 {} 0 1"
    ends, table = (("127.0.0.1", 7), ("127.0.0.1", 8)), tmp_path / "tcp"
    for state, user, is_ours in (
        ("01", os.geteuid(), True), ("01", os.geteuid() + 1, False), ("06", os.geteuid(), False)
    ):  # fmt: skip
        table.write_text(f"  sl  local_address\n{row.format(state, user)}\n")
        assert is_of_this_user(*ends, table=table) == is_ours
    assert not is_of_this_user(*ends, table=tmp_path / "none"), "where the system does not tell"
    if os.geteuid() == 0 and shutil.which("setpriv"):
        words = ["setpriv", "--reuid=65534", "--clear-groups", "bash", "-c"]
        stranger = f"exec 3<>/dev/tcp/127.0.0.1/{silent.port}; echo stop >&3; cat <&3"
        said = subprocess.run(
            [*words, stranger], capture_output=True, check=False, timeout=ANSWER_S_MAX
        ).stdout
        assert said == b"", "it is hung up on without a word"
    assert silent.ask("hello").startswith("ok"), "and takes no place"


def test_a_line_without_an_end_is_hung_up_on(silent: Served) -> None:
    silent.line.sendall(b"x" * 600)
    silent.line.sendall(b"x")
    assert silent.read.readline() == ""
    silent.connect()
    assert silent.ask("hello").startswith("ok")


def test_what_was_stopped_is_not_told_as_played_and_when_openmha_dies_it_says_so_and_ends(
    server: Served,
) -> None:
    assert server.ask(f"play number=1 {ZERO}").startswith("ok ")
    stopped = server.ask("stop")
    assert stopped in ("ok", "played number=1")
    if stopped != "ok":  # it was over before
        assert server.read.readline().strip() == "ok"
    assert server.ask("hello").startswith("ok")

    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text()
    for child in children.split():
        subprocess.run(["kill", "-9", child], check=True)
    assert server.ask(f"set {ZERO}").startswith('lost why="openMHA is gone: its process ended')
    assert server.process.wait(ANSWER_S_MAX) == 2


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "x.wav").touch()
    with pytest.raises(PlayerError, match=r"x\.wav is there already"):
        FilePlayer(tmp_path / "x.wav", LastLimiter(plain_fit()))
