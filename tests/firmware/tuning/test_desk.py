"""The console's commands of a tuning."""

import json
from pathlib import Path
from typing import Final

import pytest

from firmware_py.configuration import Configuration
from firmware_py.console.console import Console
from firmware_py.console.table import UnderWay, page_lines
from firmware_py.procedure.outcomes import SessionOutcome
from firmware_py.tuning_desk import COMMANDS, TuningDesk
from tests.firmware.tuning.bench import Bench
from tests.firmware.tuning.test_tuner import Chooser

PAGE: Final = Path(__file__).parents[3] / "firmware_py" / "console" / "README.md"


class Desk:
    """A bench and the console in front of it."""

    def __init__(self) -> None:
        self.bench = Bench()
        under_way = lambda: UnderWay.TUNING if self.bench.tuner.running else UnderWay.NOTHING  # noqa: E731
        self.console = Console((), None, under_way=under_way)
        self.console.add(COMMANDS, TuningDesk(Configuration(), self.bench.tuner))

    def ask(self, line: str) -> str:
        """Type a line, and return the last one of the answer."""
        return self.console.execute(line)[-1]


@pytest.fixture
def desk() -> Desk:
    """Return a desk whose aid answers."""
    found = Desk()
    found.bench.run(lambda: found.bench.tuner.aid.greeted is not None)
    return found


def test_the_page_of_the_console_has_the_table() -> None:
    """As `python -m firmware_py.tuning_desk` prints it."""
    assert "\n".join(page_lines(COMMANDS)) in PAGE.read_text()


def test_a_tuning_by_its_commands(desk: Desk) -> None:
    bench = desk.bench
    assert desk.ask("TUNE:STAT?") == "state=idle aid=ready fit=0123456789ab"
    assert desk.ask("TUNE:RES?").startswith('ERROR -221,"there was no tuning yet: TUNE:STAR')
    assert desk.ask("TUNE:ANSW FIRST").startswith("ERROR -221")
    assert desk.ask("TUNE:STAR ID=P-17,COUNT=5,SEED=3") == "OK"
    assert desk.ask("TUNE:STAR").startswith("ERROR -221")
    assert desk.ask("TUNE:ANSW FIRST").startswith('ERROR -221,"there is nothing to answer yet')
    bench.run_to("speech", 2)
    assert desk.ask("TUNE:PAUS") == "OK"
    assert desk.ask("TUNE:STAT?").startswith("state=paused comparisons=0 of=5 expected_regret=")
    assert desk.ask("TUNE:CONT") == "OK"
    bench.run_to("speech", 4)
    assert desk.ask("TUNE:ANSW SECOND") == "OK"
    bench.run_to("comparison", 1)
    assert json.loads(desk.ask("TUNE:RES?"))["comparisons"] == 1
    assert desk.ask("TUNE:ABOR") == "OK"
    assert json.loads(desk.ask("TUNE:RES?"))["outcome"] == SessionOutcome.ABORTED


def test_what_is_found_is_told(desk: Desk) -> None:
    desk.bench.person = Chooser()
    assert desk.ask("TUNE:STAR SEED=3") == "OK"
    desk.bench.run()
    assert " outcome=complete " in desk.ask("TUNE:STAT?")
    assert json.loads(desk.ask("TUNE:RES?"))["finding"] == "wish"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("TUNE:STAR COUNT=4", "COUNT is '4'; allowed are whole numbers from 5 to 40"),
        ("TUNE:STAR ID=a b", "identifier is 'a b'"),
        ("TUNE:STAR SEED=-1", "SEED is '-1'"),
        ("TUNE:ANSW FIRST", "no tuning is under way: TUNE:STAR starts one"),
    ],
)
def test_what_is_not_allowed_is_named(desk: Desk, line: str, words: str) -> None:
    answer = desk.ask(line)
    assert answer.startswith("ERROR -2")
    assert words in answer


def test_without_an_aid_nothing_is_begun() -> None:
    found = Desk()
    found.bench.line.pulled = True
    found.bench.turn()
    assert "the hearing aid does not answer" in found.ask("TUNE:STAR")
    assert found.ask("TUNE:STAT?").startswith("state=idle aid=lost fit=-")
