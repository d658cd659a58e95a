"""A prior of one's own through the commands: a demo, its journal, its replay, its exports."""

import json
from pathlib import Path
from typing import Any

import pytest

from firmware_py.journal import read_journal
from firmware_py.platform.own_prior import OwnPrior, path_of
from host_tools.commands.export.examination import read_examination
from host_tools.commands.sessions.entry import entry_of
from host_tools.recordings.recorded_session import replay_session
from tests.host.bench import Benches
from tests.host.journals import GpPta, Refused
from tests.own_priors import small_prior, write_prior

pytestmark = pytest.mark.usefixtures("quick_disk")


@pytest.fixture
def own(tmp_path: Path) -> OwnPrior:
    return write_prior(tmp_path / "mine.json")


@pytest.fixture
def journal(tmp_path: Path, own: OwnPrior, benches: Benches, gp_pta: GpPta) -> Path:
    out = tmp_path / "sessions"
    code, *said = gp_pta(
        "demo", "--ear", "left", "--prior", tmp_path / "mine.json", "--out", out, "--json"
    )
    assert code == 0, said
    assert f"with the prior {own.digest}" in said[0]
    return out / "session-000001.journal"


def summary(said: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(said.splitlines()[-1])
    return told


def test_all_that_reads_a_journal_finds_it(
    tmp_path: Path, own: OwnPrior, journal: Path, gp_pta: GpPta, refusal_of: Refused
) -> None:
    assert gp_pta("replay", journal)[0] == 0
    assert summary(gp_pta("replay", journal, "--json")[1])["prior"] == own.digest
    assert entry_of(journal).prior == own.digest
    assert read_examination(journal).as_json()["prior"] == own.digest
    assert replay_session(journal).prior == small_prior()
    code, said, _ = gp_pta("report", journal, "-o", tmp_path / "report.html")
    assert code == 0, said

    # Somebody took the journal alone with him.
    alone = tmp_path / "alone" / journal.name
    alone.parent.mkdir()
    journal.rename(alone)
    words = refusal_of("replay", alone)
    assert own.digest in words
    assert str(path_of(own.digest, alone.parent)) in words
    assert "gp-pta replay --prior FILE" in words
    code, said, _ = gp_pta("replay", alone, "--prior", tmp_path / "mine.json")
    assert (code, "bit for bit" in said) == (0, True)
    write_prior(tmp_path / "other.json", small_prior(30.0))
    assert own.digest in refusal_of("replay", alone, "--prior", tmp_path / "other.json")


def test_with_another_prior_a_replay_supposes_it(
    tmp_path: Path, own: OwnPrior, journal: Path, gp_pta: GpPta, refusal_of: Refused
) -> None:
    write_prior(tmp_path / "other.json", small_prior(30.0))
    code, said, _ = gp_pta("replay", journal, "--prior", tmp_path / "other.json")
    assert code == 0
    assert said.startswith(f"prior other.json instead of {own.digest[:8]}: thresholds differ by")
    # The same model has its own prior, not the one that ships.
    _, said, _ = gp_pta("replay", journal, "--profile", "default")
    assert "thresholds differ by 0.0 dB RMS" in said
    code, said, _ = gp_pta("replay", journal, "--prior", tmp_path / "mine.json")
    assert (code, "thresholds differ" in said) == (0, False)
    words = refusal_of(
        "replay", journal, "--prior", tmp_path / "mine.json", "--picture", tmp_path / "two.svg"
    )
    assert "--picture draws two models" in words


@pytest.mark.parametrize("command", ["demo", "workbench"])
def test_a_wrong_file_is_refused_before_anything_starts(
    tmp_path: Path, benches: Benches, refusal_of: Refused, command: str
) -> None:
    path = tmp_path / "mine.json"
    path.write_text("{}")
    assert f"--prior {path}: format is None; allowed is" in refusal_of(command, "--prior", path)
    assert benches.devices == []


def test_an_unfinished_session_goes_on_with_its_own(
    tmp_path: Path, own: OwnPrior, journal: Path, benches: Benches, gp_pta: GpPta
) -> None:
    whole = journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))

    code, said, _ = gp_pta("demo", "--ear", "left", "--out", journal.parent)

    assert f"it was begun with prior {own.digest[:8]}, and goes on with that" in said
    assert f"with the prior {own.digest}" in said
    assert code == 0
    assert read_journal(journal).header["prior"] == own.digest
