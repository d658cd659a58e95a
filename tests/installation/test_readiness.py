"""`gp-pta-device --check` names what is wrong, part by part, and disturbs nobody."""

import datetime
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from device.simulator.serve import raw_pty
from device.simulator.virtual_clock import VirtualClock
from firmware_py.inference import estimator
from firmware_py.installation.readiness import CODES, Files, check, readiness
from firmware_py.journal import Disk
from firmware_py.platform.clock import YEAR_MIN, SteadyClock
from firmware_py.platform.ports import Port
from firmware_py.platform.room_on_disk import of_test
from firmware_py.terms.settings import Settings
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.firmware.device import Device, answers_to
from tests.firmware.rig import Rig
from tests.firmware.whole_sessions import a_listener, asked_again_though_answered

SLOW = 40.0  # checks are made while a test is under way

Lines = dict[str, tuple[str, str]]  # verdict and words of every part


class Bench:
    """What a check is given, all of it good; a test spoils some."""

    def __init__(self, directory: Path, tones: str, console: str) -> None:
        self.tones, self.console = tones, console
        self.data = directory / "data"
        self.configuration: Path | None = None
        self.calibration: Path | None = None

    def configure(self, text: str) -> None:
        self.configuration = self.data.with_name("gp-pta.toml")
        self.configuration.write_text(text)

    def check(self) -> int:
        ports = Port(self.tones, "tone generator"), Port(self.console, "console")
        files = Files(self.configuration, self.calibration)
        return check(readiness(ports, self.data, files))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with raw_pty() as (_, tones), raw_pty() as (_, console):
        yield Bench(tmp_path, tones, console)


def lines_of(printed: str) -> Lines:
    """Return verdict and words of every part, in the order they came."""
    lines = {line[9:24].rstrip(): (line[:8].rstrip(), line[25:]) for line in printed.splitlines()}
    assert [*lines] == [*CODES]
    return lines


def faults_of(printed: str) -> dict[str, str]:
    return {name: words for name, (verdict, words) in lines_of(printed).items() if verdict != "ok"}


def test_a_device_that_can_start_has_a_line_for_every_part(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.configure("[test]\ntones_max = 30\n")
    assert bench.check() == 0

    lines = lines_of(capsys.readouterr().out)
    assert {verdict for verdict, _ in lines.values()} == {"ok"}
    assert lines["configuration"][1] == str(bench.configuration)
    assert lines["calibration"][1] == "UNCALIBRATED: levels are nominal"
    assert lines["disk"][1].endswith(" MB free")
    assert (lines["tone generator"][1], lines["console"][1]) == (bench.tones, bench.console)
    assert lines["kernels"][1].startswith("ready after ")
    assert [path.name for path in bench.data.iterdir()] == ["firmware.lock"]
    assert bench.check() == 0, "nothing is kept open"


def tear(*_: object, **__: object) -> None:
    raise EOFError("Ran out of input")


@pytest.mark.parametrize(
    ("spoil", "code", "part", "words"),
    [
        (
            lambda bench, _: bench.configure("[test]\ntones_mx = 30\n"), 2, "configuration",
            "[test] 'tones_mx' is not a known key; did you mean",
        ),
        (lambda bench, _: bench.configure("[test\n"), 2, "configuration", "is not TOML"),
        (
            lambda bench, _: setattr(bench, "console", "/dev/there-is-none"), 2, "console",
            "cannot open '/dev/there-is-none': No such file or directory",
        ),
        (
            lambda bench, _: setattr(bench, "console", "/etc/hostname"), 2, "console",
            "cannot open '/etc/hostname': it is no serial port",
        ),
        (lambda bench, _: bench.data.touch(), 4, "disk", "data' cannot be written: File exists"),
        (
            lambda _, patch: patch.setattr(Disk, "free_bytes", lambda *_: of_test(Settings()) - 1),
            4, "disk", "kB are free on the disk, and ",
        ),
        (
            lambda _, patch: patch.setattr(estimator, "ThresholdEstimator", tear), 1, "kernels",
            "EOFError: Ran out of input",
        ),
    ],
)  # fmt: skip
def test_a_part_at_fault_is_named(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Bench, pytest.MonkeyPatch], object], code: int, part: str, words: str,
) -> None:  # fmt: skip
    spoil(bench, monkeypatch)

    assert bench.check() == code
    ((name, said),) = faults_of(capsys.readouterr().out).items()
    assert (name, words in said) == (part, True), said


def test_the_first_fault_decides_and_the_others_are_named(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.data.touch()
    bench.tones = bench.console = "/dev/there-is-none"
    assert bench.check() == 4
    assert [*faults_of(capsys.readouterr().out)] == ["disk", "tone generator", "console"]


def test_what_the_firmware_runs_with_is_a_warning(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    unset = datetime.datetime(1970, 1, 1, 0, 3, tzinfo=datetime.UTC)
    monkeypatch.setattr(SteadyClock, "date", lambda _: unset)
    bench.calibration = bench.data.with_name("calibration.toml")
    assert bench.check() == 0

    lines = lines_of(capsys.readouterr().out)
    assert lines["clock"] == ("warning", "never set: it says 1970-01-01T00:03:00+00:00")
    assert lines["calibration"][0] == "warning"
    assert "calibration.toml: cannot be read" in lines["calibration"][1]


@pytest.mark.usefixtures("quick_disk")
@pytest.mark.parametrize(("year", "told"), [(1970, True), (YEAR_MIN, False)])
def test_a_firmware_that_starts_with_an_unset_clock_tells_the_operator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, year: int, told: bool
) -> None:
    date = datetime.datetime(year, 1, 1, 0, 3, tzinfo=datetime.UTC)
    monkeypatch.setattr(VirtualClock, "date", lambda _: date)
    error = answers_to(Device(tmp_path), "SYST:ERR?")[0]
    words = "the clock was never set: it says 1970-01-01T00:03:00+00:00; sessions get a wrong date"
    assert error == (f'107,"{words}"' if told else '0,"No error"')


def run_check(rig: Rig, data: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, Lines]:
    """Run the check with the ports of the firmware that runs."""
    names = {"t": "tone generator", "c": "console"}
    tones, console = (Port(str(rig._cables[key]), name) for key, name in names.items())
    code = check(readiness((tones, console), data, Files()))
    return code, lines_of(capsys.readouterr().out)


def test_a_running_firmware_is_not_disturbed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Rig(tmp_path / "data", a_listener("S2"), SLOW) as rig:
        rig.begin()
        rig.until("! tone number=4")
        same = run_check(rig, rig.data, capsys)
        other = run_check(rig, tmp_path / "other", capsys)
        rig.until("! session-over")
        assert asked_again_though_answered(rig.journal()) == []
        assert replay_journal(rig.journal()).code == IDENTICAL
        assert rig.errors() == ""

    code, lines = same
    assert code == 0
    for name in ("disk", "tone generator", "console"):
        assert lines[name] == ("ok", "not looked at: a running firmware has it")
    code, lines = other
    assert code == 2
    assert lines["disk"][0] == "ok"
    for name in ("tone generator", "console"):
        assert lines[name][0] == "FAULT"
        assert lines[name][1].endswith("another program has it open")
