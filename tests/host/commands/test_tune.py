"""Somebody tunes a hearing aid at the computer: the real engine, and keys at a terminal."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest

from device.hearing_aid.chain import SAMPLE_RATE_HZ
from device.hearing_aid.fit_file import read_fit, write_fit
from device.hearing_aid.for_whom import Code, EarFinding
from device.hearing_aid.sound import write_wav
from device.hearing_aid.whose import Whose
from device.simulator.talker import synthetic_speech
from firmware_py.comparisons.space import Setting
from firmware_py.journal import read_journal
from host_tools.commands import fitting
from host_tools.commands.replay.tuning import replay_tuning_journal
from host_tools.main import main
from tests.device.hearing_aid.fits import plain_fit
from tests.device.hearing_aid.refused import python_without_networks
from tests.host.journals import GpPta
from tests.host.terminal import REPO, Person, at_a_terminal

COUNT: Final = 5


@pytest.fixture
def fit_and_speech(tmp_path: Path) -> list[str]:
    write_fit(tmp_path / "aid.fit", plain_fit(15.0))
    write_wav(tmp_path / "speech.wav", synthetic_speech(1.1, SAMPLE_RATE_HZ, 1))
    return ["--fit", str(tmp_path / "aid.fit"), "--speech", str(tmp_path / "speech.wav")]


def answer(person: Person, comparison: int, key: str, after: int) -> int:
    """Press a key until the comparison is answered; both sounds have to be heard first."""
    at = person.sees(f"{comparison:>4}  second ", after)
    while f"{comparison:>4}  the " not in person.seen[at:]:
        person.type(key)
        person.sees_no_more(0.4)
    return at


@pytest.mark.usefixtures("installation")
def test_a_person_tunes_with_the_space_bar_and_the_journal_replays(
    fit_and_speech: list[str], tmp_path: Path
) -> None:
    tuned, picture = tmp_path / "tuned.fit", tmp_path / "tuned.svg"
    words = ["tune", *fit_and_speech, "--count", str(COUNT), "--seed", "4", "--out"]
    words.append(str(tmp_path / "data"))
    words += ["-o", str(tuned), "--picture", str(picture), "--json"]
    with at_a_terminal(tmp_path, *words) as person:
        at = person.sees("space bar: what sounds now is better")
        for comparison in range(1, COUNT + 1):
            at = answer(person, comparison, " ", at)
        assert person.sees_the_end() == 0
    verdict = json.loads(person.seen.strip().splitlines()[-1])
    assert verdict["replay_identical"]
    assert verdict["comparisons"] == COUNT
    result = verdict["result"]
    assert read_fit(tuned) == plain_fit(15.0).tune(Setting.of(tuple(result["setting_db"])))
    assert "<svg" in picture.read_text()
    assert "true wish" not in person.seen
    replayed = replay_tuning_journal(tmp_path / "data" / "tuning-000001.journal")
    assert len(replayed.steps) == COUNT + 1


@pytest.mark.thorough
@pytest.mark.usefixtures("installation")
def test_a_tuning_whose_aid_was_killed_goes_on(fit_and_speech: list[str], tmp_path: Path) -> None:
    words = ["tune", *fit_and_speech, "--count", str(COUNT), "--seed", "4", "--out"]
    words.append(str(tmp_path / "data"))
    with at_a_terminal(tmp_path, *words) as person:
        at = person.sees("space bar: what sounds now is better")
        answer(person, 1, " ", at)
        aid = _child_with("device.hearing_aid.serve", person.process.pid)
        os.kill(aid, signal.SIGKILL)
        assert person.sees_the_end() == 2
        assert "the hearing aid is lost: it said nothing; the journal is kept" in person.seen
    with at_a_terminal(tmp_path, *words) as person:
        at = person.sees("going on with the unfinished tuning in this directory")
        for comparison in range(2, COUNT + 1):
            at = answer(person, comparison, " ", at)
        assert person.sees_the_end() == 0
    shown = " ".join(re.sub(r"\x1b\[\d*m", "", person.seen).split())  # however lines were broken
    assert "every setting and the result came out bit for bit" in shown


def _child_with(words: str, parent: int) -> int:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    named = {int(c): Path(f"/proc/{c}/cmdline").read_bytes().decode() for c in children}
    return next(child for child, line in named.items() if words in line)


def check_the_whole_way(code: int, out: str, data: Path) -> None:
    assert code == 0, out
    tuning = json.loads(out.splitlines()[-1])["tuning"]
    assert tuning["replay_identical"]
    assert tuning["result"]["outcome"] == "complete"
    made = {path.name for path in data.iterdir()}
    assert made >= {"aid.fit", "tuned.fit", "fit.svg", "tuned.svg", "tuning.svg"}
    setting = Setting.of(tuple(tuning["result"]["setting_db"]))
    assert read_fit(data / "tuned.fit") == read_fit(data / "aid.fit").tune(setting)
    assert "true wish" in out
    assert "\\n" not in out
    records = read_journal(data / "tuning-000001.journal").records
    assert records[0]["settings"]["fit"]


@pytest.mark.thorough
@pytest.mark.usefixtures("benches")
def test_the_whole_way_in_one_command_with_an_aid_that_plays_nothing(
    tmp_path: Path, gp_pta: GpPta, monkeypatch: pytest.MonkeyPatch
) -> None:
    aid = SimpleNamespace(
        port="/dev/hearing-aid", work_s=lambda: 0.0, check=lambda: None, end=lambda: None
    )
    monkeypatch.setattr(fitting, "HearingAidProcess", lambda *_: aid)
    monkeypatch.setattr(fitting, "Installation", lambda: None)
    code, out, _ = gp_pta("demo", "--fit", "--seed", 3, "--out", tmp_path, "--json")
    check_the_whole_way(code, out, tmp_path)
    assert "\\n" not in out, "an end of a line is no letters"


@pytest.mark.thorough
@pytest.mark.usefixtures("installation")
def test_the_whole_way_in_one_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable, "-m", "host_tools.main", "demo", "--fit", "--speed", "100", "--seed",
            "3", "--out", str(tmp_path), "--json",
        ],
        cwd=REPO, capture_output=True, text=True, check=False,
    )  # fmt: skip
    check_the_whole_way(done.returncode, done.stdout + done.stderr, tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--sound-card", "x", "--wav", "y.wav"], "--sound-card and --wav: one of them is allowed"),
        (["--seed", "-1"], "--seed is -1; allowed is 0 to"),
        (["-o", "x.pdf"], "-o is 'x.pdf'; allowed is a name in .fit, .cfg, .txt"),
        (["--picture", "x.txt"], "--picture is 'x.txt'; allowed is a name in .svg"),
        (["--openmha", "/none"], "there is no openMHA in '/none'; in a checkout: make aid"),
        (["--fit", "none.fit"], "none.fit: cannot be read: No such file"),
        (["--speech", "none.wav"], "none.wav cannot be read: No such file"),
    ],
)
def test_a_wrong_option_is_named(
    options: list[str], words: str, fit_and_speech: list[str], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert main(["tune", *fit_and_speech, "--out", str(tmp_path / "data"), *options]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.usefixtures("installation")
def test_where_others_could_reach_the_engine_nothing_is_tuned_and_the_reason_is_named(
    fit_and_speech: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "executable", python_without_networks(tmp_path))
    assert main(["tune", *fit_and_speech, "--out", str(tmp_path / "data")]) == 2
    words = r"openMHA is not started, since everybody on .*: unshare: No space .*; it takes a Linux"
    assert re.search(words, capsys.readouterr().err)
    assert not [*(tmp_path / "data").glob("*.journal")]


def test_a_fit_of_levels_that_are_no_db_hl_has_to_be_asked_for(
    fit_and_speech: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of, found = Whose(calibration="UNCALIBRATED"), (EarFinding("left", Code.NOT_JUDGED),)
    write_fit(tmp_path / "aid.fit", replace(plain_fit(15.0), of=of, for_whom=found))
    words = ["tune", *fit_and_speech, "--out", str(tmp_path / "data")]
    assert main(words) == 2
    assert "made of levels that are no dB HL (UNCALIBRATED)" in capsys.readouterr().err
    assert main([*words, "--openmha", "/none", "--uncalibrated"]) == 2
    said = capsys.readouterr()
    assert "UNCALIBRATED: the levels of this fit are no dB HL" in said.out
    assert "Left ear: For whom this fit is cannot be said" in said.out
    assert "there is no openMHA" in said.err


@pytest.fixture(scope="module")
def tuning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    journal = tmp_path_factory.mktemp("tuning") / "tuning-000001.journal"
    journal.write_bytes(_journal_of_a_tuning())
    return journal


@pytest.mark.parametrize("command", ["report", "prescribe"])
def test_a_command_of_hearing_tests_says_that_a_tuning_is_none(
    command: str, tuning: Path, gp_pta: GpPta
) -> None:
    code, _, why = gp_pta(command, tuning)
    assert code in (2, 6)
    assert "procedure is 'tuning', and a hearing test has none" in why


def test_a_tuning_is_replayed_with_no_other_model(
    tmp_path: Path, tuning: Path, gp_pta: GpPta
) -> None:
    code, said, _ = gp_pta("replay", tuning)
    assert (code, "comparisons from" in said) == (0, True)
    code, _, why = gp_pta("replay", tuning, "--noise", 4)
    assert (code, "--profile, --prior, --noise are of hearing tests" in why) == (2, True)
    picture, half = tmp_path / "tuning.svg", tmp_path / "half.journal"
    code, _, why = gp_pta("replay", tuning, "--picture", picture)
    assert (code, why, picture.exists()) == (0, "", True)
    half.write_bytes(b"".join(tuning.read_bytes().splitlines(keepends=True)[:12]))
    assert gp_pta("replay", half)[0] == 3


def _journal_of_a_tuning() -> bytes:
    from tests.tuning.bench import DATA, Bench
    from tests.tuning.test_tuner import Chooser

    bench = Bench(Chooser())
    bench.tune(comparisons_max=COUNT)
    bench.go_on()
    content = bench.simulated_disk.content(DATA / "tuning-000001.journal")
    assert content is not None
    return content
