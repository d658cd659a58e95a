"""Recorded sessions come out again, bit for bit; `pytest --update-golden` records them anew."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from device.simulator.head import Head
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.virtual_clock import S
from device.simulator.world import World
from firmware_py import __version__
from firmware_py.calibration.simulated import SERIAL
from firmware_py.journal import read_journal
from firmware_py.presenting.presenter import LATE, LISTENING, PAUSE_BEFORE
from firmware_py.terms.calibration_states import SIMULATED, UNCALIBRATED
from firmware_py.terms.events import Continued, Paused
from firmware_py.terms.presentation import SILENCE
from firmware_py.terms.settings import Settings
from host_tools.recordings.replayed import DIFFERENT, IDENTICAL, Verdict, replay_journal
from tests.conftest import UPDATED
from tests.firmware.whole_sessions import (
    a_listener,
    asked_again_though_answered,
    of_no_commit,
    records_of,
    result_of,
    stimuli_of,
)
from tests.host.journals import write_again

ABSENT: Final = "(absent)"
CHANGES_SHOWN: Final = 20  # of a result
UNCALIBRATED_SERIAL: Final = "51b0000000000002"
PLACINGS_MIN: Final = 3  # of the session by bone: either side, and one with noise
GOLDEN: Final = Path(__file__).parents[1] / "golden"


def leave_alone(world: World) -> World:
    return world


def disturb(world: World) -> World:
    """Pause within a tone, and in the pauses around one; cut the wire; kill the firmware."""
    for state in (LISTENING, PAUSE_BEFORE, LATE):
        go_on_to(world, state)
        world.runner.feed(Paused())
        world.run(3 * S)
        world.runner.feed(Continued())
    go_on_to(world, LISTENING)
    world.wire_cut = True
    world.run(5 * S)
    world.wire_cut = False
    go_on_to(world, LISTENING)
    other = world.fork(world.directory.with_name("started-again"))
    world.close()
    return other


def place(world: World) -> World:
    """Put the vibrator or the earphones wherever the operator is asked to, and say so."""
    placed = 0
    while (session := world.runner.session) is not None:
        world.step()
        if session.test.placing.wanted is not None:
            world.run(3 * S)
            world.runner.feed(Continued())
            placed += 1
    assert placed >= PLACINGS_MIN
    return world


def go_on_to(world: World, state: str) -> None:
    """Go on for some tones, and then to this state of a tone, not of a catch trial."""

    def there() -> bool:
        session = world.runner.session
        assert session is not None, f"the test was over before there was a tone {state}"
        presenter = session.test.presenter
        return presenter.state == state and presenter.trial.presentation != SILENCE

    world.run(12 * S)
    world.until(there)


@dataclass(frozen=True)
class Recording:
    """How a golden session is made: settings, listener, and what happens on the way."""

    settings: dict[str, Any] = field(default_factory=dict)
    audiogram: str = "N3"
    listener: dict[str, Any] = field(default_factory=dict)
    course: Callable[[World], World] = leave_alone
    serial: str = SERIAL  # of the board; the simulated calibration is of one alone


RECORDINGS: Final = {
    "both-ears-n3": Recording(listener={"lapse_rate": 0.01, "false_alarm_rate": 0.01}),
    "left-ear-s2": Recording({"ears": "left", "seed": 3}, "S2", serial=UNCALIBRATED_SERIAL),
    "clinical": Recording({"ears": "left", "conduct": "clinical"}, "N2"),
    "gp-pta-2015": Recording({"ears": "right", "profile": "gp-pta-2015"}, "N4"),
    "silent-ear": Recording({"ears": "left"}, listener={"lapse_rate": 1.0}),
    "always-answering": Recording({"ears": "left"}, listener={"false_alarm_rate": 1.0}),
    "two-buttons": Recording(
        {"ears": "left", "unsure_button": True},
        "S1",
        {"unsure_half_width_db": 3.0, "lapse_rate": 0.01, "false_alarm_rate": 0.01},
    ),
    "masked": Recording(
        {"first_ear": "left", "catch_rate": 0.2}, "N1,N6", {"response_noise_db": 3.0}
    ),
    # The left ear has a small gap, and is asked once more with noise in the other one, which has a
    # larger one, and is asked with noise at once.
    "bone": Recording(
        {"routes": "air, bone"},
        "N3,N1",
        {"head": Head({"right": 30.0, "left": 14.0})},
        course=place,
    ),
    "disturbed": Recording({"ears": "right", "stop_half_width_db": 2.0}, "N2", course=disturb),
}


def run_recording(recording: Recording, directory: Path) -> Path:
    directory.mkdir(parents=True)
    listener = a_listener(recording.audiogram, **recording.listener)
    board = SimulatedBoard(listener, boot=0xB007, serial=recording.serial)
    world = World(directory, board=board)
    world.begin(Settings.from_record(recording.settings))
    world = recording.course(world)
    return world.end()


@pytest.mark.golden
@pytest.mark.usefixtures("quick_disk")
@pytest.mark.parametrize("name", RECORDINGS)
def test_a_golden_session_comes_out_again_bit_for_bit(
    tmp_path: Path, name: str, request: pytest.FixtureRequest
) -> None:
    golden = GOLDEN / f"{name}.journal"
    if request.config.getoption("--update-golden"):
        with of_no_commit():
            new = run_recording(RECORDINGS[name], tmp_path / "new")
        request.config.stash[UPDATED].extend(difference(name, golden, new))
        shutil.copyfile(new, golden)

    verdict = replay_journal(golden)

    assert verdict.code == IDENTICAL, short(verdict)
    assert asked_again_though_answered(golden) == []


@pytest.mark.usefixtures("quick_disk")
def test_a_golden_session_does_not_change_with_each_commit(tmp_path: Path) -> None:
    for golden in GOLDEN.glob("*.journal"):
        assert "+" not in read_journal(golden).header["firmware"], golden
    recording = Recording({"ears": "left"}, listener={"lapse_rate": 1.0})
    with of_no_commit():
        new = run_recording(recording, tmp_path / "new")
    assert read_journal(new).header["firmware"] == __version__


def test_a_tone_that_is_not_the_recorded_one_is_noticed(tmp_path: Path) -> None:
    """The canary: these tests can fail."""
    path = tmp_path / "spoilt.journal"
    header, *records = read_journal(GOLDEN / "left-ear-s2.journal").records
    play = next(r["action"] for r in records if r.get("action", {}).get("what") == "play")
    level_db_hl = play["level_db_hl"]
    play["level_db_hl"] += 1.0
    write_again(path, header, records)

    verdict = replay_journal(path)

    assert verdict.code == DIFFERENT
    assert f"level_db_hl: {level_db_hl + 1.0} -> {level_db_hl}" in short(verdict)
    (line,) = difference("left-ear-s2", GOLDEN / "left-ear-s2.journal", path)
    assert "1 of them changed" in line


def test_every_golden_session_is_in_the_list_and_one_is_uncalibrated() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(RECORDINGS)
    states = {p.stem: read_journal(p).header["calibration"]["state"] for p in GOLDEN.iterdir()}
    assert states == dict.fromkeys(RECORDINGS, SIMULATED) | {"left-ear-s2": UNCALIBRATED}


@pytest.mark.usefixtures("quick_disk")
def test_a_session_run_twice_is_the_same_to_the_byte(tmp_path: Path) -> None:
    once, twice = (
        run_recording(RECORDINGS["disturbed"], tmp_path / name / "data")
        for name in ("once", "twice")
    )
    assert once.read_bytes() == twice.read_bytes()


def test_the_disturbed_session_was_disturbed() -> None:
    events = [event["what"] for event in records_of(GOLDEN / "disturbed.journal", "input")]
    assert [what for what in events if what in ("paused", "continued")] == [
        "paused", "continued", "paused", "continued", "paused", "continued",
    ]  # fmt: skip
    assert events.count("board-lost") > 0
    assert events.count("board-ready") == 2, "the wire came back, and the firmware was killed"
    plays = [a for a in records_of(GOLDEN / "disturbed.journal", "output") if a["what"] == "play"]
    assert len(plays) > len(stimuli_of(GOLDEN / "disturbed.journal")), "something was asked again"


def short(verdict: Verdict) -> str:
    """Say in a few words what came out differently."""
    lines = [
        f"{verdict.journal.name}: {len(verdict.differences)} outputs differ; "
        f"{verdict.damage or 'the file is whole'}; if that is meant: pytest --update-golden"
    ]
    for each in verdict.differences[:3]:
        places = [*differing("", each.recorded, each.replayed)]
        lines.append(f"record {each.record}: {len(places)} values differ")
        lines += [f"    {place}" for place in places[:5]]
    return "\n".join(lines)


def differing(place: str, old: Any, new: Any) -> Iterator[str]:
    """Say where two JSON values differ, leaf by leaf."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from differing(f"{place}.{key}", old.get(key, ABSENT), new.get(key, ABSENT))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from differing(f"{place}[{index}]", *pair)
    elif old != new:
        yield f"{place.lstrip('.')}: {old!r} -> {new!r}"


def difference(name: str, old: Path, new: Path) -> list[str]:
    """Say in a few words how a new recording differs from the old one."""
    if not old.exists():
        return [f"{name}: new, {len(stimuli_of(new))} tones"]
    before, after = stimuli_of(old), stimuli_of(new)
    changed = sum(a != b for a, b in zip(before, after, strict=False))
    if old.read_bytes() == new.read_bytes():
        return [f"{name}: the same to the byte"]
    records = [len(read_journal(path).records) for path in (old, new)]
    lines = [
        f"{name}: {len(before)} tones -> {len(after)}, {changed} of them changed; "
        f"{records[0]} records -> {records[1]}"
    ]
    changes = [*differing("", result_of(old), result_of(new))]
    return lines + [f"    {change}" for change in changes[:CHANGES_SHOWN]]
