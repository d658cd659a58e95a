"""`gp-pta workbench`: from a pipe, in this process; by hand, with all of its own; and killed."""

import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from host_tools.commands import workbench
from host_tools.commands.console import command as console
from host_tools.recordings.look import entry_of
from host_tools.recordings.replayed import IDENTICAL, UNFINISHED, replay_journal
from tests.host.bench import Benches, Device
from tests.host.commands.test_demo import children_of, wait_for_the_end_of
from tests.host.journals import GpPta
from tests.host.terminal import MAIN, REPO, WAIT_S_MAX, Person, at_a_terminal

HINT: Final = "^D ends"
JOURNAL: Final = "session-000001.journal"


class Piped:
    """`gp-pta workbench` in this process, with a script at its standard input."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, gp_pta: GpPta, benches: Benches) -> None:
        self._monkeypatch, self._gp_pta, self.benches = monkeypatch, gp_pta, benches
        monkeypatch.setattr(console, "POLL_S", 0.001)  # between two looks at what costs no time
        monkeypatch.setattr(workbench, "POLL_S", 0.001)

    def __call__(self, data: Path, text: str, *options: str, code: int = 0) -> tuple[str, str]:
        octets = io.BytesIO(text.encode(errors="surrogateescape"))
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(octets, encoding="utf-8"))
        found, *said = self._gp_pta("workbench", "--data", data, "--speed", 100, *options)
        assert found == code, said
        return said[0], said[1]


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch, gp_pta: GpPta, benches: Benches) -> Piped:
    return Piped(monkeypatch, gp_pta, benches)


@contextmanager
def at_a_bench(data: Path, *options: str, without: bool = False) -> Iterator[Person]:
    words = ["workbench", "--data", str(data), "--speed", "100", *options]
    with at_a_terminal(data.parent, *words, without=without) as person:
        person.sees(HINT)
        yield person


def begins_a_test(person: Person) -> list[int]:
    """Type what begins a test, and return the processes behind it when some tones are over."""
    person.type("SESS:STAR LEFT,SEED=7\r")
    person.sees("! answer number=3")
    return children_of(person.process.pid)


def firmware_among(processes: list[int]) -> int:
    (found,) = (
        process for process in processes
        if b"firmware_py.main" in Path(f"/proc/{process}/cmdline").read_bytes()
    )  # fmt: skip
    return found


# From a pipe


def test_a_test_from_a_pipe_is_waited_for_and_only_the_console_is_on_standard_output(
    pipe: Piped,
    tmp_path: Path,
) -> None:
    data = tmp_path / "new"
    out, err = pipe(data, "SESS:STAR LEFT,SEED=7\n", "--audiogram", "S2")
    said = out.splitlines()

    assert "! session-over session=1" in said
    assert [line for line in said if not line.startswith("! ")] == ["OK"]
    assert replay_journal(data / JOURNAL).code == IDENTICAL
    assert entry_of(data / JOURNAL).outcome == "complete"
    assert f"{data / JOURNAL}: complete\n" in err
    assert f"  next: gp-pta report {data / JOURNAL} -o session-000001.html\n" in err


def test_a_refused_line_is_in_the_exit_code_and_an_exit_ends_the_lines(
    pipe: Piped, tmp_path: Path
) -> None:
    out, err = pipe(tmp_path, "NONSENSE\nsyst:exit?\n:SYSTem:EXIT\n*IDN?\n", code=1)

    assert [line[:11] for line in out.splitlines()] == ["ERROR -113,"] * 2 + ["OK"]
    assert "journal" not in err


def test_a_paused_test_is_not_waited_for_and_is_gone_on_with(pipe: Piped, tmp_path: Path) -> None:
    out, err = pipe(tmp_path, "SESS:STAR LEFT,SEED=7\nSESS:PAUS\n", "--audiogram", "S2")
    assert replay_journal(tmp_path / JOURNAL).code == UNFINISHED
    assert f"{tmp_path / JOURNAL}: unfinished\n" in err
    again = f"gp-pta workbench --audiogram S2 --speed 100 --data {tmp_path}"
    assert f"  to go on: {again}\n" in err, "the same listener"

    out, err = pipe(tmp_path, "SESS:CONT\n")
    assert f"going on with the unfinished test in {tmp_path}\n" in err
    assert "! session-over session=1" in out
    assert replay_journal(tmp_path / JOURNAL).code == IDENTICAL


def test_what_is_typed_and_answered_comes_through_as_it_is(pipe: Piped, tmp_path: Path) -> None:
    """A name in any script, a byte that is no text, and a drawing with its blanks."""
    pipe(tmp_path, "SESS:STAR LEFT,ID=Zoë\n")
    out, _ = pipe(tmp_path, "SESS:LIST?\nAUD 1\nID=\udcff\n", code=1)

    assert re.search(r"^1,complete,[^,]*,left,Zoë$", out, re.MULTILINE)
    rows = [line for line in out.splitlines() if re.match(" *[0-9-]+ [.|]", line)]
    assert {line.index(" .") if " ." in line else line.index(" |") for line in rows} == {5}
    assert "0xFF" in out


def test_a_second_button_is_set_for_each_test(pipe: Piped, tmp_path: Path) -> None:
    out, err = pipe(
        tmp_path, "SESS:STAR LEFT,SEED=2\nSETT? unsure_button\n",
        "--unsure-half-width", "3", "--audiogram", "N4",
    )  # fmt: skip

    assert "SETT unsure_button,true: OK\n" in err
    assert "heard=unsure" in out
    assert "true" in out.splitlines(), "for the next one"


def test_a_firmware_that_is_killed_ends_a_script(pipe: Piped, tmp_path: Path) -> None:
    def prepare(device: Device) -> None:
        device.when_said = ("! answer", device.kill)

    pipe.benches.prepare = prepare
    _, errors = pipe(tmp_path, "SESS:STAR LEFT,SEED=7\n", code=2)

    assert errors.endswith(
        f"{tmp_path / JOURNAL}: unfinished\n"
        f"  to go on: gp-pta workbench --speed 100 --data {tmp_path}\n"
        "gp-pta: the firmware was killed\n"
    )


def test_who_ends_the_bench_finds_the_test_kept(pipe: Piped, tmp_path: Path) -> None:
    """As `kill`, and the system before it goes down, do."""

    def prepare(device: Device) -> None:
        device.when_said = ("! answer", lambda: signal.raise_signal(signal.SIGTERM))

    pipe.benches.prepare = prepare
    with pytest.raises(SystemExit) as ended:
        pipe(tmp_path, "SESS:STAR LEFT,SEED=7\n")

    assert ended.value.code == 128 + signal.SIGTERM
    assert entry_of(tmp_path / JOURNAL).outcome == "unfinished"
    (device,) = pipe.benches.devices
    assert device.has_ended()


# By hand


def whole_bench(data: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the bench of a script without lines, in processes."""
    words = ["workbench", "--data", str(data), "--speed", "100", *options]
    return subprocess.run(
        [sys.executable, "-c", MAIN, *words], cwd=REPO, input="", capture_output=True, text=True,
        timeout=WAIT_S_MAX, check=False,
    )  # fmt: skip


def words_of_refusal(data: Path) -> str:
    """Return what is said last by a script's bench whose firmware does not start."""
    done = whole_bench(data)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert JOURNAL not in done.stderr
    return done.stderr.splitlines()[-1]


@pytest.mark.thorough
def test_a_data_directory_that_cannot_be_had_is_named_and_its_journals_are_not(
    tmp_path: Path,
) -> None:
    said = words_of_refusal(Path("/proc/none"))
    assert said.startswith("gp-pta: ")
    assert "data directory '/proc/none' cannot be written" in said
    with at_a_bench(tmp_path) as person:
        begins_a_test(person)
        assert "is in use by another firmware" in words_of_refusal(tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("without", [False, True])
def test_a_person_types_at_once_and_a_firmware_that_is_killed_is_started_again(
    tmp_path: Path, without: bool
) -> None:
    data = tmp_path / "data"
    with at_a_bench(data, without=without) as person:
        person.type("*IDN?\r")
        person.sees("GP-PTA,fitting device", len(person.seen))
        killed = begins_a_test(person)
        os.kill(firmware_among(killed), signal.SIGKILL)
        at = person.sees("the firmware was killed; started again")
        person.sees("! session-over session=1", at)
        children = children_of(person.process.pid)
        assert person.ends_at("\x04") == 0
        wait_for_the_end_of({*killed, *children})

    assert len(children) == 2, "board and firmware"
    assert replay_journal(data / JOURNAL).code == IDENTICAL
    assert f"next: gp-pta report {data / JOURNAL} " in person.seen
    kept = tmp_path / "gp-pta" / "console-history"
    assert kept.exists() is not without
    assert "Traceback" not in person.seen


@pytest.mark.thorough
def test_ctrl_d_ends_a_test_that_is_gone_on_with(pipe: Piped, tmp_path: Path) -> None:
    with at_a_bench(tmp_path, "--speed", "10") as person:
        children = begins_a_test(person)
        at = len(person.seen)
        person.type("half a line")
        person.sees("half a line", at)
        person.type("\x03")  # ^C takes it back
        assert person.ends_at("\x04") == 0
        wait_for_the_end_of(children)
    assert entry_of(tmp_path / JOURNAL).outcome == "unfinished"

    out, err = pipe(tmp_path, "SESS:CONT\n")  # of another day
    assert "is it the same person? SESS:CONT goes on with it\n" in err
    assert "! session-over session=1" in out


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM", "SIGHUP", "hung up"])
def test_a_bench_that_is_killed_leaves_nobody(tmp_path: Path, how: str) -> None:
    with at_a_bench(tmp_path, "--speed", "10") as person:
        children = begins_a_test(person)
        if how == "hung up":
            person.hang_up()
        else:
            person.process.send_signal(signal.Signals[how])
        person.process.wait(WAIT_S_MAX)
        wait_for_the_end_of(children)

    assert len(children) == 2
    assert entry_of(tmp_path / JOURNAL).outcome == "unfinished"
    assert "Traceback" not in person.seen


@pytest.mark.thorough
def test_what_a_table_lacks_is_said_before_the_test(tmp_path: Path) -> None:
    table = tmp_path / "ears.csv"
    table.write_text("SEQN,AUXU500R,AUXU1K1R,AUXU2KR,mode\n1,15,25,888,auto\n")
    done = whole_bench(tmp_path / "d", "--audiogram", f"{table}:1")
    assert (done.returncode, done.stdout) == (0, "")
    assert f"{table}: passed over, as nothing is known of them: columns mode" in done.stderr
    assert f"{table}, row 1, right ear: not known at 2000 Hz; what is heard" in done.stderr
    assert f"{table}:1: nothing is known of the left ear" in done.stderr
