"""A file that somebody names is a regular one: nobody waits at a pipe."""

import os
from pathlib import Path
from typing import Final

import pytest

from device.hearing_aid.sound import SoundError, read_wav
from device.simulator.traces import TraceError, read_runs
from firmware_py.main import main as device
from firmware_py.platform.named_file import content_of, content_or_stream, opened
from host_tools.commands.calibrate.readings import Readings
from host_tools.errors import HostError
from host_tools.research.methods.population import table_bytes
from tests.host.journals import LEFT_S2, GpPta

PIPE: Final = "PIPE"
ODD: Final = "Not a regular file"
COMMANDS: Final = (
    ("replay", PIPE),
    ("replay", LEFT_S2, "--key", PIPE),
    ("replay", LEFT_S2, "--prior", PIPE),
    ("report", PIPE),
    ("report", LEFT_S2, "--heading", PIPE),
    ("prescribe", LEFT_S2, "--uncalibrated", "--against", "PIPE.fit"),
    ("protect", PIPE, "-r", "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"),
    ("unprotect", PIPE, "-i", PIPE),
    ("demo", "--audiogram", "PIPE:1"),
    ("update", "/dev/null", PIPE),
)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "PIPE.fit")
    os.mkfifo(tmp_path / PIPE)
    return tmp_path / PIPE


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(str, command)))
def test_no_command_waits_at_a_pipe(
    gp_pta: GpPta, pipe: Path, command: tuple[str | Path, ...]
) -> None:
    words = [str(word).replace(PIPE, str(pipe)) for word in command]
    code, _, error = gp_pta(*words)
    assert (code, ODD in error) == (2, True), error


@pytest.mark.parametrize("option", ["--config", "--clock", "--tell-card", "--hash-new-pin"])
def test_the_firmware_waits_at_none(
    pipe: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--tone-generator=/no", "--console=/no", f"--data={pipe.parent}")
    try:
        code: object = device([*options, option, str(pipe)])
    except SystemExit as end:
        code = end.code
    assert (code, ODD in capsys.readouterr().err) == (2, True)


def test_what_is_no_file_is_named_and_a_stream_of_a_table_is_taken(pipe: Path) -> None:
    for read, error in (
        (read_wav, SoundError),
        (read_runs, TraceError),
        (Readings.load, HostError),
    ):
        with pytest.raises(error, match=ODD):
            read(pipe)
    for path in (pipe, pipe.parent, Path("/dev/zero")):
        with pytest.raises(OSError, match=f"{ODD}|directory"):
            opened(path)
    assert table_bytes(pipe) == b"", "nobody writes"
    end, other = os.pipe()
    os.write(other, b"t1000\n20\n")
    os.close(other)
    assert content_or_stream(Path(f"/dev/fd/{end}"), 10) == b"t1000\n20\n"
    os.close(end)
    long = pipe.with_name("long")
    long.write_bytes(bytes(11))
    with pytest.raises(OSError, match="is longer than 10 bytes"):
        content_of(long, 10)
