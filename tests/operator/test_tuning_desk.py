"""The console's commands of a tuning."""

import json
from dataclasses import replace

import pytest

from firmware_py.terms.outcomes import SessionOutcome
from tests.tuning.bench import DATA, Bench
from tests.tuning.test_tuner import Chooser


def ask(bench: Bench, line: str) -> str:
    """Type a line, and return the last one of the answer."""
    return bench.ask(line)[-1]


@pytest.fixture
def bench() -> Bench:
    """Return a bench whose aid answers."""
    found = Bench()
    found.until(lambda: found.tuner.aid.greeted is not None)
    return found


def test_a_tuning_by_its_commands(bench: Bench) -> None:
    assert ask(bench, "TUNE:STAT?") == "state=idle aid=ready fit=0123456789ab"
    assert ask(bench, "TUNE:RES?").startswith('ERROR -221,"there was no tuning yet: TUNE:STAR')
    assert ask(bench, "TUNE:ANSW FIRST").startswith("ERROR -221")
    assert ask(bench, "TUNE:STAR ID=P-17,COUNT=5,SEED=3") == "OK"
    assert ask(bench, "TUNE:STAR").startswith("ERROR -221")
    assert ask(bench, "TUNE:ANSW FIRST").startswith('ERROR -221,"there is nothing to answer yet')
    bench.run_to("speech", 2)
    assert ask(bench, "TUNE:PAUS") == "OK"
    assert ask(bench, "TUNE:STAT?").startswith(
        "state=paused tuning=1 comparisons=0 of=5 expected_regret="
    )
    assert ask(bench, "TUNE:CONT") == "OK"
    bench.run_to("speech", 4)
    assert ask(bench, "TUNE:ANSW SECOND") == "OK"
    bench.run_to("comparison", 1)
    assert json.loads(ask(bench, "TUNE:RES?"))["comparisons"] == 1
    assert ask(bench, "TUNE:ABOR") == "OK"
    assert json.loads(ask(bench, "TUNE:RES?"))["outcome"] == SessionOutcome.ABORTED


def test_what_is_found_is_told(bench: Bench) -> None:
    bench.person = Chooser()
    assert ask(bench, "TUNE:STAR SEED=3") == "OK"
    bench.go_on()
    assert " outcome=complete " in ask(bench, "TUNE:STAT?")
    assert json.loads(ask(bench, "TUNE:RES?"))["finding"] == "wish"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("TUNE:STAR COUNT=4", "COUNT is '4'; allowed are whole numbers from 5 to 40"),
        ("TUNE:STAR ID=a b", "identifier is 'a b'"),
        ("TUNE:STAR SEED=-1", "SEED is '-1'"),
        ("TUNE:ANSW FIRST", "no tuning is under way: TUNE:STAR starts one"),
    ],
)
def test_what_is_not_allowed_is_named(bench: Bench, line: str, words: str) -> None:
    answer = ask(bench, line)
    assert answer.startswith("ERROR -2")
    assert words in answer


def test_a_fit_is_tuned_for_its_person_only() -> None:
    bench = Bench()
    bench.simulated_aid.person = "P-A"
    bench.until(lambda: bench.tuner.aid.greeted is not None)
    assert ask(bench, "TUNE:IDEN?").startswith('ERROR -221,"there was no tuning yet')
    refused = "the fit is somebody else's: identifier 'P-A', not 'P-B'; no tuning was begun"
    assert ask(bench, "TUNE:STAR ID=P-B") == f'ERROR -221,"{refused}"'
    assert not bench.simulated_disk.content(DATA / "tuning-000001.journal")
    assert ask(bench, "TUNE:STAR") == "OK", "of whom the fit is"
    whose = json.loads(ask(bench, "TUNE:IDEN?"))
    assert (whose["tuning"], whose["identifier"], whose["fit"]) == (1, "P-A", "0123456789ab")


def test_without_an_aid_nothing_is_begun() -> None:
    bench = Bench()
    bench.aids.vanish()
    bench.step()
    assert "the hearing aid does not answer" in ask(bench, "TUNE:STAR")
    assert ask(bench, "TUNE:STAT?").startswith("state=idle aid=lost fit=-")


def test_no_tuning_is_begun_whose_journal_nobody_could_read_again(bench: Bench) -> None:
    assert bench.tuner.aid.greeted is not None
    bench.tuner.aid.greeted = replace(bench.tuner.aid.greeted, aid="aid\x1b[2J 1")
    answer = ask(bench, "TUNE:STAR SEED=3")
    why = "the header: aid is 'aid\\x1b[2J 1'; allowed is a text that can be printed"
    assert answer == f'ERROR -224,"{why}; no tuning was begun"'
    assert [path for path in bench.simulated_disk.paths() if path.suffix == ".journal"] == []
