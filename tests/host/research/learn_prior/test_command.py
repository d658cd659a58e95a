"""`gp-pta learn-prior`: the command, and the prior that ships."""

import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firmware_py.inference.mixture.population_prior import PopulationPrior, shipped_prior
from host_tools.extras import remedy
from host_tools.main import main
from host_tools.research.learn_prior.unusual import with_unusual_ears
from tests.host.journals import Refused

NHANES = Path(__file__).parents[5] / "shared" / "data" / "nhanes_audiograms.csv"
FREQUENCIES_HZ = (500, 1000, 2000, 4000, 8000)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Ears of 150 people of all degrees of loss, that get worse with age and towards 8 kHz."""
    rng = np.random.default_rng(1)
    lines = ["subject,ear,age,sex,t250," + ",".join(f"t{f}" for f in FREQUENCIES_HZ)]
    lines[0] += ",no_response"
    for person in range(150):
        age = rng.integers(20, 85)
        loss = max(0.0, 1.1 * (age - 30) + rng.normal(0, 15))
        for ear in "RL":
            levels = loss * np.linspace(0.5, 1.2, 5) + rng.normal(0, 5, 5)
            rounded = np.clip(5 * np.round(levels / 5), -10, 110).astype(int)
            cells = [str(level) for level in rounded]
            gone = rounded[4] > 80
            if gone:
                cells[4] = ""
            if person % 20 == 0:
                cells[1] = ""
            at_250 = "10" if person < 5 else ""
            words = [str(person), ear, str(age), "FM"[person % 2], at_250, *cells]
            lines.append(",".join([*words, "8000" if gone else ""]))
    path = tmp_path / "ears.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def words_for(table: Path, *options: str) -> list[str]:
    return ["learn-prior", str(table), "-o", str(table.parent / "prior.json"), *options]


def learn(table: Path, *options: str) -> int:
    return main(words_for(table, *options))


@pytest.mark.thorough
def test_a_prior_is_learned_and_drawn(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host_tools.research.learn_prior.selecting.SIZES", (1, 2, 3))
    monkeypatch.setattr("host_tools.research.learn_prior.selecting.PEOPLE_PER_COMPONENT_MIN", 5)
    monkeypatch.setattr("host_tools.terminal.LINE_AFTER_S", 0.0)

    code = learn(table, "--json", "--licence", "CC0")

    out, err = capsys.readouterr()
    assert "components fitted: 3 % done, about " in err
    assert err.splitlines()[-1].startswith("components fitted: ")
    text = (table.parent / "prior.json").read_text(encoding="utf-8")
    prior = PopulationPrior.from_json(text, "prior.json")
    about: dict[str, Any] = dict(prior.provenance)
    assert code == 0
    assert (table.parent / "prior.svg").stat().st_size > 10_000
    said = json.loads(out.splitlines()[-1])
    assert said["components_learned"] == about["components_learned"]
    assert "held-out log density an ear" in out
    assert "left out, measured in fewer than 50 people: 250 Hz" in out
    assert str(table.parent) not in text
    assert about["command"] == 'gp-pta learn-prior ears.csv -o prior.json --licence "CC0"'
    assert about["learned_from"]["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()
    assert about["learned_from"]["left_out_hz"] == [250.0]
    assert [row["components"] for row in about["cross_validation"]] == [1, 2, 3]
    counts = about["split"]
    assert counts["taught"]["people"] + counts["unseen"]["people"] == 150
    assert counts["taught"]["thresholds_censored"] > 0
    # The standard audiograms; any shape; free low octaves; a free threshold, 750 Hz to 6 kHz.
    assert len(prior.components) == about["components_learned"] + 1 + 1 + 1 + 7
    unusual = prior.components[about["components_learned"] + 1 :]
    assert sum(c.weight for c in unusual) == pytest.approx(0.32, abs=1e-5)
    picture = (table.parent / "prior.svg").read_text(encoding="utf-8")
    drawn = {
        "standard audiograms": 1, "any shape": 1, "free low octaves": 1, "one free threshold": 7
    }  # fmt: skip
    assert {words: picture.count(f"<!-- {words} -->") for words in drawn} == drawn


@pytest.mark.thorough
def test_the_same_command_writes_the_same_bytes(table: Path) -> None:
    out = table.parent / "prior.json"
    options = (
        "--components", "2", "--part", "1", "--standard-audiograms", "0", "--unusual-ears", "0",
        "--force",
    )  # fmt: skip

    said = table.parent / "columns.txt"
    said.write_text("t500=t500\nignore=t250\n", encoding="utf-8")

    assert learn(table, *options, "--columns", str(said)) == 0
    first = out.read_bytes()
    assert learn(table, *options, "--columns", "ignore=t250,t500=t500") == 0

    assert out.read_bytes() == first
    prior = PopulationPrior.from_json(first.decode(), "prior.json")
    assert len(prior.components) == 2
    assert prior.provenance["split"]["unseen"]["ears"] == 0
    assert prior.provenance["command"].endswith(
        "-o prior.json --components 2 --part 1 --standard-audiograms 0 --unusual-ears 0 "
        '--columns "ignore=t250,t500=t500"'
    )
    picture = (table.parent / "prior.svg").read_text(encoding="utf-8")
    for words in ("standard audiograms", "any shape", "one free threshold"):
        assert words not in picture


def test_unusual_ears_without_standard_audiograms_are_named_in_the_picture(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host_tools.research.learn_prior.selecting.SIZES", (1,))
    options = ("--part", "0.98", "--standard-audiograms", "0")

    assert learn(table, *options, "--unusual-ears", "0.1") == 0

    out = capsys.readouterr().out
    assert "held-out log density an ear" in out
    assert "1 *" in out
    assert "of unseen people, alone / given age and sex:" in out
    assert "left out, measured in fewer than 50 people: 250 Hz" in out
    text = (table.parent / "prior.json").read_text(encoding="utf-8")
    prior = PopulationPrior.from_json(text, "prior.json")
    assert [c.weight for c in prior.components[:1]] == pytest.approx([0.9], abs=1e-5)
    assert prior.provenance["unusual_ears_weight"] == 0.1
    assert prior.provenance["command"].endswith("--standard-audiograms 0 --unusual-ears 0.1")
    assert out.count("log density an ear (mean, natural logarithm)") == 2
    modes = {(table.parent / f"prior.{end}").stat().st_mode for end in ("json", "svg")}
    assert len(modes) == 1, "both are of nobody"
    picture = (table.parent / "prior.svg").read_text(encoding="utf-8")
    for words, count in (("standard audiograms", 0), ("any shape", 1), ("one free threshold", 7)):
        assert picture.count(f"<!-- {words} -->") == count


def test_what_is_there_is_not_overwritten(table: Path, refusal_of: Refused) -> None:
    out = table.parent / "prior.json"
    out.write_text("mine", encoding="utf-8")

    why = refusal_of(*words_for(table))
    assert "is there already; it is not overwritten without --force" in why
    assert out.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--components", "0"], "--components is '0'; allowed are auto and whole numbers 1 to 48"),
        (["--components", "six"], "--components is 'six'; allowed are auto and whole numbers"),
        (["--part", "0"], "--part is 0; allowed is above 0 and at most 1"),
        (["--seed", "-1"], "--seed is -1; allowed are whole numbers 0 to 2147483647"),
        (["--standard-audiograms", "1"], "--standard-audiograms is 1; allowed is at least 0 and"),
        (["--unusual-ears", "1"], "--unusual-ears is 1; allowed is at least 0 and below 1"),
        (["--unusual-ears", "-0.1"], "--unusual-ears is -0.1; allowed is at least 0 and below 1"),
        (["--unusual-ears", "nan"], "--unusual-ears is nan; allowed is at least 0 and below 1"),
        (["--picture", "x.txt"], "--picture is 'x.txt'; allowed is a name in .svg"),
        (["--picture", "/nowhere/x.svg"], "'/nowhere/x.svg'; allowed is a name in"),
        (["-o", "."], "-o is '.'; allowed is a name in .json, in a directory that is there"),
        (["-o", "/"], "-o is '/'; allowed is a name in .json, in a directory that is there"),
        (["-o", ""], "-o is '.'; allowed is a name in .json, in a directory that is there"),
        (["-o", "x.svg"], "-o is 'x.svg'; allowed is a name in .json"),
        (["-o", f"{'long' * 100}.json"], "cannot be written: File name too long"),
        (["--columns", "t500=none"], "gp-pta: --columns names column 'none', and "),
        (["--part", "0.1"], "people to learn from, of known degree of loss"),
    ],
)
def test_a_wrong_option_is_refused(
    table: Path, options: list[str], message: str, refusal_of: Refused
) -> None:
    assert message in refusal_of(*words_for(table, *options))
    assert not (table.parent / "prior.json").exists()


@pytest.mark.parametrize("options", [[], ["--routes"]])
def test_a_table_that_is_not_there_is_named_once(
    tmp_path: Path, options: list[str], refusal_of: Refused
) -> None:
    table = tmp_path / "no.csv"
    assert f"gp-pta: '{table}': No such file" in refusal_of(*words_for(table, *options))


def test_what_is_no_prior_in_the_end_is_named_and_not_written(
    table: Path, refusal_of: Refused
) -> None:
    text = table.read_text(encoding="utf-8").replace("t8000", "t25000").replace("8000\n", "25000\n")
    table.write_text(text, encoding="utf-8")

    assert (
        "prior.json: knots_hz is 25000.0; allowed is a number from 20 to 20000; nothing was written"
    ) in refusal_of(*words_for(table, "--components", "1", "--columns", "t25000=t25000"))
    assert not (table.parent / "prior.json").exists()


def test_a_table_with_too_few_frequencies_is_refused(tmp_path: Path, refusal_of: Refused) -> None:
    table = tmp_path / "ears.csv"
    rows = [f"{i},{5 * (i % 9)},{5 * (i % 7)}" for i in range(200)]
    table.write_text("subject,t500,t1000\n" + "\n".join(rows), encoding="utf-8")

    why = refusal_of(*words_for(table))
    assert "2 frequencies were measured in 50 people or more; allowed are 3" in why


def test_what_is_not_installed_is_named(
    table: Path, refusal_of: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    hint = remedy(["matplotlib", "pyarrow"], "learn-prior")
    assert f"matplotlib, pyarrow, not installed: {hint}" in refusal_of(*words_for(table))


# --- The prior that ships ------------------------------------------------------------------------


def test_the_shipped_prior_widens_and_is_positive_definite() -> None:
    prior, anything = shipped_prior(), []

    for c in prior.components:
        d = len(c.mean_db_hl)
        joint = np.empty((d + 1, d + 1))
        joint[:d, :d] = c.covariance_db2
        joint[d, :d] = joint[:d, d] = c.age_covariance
        joint[d, d] = c.age_sd_years**2
        sd_db = dict(zip(prior.knots_hz, np.sqrt(np.diag(joint)[:d]), strict=True))
        assert np.linalg.eigvalsh(joint).min() > 0.5
        if len(set(sd_db.values())) == 1:  # of any shape: as wide as can be everywhere
            anything.append(sd_db[125.0])
            continue
        assert sd_db[125.0] > sd_db[250.0]
        assert sd_db[16000.0] > sd_db[12000.0] > sd_db[8000.0]
    assert anything == pytest.approx([np.hypot(35.0, 15.0)], abs=1e-3)
    assert sum(c.weight for c in prior.components) == pytest.approx(1.0, abs=1e-9)


def test_the_shipped_prior_is_of_the_file_it_names() -> None:
    about = shipped_prior().provenance

    assert about["split"]["part"] == 0.8
    assert about["split"]["seed"] == 1
    assert "/" not in about["learned_from"]["file"]
    assert about["command"].startswith(f"gp-pta learn-prior {about['learned_from']['file']} -o ")
    best = max(about["cross_validation"], key=lambda row: float(row["score"]))
    chosen = about["components_learned"]
    row = next(row for row in about["cross_validation"] if row["components"] == chosen)
    assert best["score"] - row["score"] <= row["standard_error"] + 1e-4
    if not NHANES.is_file():
        pytest.skip("the table is not at hand")
    digest = hashlib.sha256(NHANES.read_bytes()).hexdigest()
    assert about["learned_from"]["sha256"] == digest


def test_the_shipped_prior_is_honest_about_people_it_has_not_seen() -> None:
    about = shipped_prior().provenance

    density = about["log_density_an_unseen_ear"]
    for which in ("thresholds_alone", "given_age_and_sex"):
        assert density["learned"][which] > density["one_gaussian"][which] + 0.5
        # Standard audiograms and unusual ears cost something on people: 0.18 nats the unusual.
        assert density["prior"][which] > density["one_gaussian"][which] + 0.35
        assert density["prior"][which] > density["learned"][which] - 0.35
    for line in about["bands_of_unseen_ears"]:
        assert line["within_95"] == pytest.approx(0.95, abs=0.025)
        assert line["within_50"] == pytest.approx(0.50, abs=0.08)


def test_the_shipped_prior_has_unusual_ears_as_they_are_made_of_the_others() -> None:
    """Last in the file, made anew from the rest: weights, means, covariances, ages and sexes."""
    prior = shipped_prior()
    about = prior.provenance
    met = prior.components[: about["components_learned"] + 1]
    weight = sum(c.weight for c in met)
    rest = replace(prior, components=tuple(replace(c, weight=c.weight / weight) for c in met))

    again = with_unusual_ears(rest, about["unusual_ears_weight"])

    assert weight == pytest.approx(1.0 - about["unusual_ears_weight"], abs=1e-5)
    for found, expected in zip(again.components, prior.components, strict=True):
        assert found.weight == pytest.approx(expected.weight, abs=2e-6)
        # The weights of the file are rounded.
        np.testing.assert_allclose(found.mean_db_hl, expected.mean_db_hl, atol=2e-3)
        np.testing.assert_allclose(found.covariance_db2, expected.covariance_db2, atol=0.02)
        assert found.age_mean_years == pytest.approx(expected.age_mean_years, abs=2e-3)
        assert found.share_female == pytest.approx(expected.share_female, abs=2e-3)
