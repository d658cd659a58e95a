"""One run: a device lives through a story, and is judged by what has to be true of it."""

import itertools
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from device.simulator.virtual_clock import S
from firmware_py.firmware import FirmwareError, Ports
from firmware_py.journal import read_journal
from firmware_py.platform.data_directory import (
    SESSION,
    DataDirectory,
    DataDirectoryError,
    session_number,
)
from firmware_py.platform.program import EXIT_CONFIGURATION, EXIT_DONE, EXIT_JOURNAL
from firmware_py.sessions.replay import replay, replay_from
from firmware_py.terms.outcomes import Verdict
from firmware_py.terms.reasons import Code, Reason
from firmware_py.terms.results import EarResult, SessionResult
from firmware_py.tuning.tuning_record import TuningHeader
from tests.journal.simulated_disk import PowerLostError, SimulatedDisk
from tests.simulation.day import USUAL_DAY, Day
from tests.simulation.given import DATA, check_seals
from tests.simulation.story import CABLE, Story, Trouble
from tests.simulation.troubles import befall
from tests.simulation.violation import Violation
from tests.simulation.watch import Watch, WatchedFirmware
from tests.simulation.watched_board import WatchedBoard
from tests.simulation.world import World

RESTART_S: Final = 5.0  # the unit's RestartSec
LIVENESS_S: Final = 1800.0  # of 8,000 by air the longest took 939: slow tones, both ears masked
LIVES_MAX: Final = 60
KEPT_MAX: Final = 1000  # in any collection of the firmware: it has no reason to keep more
COUNTS: Final = ("dropped", "garbled", "delayed", "duplicated", "merged")  # in the order of CABLE


@dataclass
class Outcome:
    # of all sessions that were finished, by number
    results: dict[int, SessionResult] = field(default_factory=dict)
    sessions: int = 0  # that were finished
    lives: int = 0
    simulated_s: float = 0.0
    lines: int = 0
    met: Counter[str] = field(default_factory=Counter)  # how often each kind of trouble happened

    def __str__(self) -> str:
        ends = ", ".join(f"{number} {result.outcome}" for number, result in self.results.items())
        return (
            f"{self.sessions} sessions {ends}; {self.lives} starts, {self.lines} lines typed, "
            f"{self.simulated_s:.1f} s; {dict(+self.met)}"
        )


class Run:
    """One device in one world, from its first start until it has finished a session in good health.

    Firmware, board and disk may be broken ones, to see that it is noticed.
    """

    def __init__(
        self, story: Story, firmware: type[WatchedFirmware] = WatchedFirmware,
        board: type[WatchedBoard] = WatchedBoard, disk: type[SimulatedDisk] = SimulatedDisk,
        day: Day = USUAL_DAY,
    ) -> None:  # fmt: skip
        self.story = story
        self.outcome = Outcome()
        self.world = World(story, board, disk, day)
        self._firmware_type = firmware
        self._nonces = (f"{number:08x}" for number in itertools.count(1))
        self.world.operator.has_seen_enough = self._has_proven_itself
        self._complete_before = 0
        for trouble in story.troubles:
            self.world.at(trouble.at_s, partial(self._befall, trouble))
        self.world.at(story.safety_s, self._heal)

    def live(self) -> Outcome:
        while not self._has_proven_itself():
            self._live_once()
        self._judge()
        return self.outcome

    # What happens

    def _befall(self, trouble: Trouble) -> None:
        self.outcome.met[trouble.kind] += 1
        befall(self.world, trouble)

    def _heal(self) -> None:
        self.world.heal()
        self._complete_before = self._count_completed()
        self._look_whether_it_is_well()

    def _look_whether_it_is_well(self) -> None:
        """End the firmware when a healthy device has finished a session; it may not take long."""
        world = self.world
        if world.clock.seconds > self.story.safety_s + LIVENESS_S:
            raise Violation(f"a healthy device has finished no session in {LIVENESS_S:g} s")
        firmware = world.firmware
        if firmware is not None and firmware.runner.session is None and self._has_proven_itself():
            firmware.stop()
        world.after(1.0, self._look_whether_it_is_well)

    def _has_proven_itself(self) -> bool:
        return self.world.healthy and self._count_completed() > self._complete_before

    def _count_completed(self) -> int:
        self.world.ledger.look(self.world.disk)
        pages = self.world.ledger.pages.items()
        tests = (page for path, page in pages if path.name.startswith(SESSION))
        return sum(page.outcome == "complete" for page in tests)

    # Lives

    def _live_once(self) -> None:
        world, outcome = self.world, self.outcome
        outcome.lives += 1
        if outcome.lives > LIVES_MAX:
            raise Violation(f"the firmware was started {LIVES_MAX} times")
        code, words = self._process()
        self._check_end(code, words)
        world.come_back()
        world.move(world.clock.us + round((RESTART_S + world.off_s) * S))
        world.off_s = 0.0
        if world.tones.next_url != world.tones.url:
            world.tones.url, world.tones.there = world.tones.next_url, True

    def _process(self) -> tuple[int, str]:
        """Run the firmware as its process does; return exit code and words, -1 without power."""
        world = self.world
        try:
            data = DataDirectory(DATA, world.seal_key, world.disk, world.day.device)
            world.firmware = self._firmware_type(
                world.configuration(), Ports(world.tones, world.console, world.aids), data,
                world.clock,
                self._nonces.__next__, world.supervisor(), world.calibration(),
            )  # fmt: skip
            world.firmware.watch = Watch(world)
            world.seconds.starts()
            world.firmware.run()
        except PowerLostError:
            return -1, "power lost"
        except DataDirectoryError as error:
            return EXIT_CONFIGURATION, str(error)
        except FirmwareError as error:
            return error.code, str(error)
        except Exception as error:
            raise Violation(f"the firmware is at fault: {error!r}") from error
        return EXIT_DONE, ""

    def _check_end(self, code: int, words: str) -> None:
        """Check that it ended as it should, said why, and kept no more than it needs."""
        world = self.world
        if code > EXIT_DONE and not words:
            raise Violation(f"it ended with {code} and without a word")
        if code == EXIT_JOURNAL:
            raise Violation(f"a disk ended the firmware: {words}")
        if code > EXIT_DONE and world.clock.us > world.excused_until_us:
            raise Violation(f"a healthy device ended with {code}: {words}")
        surplus = world.operator.surplus
        last_words = surplus[-1:] if code > EXIT_DONE else []
        if surplus != last_words or any(not line.startswith("ERROR") for line in last_words):
            raise Violation(f"nobody asked for {surplus}; exit code {code}")
        if code >= EXIT_DONE and world.firmware is not None and not world.manager.ending:
            raise Violation("the supervisor was not told that the firmware ends")
        if world.firmware is not None:
            for where, kept in _collections(world.firmware, "firmware", set()):
                if kept > KEPT_MAX:
                    raise Violation(f"{where} has {kept} entries")

    # In the end

    def _judge(self) -> None:
        world, outcome = self.world, self.outcome
        for path, page in world.ledger.pages.items():
            if page.header and page.content != world.day.files.get(path):
                check_seals(path.name, page.content)
                if path.name.startswith(SESSION):
                    self._judge_journal(path)
                else:
                    self._judge_tuning(path)
        outcome.simulated_s = world.clock.seconds
        outcome.lines = world.operator.lines
        for counts in world.counts:
            met = {kind: getattr(counts, count) for kind, count in zip(CABLE, COUNTS, strict=True)}
            outcome.met.update(met)

    def _judge_tuning(self, path: Path) -> None:
        state = replay_from(TuningHeader, read_journal(path, disk=self.world.disk).records)
        if state.differences:
            raise Violation(f"{path.name} replays otherwise: {state.differences[:1]}")

    def _judge_journal(self, path: Path) -> None:
        recovered = read_journal(path, disk=self.world.disk)
        state = replay(recovered.records)
        if state.differences:
            raise Violation(f"{path.name} replays otherwise: {state.differences[:1]}")
        if not recovered.complete:
            if not any(path.name in error for error in self.world.operator.errors):
                raise Violation(f"{path.name} was begun and never ended, and nobody was told why")
            return
        if state.result is None or state.result != state.test.result():
            raise Violation(f"{path.name} has another result than it replays")
        self.outcome.results[session_number(path)] = state.result
        self.outcome.sessions += 1


def _collections(thing: object, where: str, seen: set[int]) -> Iterator[tuple[str, int]]:
    """Yield all collections that hang on an object, each once, with how much is in it."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    inside: Iterable[tuple[Any, Any]] = ()
    if isinstance(thing, dict):
        yield where, len(thing)
        inside = thing.items()
    elif isinstance(thing, list | tuple | set | frozenset | deque):
        yield where, len(thing)
        inside = enumerate(thing)
    elif _is_of_the_firmware(thing):
        inside = getattr(thing, "__dict__", {}).items()
    for name, part in inside:
        yield from _collections(part, f"{where}.{name}", seen)


def _is_of_the_firmware(thing: object) -> bool:
    modules = [base.__module__ for base in type(thing).__mro__]
    simulated = isinstance(thing, SimulatedDisk)
    return not simulated and any(module.startswith("firmware_py") for module in modules)


def check(story: Story, board: type[WatchedBoard] = WatchedBoard) -> Outcome:
    """Live a story through.

    Where nothing changes the answers, the result is that without trouble.
    """
    run = Run(story, board=board)
    outcome = run.live()
    keeps_answers = story.keeps_answers and not run.world.jumped_unseen
    if keeps_answers and story.kinds() and 1 in outcome.results:
        undisturbed = Run(story.without_trouble(), board=board)
        wanted = undisturbed.live().results[1]
        if _calibration(run) == _calibration(undisturbed):  # else it began beside another board
            _compare(outcome.results[1], wanted)
    return outcome


def _calibration(run: Run) -> Any:
    page = run.world.ledger.page_of(1)
    assert page is not None
    return page.header["calibration"].get("digest")


def _compare(result: SessionResult, undisturbed: SessionResult) -> None:
    """Check that a result is that without trouble, as far as it came."""
    if result.outcome != undisturbed.outcome:
        return
    swapped = {ear.route.ear for ear in result.ears if _boards_of(ear)}
    told, wanted = _independent_part(result, swapped), _independent_part(undisturbed, swapped)
    if told != wanted:
        raise Violation(f"ears of session 1 are {told}, and without trouble {wanted}")


def _boards_of(ear: EarResult) -> list[Reason]:
    return [each for each in ear.reasons if each.code == Code.SEVERAL_BOARDS]


def _independent_part(
    result: SessionResult, swapped: Set[str]
) -> tuple[int | None, list[EarResult]]:
    """Return what may not depend on trouble: all but what is said of a board that was swapped.

    Of such an ear, which is in doubt, there is no mean threshold.
    An ear in which nothing was heard is played tones for a minute, until somebody says who hears
    them: how many these are depends on what came to nothing meanwhile. So there is no count then.
    """
    ears = []
    for ear in result.ears:
        reasons = tuple(each for each in ear.reasons if each not in _boards_of(ear))
        verdict = ear.verdict if reasons else Verdict.VALID
        pta4 = None if ear.route.ear in swapped else ear.pta4
        ears.append(replace(ear, boards=(), reasons=reasons, verdict=verdict, pta4=pta4))
    all_heard = all(ear.tones_heard or ear.tones_unsure for ear in ears)
    return result.presentations if all_heard else None, ears
