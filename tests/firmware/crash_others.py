"""The firmware's process, killed while it tunes an aid or receives an update: see `crash.py`.

After every kill all that was taken is still there. A tuning that comes out at last replays bit for
bit; an update that is handed over is whole, under the one name that was asked for.
"""

import hashlib
import itertools
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from device.simulator.aid import SimulatedAid
from device.simulator.preferences import SimulatedWearer, drawn_wish_db
from device.simulator.serve import serve_in_thread
from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.journal import Recovered, read_journal
from firmware_py.operator.update_desk import PIECE_BYTES_MAX, SYNCED_BYTES
from host_tools.commands.fitting import answering
from host_tools.commands.replay.tuning import replay_tuning_journal
from host_tools.commands.update import MAGIC, PIECES_AHEAD, pieces_of
from host_tools.devices.device_answers import told_unasked, told_values
from host_tools.recordings.replayed import IDENTICAL
from tests.firmware.rig import Rig

SPEED: Final = 20.0
LIFE_S_MAX: Final = 1.5  # of a firmware that is killed, after its greeting
END_S_MAX: Final = 0.05  # from the last word of an update until it is killed
BUNDLE_BYTES: Final = 12 * SYNCED_BYTES + 1000
HANDED_OVER: Final = {"NEWER": "update.raucb", "OLDER": "update-older.raucb"}


class WiredAid(SimulatedAid):
    """A simulated aid at a pty, where what is to be sent is taken in parts."""

    def transmit(self, frames_max: int | None = None) -> bytes:
        """Hand over what is to be sent to the firmware."""
        return super().transmit()


def kill_tunings(directory: Path, chance: random.Random, kills: int) -> Iterator[list[int]]:
    """Disturb tuning after tuning until all kills are done; yield comparisons at each kill."""
    for seed in itertools.count(1):
        with ExitStack() as stack:
            aid = stack.enter_context(serve_in_thread(WiredAid(), SPEED))
            rig = stack.enter_context(Rig(directory / f"tuning-{seed}", speed=SPEED))
            done = _kill_until_tuned(rig, aid, seed, chance, kills)
        yield done
        kills -= len(done)
        if kills <= 0:
            return


def _kill_until_tuned(
    rig: Rig, aid: str, seed: int, chance: random.Random, kills_max: int
) -> list[int]:
    wearer = answering(
        SimulatedWearer(drawn_wish_db([d.wish_sd_db for d in DIMENSIONS], seed), seed=seed)
    )
    kept, kills = b"", list[int]()
    while True:
        rig.start("--hearing-aid", aid)
        _take_up(rig, seed)
        until_s = time.monotonic() + chance.uniform(0.0, LIFE_S_MAX)
        taken = 0
        while not _tuning(rig).complete and (time.monotonic() < until_s or len(kills) >= kills_max):
            for line in rig.console.lines(0.05):
                taken += line == "OK"
                what, told = told_unasked(line)
                if what and (answer := wearer(what, told)):
                    rig.console.send(answer)
        _kill(rig)
        found = _tuning(rig)
        now = found.path.read_bytes()[: found.good_bytes]
        assert now.startswith(kept), "what was recorded is still recorded"
        assert _answers(now) - _answers(kept) >= taken, "what was taken is recorded"
        kept = now
        if found.complete:
            break
        kills.append(_answers(now))
    verdict = replay_tuning_journal(found.path)
    assert verdict.code == IDENTICAL, verdict
    return kills


def _take_up(rig: Rig, seed: int) -> None:
    """Have the tuning begun, or gone on with."""
    operator = rig.operator
    operator.greet()
    rig.wait(lambda: "aid=ready" in operator.ask("TUNE:STAT?"))
    state = operator.ask("TUNE:STAT?")
    if state.startswith("state=idle"):
        assert operator.ask(f"TUNE:STAR COUNT=40,SEED={seed}") == "OK"
    elif state.startswith("state=paused"):
        assert operator.ask("TUNE:CONT") == "OK"


def _tuning(rig: Rig) -> Recovered:
    return read_journal(rig.data / "tuning-000001.journal")


def _answers(journal: bytes) -> int:
    return journal.count(b'"what": "answered"')


@dataclass
class Update:
    """A bundle on its way."""

    bundle: bytes
    age: str  # the last word
    taken: int = 0  # bytes that were acknowledged
    kills: list[int] = field(default_factory=list)  # the bytes that had come

    @classmethod
    def by_chance(cls, chance: random.Random) -> "Update":
        return cls(MAGIC + chance.randbytes(BUNDLE_BYTES), chance.choice([*HANDED_OVER]))

    def handed_over(self, data: Path) -> bool:
        """Return whether the system has it to install: whole, under its name, and no other."""
        names = {path.name for path in data.glob("update*.raucb")}
        if not names:
            return False
        assert names == {HANDED_OVER[self.age]}
        assert (data / HANDED_OVER[self.age]).read_bytes() == self.bundle
        assert [*data.glob("update.part*")] == []
        return True


def kill_updates(directory: Path, chance: random.Random, kills: int) -> Iterator[list[int]]:
    """Disturb update after update until all kills are done; yield bytes at each kill."""
    system = directory / "system"
    for name in ("told", "updates"):
        (system / name).mkdir(parents=True)
    with Rig(directory / "data", speed=SPEED) as rig:
        while kills > 0:
            update = Update.by_chance(chance)
            while not update.handed_over(rig.data):
                rig.start("--system", str(system))
                rig.operator.greet()
                life_s = chance.uniform(0.0, LIFE_S_MAX) if len(update.kills) < kills else 1e9
                _send(rig, update, time.monotonic() + life_s)
                time.sleep(chance.uniform(0.0, END_S_MAX))
                _kill(rig)
                update.kills.append(_come(rig, update))
            rig.start("--system", str(system))
            rig.operator.greet()
            assert rig.operator.ask("SYST:UPD?") == "installing"
            rig.operator.ask("SYST:EXIT")
            (rig.data / HANDED_OVER[update.age]).unlink()
            yield update.kills
            kills -= len(update.kills)


def _send(rig: Rig, update: Update, until_s: float) -> None:
    """Send what is missing until some time, and the last word if there is enough of it."""
    digest = hashlib.sha256(update.bundle).hexdigest()
    assert rig.operator.ask(f"SYST:UPD:BEG {len(update.bundle)},{digest}") == "OK"
    told = told_values("SYST:UPD?", rig.operator.ask("SYST:UPD?"), "state", "offset", "size")
    begun = told.whole("offset", high=len(update.bundle))
    assert begun >= (update.taken // SYNCED_BYTES - 1) * SYNCED_BYTES, "what was synced is there"
    update.taken = begun
    lines = [*pieces_of(update.bundle, begun)]
    for first in range(0, len(lines), PIECES_AHEAD):
        some = lines[first : first + PIECES_AHEAD]
        for line in some:
            rig.console.send(line)
        missing = len(some)
        while missing and time.monotonic() < until_s:
            answers = [line for line in rig.console.lines(0.05) if not line.startswith("!")]
            assert set(answers) <= {"OK"}
            missing -= len(answers)
            update.taken = min(update.taken + len(answers) * PIECE_BYTES_MAX, len(update.bundle))
        if time.monotonic() >= until_s:
            return
    rig.console.send(f"SYST:UPD:END {update.age}")


def _come(rig: Rig, update: Update) -> int:
    """Return how much has come; it is what was sent."""
    if update.handed_over(rig.data):
        return len(update.bundle)
    (part,) = rig.data.glob("update.part*")
    come = part.read_bytes()
    assert update.bundle.startswith(come)
    assert len(come) >= update.taken, "what was taken is there"
    return len(come)


def _kill(rig: Rig) -> None:
    assert rig.process is not None
    rig.process.kill()
    code, words = rig.process.end_of()
    assert words == "", f"it ended with {code} and said {words!r}"
