"""`gp-pta watch` on a growing journal, and at the console of a firmware that tests."""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from firmware_py.console.grammar import COMMAND_PROTECTED
from firmware_py.console.pin import PinHash
from firmware_py.installation.configuration import Configuration
from firmware_py.platform.ports import Port
from firmware_py.terms.settings import Settings
from firmware_py.terms.shown_threshold import as_shown
from host_tools.catalogue import language_of
from host_tools.commands.console.command import Talk
from host_tools.commands.watch import port as port_module
from host_tools.commands.watch.directory import DirectoryWatch, JournalWatch, view_of
from host_tools.commands.watch.port import PortWatch
from host_tools.commands.watch.screen import draw
from host_tools.commands.watch.view import blocks
from host_tools.devices.greeting import IDENTITY
from host_tools.errors import HostError
from host_tools.main import main
from host_tools.recordings.recorded_session import replay_session
from tests.firmware.whole_sessions import Leaves, a_listener
from tests.host.bench import Device, talks_with
from tests.host.journals import GOLDEN, LEFT_S2


def test_a_growing_journal_is_followed_to_its_end(tmp_path: Path) -> None:
    lines = LEFT_S2.read_bytes().splitlines(keepends=True)
    journal = tmp_path / "session-000001.journal"
    watch = DirectoryWatch(tmp_path)

    assert watch.look().state == f"waiting for a test in {tmp_path}; there is no session yet"
    counts = []
    for upto in (40, 120, len(lines)):
        journal.write_bytes(b"".join(lines[:upto]))
        view = watch.look()
        counts.append(len(view.answers))
        assert view is watch.look(), "what has not grown is not read again"
    trials = replay_session(LEFT_S2).trials

    assert 0 < counts[0] < counts[1] < counts[2] == len(trials)
    assert view.over
    assert view.state == "complete"
    assert [a.heard for a in view.answers] == [trial.heard for trial in trials]
    measured = [a for a in view.answers if a.purpose == "measure"]
    assert all(0.0 < (a.information_bits or 0.0) <= 1.0 for a in measured)
    assert measured[-1].half_width_db is not None
    assert 0.0 < measured[-1].half_width_db <= 8.0


def test_a_journal_that_never_got_its_header_is_passed_over(tmp_path: Path) -> None:
    first, second = (tmp_path / f"session-00000{number}.journal" for number in (1, 2))
    second.touch()
    watch = DirectoryWatch(tmp_path)
    assert watch.look().state == (
        f"waiting for a test in {tmp_path}; there is no session yet: nothing was recorded in the "
        "journals that were begun"
    )

    first.write_bytes(LEFT_S2.read_bytes())
    assert watch.look().name == first.name
    second.write_bytes(LEFT_S2.read_bytes()[:20])
    assert watch.look().name == first.name
    second.write_bytes((GOLDEN / "silent-ear.journal").read_bytes())
    assert watch.look().name == second.name
    third = tmp_path / "session-000003.journal"
    third.write_text("Dear sirs,\n")
    assert watch.look().state.startswith(f"{third}: is no journal")
    third.with_name("session-000004.journal").write_bytes(LEFT_S2.read_bytes())
    assert watch.look().state == "complete", "what is wrong with one does not end it"


@pytest.mark.parametrize(
    ("source", "options"),
    [(lambda journal: journal, []), (lambda journal: journal.parent, ["--once"])],
    ids=["journal", "once"],
)
def test_the_screen_shows_thresholds_answers_and_calibration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    source: Callable[[Path], Path], options: list[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("COLUMNS", "140")
    journal = tmp_path / "session-000001.journal"
    journal.write_bytes(LEFT_S2.read_bytes())
    assert main(["watch", str(source(journal)), *options]) == 0
    out = capsys.readouterr().out
    (ear,) = replay_session(LEFT_S2).result.ears

    assert "session-000001.journal: complete   UNCALIBRATED: levels are nominal" in out
    assert "X left" in out
    assert f"left ear measured: {language_of('en').say(ear.why)}" in out
    assert f"{ear.tones} tones in" in out
    assert all(len(line) <= 140 for line in out.splitlines())


def test_a_firmware_is_followed_at_its_console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device(tmp_path / "data", a_listener("S2"))
    world = device.world
    with talks_with(device, port_module, monkeypatch):
        watch = PortWatch("/dev/console")
        assert watch.look().state == "no session yet"
        with device.lock:
            world.begin(Settings(ears="left", seed=3))
            world.finish()
        while not watch.look().over:
            time.sleep(0.001)
        view = watch.look()
        watch.close()
    session = replay_session(world.journal())

    (ear,) = session.result.ears
    assert view.state == "complete"
    assert view.calibration == "SIMULATED"
    # What is shown of a band ends where the levels end that could be asked, and is open there.
    recorded, told = (
        [(replace(each, low_db_hl=None, high_db_hl=None), as_shown(each)) for each in thresholds]
        for thresholds in (ear.thresholds, view.ears[0].thresholds)
    )
    assert any(reading.high_open for _, reading in recorded)
    assert told == recorded
    seen = view.answers
    trials = {trial.number: trial for trial in session.trials}
    assert len(seen) == len(trials) > 10
    for answer in seen:
        trial = trials[answer.number]
        assert (answer.purpose, answer.heard) == (trial.purpose, trial.heard)
        assert (answer.frequency_hz, answer.level_db_hl) == (
            trial.frequency_hz, trial.level_db_hl,
        )  # fmt: skip


def test_a_test_that_is_broken_off_or_lost_its_board_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its journal, and at the console."""
    listener = Leaves(a_listener("S2"))
    waits = Configuration(reconnect_s=1e6)  # for its board, in no time
    device = Device(tmp_path / "data", listener, waits)
    world = device.world
    with talks_with(device, port_module, monkeypatch):
        watch = PortWatch("/dev/console")
        with device.lock:
            world.begin(Settings(ears="left", seed=3))
            test = world.runner.last_test
            assert test is not None
            world.until(lambda: test.number == 12)
            listener.away = True
            world.until(lambda: test.checking)
            device.stands_still = True
        views = [view_of(world.journal()), watch.look()]
        while not views[-1].check:
            time.sleep(0.001)
            views.append(watch.look())
        with device.lock:
            world.tones.vanish()
            world.until(lambda: not test.presenter.board_ready)
        lost = [view_of(world.journal()), watch.look()]
        while lost[-1].seconds_to_go is not None:
            time.sleep(0.001)
            lost.append(watch.look())
        watch.close()

    for view in (lost[0], lost[-1]):
        assert view.state.endswith(", left ear; the tone generator is lost")
        assert view.seconds_to_go is None, "nobody knows how long it takes to come back"
    words = r"tones without an answer since tone 1\d: \d+; check earphones, button and listener"
    for view in (views[0], views[-1]):
        assert re.fullmatch(words, view.check)
        screen = Console(width=140)
        with screen.capture() as shown:
            screen.print(draw(view))
        assert re.search(f"broken off: {words}", shown.get())


def test_what_needs_the_pin_is_not_seen_at_the_console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session of before the restart is over, and nobody has typed the PIN since."""
    (tmp_path / "session-000001.journal").write_bytes(LEFT_S2.read_bytes())
    pin = Configuration(pin=PinHash.of("4711", b"0123456789abcdef"))
    with talks_with(Device(tmp_path, a_listener("S2"), pin), port_module, monkeypatch):
        watch = PortWatch("/dev/console")
        view = watch.look()
        watch.close()

    assert view.state == "finished; what was found needs the operator's PIN"
    assert view.result is None
    assert view.over, "or it would be watched for ever"


class Locked(Talk):
    """A firmware that took up a session of before its start, and wants the PIN for its result."""

    def __init__(self, port: str | Port, show: Callable[[str], None]) -> None:
        self.show = show
        self.asked: list[str] = []
        self.state = "listening"

    def wake(self) -> str:
        return IDENTITY

    def ask(self, line: str) -> list[str]:
        self.asked.append(line)
        if line == "SESS:STAT?":
            return [
                f"state={self.state} ear=left resumed=1 seconds_to_go=7 calibration=UNCALIBRATED"
            ]
        answers = {"SESS:RES?": f"ERROR {COMMAND_PROTECTED},PIN", "SYST:EVEN?": "OFF"}
        return [answers.get(line, "OK")]

    def check(self) -> None:
        """It is there."""

    def close(self) -> None:
        """Nothing is open."""


def test_what_needs_the_pin_is_asked_for_once_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each refusal is an error in the operator's queue."""
    locked = Locked("", lambda _: None)

    def talk(_: str, show: Callable[[str], None]) -> Locked:
        locked.show = show
        return locked

    monkeypatch.setattr(port_module, "Talk", talk)
    watch = PortWatch("/dev/console")
    for number in range(1, 4):
        locked.show(f"! answer number={number} ear=left purpose=catch heard=false")
        assert not watch.look().over
    assert locked.asked.count("SESS:RES?") == 1
    assert watch.look().state == "listening; what was found needs the operator's PIN"

    locked.show("! session number=2")
    assert not watch.look().over
    assert locked.asked.count("SESS:RES?") == 2
    locked.state = "finished"
    locked.show("! session-over outcome=complete")
    assert watch.look().over
    watch.close()
    assert locked.asked.count("SESS:RES?") == 2


def test_a_directory_that_cannot_be_read_is_no_empty_one(tmp_path: Path) -> None:
    directory = tmp_path / "sessions"
    directory.mkdir()
    watch = DirectoryWatch(directory)
    directory.rmdir()  # to forbid reading it would stop nobody who is root
    with pytest.raises(HostError, match=f"'{directory}' cannot be read: No such file"):
        watch.look()


def test_before_a_test_the_next_one_is_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a person sees it: words first, then the test, then the end."""
    monkeypatch.setenv("COLUMNS", "200")
    over, journal = (tmp_path / f"session-00000{number}.journal" for number in (3, 4))
    over.write_bytes(LEFT_S2.read_bytes())
    lines = (GOLDEN / "silent-ear.journal").read_bytes().splitlines(keepends=True)
    pieces = iter((b"", b"".join(lines[:30]), b"".join(lines)))
    monkeypatch.setattr("time.sleep", lambda _: journal.write_bytes(next(pieces, b"")))

    assert main(["watch", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "session-000004.journal: complete" in out, "and nothing of the third"
    assert [*pieces] == [], "it was followed as it grew"


def test_what_is_waited_for_and_how_to_see_the_last_one_is_said(tmp_path: Path) -> None:
    over, journal = (tmp_path / f"session-00000{number}.journal" for number in (3, 4))
    over.write_bytes(LEFT_S2.read_bytes())
    watch = DirectoryWatch(tmp_path, awaits_next=True)
    words = (
        f"waiting for a test in {tmp_path}; the last one, session 3, is over: gp-pta watch {over} "
        "shows it"
    )

    assert watch.look().state == words
    journal.touch()
    assert watch.look().state == words, "it was not begun yet"
    assert not watch.look().over
    journal.write_bytes((GOLDEN / "silent-ear.journal").read_bytes())
    assert (watch.look().name, watch.look().over) == (journal.name, True)
    assert JournalWatch(over).look().state == "complete"


def test_a_test_that_is_under_way_is_seen_to_its_end_and_so_is_the_first_of_all(
    tmp_path: Path,
) -> None:
    lines = LEFT_S2.read_bytes().splitlines(keepends=True)
    journal = tmp_path / "session-000001.journal"
    journal.write_bytes(b"".join(lines[:60]))
    watch = DirectoryWatch(tmp_path, awaits_next=True)
    assert watch.look().name == journal.name
    journal.write_bytes(b"".join(lines))
    assert watch.look().over

    (tmp_path / "empty").mkdir()
    watch = DirectoryWatch(tmp_path / "empty", awaits_next=True)
    assert "there is no session yet" in watch.look().state
    (tmp_path / "empty" / journal.name).write_bytes(b"".join(lines))
    assert watch.look().over


def test_while_it_waits_only_words_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Console(width=300).print(draw(DirectoryWatch(tmp_path, awaits_next=True).look()))
    told = f"waiting for a test in {tmp_path}; there is no session yet\n"
    assert capsys.readouterr().out == told


def test_blocks_have_the_height_of_their_values() -> None:
    assert blocks([0.0, 0.5, 1.0, None, 7.0], 1.0) == "▁▅█ █"
