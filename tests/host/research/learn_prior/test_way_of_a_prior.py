"""A prior on its whole way: learned from a table, taken to a test, recorded, replayed."""

import json
from pathlib import Path

import pytest

from firmware_py.journal import read_journal
from firmware_py.platform.own_prior import OwnPrior, path_of
from host_tools.main import main
from tests.host.bench import Benches
from tests.host.journals import GpPta

pytestmark = pytest.mark.usefixtures("quick_disk")


def _table(path: Path) -> Path:
    """Write 60 people whose ears get worse from 500 Hz to 8 kHz, by more or less."""
    rows = ["subject,ear,age,sex,t500,t1000,t2000,t4000,t8000"]
    for person in range(60):
        levels = [5 * ((person * k) // 25 + (person * 7 + k * k) % 4) for k in range(1, 6)]
        rows.append(
            f"{person},R,{30 + person % 50},{'FM'[person % 2]},{','.join(map(str, levels))}"
        )
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.thorough
def test_learned_taken_to_a_demo_and_replayed(
    tmp_path: Path, benches: Benches, gp_pta: GpPta, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One way from a table of ears to a journal that comes out bit for bit."""
    monkeypatch.setattr(  # the picture is tested with the command, and takes seconds
        "host_tools.research.learn_prior.picture.draw_prior", lambda *_: None
    )
    prior, out = tmp_path / "prior.json", tmp_path / "sessions"
    code = main([
        "learn-prior", str(_table(tmp_path / "ears.csv")), "-o", str(prior), "--components", "1",
        "--part", "1",
    ])  # fmt: skip
    assert code == 0

    code, said, _ = gp_pta("demo", "--ear", "left", "--prior", prior, "--out", out, "--json")

    assert (code, json.loads(said.splitlines()[-1])["replay_identical"]) == (0, True)
    digest = OwnPrior.read(prior).digest
    journal = out / "session-000001.journal"
    assert read_journal(journal).header["prior"] == digest
    assert path_of(digest, out).read_bytes() == prior.read_bytes()
    assert gp_pta("replay", journal)[0] == 0
