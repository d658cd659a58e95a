"""The directory of a study: what is done is kept, and nothing of another study is touched."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from host_tools.errors import HostError
from host_tools.research.study.options import Options
from host_tools.research.study.plan import Study, plan_study
from host_tools.research.study.session import METRICS, Job, Session, table_of
from host_tools.research.study.store import Store
from host_tools.research.study.work import Where
from tests.host.research.study.ears import write_table

OPTIONS = Options("bisgaard", methods=("staircase-asha", "quest"), trials=3, seeds=1)


@pytest.fixture(scope="module")
def study() -> Study:
    return plan_study(OPTIONS)


def run_in(directory: Path, study: Study) -> Store[Job, Session]:
    """Return a store all of whose parts are there."""
    store = Store(directory, study)
    store.run_what_is_missing(Where())
    return store


def bytes_of(directory: Path) -> list[bytes]:
    return [(directory / name).read_bytes() for name in ("study.parquet", "study.csv")]


def test_the_table_is_tidy(study: Study, tmp_path: Path) -> None:
    run_in(tmp_path / "new" / "study", study).assemble()
    table = pq.read_table(tmp_path / "new" / "study" / "study.parquet")

    assert table.num_rows == 2 * 10 * 4
    rows = table.to_pylist()
    keys = [(row["method"], row["ear"], row["seed"], row["tones"]) for row in rows]
    assert len(set(keys)) == len(keys)
    assert [row["tones"] for row in rows[:5]] == [0, 1, 2, 3, 0]
    by_method = {row["method"]: row for row in rows}
    assert by_method["staircase-asha"]["covered_95"] is None
    assert by_method["quest"]["covered_95"] is not None
    csv = (tmp_path / "new" / "study" / "study.csv").read_text(encoding="utf-8").splitlines()
    assert len(csv) == 1 + table.num_rows
    assert csv[0].replace('"', "").split(",")[-len(METRICS) :] == list(METRICS)
    assert csv[1].endswith(",,,,")  # no bands


def test_the_end_of_a_method_shows_from_its_last_tone_on(study: Study) -> None:
    metrics, seconds = np.zeros((4, len(METRICS))), np.zeros(4)
    ended = Session(study.job(0), metrics, seconds, 2, failed=False)
    failed = Session(study.job(0), metrics, seconds, 0, failed=True)
    table = table_of([ended, failed, Session(study.job(0), metrics, seconds, None, failed=False)])

    assert table.column("ended").to_pylist() == [False] * 2 + [True] * 6 + [False] * 4
    assert table.column("failed").to_pylist() == [False] * 4 + [True] * 4 + [False] * 4


def test_a_study_goes_on_where_parts_are_missing_or_damaged(study: Study, tmp_path: Path) -> None:
    assert Store(tmp_path, study).missing() == [0, 1, 2]
    run_in(tmp_path, study).assemble()
    whole = bytes_of(tmp_path)
    parts = sorted((tmp_path / "parts").iterdir())
    assert [part.name for part in parts] == [f"part-{i:06d}.parquet" for i in range(3)]
    parts[0].unlink()
    parts[1].write_bytes(parts[1].read_bytes()[:-20])
    pq.write_table(pq.read_table(parts[2])[:-1], parts[2])  # of another number of rows
    (tmp_path / "parts" / "part-000000.parquet.part").write_bytes(b"cut short")

    again = Store(tmp_path, study)
    assert again.missing() == [0, 1, 2]
    again.run_what_is_missing(Where())
    again.assemble()
    assert bytes_of(tmp_path) == whole


def test_a_part_that_cannot_be_read_is_named(study: Study, tmp_path: Path) -> None:
    store = run_in(tmp_path, study)
    part = tmp_path / "parts" / "part-000001.parquet"
    content = part.read_bytes()
    for damaged in (
        content[:4] + b"\xff" * 400 + content[404:],  # its footer is whole
        content.replace(b"staircase-asha", b"staircase-isha"),
    ):
        assert damaged != content
        part.write_bytes(damaged)
        with pytest.raises(HostError, match=r"part-000001\.parquet is damaged .*; remove it"):
            store.assemble()
    assert not (tmp_path / "study.csv").exists()


def test_a_file_that_cannot_be_written_is_named(study: Study, tmp_path: Path) -> None:
    store = Store(tmp_path, study)
    (tmp_path / "parts").rmdir()

    with pytest.raises(HostError, match=r"part-000000\.parquet cannot be written: "):
        store.run_what_is_missing(Where())


def test_row_groups_make_no_difference_to_the_rows(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = run_in(tmp_path, study)
    store.assemble()
    csv = (tmp_path / "study.csv").read_bytes()
    monkeypatch.setattr("host_tools.research.study.store.ROW_GROUP_ROWS", 40)
    store.assemble()

    assert pq.read_metadata(tmp_path / "study.parquet").num_row_groups == 2
    assert (tmp_path / "study.csv").read_bytes() == csv


def test_another_study_is_refused_and_nothing_is_changed(study: Study, tmp_path: Path) -> None:
    Store(tmp_path, study)
    before = (tmp_path / "study.json").read_bytes()
    other = plan_study(replace(OPTIONS, trials=4, response_noise_db=3.0))

    with pytest.raises(HostError, match="has another study in it") as why:
        Store(tmp_path, other)

    assert "noise was 2.0 and is 3.0; trials was 3 and is 4" in str(why.value)
    assert (tmp_path / "study.json").read_bytes() == before


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ({}, {"table": "--seconds"}, "has a study of methods in it; this is --seconds. Nothing"),
        ({"table": "--bone"}, {}, "has --bone in it; this is a study of methods. Nothing was"),
        ({"table": "--bone"}, {"table": "--seconds"}, "has --bone in it; this is --seconds. "),
    ],
)
def test_a_study_of_another_kind_is_named_by_its_kind(
    study: Study, tmp_path: Path, before: dict[str, str], now: dict[str, str], words: str
) -> None:
    Store(tmp_path, replace(study, plan={"noise": 2.0, **before}))
    with pytest.raises(HostError, match=re.escape(f"{tmp_path}' {words}")):
        Store(tmp_path, replace(study, plan={"retest": 1.0, **now}))


def test_another_program_is_refused(study: Study, tmp_path: Path) -> None:
    Store(tmp_path, study)
    about = json.loads((tmp_path / "study.json").read_text(encoding="utf-8"))
    about["plan"]["program"]["code"] = "0123"
    (tmp_path / "study.json").write_text(json.dumps(about), encoding="utf-8")

    with pytest.raises(HostError, match="code was 0123 and is "):
        Store(tmp_path, study)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"plan": {}}', '{"plan": [], "format": 1}'])
def test_a_damaged_plan_is_refused(study: Study, tmp_path: Path, content: str) -> None:
    (tmp_path / "study.json").write_text(content, encoding="utf-8")

    with pytest.raises(HostError, match=r"study\.json is damaged; nothing in"):
        Store(tmp_path, study)


def test_a_directory_with_other_files_is_refused(study: Study, tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear", encoding="utf-8")

    with pytest.raises(HostError, match=r"has files in it, and no study\.json"):
        Store(tmp_path, study)
    with pytest.raises(HostError, match=re.escape("letters.txt' cannot be used: ")):
        Store(tmp_path / "letters.txt", study)


def test_what_was_learned_is_learned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = write_table(tmp_path / "ears.csv")
    learning = plan_study(Options(str(table), methods=("de-vries",), ears_per_stratum=1, seeds=1))
    first = learning.ready_in(tmp_path).learned
    monkeypatch.setattr("host_tools.research.study.plan.learn", None)

    again = learning.ready_in(tmp_path).learned

    assert first.mixture is not None
    assert again.mixture is not None
    assert np.array_equal(first.mixture.covariance_db2, again.mixture.covariance_db2)
    (tmp_path / "learned.json").write_text("{}", encoding="utf-8")
    with pytest.raises(HostError, match=r"learned\.json is damaged; remove it"):
        learning.ready_in(tmp_path)
