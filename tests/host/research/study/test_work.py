"""The same bytes whoever does the work: this process, others, and after a kill."""

import json
import multiprocessing
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest

from host_tools import terminal
from host_tools.errors import HostError
from host_tools.main import main
from host_tools.research.study import work
from host_tools.research.study.options import Options
from host_tools.research.study.pieces import Piece, run_piece
from host_tools.research.study.plan import plan_study
from host_tools.research.study.sessions import run_chunk
from host_tools.research.study.work import Where, run
from tests.host.research.study.ears import write_table, write_two_routes

# Every kind of numerics: kernels, BLAS, and what was learned.
METHODS = "gp-pta,cast,de-vries,song-gp,quest"
ARGUMENTS = ["--methods", METHODS, "--ears", "1", "--seeds", "2", "--trials", "5"]
OUTPUTS = ("study.parquet", "study.csv", "summary.csv", "study.json", "error.svg", "seconds.svg")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("ears") / "ears.csv")


@pytest.fixture(scope="module")
def alone(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study run in this process."""
    directory = tmp_path_factory.mktemp("alone")
    assert study(table, directory, "--workers", "0") == 0
    return directory


def words_for(table: Path, directory: Path, *more: str) -> list[str]:
    return ["study", "--audiograms", str(table), *ARGUMENTS, "-o", str(directory), *more]


def study(table: Path, directory: Path, *more: str) -> int:
    return main(words_for(table, directory, *more))


def assert_same(directory: Path, other: Path) -> None:
    for name in OUTPUTS:
        assert (directory / name).read_bytes() == (other / name).read_bytes(), name


def kill_when_something_is_kept(command: list[str], directory: Path) -> None:
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    until_s = time.monotonic() + 60.0
    while not list(directory.glob("parts/*.parquet")) and time.monotonic() < until_s:
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert list(directory.glob("parts/*.parquet"))


def test_an_interrupt_says_what_is_kept_and_the_same_command_goes_on(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[Any] = []

    def interrupt(piece: Piece[Any, Any]) -> tuple[int, Any]:
        if done:
            raise KeyboardInterrupt
        done.append(run_piece(piece))
        return done[0]

    words = [
        "study", "--audiograms", str(table), "--methods", "quest", "--ears", "1", "--seeds", "4",
        "--trials", "3", "--workers", "0", "-o", str(tmp_path), "--json",
    ]  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(work, "run_piece", interrupt)
        patch.setattr(terminal, "LINE_AFTER_S", 0.0)
        assert main(words) == 130
    said = capsys.readouterr().err
    assert "sessions: 50 % done, about " in said
    assert f"interrupted; 8 of 16 sessions are kept in {str(tmp_path)!r}" in said
    assert not (tmp_path / "study.csv").exists()
    (kept,) = (tmp_path / "parts").iterdir()
    before = kept.stat()

    assert main(words) == 0
    after = kept.stat()  # reading it may change when it was last read
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns), (
        "what is kept is not run again"
    )
    ears, listeners, *_, last = capsys.readouterr().out.splitlines()
    about = json.loads(last)
    assert ears == "4 ears x 4 seeds, 3 tones"
    assert listeners == "listeners: honest; noise 2 dB, lapses 0.01, false alarms 0.01"
    assert [about[name] for name in ("ears", "seeds", "sessions", "tones")] == [4, 4, 16, 3]
    assert [about[name] for name in ("listener", "response_noise_db")] == ["honest", 2.0]
    assert [line["method"] for line in about["methods"]] == ["quest"]
    assert all((tmp_path / name).stat().st_size for name in OUTPUTS)
    modes = {(tmp_path / name).stat().st_mode for name in (*OUTPUTS, *about["pictures"])}
    assert len(modes) == 1, "tables and pictures are for the same people"
    (method,) = about["methods"]
    assert all(round(each, 6) == each for each in method.values() if isinstance(each, float))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_is_kept_nowhere_is_said_to_be_lost(
    number: int, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(work, "run_piece", lambda _: signal.raise_signal(number))
    words = "study --seconds --audiograms tent --ears 2 --seeds 1 --workers 0"
    with pytest.raises(SystemExit) as ended:
        sys.exit(main(words.split()))

    assert ended.value.code == code
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(
        "gp-pta: interrupted; 0 of 2 sessions are lost; with -o DIR they are kept"
    )
    assert signal.getsignal(signal.SIGTERM) == usual


@pytest.mark.thorough
def test_two_processes_do_what_one_does(table: Path, alone: Path, tmp_path: Path) -> None:
    assert study(table, tmp_path, "--workers", "2") == 0

    assert_same(tmp_path, alone)
    assert not multiprocessing.active_children()


@pytest.mark.thorough
def test_after_a_kill_the_same_command_goes_on(table: Path, alone: Path, tmp_path: Path) -> None:
    words = words_for(table, tmp_path, "--workers", "0")
    kill_when_something_is_kept([sys.executable, "-m", "host_tools.main", *words], tmp_path)

    assert study(table, tmp_path, "--workers", "0") == 0
    assert_same(tmp_path, alone)


@pytest.mark.thorough
def test_what_is_finished_is_not_run_again(
    table: Path, alone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {name: (alone / name).read_bytes() for name in OUTPUTS}
    monkeypatch.setattr(work, "run_piece", None)

    assert study(table, alone, "--workers", "0", "--json") == 0

    assert before == {name: (alone / name).read_bytes() for name in OUTPUTS}
    about = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert about["sessions"] == 40
    assert [line["method"] for line in about["methods"]] == METHODS.split(",")


def test_an_iteration_that_is_left_ends_its_processes() -> None:
    plan = plan_study(Options("bisgaard", methods=("quest",), trials=2, seeds=40))
    runs = run(run_chunk, plan.make(plan.chunks), Where(1))
    next(runs)
    assert multiprocessing.active_children()

    runs.close()

    assert not multiprocessing.active_children()


def test_a_worker_with_another_program_refuses() -> None:
    with pytest.raises(HostError, match="a worker has another program than the one"):
        run_piece(Piece(0, str, "given", "another"))


TABLES: Final = {
    "seconds": "--seconds --audiograms tent --ears 9",
    "as-published": "--as-published --audiograms bisgaard",
    "robustness": "--robustness --cases tent,narrow-notch-test,exact --ears 3 --seeds 1",
    "bone": "--bone --audiograms {air_bone} --ears 2",
    "tuning": "--tuning --people 2 --methods gain,random",
    "time-to-go": "--time-to-go --audiograms bisgaard --people 5",
    "changed": "--changed --people 2",
    "whole": "--whole --people 2",
}


@pytest.mark.thorough
@pytest.mark.parametrize("words", TABLES.values(), ids=TABLES)
def test_a_table_is_the_same_with_two_workers_and_after_a_kill(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two_routes = write_two_routes(tmp_path / "air_bone.csv")
    table = ["study", *words.format(air_bone=two_routes).split(), "--json"]
    kept = [*table, "-o", str(tmp_path / "kept"), "--workers", "0"]
    command = [sys.executable, "-m", "host_tools.main", *kept]
    kill_when_something_is_kept(command, tmp_path / "kept")
    said = []
    for asked in (kept, [*table, "--workers", "2"], kept):
        assert main(asked) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] == said[2]


@pytest.mark.parametrize(
    "words", ["--robustness --cases tent --seeds 1", "--seconds --audiograms tent"]
)
def test_a_table_that_is_kept_is_not_run_again_and_is_of_its_people(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = ["study", *words.split(), "--workers", "0", "--json", "--ears"]
    kept = [*table[:-1], "-o", str(tmp_path), "--ears"]
    assert main([*table, "1"]) == 0
    said = capsys.readouterr().out
    assert main([*kept, "1"]) == 0
    assert capsys.readouterr().out == said
    monkeypatch.setattr(work, "run_piece", None)
    assert main([*kept, "1"]) == 0
    assert capsys.readouterr().out == said
    assert main([each for each in kept if each != "--json"] + ["1"]) == 0
    assert capsys.readouterr().out == (tmp_path / "summary.md").read_text()
    assert main([*kept, "2"]) == 2
    assert "has another study in it: ears was 1 and is 2" in capsys.readouterr().err
