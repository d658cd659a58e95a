"""The real firmware process, killed at random moments: `make crash KILLS=200`.

Processes, ptys and the file system are real; tone generator and listener are simulated. After every
kill all that was on the disk before is still there, no tone was heard that is not recorded, and the
session that comes out at last is the one of a firmware that nobody disturbed.

`CRASH_ARGS="--what tunings"`, or `updates`, kills it while it tunes an aid, or receives an update:
`crash_others.py` has what is checked then. `CRASH_ARGS="--board emulated"` kills it beside the real
program in an emulated Pico, in that one's time; the sessions end with the last kill, or their own
end, and replay bit for bit.
"""

import argparse
import itertools
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firmware_py.journal import (
    JournalUnstartedError,
    Recovered,
    SealKey,
    first_broken,
    read_journal,
)
from firmware_py.platform.keys import make_key_file, read_key_file
from host_tools.devices.live import IDLE_STATES
from host_tools.devices.processes import ConsoleLine, FirmwareProcess, Operator, Simulator
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.firmware.crash_others import kill_tunings, kill_updates
from tests.firmware.rig import Rig
from tests.firmware.whole_sessions import (
    a_listener,
    asked_again_though_answered,
    records_of,
    result_of,
    run_session,
    stimuli_of,
)

# What the operator asks for, and of whom: one session after the other, until all kills are done.
SESSIONS: Final = (("S2", "left", 3), ("N3", "both", 5), ("N5", "right", 7), ("S1", "both", 9))
SPEED: Final = 20.0
LIFE_S_MAX: Final = 1.5  # of a firmware that is killed, from when it is ready ...
START_S_MAX: Final = 1.0  # ... or, of some, from the start
KILLED_STARTING: Final = 4  # one in so many
BIRTH_S_MAX: Final = 0.05  # from the operator's word until it is killed while the journal is begun
OTHERS: Final = {"tunings": kill_tunings, "updates": kill_updates}
STARTING: Final = "starting"
SIMULATED: Final = "simulated"
EMULATED: Final = "emulated"  # it goes in its own time, and a tone takes some seconds
EMULATED_LIFE_S_MAX: Final = 10.0


@dataclass(frozen=True)
class Kill:
    """What was on the disk when the firmware was killed."""

    state: str  # `STARTING`: it had not said that it was ready; otherwise the last record
    records: int  # that were whole
    torn_bytes: int  # after them


@dataclass(frozen=True)
class Plan:
    """A session to be disturbed, and the journal it has when it is not."""

    audiogram: str
    ears: str
    seed: int
    undisturbed: Path

    @classmethod
    def of(cls, directory: Path, audiogram: str, ears: str, seed: int) -> "Plan":
        """Run it undisturbed, in no time."""
        settings = {"ears": ears, "seed": seed}
        journal = run_session(
            directory / f"undisturbed-{audiogram}", a_listener(audiogram), settings
        )
        return cls(audiogram, ears, seed, journal)

    @property
    def asked(self) -> str:
        return f"{self.ears.upper()},SEED={self.seed}"


def assert_like_undisturbed(journal: Path, undisturbed: Path) -> None:
    """The session is whole, its tones are those of an undisturbed one, none too often."""
    assert replay_journal(journal).code == IDENTICAL
    assert stimuli_of(journal) == stimuli_of(undisturbed)
    assert result_of(journal)["ears"] == result_of(undisturbed)["ears"]
    assert asked_again_though_answered(journal) == []


def kill_until_over(
    plan: Plan, directory: Path, chance: random.Random, kills_max: int
) -> list[Kill]:
    """Run one session, kill it again and again, and compare it with the undisturbed one."""
    make_key_file(directory.with_suffix(".key"))
    config = f'[journal]\nseal_key = "{directory.with_suffix(".key")}"\n'
    with Rig(directory, a_listener(plan.audiogram), SPEED) as rig:
        rig.start(config=config)
        rig.operator.greet()
        rig.console.send(f"SESS:STAR {plan.asked}")
        kills = [_kill(rig, chance.uniform(0.0, BIRTH_S_MAX))]
        rig.start(config=config)
        if rig.operator.greet().startswith("state=idle"):  # the journal had not been begun
            rig.begin(plan.asked)
        kept = _whole_bytes(rig.data)
        while len(kills) < kills_max and not _newest(rig.data).complete:
            kills.append(_kill_some_time(rig, chance))
            now = _whole_bytes(rig.data)
            assert now.startswith(kept), "what was recorded is still recorded"
            _assert_recorded_what_was_heard(rig)
            kept = now
            rig.start(config=config)
        rig.wait(lambda: _newest(rig.data).complete)
        journal = _newest(rig.data).path
        assert journal.read_bytes().startswith(kept)
    assert_like_undisturbed(journal, plan.undisturbed)
    key = SealKey(read_key_file(directory.with_suffix(".key")))
    assert first_broken(key, journal.read_bytes().splitlines(keepends=True)) is None
    return kills


def _kill_some_time(rig: Rig, chance: random.Random) -> Kill:
    assert rig.process is not None
    if chance.randrange(KILLED_STARTING) == 0:
        return _kill(rig, chance.uniform(0.0, START_S_MAX))
    return _kill(rig, chance.uniform(0.0, LIFE_S_MAX), rig.process.first_line())


def _kill(rig: Rig, after_s: float, said: str = "") -> Kill:
    """Kill the firmware after some time, and look at what it leaves."""
    assert rig.process is not None
    time.sleep(after_s)
    rig.process.kill()
    code, words = rig.process.end_of()
    assert (code, words) == (-signal.SIGKILL, ""), f"it ended with {code} and said {words!r}"
    try:
        found = _newest(rig.data)
    except (FileNotFoundError, JournalUnstartedError):
        return Kill("no journal", 0, 0)
    state = _last(found) if "ready" in said + rig.process.rest else STARTING
    return Kill(state, len(found.records), found.torn_bytes)


def _newest(data: Path) -> Recovered:
    journals = sorted(data.glob("session-*.journal"))
    if not journals:
        raise FileNotFoundError(data)
    return read_journal(journals[-1])


def _whole_bytes(data: Path) -> bytes:
    """Return the whole records of the newest journal."""
    found = _newest(data)
    return found.path.read_bytes()[: found.good_bytes]


def _last(found: Recovered) -> str:
    record = found.records[-1]
    inside: Mapping[str, Any] = record.get("event") or record.get("action") or {}
    return f"{record['kind']} {inside.get('what', '')}".strip()


def _assert_recorded_what_was_heard(rig: Rig) -> None:
    actions = records_of(_newest(rig.data).path, "output")
    asked = {action["number"] for action in actions if action["what"] == "play"}
    heard = {int(tone.tone_id.partition("-")[2]) for tone in rig.served.board.played}
    assert heard <= asked


# Beside the real program of the board


def kill_beside_emulated_board(directory: Path, chance: random.Random, kills: int) -> Iterator[int]:
    """Kill the firmware so many times; yield after each how many records there were."""
    audiogram, ears, seed = SESSIONS[0]
    clock = directory / "board-time"
    options = ["--board", EMULATED, "--audiogram", audiogram, "--clock", str(clock)]
    with ExitStack() as stack:
        simulator = Simulator(options, print)
        stack.callback(simulator.end)
        console = ConsoleLine()
        stack.callback(console.close)
        data = directory / "data"
        firmware = FirmwareProcess(simulator.port, console.port, data, 1.0, clock, print)
        stack.callback(firmware.end)
        operator = Operator(console, firmware)
        state, kept = operator.greet(), dict[Path, bytes]()
        for _ in range(kills):
            if state.startswith(IDLE_STATES):
                assert operator.ask(f"SESS:STAR {ears.upper()},SEED={seed}") == "OK"
            time.sleep(chance.uniform(0.0, EMULATED_LIFE_S_MAX))
            firmware.kill()
            for journal, recorded in kept.items():
                assert journal.read_bytes().startswith(recorded), "what was recorded still is"
            kept[_newest(data).path] = _whole_bytes(data)
            yield len(_newest(data).records)
            firmware.restart_if_killed()
            state = operator.greet()
        operator.ask("*RST")
        operator.ask("SYST:EXIT")
        assert firmware.wait() == 0
    for journal in sorted(data.glob("session-*.journal")):
        assert replay_journal(journal).code == IDENTICAL
        assert asked_again_though_answered(journal) == []


# The campaign


def kill_sessions(directory: Path, kills: int, seed: int) -> Iterator[list[Kill]]:
    """Disturb session after session until all kills are done."""
    chance = random.Random(seed)
    plans = [Plan.of(directory, *session) for session in SESSIONS]
    for number, plan in enumerate(itertools.cycle(plans), 1):
        done = kill_until_over(plan, directory / f"session-{number}", chance, kills)
        yield done
        kills -= len(done)
        if kills <= 0:
            return


def main() -> int:
    """Run all, and say what was seen; an `AssertionError` names what was wrong."""
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--kills", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--what", choices=("tests", *OTHERS), default="tests", help="it is killed in")
    p.add_argument("--board", choices=(SIMULATED, EMULATED), default=SIMULATED)
    arguments = p.parse_args()
    print(f"{arguments.kills} kills with seed {arguments.seed}")
    with tempfile.TemporaryDirectory(prefix="gp-pta-crash-") as name:
        directory = Path(name)
        if kill_others := OTHERS.get(arguments.what):
            chance, number = random.Random(arguments.seed), 0
            for counts in kill_others(directory, chance, arguments.kills):
                number += len(counts)
                print(f"{number} kills in {arguments.what}, the last at {counts}", flush=True)
            return 0
        if arguments.board == EMULATED:
            chance = random.Random(arguments.seed)
            records = [*kill_beside_emulated_board(directory, chance, arguments.kills)]
            print(f"{len(records)} kills at records {records}: all is kept, and replays")
            return 0
        done: list[Kill] = []
        for kills in kill_sessions(directory, arguments.kills, arguments.seed):
            done += kills
            records = [kill.records for kill in kills]
            print(f"{len(kills)} kills at records {records}: as undisturbed", flush=True)
        print(f"{len(done)} kills, {sum(kill.torn_bytes > 0 for kill in done)} with a torn end")
        for state, count in Counter(kill.state for kill in done).most_common():
            print(f"{count:6} {state}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
