"""`gp-pta learn-prior --routes`: gaps learned from a table of both routes, and what is refused."""

import csv
import hashlib
import io
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from firmware_py.inference.mixture.gap_prior import GapPrior, shipped_gap_prior
from host_tools.main import main
from host_tools.research.learn_prior.gap_classes import PUBLISHED
from host_tools.research.learn_prior.routes import FLOOR_DB2, GapMixture, learn_gaps, log_density_of
from tests.host.journals import Refused

OHHR = Path(__file__).parents[5] / "shared" / "data" / "ohhr_air_bone_ucl.csv"
FREQUENCIES_HZ = (500, 1000, 2000, 4000)
SHARES = (0.75, 0.18, 0.07)
MEANS_DB = np.array([[2.0, 2.0, 2.0, 10.0], [14.0, 14.0, 12.0, 20.0], [38.0, 35.0, 22.0, 30.0]])
SDS_DB = (3.5, 5.0, 6.0)


def drawn_gaps(ears: int) -> np.ndarray:
    """Gaps of three classes in one order: drawn by chance, but always the same."""
    rng = np.random.default_rng(7)
    of_class = rng.choice(3, ears, p=SHARES)
    noise = rng.normal(size=(ears, 4)) + rng.normal(size=(ears, 1))
    return MEANS_DB[of_class] + np.array(SDS_DB)[of_class, None] * noise / np.sqrt(2.0)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Both ears of 150 people; ten of them are asymmetric, and some cells are empty."""
    rng = np.random.default_rng(3)
    gaps = np.round(drawn_gaps(300) / 5.0) * 5.0
    lines = [
        "person,ear,age,sex,"
        + ",".join(f"{r}{f}" for r in ("air", "bone") for f in (500, 1000, 2000, 4000))
        + ",ucl500"
    ]
    for person in range(150):
        for side, ear in enumerate("LR"):
            bone = 5.0 * np.round(rng.uniform(0.0, 40.0, 4) / 5.0)
            air = bone + gaps[2 * person + side]
            if person < 10:
                air = np.full(4, 10.0 + 60.0 * side)
            cells = [f"{value:g}" for value in (*air, *bone)]
            if person % 9 == 0:
                cells[4 + person % 4] = ""
            lines.append(",".join([str(person), ear, "60", "F", *cells, "95"]))
    path = tmp_path / "both.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def asymmetric_people(table: Path) -> set[str]:
    by_person: dict[str, list[float]] = {}
    for row in csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"))):
        mean = sum(float(row[f"air{f}"]) for f in FREQUENCIES_HZ) / 4.0
        by_person.setdefault(row["person"], []).append(mean)
    return {who for who, (left, right) in by_person.items() if abs(left - right) >= 25.0}


def learn(table: Path, *options: str) -> int:
    out = str(table.parent / "gaps.json")
    return main(["learn-prior", "--routes", str(table), "-o", out, *options])


def test_classes_are_found_again() -> None:
    gaps = drawn_gaps(4000)
    gaps[::7, 1] = np.nan

    fit = learn_gaps(gaps)

    found = fit.mixture
    assert found.weight == pytest.approx(SHARES, abs=0.02)
    assert_allclose(found.mean_db, MEANS_DB, atol=1.0)
    for c, sd in enumerate(SDS_DB):
        expected = sd**2 * (0.5 + 0.5 * np.eye(4)) + FLOOR_DB2 * np.eye(4)
        assert_allclose(found.covariance_db2[c], expected, atol=0.25 * sd**2)


def test_the_density_is_that_of_the_mixture() -> None:
    mixture = GapMixture(
        np.array([0.7, 0.3]),
        np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]),
        np.array([np.eye(3) * 4.0 + 1.0, np.eye(3) * 25.0 + 5.0]),
    )
    gaps = np.array([[1.0, 2.0, 3.0], [8.0, np.nan, 25.0], [np.nan, 15.0, np.nan]])
    expected = []
    for row in gaps:
        seen = ~np.isnan(row)
        expected.append(np.log(sum(
            w * multivariate_normal.pdf(row[seen], m[seen], c[np.ix_(seen, seen)])
            for w, m, c in zip(mixture.weight, mixture.mean_db, mixture.covariance_db2, strict=True)
        )))  # fmt: skip

    assert_allclose(log_density_of(gaps, mixture), expected, rtol=1e-12)


def test_a_prior_of_gaps_is_learned(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert learn(table, "--part", "1", "--licence", "CC0", "--json") == 0

    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    text = (table.parent / "gaps.json").read_text(encoding="utf-8")
    prior = GapPrior.from_json(text, "gaps.json")
    about = prior.provenance
    assert said["learned_weights"] == about["learned_weights"]
    uneven = asymmetric_people(table)
    assert uneven > {str(person) for person in range(10)}
    assert about["learned_from"]["asymmetric_people_left_out"] == len(uneven)
    assert about["learned_from"]["ears"] == 300 - 2 * len(uneven)
    assert about["learned_from"]["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()
    assert about["command"] == (
        'gp-pta learn-prior --routes both.csv -o gaps.json --part 1 --licence "CC0"'
    )
    density = about["log_density_an_ear"]
    assert density["classes"] > density["one_class"] + 0.4
    at = [prior.frequencies_hz.index(float(f)) for f in FREQUENCIES_HZ]
    learned = prior.classes[:3]
    assert [each.weight / 0.94 for each in learned] == pytest.approx(SHARES, abs=0.06)
    assert_allclose([[each.mean_db[i] for i in at] for each in learned], MEANS_DB, atol=5.0)
    assert sum(each.weight for each in prior.classes) == pytest.approx(1.0, abs=1e-12)
    assert [each.name for each in prior.classes[3:]] == [each.name for each in PUBLISHED]


def test_what_was_not_measured_is_wider(table: Path) -> None:
    assert learn(table, "--part", "1") == 0

    prior = GapPrior.from_json((table.parent / "gaps.json").read_text(), "gaps.json")
    at = {f: i for i, f in enumerate(prior.frequencies_hz)}
    for each in prior.classes[:3]:
        mean, variance = each.mean_db, np.diag(each.covariance_db2)
        assert mean[at[250.0]] == mean[at[500.0]]
        assert variance[at[250.0]] == pytest.approx(2.0 * variance[at[500.0]], abs=0.01)
        for low, between, high in ((500.0, 750.0, 1000.0), (2000.0, 3000.0, 4000.0)):
            share = np.log2(between / low) / np.log2(high / low)
            line = (1.0 - share) * mean[at[low]] + share * mean[at[high]]
            around = (1.0 - share) * variance[at[low]] + share * variance[at[high]]
            assert mean[at[between]] == pytest.approx(line, abs=0.01)
            assert variance[at[between]] == pytest.approx(1.5 * around, abs=0.01)


def test_a_part_is_learned_from_and_the_rest_is_scored(table: Path) -> None:
    assert learn(table, "--part", "0.5", "--seed", "2") == 0

    about = GapPrior.from_json((table.parent / "gaps.json").read_text(), "gaps.json").provenance
    assert 50 < about["learned_from"]["people"] < 90
    unseen = about["log_density_an_unseen_ear"]
    assert unseen["classes"] > unseen["one_class"]
    assert about["command"].endswith("--part 0.5 --seed 2")


@pytest.mark.skipif(not OHHR.is_file(), reason="the table is not at hand")
def test_the_command_writes_what_ships(tmp_path: Path) -> None:
    about = shipped_gap_prior().provenance
    out = tmp_path / "gap_prior.json"
    licence = about["learned_from"]["licence"]
    options = ["--part", "1", "--licence", licence]

    assert main(["learn-prior", "--routes", str(OHHR), "-o", str(out), *options]) == 0

    assert out.read_text(encoding="utf-8") == shipped_gap_prior().to_json()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--components", "3"], "--components has no meaning with --routes"),
        (["--unusual-ears", "0"], "--unusual-ears has no meaning with --routes"),
        (["--picture", "x.svg"], "--picture has no meaning with --routes"),
        (["--part", "0.2"], "were measured by air and bone in 50 people or more; allowed are 2"),
        (["-o", "x.txt"], "-o is 'x.txt'; allowed is a name in .json"),
    ],
)
def test_a_wrong_command_is_refused(
    table: Path, refusal_of: Refused, options: list[str], message: str
) -> None:
    out = str(table.parent / "gaps.json")

    assert message in refusal_of("learn-prior", "--routes", str(table), "-o", out, *options)
    assert not (table.parent / "gaps.json").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("bone500,bone1000,bone2000,bone4000,ucl500", "v,w,x,y,z"),
         "its first line has no column boneNNN (bone500, bone1000 ...)"),
        (("air500,air1000,air2000,air4000,bone500,bone1000,bone2000,bone4000,ucl500",
          "v,w,x,y,bone500,bone1000,bone2000,bone4000,z"),
         "its first line has no column airNNN (air500, air1000 ...)"),
        (("bone500,bone1000,bone2000,bone4000", "bone125,bone250,bone750,bone3000"),
         "no frequency has a column of air and one of bone"),
        (("0,L,60,F,10,10", "0,L,60,F,10,loud"), "row 1, column air1000: 'loud' is not a number"),
        (("0,L,60,F,10,10", "0,L,60,F,10"), "row 1: 12 cells, the header has 13 columns"),
    ],
)  # fmt: skip
def test_a_wrong_table_is_refused(
    table: Path, refusal_of: Refused, change: tuple[str, str], message: str
) -> None:
    text = table.read_text(encoding="utf-8")
    assert change[0] in text
    table.write_text(text.replace(*change, 1) if change[0][0] == "0" else text.replace(*change))

    out = str(table.parent / "gaps.json")
    why = refusal_of("learn-prior", "--routes", str(table), "-o", out)
    assert message in why
    assert f"gp-pta: {table}" in why
