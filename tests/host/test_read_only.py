"""Journals on a medium that may only be read: what reads does all it does elsewhere."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.host.journals import BOTH, LEFT_S2, GpPta, Refused
from tests.read_only import only_read


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
