"""A session with a calibration: what the board is told, the record, the replay and resuming."""

import datetime
import math
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from device.simulator.listener import SimulatedListener
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.virtual_clock import STARTED
from device.simulator.world import World
from firmware_py.board.sounds import TooLoudError, sound_of_test
from firmware_py.calibration.in_force import CalibrationOnFile
from firmware_py.calibration.simulated import SERIAL
from firmware_py.journal import read_journal
from firmware_py.link.client import Client
from firmware_py.sessions.replay import ReplayError, replay
from firmware_py.terms.events import Mask, Play
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import AIR, Route
from firmware_py.terms.settings import Settings
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.calibration.calibrations import DUE, CalibratedBoard, calibration, on_file
from tests.firmware.whole_sessions import a_listener, result_of, run_session, stimuli_of
from tests.host.journals import write_again

pytestmark = pytest.mark.usefixtures("quick_disk")

LEFT = {"ears": "left", "seed": 3}
NOMINAL = {"state": "UNCALIBRATED", "full_scale_db_hl": 132.0}


def world_with(
    directory: Path, on_disk: CalibrationOnFile, listener: SimulatedListener | None = None
) -> World:
    """Return a world whose board is as loud as its calibration says."""
    listener = listener or a_listener("S2")
    board = CalibratedBoard(listener, on_disk.calibration or calibration())
    return World(directory, listener, calibration=on_disk, board=board)


def header_of(path: Path) -> dict[str, Any]:
    return dict(read_journal(path).header)


def test_a_calibrated_session_is_that_of_a_nominal_board(tmp_path: Path) -> None:
    """Dial the same levels: RETSPL and sensitivity there and back again."""
    full_scale = calibration().content["left"]["sensitivity_db_spl"]
    far = {f"left.level_max_db_spl.{f}": level for f, level in full_scale.items()}
    settings = LEFT | {"level_max_db_hl": 80.0}
    journal = world_with(tmp_path / "calibrated", on_file(far)).live(settings)
    nominal = run_session(tmp_path / "nominal", a_listener("S2"), settings)

    assert stimuli_of(journal) == stimuli_of(nominal)
    assert result_of(journal) == result_of(nominal)


def test_the_board_is_never_told_more_than_was_measured(tmp_path: Path) -> None:
    world = world_with(tmp_path / "data", on_file(), a_listener("N7"))
    board = world.board
    assert isinstance(board, CalibratedBoard)

    result = result_of(world.live({"seed": 2}))

    assert len(board.played) > 30
    for tone in board.played:
        limit_db_spl = board.truth.level_max_db_spl[Route(tone.ear)].at(tone.frequency_hz)
        assert board.level_db_spl(tone) <= limit_db_spl + 1e-6
    limits = {
        (ear["ear"], each["frequency_hz"]): each["limit_db_hl"]
        for ear in result["ears"] for each in ear["thresholds"]
        if each["mark"] in (Outcome.NO_RESPONSE, Outcome.INCOMPLETE)
    }  # fmt: skip
    assert limits[("left", 8000)] == 75.0
    assert limits[("right", 8000)] == 76.0
    assert all(
        limit == min(100.0, board.truth.highest_db_hl(Route(ear), f))
        for (ear, f), limit in limits.items()
    )


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        pytest.param({}, "CALIBRATED", marks=pytest.mark.thorough),
        ({"calibration.date": "2025-01-01", "calibration.due": "2026-01-01"}, "OVERDUE"),
        pytest.param({"calibration.date": "2026-01-03"}, "OVERDUE", marks=pytest.mark.thorough),
    ],
)
def test_a_replay_needs_no_file_and_no_date(
    tmp_path: Path, changes: dict[str, Any], state: str
) -> None:
    journal = world_with(tmp_path / "data", on_file(changes)).live(LEFT)
    recorded = header_of(journal)["calibration"]

    assert (recorded["state"], recorded["judged_on"]) == (state, STARTED.date().isoformat())
    assert recorded["content"] == calibration(changes).content
    assert recorded["digest"] == calibration(changes).digest
    verdict = replay_journal(journal)
    assert verdict.code == IDENTICAL
    assert verdict.calibration.startswith(f"{state}: ")


def test_a_calibration_of_another_board_is_none_wherever_one_looks(tmp_path: Path) -> None:
    """At the start, in the self-test, in a test, its record and replay; and when boards swap."""
    world = world_with(tmp_path / "data", on_file({"calibration.tone_generator_serial": "e66"}))
    world.until(lambda: world.client.connected)
    why = f"the calibration is of tone generator e66, and this is {SERIAL}"
    headline = f"UNCALIBRATED: levels are nominal ({why})"
    assert world.ask("SYST:ERR?") == [f'104,"{headline}"']
    assert world.ask("SYST:ERR?") == ['0,"No error"'], "it is said once"
    (told,) = world.ask("*TST?")
    assert f"calibration FAULT, {headline}" in told
    assert world.ask("TONE LEFT,1000,40") == ["OK"]
    world.until(lambda: len(world.board.played) == 1)
    assert world.board.played[0].level_dbfs == 40.0 - 132.0
    journal = world.live(LEFT)
    assert header_of(journal)["calibration"] == NOMINAL | {
        "why": {"code": "another-boards", "was": "e66", "now": SERIAL}
    }
    assert replay_journal(journal).calibration == headline
    world.swap_board(SimulatedBoard(a_listener("S2"), boot=2, serial="e66"))
    world.until(lambda: world.client.board == "sim e66")
    assert '"state": "CALIBRATED"' in world.ask("CAL?")[0]
    world.close()


def test_a_session_goes_on_with_the_calibration_it_began_with(tmp_path: Path) -> None:
    """The plug is pulled, and somebody puts another file in place meanwhile."""
    undisturbed = world_with(tmp_path / "undisturbed", on_file()).live(LEFT)
    world = world_with(tmp_path / "data", on_file())
    world.begin(Settings.from_record(LEFT))
    world.run(30_000_000)
    world.calibration = on_file({"left.level_max_db_spl.1000": 90.0})
    other = world.fork(tmp_path / "again")
    world.close()
    other.until(lambda: other.client.connected)
    assert " check=identity why=\"calibration: now there is '" in other.ask("SESS:STAT?")[0]
    assert other.ask("SESS:CONT") == ["OK"]
    other.end()

    assert stimuli_of(other.journal()) == stimuli_of(undisturbed)


def test_a_calibration_that_was_tampered_with_is_refused(tmp_path: Path) -> None:
    """Its content, its board, the board of the test, and the day on which it was judged."""
    journal = world_with(tmp_path / "data", on_file()).live(LEFT)
    calibration_told = header_of(journal)["calibration"]
    calibration_told["content"]["left"]["level_max_db_spl"]["1000"] = 120.9
    header, *records = read_journal(journal).records
    began = next(place for place, each in enumerate(records) if "board" in each.get("event", {}))
    elsewhere = [*records]
    elsewhere[began] = {**records[began], "event": {**records[began]["event"], "board": "sim e66"}}
    for changes, followed, why in (
        ({"calibration": calibration_told}, records, "its digest is not that of its content"),
        ({"tone_generator": "sim e66"}, records, "and tone_generator is 'sim e66': it is not of"),
        ({}, elsewhere, "and its board is 'sim e66': it is not of that tone generator"),
        ({"started": "2026-02-01T08:00:00+00:00"}, records, "allowed is the same day"),
    ):
        spoilt = tmp_path / "spoilt.journal"
        spoilt.unlink(missing_ok=True)
        write_again(spoilt, header | changes, followed)
        with pytest.raises(ReplayError, match=why):
            replay(read_journal(spoilt).records)


def test_a_tone_beyond_the_limit_is_never_sent(tmp_path: Path) -> None:
    """Should the procedure ever be wrong, the test ends rather than play it."""
    world = world_with(tmp_path / "data", on_file())
    world.begin(Settings.from_record(LEFT))
    session = world.runner.session
    assert session is not None
    in_force = on_file({f"left.level_max_db_spl.{f}": v for f, v in _quiet().items()}).judge(DUE)
    session.header = replace(session.header, calibration=in_force)
    world.finish()
    assert world.board.played == []
    assert result_of(world.journal())["outcome"] == "aborted"
    world.close()


@pytest.mark.parametrize("over_db", [0.0, 1.0])
def test_no_sound_of_a_test_is_above_its_limits(
    over_db: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the procedure asks for: the most of its settings, and the reach for noise."""
    sent: list[str] = []
    client = Client(lambda: "1")
    monkeypatch.setattr(client, "request", lambda verb, **_: sent.append(verb))
    in_force, settings = on_file().judge(DUE), Settings(level_max_db_hl=50.0)
    reach_db_hl = in_force.highest_noise_db_hl(Route("left"), 1000.0)
    tone = Play(1, Route("left"), 1000.0, 50.0 + over_db, 225, 225, 3, 25, 0, 1)
    noise = Mask(1, Route("left"), 1000.0, reach_db_hl + over_db, reason(Code.NOMINAL))
    for sound in (tone, noise):
        with pytest.raises(TooLoudError) if over_db else nullcontext():
            sound_of_test(client, in_force, settings, "1-1", sound)
    assert sent == ([] if over_db else ["tone", "mask"])


def _quiet() -> dict[str, float]:
    retspl = calibration().retspl_db_spl[AIR]
    return {
        f"{f:.0f}": max(math.ceil(level + 25.0), 40.0)
        for f, level in zip(retspl.frequencies_hz, retspl.levels_db, strict=True)
    }


def test_the_state_is_judged_when_a_session_begins(tmp_path: Path) -> None:
    world = world_with(tmp_path / "data", on_file())
    assert world.runner.calibration_today().state == "CALIBRATED"
    tomorrow = datetime.datetime.combine(
        DUE + datetime.timedelta(days=1), datetime.time(), datetime.UTC
    )
    world.clock.date = lambda: tomorrow  # type: ignore[method-assign]
    assert world.runner.calibration_today().state == "OVERDUE"
    world.close()
