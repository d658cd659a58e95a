"""The loop between ports that are none: what it says when it cannot go on, and its silence."""

import re
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from device.simulator.virtual_clock import S
from device.simulator.world import World
from firmware_py.board.board_connection import FALL_SILENT_S
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.firmware import EXIT_S_MAX, WRITES_AT_THE_END
from firmware_py.inference.kernel import LIBRARY
from firmware_py.journal import JournalError, read_journal
from firmware_py.link.client import REPEATS_MAX
from firmware_py.operator.console_connection import LAST_WORDS_S
from firmware_py.platform.clock import SystemWaiting
from firmware_py.platform.ports import CLOSE_S, DRAIN_LOOK_S, WRITE_TIMEOUT_S
from firmware_py.platform.version import full_version
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions.runner import Runner
from firmware_py.sessions.session import HearingSession, Session
from firmware_py.sessions.session_record import SessionHeader
from firmware_py.terms.events import Action
from firmware_py.terms.person import UNKNOWN
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, BY_AIR, Route
from firmware_py.terms.settings import Settings
from tests.firmware.device import Device, answers_to
from tests.firmware.whole_sessions import a_listener, result_of
from tests.host.journals import session_of
from tests.said import reason_words

pytestmark = pytest.mark.usefixtures("quick_disk")

WAIT_S = 60.0  # that nobody waits


def test_a_fault_of_the_firmware_itself_is_told_and_ends_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device(tmp_path)
    device.type("SESS:STAR LEFT,SEED=3")
    advance = Runner.advance

    def faulty(runner: Runner) -> None:
        if device.is_playing():
            raise ZeroDivisionError("division by zero")
        advance(runner)

    monkeypatch.setattr(Runner, "advance", faulty)
    with pytest.raises(ZeroDivisionError):
        device.run_out()
    assert 'ERROR -310,"ZeroDivisionError: division by zero"' in device.heard
    assert device.is_silent()


def test_a_start_without_enough_memory_gives_no_journal_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may go well the next time, and would be over for good if it were passed over."""
    device = Device(tmp_path)
    device.type("SESS:STAR LEFT,SEED=3")
    device.type("SYST:EXIT", device.is_playing)
    device.run_out()

    def without(*_: object) -> list[Action]:
        raise MemoryError

    with monkeypatch.context() as short:
        short.setattr(HearingTest, "handle", without)
        with pytest.raises(MemoryError):
            answers_to(Device(tmp_path))
    state, _ = answers_to(Device(tmp_path), "SESS:STAT?")
    assert state.startswith("state=waiting")


def test_a_data_directory_that_has_gone_is_told_and_the_firmware_goes_on(tmp_path: Path) -> None:
    device = Device(tmp_path / "data")

    def remove() -> bool:
        if device.is_greeted():
            shutil.rmtree(tmp_path / "data")
        return device.is_greeted()

    device.type("SESS:STAR LEFT,SEED=3", remove)
    device.type("*IDN?")
    device.type("SYST:EXIT")
    _, heard = device.run_out().split("ERROR -250,", 1)
    refusal, name, *_ = heard.splitlines()
    assert "cannot be read: No such file or directory; no test was begun" in refusal
    assert name.startswith("GP-PTA,")


def test_console_and_journal_name_the_commit_where_the_version_is_no_release(
    tmp_path: Path,
) -> None:
    device = Device(tmp_path / "data")
    identity, versions, *_ = answers_to(device, "*IDN?", "SYST:VERS?")
    assert identity == f"GP-PTA,fitting device,0,{full_version()}"
    assert versions.startswith(f"firmware {full_version()},wire ")
    started = "2026-01-02T03:04:05+00:00"
    header = SessionHeader(1, started, Settings(), UNKNOWN, CalibrationInForce())
    assert header.firmware == full_version()


@pytest.mark.parametrize("person", ["AGE=67", "SEX=f"])
def test_a_profile_that_does_not_take_age_and_sex_is_named(tmp_path: Path, person: str) -> None:
    device = Device(tmp_path)
    setting, refusal, _ = answers_to(device, "SETT profile,gp-pta-2015", f"SESS:STAR LEFT,{person}")

    assert setting == "OK"
    assert refusal.startswith("ERROR -224,")
    assert "profile 'gp-pta-2015'" in refusal
    assert refusal.endswith('; no test was begun"')
    assert list(tmp_path.glob("*.journal")) == []


def has_gone_on(device: Device) -> bool:
    """Return whether the other ear has a tone after the first one's test, or cannot have any."""
    return device.board.played[-1].ear == "right" or "ERROR" in device.heard


def told_while_playing(device: Device, lines: str) -> list[str]:
    """Return what is answered where these lines come at once in a test of the left ear."""
    device.type("SESS:STAR LEFT,SEED=3")
    device.type(lines, device.is_playing)
    device.type("SYST:EXIT", lambda: has_gone_on(device))
    return device.run_out().splitlines()


@pytest.mark.parametrize("end", ["SESS:ABOR", "*RST"])
def test_a_test_may_begin_in_the_bytes_that_end_the_one_before(tmp_path: Path, end: str) -> None:
    heard = told_while_playing(Device(tmp_path), f"{end}\nSESS:STAR RIGHT,SEED=4")
    journals = sorted(tmp_path.glob("*.journal"))

    assert heard == ["OK"] * 4
    assert [read_journal(journal).header["session"] for journal in journals] == [1, 2]
    assert result_of(journals[0])["outcome"] == "aborted"


@pytest.mark.parametrize(
    ("command", "level_dbfs"),
    [("TONE RIGHT,1000,40", -92.0), ("CAL:NOB\nCAL:TONE RIGHT,1000,-80", -80.0)],
)
def test_a_tone_may_be_asked_in_the_bytes_that_end_a_test(
    tmp_path: Path, command: str, level_dbfs: float
) -> None:
    device = Device(tmp_path)
    told = told_while_playing(device, f"SESS:ABOR\n{command}")
    assert told == ["OK"] * (4 + command.count("\n"))
    tone = device.board.played[-1]
    assert (tone.ear, tone.frequency_hz, tone.level_dbfs) == ("right", 1000.0, level_dbfs)


def test_a_test_that_cannot_be_ended_on_the_disk_is_left_and_another_may_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device(tmp_path)
    sync = Session.sync

    def full(session: HearingSession) -> None:
        if session.over:
            raise JournalError("the disk is full")
        sync(session)

    monkeypatch.setattr(Session, "sync", full)
    device.type("SESS:STAR LEFT,SEED=3")
    device.type("SESS:ABOR\nSESS:STAR RIGHT,SEED=4", device.is_playing)
    device.type("SYST:EXIT", lambda: "ERROR" in device.heard)
    ok, refused, *others = device.run_out().splitlines()

    assert refused.startswith('ERROR -250,"session 1 is left as it is: the disk is full; ')
    assert (ok, *others) == ("OK", "OK", "OK")
    assert len(list(tmp_path.glob("*.journal"))) == 2


def test_what_the_disk_did_not_take_is_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device(tmp_path)
    sync, marks = Session.sync, [0]

    def full(session: HearingSession) -> None:
        if session.board.event > 12:
            raise JournalError("the disk is full")
        sync(session)
        marks.append(session.board.event)

    monkeypatch.setattr(Session, "sync", full)
    device.type("SESS:STAR LEFT,SEED=3")
    device.type("*TST?", lambda: device.firmware.runner.session is None and len(marks) > 1)
    device.type("SYST:EXIT")
    device.run_out()
    outbox = device.board.server.outbox
    assert 0 < outbox.newest_event - len(outbox.events) <= marks[-1] < outbox.newest_event


def test_the_console_shows_unsure_answers_and_why_an_ear_ended(
    tmp_path: Path, two_buttons: Path
) -> None:
    shutil.copy(two_buttons, tmp_path / "session-000001.journal")
    state, *picture, ok, threshold, _ = answers_to(
        Device(tmp_path), "SESS:STAT?", "AUD", "THR? LEFT"
    )
    (ear,) = result_of(two_buttons)["ears"]
    # In the result the band of what was not asked allows for a step as well.
    octaves_hz = [f for f in AUDIOGRAM_FREQUENCIES_HZ if f not in BY_AIR.inter_octave_hz]
    estimator = session_of(two_buttons).test.ears[Route("left")].estimator
    low_db_hl, high_db_hl = estimator.threshold_band(octaves_hz, 0.95)
    halves_db = dict(zip(octaves_hz, 0.5 * (high_db_hl - low_db_hl), strict=True))
    wanted_db = partial(Settings().wanted_half_width_db, BY_AIR)
    worst_hz = max(halves_db, key=lambda f_hz: halves_db[f_hz] / wanted_db(f_hz))

    assert ear["tones_unsure"] >= 3
    silences = re.findall(r"silences=[1-9]\d* false_positives=\d+", state)
    assert state == (
        f"state=finished outcome=complete ear=left presentation="
        f"{result_of(two_buttons)['presentations']} tones={ear['tones']} "
        f"heard={ear['tones_heard']} unsure={ear['tones_unsure']} "
        f"half_width_db={halves_db[worst_hz]:.1f} widest_hz={worst_hz} "
        f"masking=ready resumed=0 seconds_to_go=0 {silences[0]} so_far=valid "
        "calibration=SIMULATED session=1"
    )
    assert [line for line in picture if line.startswith("Left ear: measured at ")]
    told = f"{ear['tones']} ({ear['tones_heard']} heard, {ear['tones_unsure']} unsure)"
    assert f"Quality of the test, tones: left ear {told}" in picture
    assert f"Left ear finished: {reason_words(ear['why'][:1])}" in picture
    assert reason_words(ear["why"]).startswith("the cap of 26 tones; 95 % band")
    assert (ok, threshold[:9]) == ("OK", "left=250,")
    assert threshold.endswith(" calibration=SIMULATED")


def test_the_answers_told_unasked_are_true_false_or_unsure(tmp_path: Path) -> None:
    device = Device(tmp_path)
    device.board.hand.listener = a_listener("S2", unsure_half_width_db=5.0)
    device.type("SETT unsure_button,true")
    device.type("SYST:EVEN ON")
    device.type("SESS:STAR LEFT,SEED=3")
    device.type("SYST:EXIT", lambda: "heard=unsure" in device.heard)
    heard = device.run_out()

    assert re.search(r"! answer number=\d+ ear=left purpose=\w+ heard=unsure", heard)
    assert set(re.findall(r"heard=(\w+)", heard)) <= {"true", "false", "unsure"}
    assert re.search(r"purpose=measure heard=\w+ half_width_db=\d", heard) or "measure" not in heard


def test_a_signal_ends_the_waiting(tmp_path: Path) -> None:
    device = Device(tmp_path)
    device.firmware.stop()
    device.firmware.stop()
    device.clock.waiting().wait([], WAIT_S)
    assert device.clock.us == 0
    assert device.run_out() == ""


def test_a_signal_ends_the_waiting_of_the_system() -> None:
    waiting = SystemWaiting()
    waiting.ring()
    began_s = time.monotonic()
    waiting.wait([], WAIT_S)
    waiting.wait([], WAIT_S)
    waiting.close()
    assert time.monotonic() - began_s < WAIT_S


def test_a_board_lost_while_sending_is_not_overlooked(tmp_path: Path) -> None:
    device = Device(tmp_path)
    client = device.client
    client.connect(0)
    device.clock.us = S
    assert client._commands.under_way is not None
    client._commands.under_way.sent = REPEATS_MAX + 1
    device.firmware._carry()
    assert "'hello' was sent 9 times without answer" in device.firmware._board.why
    device.data.close()


def test_a_lost_console_does_not_keep_the_tone_generator_lost(tmp_path: Path) -> None:
    device = Device(tmp_path)
    device.firmware.start()
    device.type("SESS:STAR LEFT,SEED=3")
    device.until(lambda: len(device.board.played) > 2)
    device.console.vanish()
    device.tones.vanish()
    device.run(5 * S)
    assert [device.tones.is_open, device.console.is_open, device.is_greeted()] == [False] * 3
    played = len(device.board.played)
    device.tones.there = True
    device.until(device.is_greeted)
    device.until(lambda: len(device.board.played) > played)
    device.console.there = True
    device.type("SYST:ERR?")
    device.until(lambda: "'/dev/console' is gone" in device.heard)
    device.close()


def take_nothing(
    seconds: float, now_s: Callable[[], float], sleep: Callable[[float], None]
) -> None:
    """Wait as for somebody who takes none of the last words."""
    until_s = now_s() + seconds
    while now_s() < until_s:
        sleep(DRAIN_LOOK_S)


def open_again() -> None:
    """Fail: to open a lost port takes seconds."""
    raise AssertionError("it is opened once more")


@pytest.mark.parametrize("lost", [False, True])
def test_the_end_waits_for_a_deaf_board_and_a_full_console_no_longer_than_is_said(
    tmp_path: Path, lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of what `EXIT_S_MAX` allows is for writing to the ports, and closing them."""
    device = Device(tmp_path, speed=1)
    told_at_s = list[float]()
    monkeypatch.setattr(device.console, "drain", take_nothing)

    def tell() -> bool:
        if device.clock.us < S:  # until then it meets its board
            return False
        told_at_s.append(device.clock.seconds)
        device.wire_cut, device.tones.is_open = True, not lost
        monkeypatch.setattr(device.tones, "open", open_again)
        return True

    device.type("SYST:EXIT", tell)
    device.run_out()

    waited_s = device.clock.seconds - told_at_s[0]
    assert device.heard == "OK\r\n"
    assert waited_s <= EXIT_S_MAX - 2 * CLOSE_S - WRITES_AT_THE_END * WRITE_TIMEOUT_S
    assert lost or waited_s >= FALL_SILENT_S + LAST_WORDS_S, "the test has met every wait"


# Today's most, the entry among them and the kernel not; to be fewer. A smaller one belongs here.
FLOORS_OF_A_STEP = 23  # of the loop; goal 20
FLOORS_OF_THE_ESTIMATOR = 4  # turn, method, model, step of the model
PRODUCT = "firmware_py/"


def _floors(frame: FrameType | None, entry: str) -> list[str]:
    """Return the functions of the product from an entry down to this frame; []: not from there."""
    found: list[str] = []
    while frame is not None:
        code = frame.f_code
        if PRODUCT in code.co_filename:
            found.append(code.co_qualname)
        if code.co_qualname.endswith(entry):
            return found[::-1]
        frame = frame.f_back
    return []


@pytest.mark.skipif(LIBRARY is None, reason="Numba's kernels are called without a trace")
def test_no_more_floors_lie_between_an_entry_and_a_kernel(tmp_path: Path) -> None:
    world, before = World(tmp_path, a_listener("S2")), sys.getprofile()
    of_step: list[str] = []
    of_estimator: list[str] = []

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal of_step, of_estimator
        code = frame.f_code
        if event == "call" and code.co_name == "call" and code.co_filename.endswith("library.py"):
            of_step = max(of_step, _floors(frame.f_back, "Firmware.step"), key=len)
            of_estimator = max(of_estimator, _floors(frame.f_back, "_alone.<locals>.call"), key=len)

    world.begin(Settings(ears="right"))
    sys.setprofile(look)
    try:
        world.finish()
    finally:
        sys.setprofile(before)

    assert 0 < len(of_step) <= FLOORS_OF_A_STEP, "\n".join(of_step)
    assert 0 < len(of_estimator) <= FLOORS_OF_THE_ESTIMATOR, "\n".join(of_estimator)
