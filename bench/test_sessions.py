"""What it costs to list 10,000 journals, with the index and without."""

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from host_tools.main import main
from tests.host.journals import write_journals

JOURNALS = 10_000


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("journals")
    write_journals(directory, JOURNALS)
    return directory


@pytest.fixture
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def list_sessions(directory: Path) -> int:
    """List the directory, and return how many lines that is."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        assert main(["sessions", str(directory), "--sort", "started"]) == 0
    return out.getvalue().count("\n")


@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize("indexed", [False, True], ids=["every file read", "from the index"])
def test_list(benchmark: Any, archive: Path, indexed: bool) -> None:
    if indexed:
        list_sessions(archive)
    lines = benchmark.pedantic(list_sessions, args=(archive,), rounds=3 if indexed else 1)
    assert lines == JOURNALS + 1
