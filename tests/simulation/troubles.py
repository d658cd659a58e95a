"""What each kind of trouble does to a world."""

import datetime
import errno
import random
from collections.abc import Callable
from functools import partial
from typing import Final

from device.simulator.lines import SimulatedLine
from device.simulator.listener import Press
from device.simulator.virtual_clock import S, microseconds
from firmware_py.platform.data_directory import SESSION, TRIAL_NAME, TUNING, session_number
from firmware_py.platform.room_on_disk import TO_END_BYTES
from tests.firmware.whole_sessions import ANSWERS_EVERYTHING, ASLEEP, AWAKE
from tests.journal.simulated_disk import FREE_BYTES, Fault, Laid, PowerLoss
from tests.simulation.aids import FALSE_WORDS, LIES
from tests.simulation.given import DATA, ON_FILE, OUTSIDE, SEAL_KEYS
from tests.simulation.lock import PIN
from tests.simulation.operator import PAUSE, RESET
from tests.simulation.story import AUDIOGRAMS, CALIBRATIONS, KINDS, VIBRATORS, Trouble
from tests.simulation.watched_board import WatchedBoard
from tests.simulation.world import LATE_US, World

WRITES: Final = frozenset({"create", "write", "truncate", "rename", "remove", "fsync"})
GROWS: Final = frozenset({"create", "write"})
LITTLE_BYTES: Final = (0, 1_000, TO_END_BYTES - 1, TO_END_BYTES + 2_000, 400_000)
BOUNCES: Final = 6
BOUNCE_US: Final = 60_000
PINS: Final = ("0000", "123456", "999999999999", PIN, f"{PIN}0")  # mostly wrong
JUMPS_S: Final = ((-5.0, -0.3), (0.5, 5.0), (5.0, 4000.0))  # of a board's clock
JUMP_DAYS: Final = 20_000  # either way: to 1971, or to 2080


def method_name(kind: str) -> str:
    return kind.replace(" ", "_").replace("-", "_").lower()


def befall(world: World, trouble: Trouble) -> None:
    """Have a trouble happen now, and end after its time."""
    world.befallen.add(trouble.kind)
    getattr(Troubles(world, trouble), method_name(trouble.kind))()


class Troubles:
    """Does a trouble to a world; each kind is a method of its name."""

    def __init__(self, world: World, trouble: Trouble) -> None:
        self._world = world
        self._for_s = trouble.for_s
        self._number = trouble.chance
        self._chance = random.Random(trouble.chance)

    @property
    def _has_vibrator(self) -> bool:
        return self._world.story.calibration in VIBRATORS

    # The board

    def board_reset(self) -> None:
        self._world.boot_board()

    def board_swapped(self) -> None:
        own = self._world.day.serial
        other = f"{self._number:016x}"
        self._world.serial = other if self._world.serial == own else own
        self._world.boot_board()

    def board_without_noise(self) -> None:
        self._world.has_noise = False
        self.board_swapped()

    def board_hangs(self) -> None:
        self._world.hung_until_us = self._world.clock.us + microseconds(self._for_s)

    # A board that is not what the wire page has

    def board_clock_jumps(self) -> None:
        by_us = microseconds(self._chance.uniform(*JUMPS_S[self._number % len(JUMPS_S)]))
        self._world.board_clock_goes(jump_us=by_us)

    def board_clock_drifts(self) -> None:
        rate = self._chance.choice((-0.5, -0.1, -0.03, 0.03, 0.1, 0.5, 9.0))
        self._misfit(lambda board: board.server.worn_clock.go(board.now_us, rate=1.0 + rate))

    def board_clock_stands_still(self) -> None:
        self._misfit(lambda board: board.server.worn_clock.go(board.now_us, rate=0.0))

    def board_clock_wraps(self) -> None:
        board, clock = self._world.board, self._world.board.server.worn_clock
        if self._chance.random() < 0.5:
            self._world.board_clock_goes(wraps_at_us=30 * S)
            return
        soon_us = microseconds(self._chance.uniform(1.0, 9.0))
        jump_us = (1 << 32) - soon_us - clock(board.now_us)
        if abs(jump_us) >= S:  # a small one is not noticed, and it wraps soon as it is
            self._world.board_clock_goes(jump_us=jump_us)
        clock.go(board.now_us, wraps_at_us=1 << 32)

    def board_clock_is_negative(self) -> None:
        self._misfit(lambda board: board.server.set_clock(lambda us: -us))

    def board_tells_the_future(self) -> None:
        by_us = microseconds(self._chance.uniform(0.5, 600.0))

        def tell(board: WatchedBoard) -> None:
            right = board.server.worn_clock
            board.server.outbox.clock = lambda us: right(us) + by_us

        self._misfit(tell)

    def board_answers_without_fields(self) -> None:
        self._misfit(lambda board: setattr(board.server, "without_fields", True))

    def board_deaf_to_ping(self) -> None:
        self._misfit(lambda board: setattr(board.server, "deaf_to", "ping"))

    def _misfit(self, do: Callable[[WatchedBoard], None]) -> None:
        board = self._world.board
        do(board)
        self._world.after(self._for_s, board.mend)

    def button_unknown(self) -> None:
        self._world.board.server.button(
            self._chance.choice((3, 7, 0)), True, self._world.board.now_us
        )

    def button_of_no_use_held(self) -> None:
        self._world.board.hold(Press(0, microseconds(self._for_s), 2))

    def boards_take_turns(self) -> None:
        began_s = self._world.clock.seconds

        def swap() -> None:
            if not self._world.healthy:
                self._world.swap_boards()
                self._world.tones.vanish()
                self._world.after(0.1, lambda: setattr(self._world.tones, "there", True))
            if self._world.clock.seconds < began_s + self._for_s:
                self._world.after(self._chance.uniform(0.3, 5.0), swap)

        swap()

    # The ports

    def tone_port_gone(self) -> None:
        if self._chance.random() < 0.5:  # the board has its power from there
            self._world.boot_board()
        self._vanish(self._world.tones)

    def tone_port_renamed(self) -> None:
        self._world.tones.vanish()
        self._world.tones.next_url = f"/dev/tone-generator-{self._number}"

    def tone_port_leads_elsewhere(self) -> None:
        line = self._world.tones
        line.vanish()
        line.there = line.elsewhere = True
        self._world.after(self._for_s, lambda: setattr(line, "elsewhere", False))

    def console_gone(self) -> None:
        self._world.operator.hang_up()
        self._vanish(self._world.console)

    def _vanish(self, line: SimulatedLine) -> None:
        line.vanish()
        self._world.after(self._for_s, lambda: setattr(line, "there", True))

    def tone_port_takes_nothing(self) -> None:
        self._take_nothing(self._world.tones)

    def console_is_not_read(self) -> None:
        self._world.operator.slack_us = LATE_US
        self._take_nothing(self._world.console)

    def _take_nothing(self, line: SimulatedLine) -> None:
        line.takes = False
        self._world.after(self._for_s, lambda: setattr(line, "takes", True))

    # The power, and the process

    def power_cut(self) -> None:
        self._world.lose_power(self._chance.choice(list(PowerLoss)), self._number)

    def power_cut_while_writing(self) -> None:
        self._world.loss = self._chance.choice(list(PowerLoss)), self._number
        self._fail_once(calls_max=12)

    def power_cut_of_all(self) -> None:
        self._world.boot_board()
        self.power_cut()

    def firmware_killed(self) -> None:
        self._world.lose_power(PowerLoss.KEPT, self._number)

    def firmware_ended(self) -> None:
        if self._world.firmware is not None:
            self._world.firmware.stop()

    # The disk

    def disk_full(self) -> None:
        self._fail(errno.ENOSPC, GROWS)

    def disk_fills(self) -> None:
        self._world.disk.free = self._chance.choice(LITTLE_BYTES)

        def empty() -> None:
            self._world.disk.free = FREE_BYTES

        self._world.after(self._for_s, empty)

    def disk_read_only(self) -> None:
        self._fail(errno.EROFS, WRITES)

    def disk_error(self) -> None:
        self._fail_once(20, errno.EIO)

    def _fail(self, error: int, only: frozenset[str]) -> None:
        disk = self._world.disk
        if not disk.power_is_gone:
            disk.fail(Fault(len(disk.calls) + 1, error, for_ever=True, only=only))
            self._world.after(self._for_s, disk.heal)

    def _fail_once(self, calls_max: int, error: int | None = None) -> None:
        disk = self._world.disk
        if not disk.power_is_gone:
            disk.fail(Fault(len(disk.calls) + self._chance.randint(1, calls_max), error))

    def disk_slow(self) -> None:
        self._world.was_slow, self._world.operator.slack_us = True, LATE_US
        self._world.slow_until_us = self._world.clock.us + microseconds(self._for_s)
        self._world.slow_us = self._chance.choice((20_000, 300_000, 1_500_000))

    def strange_file(self) -> None:
        """Lay down what is no file, in the name of one that the device may look at or write."""
        disk = self._world.disk
        there = [path for path in disk.paths() if path.suffix == ".journal"]
        kind = self._chance.choice((SESSION, TUNING))
        newest = max((session_number(path) for path in there), default=0)
        number = newest + self._chance.choice((1, 1, 2, 17))
        names = [f"{kind}-{number:06d}.journal", TRIAL_NAME]
        cuts = [f"{path.name}.cut-{len(disk.durable(path) or b'')}" for path in there]
        names += [*cuts, *(f"{each}.part" for each in cuts)]
        target = self._chance.choice((OUTSIDE, *there))
        what = self._chance.choice([*Laid])
        if what is Laid.LOOSE_LINK:
            target = DATA / "nowhere"
        disk.lay(DATA / self._chance.choice(names), what, target)

    # The clocks

    def wall_clock_jumps(self) -> None:
        days = self._chance.uniform(-JUMP_DAYS, JUMP_DAYS)
        self._world.clock.jump = datetime.timedelta(days=days)

    def asleep_with_its_clock(self) -> None:
        with self._world.clock.asleep():
            self.not_scheduled()

    def not_scheduled(self) -> None:
        self._world.stand_still(self._for_s)

    # What it is started with, from its next start on

    def other_calibration(self) -> None:
        known = (*CALIBRATIONS, *VIBRATORS) if self._has_vibrator else CALIBRATIONS
        self._world.on_file = ON_FILE[self._chance.choice(known)]

    def other_seal_key(self) -> None:
        self._world.seal_key = self._chance.choice((None, *SEAL_KEYS))

    # The operator

    def _say(self, *lines: str) -> None:
        if self._world.console.is_talking:
            self._world.operator.say(self._world.clock.us, self._chance.choice(lines))

    def operator_pauses(self) -> None:
        self._say(PAUSE)

    def operator_types_nonsense(self) -> None:
        if self._world.console.is_talking:
            self._world.operator.nonsense(self._world.clock.us, self._chance)

    def operator_types_pins(self) -> None:
        for pause_s in sorted(
            self._chance.uniform(0.0, 6.0) for _ in range(self._chance.randint(1, 4))
        ):
            pin = self._chance.choice(PINS)
            self._world.after(pause_s, partial(self._say, f"SYST:PIN {pin}"))

    def operator_plays_a_tone(self) -> None:
        by_bone = ("TONE LEFT-BONE,1000,40", "TONE RIGHT-BONE,250,30,45")
        told = by_bone if self._has_vibrator else ()
        self._say("TONE LEFT,1000,40", "TONE RIGHT,4000,30,45", *told)

    def operator_plays_a_calibration_tone(self) -> None:
        if self._chance.random() < 0.5:
            self._say("CAL:NOB")
        self._say("CAL:TONE LEFT,1000,-20", "CAL:TONE RIGHT,8000,0", "CAL:STOP")

    def operator_changes_settings(self) -> None:
        if self._world.console.is_talking:
            self._world.operator.change_settings(self._world.clock.us, self._chance)

    def operator_aborts(self) -> None:
        self._say("SESS:ABOR")

    def operator_resets(self) -> None:
        self._say(RESET)

    def operator_ends_it(self) -> None:
        self._say("SYST:EXIT")

    # Another day, another operator, another person

    def off_for_long(self) -> None:
        self._world.off_s = self._for_s
        self.power_cut_of_all()

    def next_operator(self) -> None:
        self.console_gone()

    def next_person(self) -> None:
        self._world.another_person(self._chance.choice(AUDIOGRAMS))

    def operator_tunes(self) -> None:
        self._say(f"TUNE:STAR ID={self._world.seconds.identifier},COUNT=5")

    def other_aid(self) -> None:
        self._world.swap_aid(self._chance.randrange(2))

    def aid_lies(self) -> None:
        self._world.have_aid_lie(self._chance.choice(LIES), self._chance.choice(FALSE_WORDS))

    # The listener

    def listener_asleep(self) -> None:
        self._be(ASLEEP)

    def listener_answers_everything(self) -> None:
        self._be(ANSWERS_EVERYTHING)

    def _be(self, mood: str) -> None:
        listener = self._world.listener
        listener.mood = mood
        self._world.after(self._for_s, lambda: setattr(listener, "mood", AWAKE))

    def button_stuck(self) -> None:
        button = self._chance.choice((1, 1, 2))
        self._world.board.hold(Press(0, microseconds(self._for_s), button))

    def button_bounces(self) -> None:
        for bounce in range(BOUNCES):
            self._world.board.hold(Press(bounce * BOUNCE_US, BOUNCE_US // 10))


assert all(hasattr(Troubles, method_name(kind)) for kind in KINDS)
