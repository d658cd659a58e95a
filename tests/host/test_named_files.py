"""Files that are named are regular ones, those that are written whole; and what is only read."""

import os
import shutil
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.table import Table
from device.hearing_aid.fit import FitError
from device.hearing_aid.fit_file import read_fit, write_fit
from device.hearing_aid.sound import SoundError, read_wav
from device.simulator.audiograms import audiogram_named
from device.simulator.traces import TraceError, read_runs
from device.sound_card.wav import WavOutput
from firmware_py.calibration.fields import CalibrationError
from firmware_py.calibration.file import read_calibration
from firmware_py.inference.mixture.population_prior import shipped_prior
from firmware_py.installation.configuration import ConfigurationError, read_configuration
from firmware_py.main import main as device
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.keys import KeyFileError, read_key_file
from firmware_py.platform.named_file import content_of, content_or_stream, open_named
from host_tools.commands.calibrate.kept import Readings
from host_tools.commands.replay.what_if import Supposition
from host_tools.devices.live import data_directory
from host_tools.errors import HostError
from host_tools.files import file_to_write, write_text
from host_tools.recordings.heading import read_heading
from host_tools.research.methods.population import population_of
from tests.device.hearing_aid.fits import plain_fit
from tests.host.journals import BOTH, LEFT_S2, GpPta, Refused
from tests.read_only import only_read

REPO: Final = Path(__file__).parents[2]

PIPE: Final = "PIPE"
ODD: Final = "Not a regular file"
COMMANDS: Final = (
    ("replay", PIPE),
    ("replay", LEFT_S2, "--key", PIPE),
    ("replay", LEFT_S2, "--prior", PIPE),
    ("report", PIPE),
    ("report", LEFT_S2, "--heading", PIPE),
    ("prescribe", LEFT_S2, "--uncalibrated", "--against", "PIPE.fit"),
    ("demo", "--audiogram", "PIPE:1"),
    ("update", "/dev/null", PIPE),
)

READERS: Final[dict[str, Callable[[Path], object]]] = {
    "a.fit": read_fit,
    "a.readings": Readings.load,
    "a.json": lambda path: Supposition.of(None, path, None),
    "a.csv": lambda path: population_of(Table.read(path)),
    "a.toml": read_calibration,
    "heading.toml": read_heading,
    "gp-pta.toml": read_configuration,
}
OTHERS: Final[dict[str, Callable[[Path], object]]] = {
    "a.wav": read_wav,
    "a.key": read_key_file,
    "answers.csv": read_runs,
    "ears.csv": lambda path: audiogram_named(f"{path}:1"),
}
ERRORS: Final = (
    AudiogramError, CalibrationError, ConfigurationError, FitError, HostError, KeyFileError,
    SoundError, TraceError,
)  # fmt: skip


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
        (read_key_file, KeyFileError),
        (Readings.load, HostError),
    ):
        with pytest.raises(error, match=ODD):
            read(pipe)
    for path in (pipe, pipe.parent, Path("/dev/zero")):
        with pytest.raises(OSError, match=f"{ODD}|directory"):
            open_named(path)
    assert Table.bytes_of(pipe) == b"", "nobody writes"
    end, other = os.pipe()
    os.write(other, b"t1000\n20\n")
    os.close(other)
    assert content_or_stream(Path(f"/dev/fd/{end}"), 10) == b"t1000\n20\n"
    os.close(end)
    long = pipe.with_name("long")
    long.write_bytes(bytes(11))
    with pytest.raises(OSError, match="is longer than 10 bytes"):
        content_of(long, 10)


def test_a_file_takes_no_more_memory_than_it_has(tmp_path: Path) -> None:
    """A device has little: what may be read is no room that is taken."""
    path = tmp_path / "packed-refs"
    path.write_bytes(200_000 * b"a")
    assert content_of(path, 1 << 60) == path.read_bytes()


@pytest.mark.parametrize("name", [*READERS, *OTHERS])
def test_what_is_not_there_a_directory_and_no_text_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\xff\xfe")
    for path, why in (
        (tmp_path / "none", "cannot be read: No such file or directory"),
        (tmp_path, "cannot be read: Is a directory"),
        (tmp_path / name, name),
    ):
        with pytest.raises(ERRORS) as refusal:
            (READERS | OTHERS)[name](path)
        assert str(path) in str(refusal.value)
        assert why in str(refusal.value)


def test_a_mark_of_the_encoding_is_taken_in_every_file_that_people_edit(tmp_path: Path) -> None:
    """Notepad and some spreadsheets begin a file with it."""
    write_fit(tmp_path / "a.fit", plain_fit())
    Readings("HDA 300").save(tmp_path / "a.readings")
    (tmp_path / "a.json").write_text(shipped_prior().to_json())
    (tmp_path / "a.csv").write_text("t1000\n20\n")
    (tmp_path / "a.toml").write_bytes((REPO / "device/calibration/example.toml").read_bytes())
    (tmp_path / "heading.toml").write_text('place = "Ours"\n')
    (tmp_path / "gp-pta.toml").write_text("[test]\ntones_max = 50\n")
    for name, read in READERS.items():
        path = tmp_path / name
        plain = repr(read(path))
        path.write_bytes(BOM_UTF8 + path.read_bytes())
        assert repr(read(path)) == plain, name


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_comes_to_no_end_leaves_nothing_and_changes_nothing(
    error: BaseException, tmp_path: Path
) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before")

    def fail_half_way() -> None:
        with file_to_write(path) as unfinished:
            unfinished.write_text("half")
            raise error

    with pytest.raises(HostError if isinstance(error, OSError) else type(error)):
        fail_half_way()
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "before"


def test_what_a_killed_process_has_left_is_not_written_into(tmp_path: Path) -> None:
    left, path = tmp_path / "out.csv.part", tmp_path / "out.csv"
    left.symlink_to(tmp_path / "other")
    write_text(path, "whole")

    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "whole"


def test_what_may_tell_of_a_person_is_for_its_owner_only(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        data = DataDirectory(tmp_path / "data", None)
        data.disk.close(data.disk.create(data.journal_path(1)))
        data.close()
        written_before = tmp_path / "report.html"
        written_before.touch(0o644)
        write_text(written_before, "of somebody")
        write_fit(tmp_path / "a.fit", plain_fit())
        write_text(tmp_path / "page.html", "of nobody", for_all=True)
        data_directory(tmp_path / "out", "gp-pta-")
        WavOutput(tmp_path / "heard.wav").close()
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes.pop("page.html") == 0o644
    assert modes.pop("data") == modes.pop("out") == 0o700
    assert modes == {"firmware.lock": 0o600, "session-000001.journal": 0o600, "report.html": 0o600,
                     "a.fit": 0o600, "heard.wav": 0o600}  # fmt: skip


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    path = tmp_path / "a-file" / "out.csv"
    with pytest.raises(HostError, match=r"a-file/out\.csv cannot be written: Not a directory"):
        write_text(path, "whole")


@pytest.fixture
def medium(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a directory with two journals that may only be read, the home and what is in it, too.

    It is the current one.
    """
    made = tmp_path / "medium"
    (made / "sessions").mkdir(parents=True)
    for number, journal in enumerate((BOTH, LEFT_S2), 1):
        shutil.copy(journal, made / f"sessions/session-{number:06d}.journal")
    monkeypatch.setenv("XDG_CACHE_HOME", str(made / "home/.cache"))
    monkeypatch.chdir(made)
    with only_read(made):
        yield made


READING: Final = {
    "sessions sessions": "session-000002.journal",
    "sessions sessions --json": '"session-000002.journal"',
    "sessions sessions --people": "session-000002.journal",
    "export --format csv": "session-000002.journal,1,",
    "export sessions --format csv --tidy": "session-000002.journal,1,",
    "export sessions --format json": '"session-000002.journal"',
    "export sessions --format fhir": '"Bundle"',
    "report --json": '"code": "session", ',
    "replay sessions/session-000001.journal": "bit for bit",
}


@pytest.mark.parametrize("typed", READING)
def test_what_only_reads_does_all_it_does_elsewhere(
    typed: str, medium: Path, gp_pta: GpPta
) -> None:
    code, out, err = gp_pta(*typed.split())
    assert code == 0, err
    assert READING[typed] in out
    assert "cannot" not in err


def test_what_is_written_elsewhere_is_written(medium: Path, tmp_path: Path, gp_pta: GpPta) -> None:
    page, table = tmp_path / "page.html", tmp_path / "table.csv"
    for words in (("report", "-o", page), ("sessions", "sessions", "--export", table)):
        code, _, err = gp_pta(*words)
        assert code == 0, err
    assert page.stat().st_size > 0
    assert table.stat().st_size > 0


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("report", "session-000002.html"),
        ("export sessions -o here.csv", "here.csv"),
        ("sessions sessions --people -o here.html", "here.html"),
        ("sessions sessions --export here.csv", "here.csv"),
    ],
)
def test_what_cannot_be_written_there_is_named(
    typed: str, name: str, medium: Path, refusal_of: Refused
) -> None:
    said = refusal_of(*typed.split())
    assert said.splitlines()[-1].startswith(f"gp-pta: {name} cannot be written: Permission denied")
