"""`gp-pta` in this process: its exit code, and what it says."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from device.simulator import own_code
from host_tools.commands import demo, fitting, workbench
from host_tools.main import main
from tests.host.bench import Benches
from tests.host.journals import GpPta, Refused, write_journals
from tests.host.place_of_pages import write_place
from tests.host.refusals import STANDS_FOR, Named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

# A promise that is broken says with which values, as a test does.
pytest.register_assert_rewrite("tests.host.commands.export.promises")


@pytest.fixture
def gp_pta(capsys: pytest.CaptureFixture[str]) -> GpPta:
    """Return what runs a command, and returns exit code, standard output and standard error."""

    def run(*words: object) -> tuple[int, str, str]:
        code = main([*map(str, words)])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return a directory with eight sessions."""
    directory = tmp_path / "journals"
    directory.mkdir()
    write_journals(directory, 8)
    return directory


@pytest.fixture
def refusal_of(gp_pta: GpPta) -> Refused:
    """Return what runs a command that is refused, and returns why."""

    def run(*words: object, code: int = 2) -> str:
        found, _, why = gp_pta(*words)
        assert found == code, why
        return why

    return run


@pytest.fixture
def refuse_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gp_pta: GpPta) -> Named:
    """Return what runs a command that is refused by name, and writes nothing where it is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.with_name(f"{tmp_path.name}-cache")))
    (tmp_path / "directory.toml").mkdir()
    for ending in ("csv", "html", "json", "svg", "toml", "txt", "wav"):
        (tmp_path / f"there.{ending}").write_text("mine")

    def check(command: str, words: str) -> None:
        before = {path: path.is_dir() or path.read_text() for path in tmp_path.rglob("*")}
        for name, place in STANDS_FOR.items():
            command = command.replace(name, str(place))
        code, said, why = gp_pta(*shlex.split(command))
        assert (code, said, why.count("\n"), why[:8]) == (2, "", 1, "gp-pta: ")
        assert words in why
        assert {p: p.is_dir() or p.read_text() for p in tmp_path.rglob("*")} == before

    return check


@pytest.fixture
def place_of_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stand in a directory with the files that pages speak of, and nothing of another in memory."""
    write_place(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = {*sys.modules}
    own_code.class_named.cache_clear()
    yield tmp_path
    own_code.class_named.cache_clear()
    for name in {*sys.modules} - before:
        if name.startswith(("my_", "wrong")):
            del sys.modules[name]


@pytest.fixture
def benches(monkeypatch: pytest.MonkeyPatch, quick_disk: None) -> Benches:
    """Have `demo`, also where it fits an aid, and `workbench` start everything in this process."""
    benches = Benches()
    for command in (demo, fitting, workbench):
        monkeypatch.setattr(command, "start_devices", benches.start_devices)
    return benches


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the place of what is kept of directories: one of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def browser() -> Browser:
    """Return the browser of this process, which nobody closes; its pages begin without history."""
    from tests.host.browsers import a_browser  # Playwright takes long to import

    return a_browser()
