"""What a study is: its ears, who may learn from whom, and when two are the same."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest

from device.simulator.odd_ears import odd_ear
from firmware_py.inference.library import JIT, VARIABLE
from host_tools.errors import HostError
from host_tools.main import parser
from host_tools.research.methods.population import STRATA
from host_tools.research.study import plan as plans
from host_tools.research.study.ears import (
    SPLIT_SEED,
    TRAIN_SHARE,
    ears_of,
    read_table,
    say_what_is_read,
    unique_names,
)
from host_tools.research.study.options import Options
from host_tools.research.study.plan import Study, plan_study
from host_tools.research.study.store import differences
from tests.host.research.study.ears import HEADER, write_table

ROOT: Final = Path(__file__).parents[4]
AFTER_A_REFUSAL: Final = """\
import sys
from host_tools.main import main

assert main(sys.argv[1:]) == 2
assert "host_tools.research.methods.registry" not in sys.modules
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path / "ears.csv")


def test_a_study_of_odd_ears_draws_them_from_their_family() -> None:
    study, usual = (
        plan_study(
            Options("narrow-notch", methods=("quest",), ears_per_stratum=n, listener="bursts")
        )
        for n in (3, None)
    )

    assert [ear.name for ear in study.ears] == [f"narrow-notch:{n}" for n in (1, 2, 3)]
    assert study.ears == usual.ears[:3]
    assert len(usual.ears) == 40
    assert study.setting.answering.kind.name == "bursts"
    assert (study.plan["audiograms"], study.plan["listener"]) == ("narrow-notch", "bursts")
    ear = study.ears[0]
    assert ear.thresholds_db_hl == tuple(
        map(odd_ear("narrow-notch", 1).threshold_db_hl, ear.frequencies_hz)
    )
    assert ear.audiogram == odd_ear("narrow-notch", 1)


def test_the_standard_ears_are_measured_as_they_are() -> None:
    study = plan_study(Options("bisgaard", methods=("quest",)))

    assert " ".join(ear.name for ear in study.ears) == "N1 N2 N3 N4 N5 N6 N7 S1 S2 S3"
    assert len({ear.stratum for ear in study.ears}) == 1
    assert study.setting.jitter_db == 0.0
    assert study.training is None


def test_methods_that_learn_from_people_are_not_given_the_ears_they_are_to_find() -> None:
    study = plan_study(Options("bisgaard"))
    assert not {"cast", "de-vries"} & set(study.methods)
    assert "cast and de-vries left out" in study.remarks[0]


def test_nobody_is_both_learned_from_and_measured(table: Path) -> None:
    study = plan_study(Options(str(table), methods=("de-vries",), ears_per_stratum=0))
    train, held_out = read_table(table).population.split(TRAIN_SHARE, SPLIT_SEED)

    assert study.training is not None
    assert study.training.person == train.person
    measured = {ear.name.rsplit("/", 1)[0] for ear in study.ears}
    assert measured <= set(held_out.person)
    assert not measured & set(study.training.person)
    assert study.plan["part"] == "held-out"
    for part in ("all", "train"):
        with pytest.raises(HostError, match=f"--part is '{part}', and de-vries would learn from"):
            plan_study(Options(str(table), methods=("de-vries",), part=part))


def test_the_same_table_under_another_name_is_no_other_table(table: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin.csv"
    twin.write_bytes(table.read_bytes())
    options = Options(str(table), methods=("cast",), train=twin)

    assert plan_study(options).plan == plan_study(replace(options, train=None)).plan
    with pytest.raises(HostError, match="would learn from ears"):
        plan_study(replace(options, part="all"))


def test_a_copy_that_was_saved_anew_is_no_other_table(table: Path, tmp_path: Path) -> None:
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    copy = tmp_path / "copy.csv"
    copy.write_text("\n".join([header, *reversed(rows)]).replace(",", ";"), encoding="utf-8")
    options = Options(str(table), methods=("cast",), train=copy)

    study = plan_study(options)
    assert study.training is not None
    assert not {ear.name[:-2] for ear in study.ears} & {*study.training.person}
    with pytest.raises(HostError, match="would learn from ears"):
        plan_study(replace(options, part="all"))


def test_another_table_is_learned_from_as_a_whole_and_its_ears_are_not_measured(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "prior_was_learned_from", lambda *_: False)
    other = write_table(tmp_path / "other.csv", people=30)
    study = plan_study(Options(str(table), methods=("cast",), train=other))

    assert study.training is not None
    assert len(study.training) == 60
    assert study.plan["part"] == "all"
    assert study.remarks[:2] == (plans.NOT_KNOWN, "58 of 120 ears left out: --train has them, too")
    assert min(int(ear.name.split("/")[1]) for ear in study.ears) == 29, "not as there"
    other.write_text("\n".join(table.read_text().splitlines()[:41]) + "\n", encoding="utf-8")
    with pytest.raises(HostError, match="--train has every ear of --audiograms; allowed are other"):
        plan_study(Options(str(other), methods=("cast",), train=table))


def test_a_table_that_the_prior_was_learned_from_is_measured_where_it_was_held_out(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for learned, part in ((True, "held-out"), (False, "all")):
        monkeypatch.setattr(plans, "prior_was_learned_from", lambda *_, learned=learned: learned)
        study = plan_study(Options(str(table), methods=("quest",)))
        assert study.plan["part"] == part
        assert (plans.NOT_KNOWN in study.remarks) != learned


def test_the_prior_says_what_it_was_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    prior = SimpleNamespace(provenance={"sources": [{"file": "ears.csv", "sha256": "ab12"}]})
    monkeypatch.setattr(
        "firmware_py.inference.mixture.population_prior.shipped_prior", lambda: prior
    )

    assert plans.prior_was_learned_from("ab12")
    assert not plans.prior_was_learned_from("ab13")


def test_ears_are_drawn_from_every_degree_of_loss_and_a_larger_draw_holds_the_smaller(
    table: Path,
) -> None:
    population = read_table(table).population
    few, about = ears_of(population, 5)
    more, _ = ears_of(population, 9)

    assert [ear.stratum for ear in few] == [name for name in STRATA for _ in range(5)]
    assert {ear.name for ear in few} < {ear.name for ear in more}
    assert about == [
        "2 of 120 ears left out: a threshold was not measured, or not found at the "
        "audiometer's limit"
    ]
    everyone, _ = ears_of(population, 0)
    assert len(everyone) == 118
    assert "--ears 100 asks for so many of each degree" in ears_of(population, 100)[1][1]


def test_two_ears_of_one_name_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    row = "A,1,L,50,50,50,50,50,"
    lines = [f"{HEADER},visit", f"{row},1", f"{row},2"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    assert unique_names(read_table(path).population) == ["A/1/L", "A/1/L#2"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file or directory; allowed are a file, bisgaard, island"),
        ("a,b\n1,2\n", "--audiograms: .*is not a table of audiograms"),
        ("t500,t1000,t2000,t4000,t9000\n1,2,3,4,5\n", "has thresholds at 9000 Hz; allowed is 125"),
        ("t500,t1000,t2000,t4000\n1,2,3,\n", "no ear is measured at every frequency"),
    ],
)
def test_a_file_without_ears_is_refused(tmp_path: Path, content: str | None, words: str) -> None:
    path = tmp_path / "ears.csv"
    if content is not None:
        path.write_text(content, encoding="utf-8")

    with pytest.raises(HostError, match=words):
        plan_study(Options(str(path), methods=("quest",), part="all"))


def test_a_table_from_a_pipe_is_known_by_what_was_read(table: Path) -> None:
    end, other_end = os.pipe()
    os.write(other_end, table.read_bytes())
    os.close(other_end)

    piped = read_table(Path(f"/dev/fd/{end}"), "--audiograms")
    os.close(end)

    direct = read_table(table, "--audiograms")
    assert piped.sha256 == direct.sha256 == hashlib.sha256(table.read_bytes()).hexdigest()
    assert piped.population.person == direct.population.person


@pytest.mark.parametrize(("seeds", "size", "last"), [(1, 8, 4), (20, 8, 8), (5000, 25, 25)])
def test_every_session_is_in_one_chunk_and_a_large_study_has_no_more_chunks(
    seeds: int, size: int, last: int
) -> None:
    study = plan_study(Options("bisgaard", methods=("quest", "song-gp"), seeds=seeds))
    ranges = [study.numbers_in(index) for index in study.chunks]

    assert study.chunk_sessions == size
    assert len(ranges) <= 4096
    assert [r.start for r in ranges[1:]] == [r.stop for r in ranges[:-1]]
    assert (ranges[0].start, ranges[-1].stop) == (0, study.sessions)
    assert len(ranges[-1]) == last


def test_sessions_go_by_method_ear_and_seed() -> None:
    study = plan_study(Options("bisgaard", methods=("quest", "song-gp"), seeds=3))
    jobs = [study.job(number) for number in range(study.sessions)]

    assert [(job.method, job.ear.name, job.seed) for job in jobs] == [
        (method, ear.name, seed)
        for method in ("quest", "song-gp")
        for ear in study.ears
        for seed in (1, 2, 3)
    ]


def test_the_plan_has_no_directory_in_it(table: Path) -> None:
    study: Study = plan_study(Options(str(table), methods=("cast",)))

    assert str(table.parent) not in str(study.plan)
    assert table.name not in str(study.plan)


def test_what_differs_between_two_plans_is_named() -> None:
    before = {"trials": 40, "methods": ["quest"], "program": {"numpy": "2.0", "code": "a"}}
    now = {"trials": 20, "methods": ["quest", "cast"], "program": {"numpy": "2.1", "code": "a"}}

    assert differences(before, before) == []
    assert differences(before, now) == [
        "methods was quest and is quest,cast",
        "numpy was 2.0 and is 2.1",
        "trials was 40 and is 20",
    ]


def test_recorded_people_are_compared_by_what_they_did(tmp_path: Path) -> None:
    header = "listener,block,condition,amplitude,signal,answer\n"
    plans_of = []
    for name, pattern in (("a", "01" * 100), ("b", "01" * 100), ("c", "0" * 100 + "1" * 100)):
        path = tmp_path / f"{name}.csv"
        rows = [f"A,1,1,0,1,{answer}\n" for answer in pattern]
        path.write_text(header + "".join(rows), encoding="utf-8")
        listener = f"human={path}"
        study = plan_study(Options("bisgaard", methods=("quest",), listener=listener))
        plans_of.append(study.plan["listener"])

    assert plans_of[0] == plans_of[1] != plans_of[2]
    assert plans_of[0].startswith("human=sha256:")


def test_what_columns_have_is_compared_by_what_it_says_and_not_by_its_file(
    table: Path, tmp_path: Path
) -> None:
    parts = ["t500=low", "ignore=t500"]
    said = {"a": "\n".join(parts), "b": "\n".join(reversed(parts)), "c": parts[0]}
    for name, text in said.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = []
    for each in (*map(str, map(tmp_path.joinpath, said)), ", ".join(parts)):
        options = Options("bisgaard", methods=("quest",), columns=each)
        words = ["study", "--seconds", "--audiograms", str(table), "--columns", each]
        kept = plans.plan_of_table("--seconds", parser().parse_args(words), ())
        assert kept["columns"] == plan_study(options).plan["columns"]
        found.append(kept["columns"])

    assert found == ["ignore=t500,t500=low"] * 2 + ["t500=low", "ignore=t500,t500=low"]
    with pytest.raises(HostError, match=r"^--columns 'none': No such file"):
        plan_study(replace(options, columns="none"))


def test_how_much_a_table_has_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "clinic.csv"
    path.write_text(
        "id;R500;R1000;R2000;R4000;L500;L1000;L2000;L4000;Verdict;notes\n"
        "Ann;10;15;20,5;NR;5;888;10;>90;;\nBob;10;15;20;30;;;;;doubtful;late\n"
    )
    table = read_table(path, "--audiograms")
    say_what_is_read("it", table.population, 1)

    said = capsys.readouterr().err.splitlines()
    assert said == [
        f"{path}: passed over, as nothing is known of them: columns notes",
        f"{path}: 1 ears: its test is not valid: doubtful",
        "it: 3 ears of 2 people, 9 thresholds, 2 times no response, 1 not known",
        "it: 1 of these ears are left out, as nothing is known of them at 500, 1000, 2000 and "
        "4000 Hz",
    ]
    ears = table.population
    assert ears.person == ("/Ann", "/Ann", "/Bob")
    assert ears.ear == ("R", "L", "R")
    assert ears.thresholds_db_hl[:, 3].tolist() == [120.0, 90.0, 30.0], "the limit that is told"
    assert ears.censored[:, 3].tolist() == [True, True, False]
    assert ears.thresholds_db_hl[0, 2] == 20.5


def test_a_refusal_names_the_option(tmp_path: Path) -> None:
    path = tmp_path / "clinic.csv"
    path.write_text("t500,t8O00\n10,20\n")
    with pytest.raises(HostError, match=r"^--train: .*clinic.csv: what is in 't8O00' has to be"):
        read_table(path, "--train")


@pytest.mark.thorough  # each takes a second or two to import Numba
@pytest.mark.parametrize(
    "mode", ["-o study", "--seconds", "--as-published", "--bone", "--robustness"]
)
def test_a_table_is_read_before_methods_are_imported_which_may_have_to_be_compiled(
    mode: str,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AFTER_A_REFUSAL, "study", "--audiograms", "no.csv", *mode.split()],
        cwd=ROOT, env={**os.environ, VARIABLE: JIT}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "'no.csv': No such file" in done.stderr
