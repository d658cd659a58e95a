"""What each kind of trouble does to a world."""

import datetime
import errno
import random
from collections.abc import Callable
from functools import partial
from typing import Final

from device.simulator.listener import Press
from tests.journal.simulated_disk import Fault, PowerLoss
from tests.simulation.board import ANSWERS_EVERYTHING, ASLEEP, AWAKE
from tests.simulation.clock import microseconds
from tests.simulation.given import ON_FILE, SEAL_KEYS
from tests.simulation.lines import SimulatedLine
from tests.simulation.lock import PIN
from tests.simulation.operator import RESET
from tests.simulation.story import CALIBRATIONS, KINDS, Trouble
from tests.simulation.world import LATE_US, World

WRITES: Final = frozenset({"create", "write", "truncate", "rename", "remove", "fsync"})
GROWS: Final = frozenset({"create", "write"})
BOUNCES: Final = 6
BOUNCE_US: Final = 60_000
PINS: Final = ("0000", "123456", "999999999999", PIN, f"{PIN}0")  # mostly wrong
JUMP_DAYS: Final = 20_000  # either way: to 1971, or to 2080


def befall(world: World, trouble: Trouble) -> None:
    """Have a trouble happen now, and end after its time."""
    DEEDS[trouble.kind](world, trouble, random.Random(trouble.chance))


def _board_reset(world: World, _trouble: Trouble, _chance: random.Random) -> None:
    world.boot_board()


def _board_swapped(world: World, trouble: Trouble, _chance: random.Random) -> None:
    world.serial = f"{trouble.chance:016x}"
    world.boot_board()


def _board_without_noise(world: World, trouble: Trouble, chance: random.Random) -> None:
    world.has_noise = False
    _board_swapped(world, trouble, chance)


def _board_hangs(world: World, trouble: Trouble, _chance: random.Random) -> None:
    world.hung_until_us = world.clock.us + microseconds(trouble.for_s)


def _gone(world: World, line: SimulatedLine, trouble: Trouble) -> None:
    def back() -> None:
        line.there = True

    line.vanish()
    if line is world.console:
        world.operator.hung_up()
    world.after(trouble.for_s, back)


def _tone_port_gone(world: World, trouble: Trouble, chance: random.Random) -> None:
    if chance.random() < 0.5:  # the board has its power from there
        world.boot_board()
    _gone(world, world.tones, trouble)


def _tone_port_renamed(world: World, trouble: Trouble, _chance: random.Random) -> None:
    world.tones.vanish()
    world.tones.next_url = f"/dev/tone-generator-{trouble.chance}"


def _console_gone(world: World, trouble: Trouble, _chance: random.Random) -> None:
    _gone(world, world.console, trouble)


def _takes_nothing(world: World, line: SimulatedLine, trouble: Trouble) -> None:
    def again() -> None:
        line.takes = True

    line.takes = False
    world.after(trouble.for_s, again)


def _tone_port_takes_nothing(world: World, trouble: Trouble, _chance: random.Random) -> None:
    _takes_nothing(world, world.tones, trouble)


def _console_is_not_read(world: World, trouble: Trouble, _chance: random.Random) -> None:
    world.operator.slack_us = LATE_US
    _takes_nothing(world, world.console, trouble)


def _power_cut(world: World, trouble: Trouble, chance: random.Random) -> None:
    world.lose_power(chance.choice(list(PowerLoss)), trouble.chance)


def _power_cut_while_writing(world: World, trouble: Trouble, chance: random.Random) -> None:
    world.loss = chance.choice(list(PowerLoss)), trouble.chance
    if not world.disk.power_is_gone:
        world.disk.fail(Fault(len(world.disk.calls) + chance.randint(1, 12)))


def _power_cut_of_all(world: World, trouble: Trouble, chance: random.Random) -> None:
    world.boot_board()
    _power_cut(world, trouble, chance)


def _killed(world: World, trouble: Trouble, _chance: random.Random) -> None:
    world.lose_power(PowerLoss.KEPT, trouble.chance)


def _told_to_end(world: World, _trouble: Trouble, _chance: random.Random) -> None:
    if world.firmware is not None:
        world.firmware.stop()


def _fails(world: World, trouble: Trouble, error: int, only: frozenset[str]) -> None:
    if world.disk.power_is_gone:
        return
    world.disk.fail(Fault(len(world.disk.calls) + 1, error, for_ever=True, only=only))
    world.after(trouble.for_s, world.disk.heal)


def _disk_full(world: World, trouble: Trouble, _chance: random.Random) -> None:
    _fails(world, trouble, errno.ENOSPC, GROWS)


def _disk_read_only(world: World, trouble: Trouble, _chance: random.Random) -> None:
    _fails(world, trouble, errno.EROFS, WRITES)


def _disk_error(world: World, _trouble: Trouble, chance: random.Random) -> None:
    if not world.disk.power_is_gone:
        world.disk.fail(Fault(len(world.disk.calls) + chance.randint(1, 20), errno.EIO))


def _disk_slow(world: World, trouble: Trouble, chance: random.Random) -> None:
    world.was_slow, world.operator.slack_us = True, LATE_US
    world.slow_until_us = world.clock.us + microseconds(trouble.for_s)
    world.slow_us = chance.choice((20_000, 300_000, 1_500_000))


def _wall_clock_jumps(world: World, _trouble: Trouble, chance: random.Random) -> None:
    world.clock.jump = datetime.timedelta(days=chance.uniform(-JUMP_DAYS, JUMP_DAYS))


def _asleep_with_its_clock(world: World, trouble: Trouble, chance: random.Random) -> None:
    with world.clock.asleep():
        _not_scheduled(world, trouble, chance)


def _not_scheduled(world: World, trouble: Trouble, _chance: random.Random) -> None:
    world.stand_still(trouble.for_s)


def _other_calibration(world: World, _trouble: Trouble, chance: random.Random) -> None:
    world.on_file = ON_FILE[chance.choice(CALIBRATIONS)]


def _other_seal_key(world: World, _trouble: Trouble, chance: random.Random) -> None:
    world.seal_key = chance.choice((None, *SEAL_KEYS))


def _operator_says(*lines: str) -> "Deed":
    def say(world: World, _trouble: Trouble, chance: random.Random) -> None:
        if world.console.is_talking:
            world.operator.say(world.clock.us, chance.choice(lines))

    return say


def _operator_types_pins(world: World, _trouble: Trouble, chance: random.Random) -> None:
    for pause_s in sorted(chance.uniform(0.0, 6.0) for _ in range(chance.randint(1, 4))):
        world.after(pause_s, partial(_type_pin, world, chance.choice(PINS)))


def _type_pin(world: World, pin: str) -> None:
    if world.console.is_talking:
        world.operator.say(world.clock.us, f"SYST:PIN {pin}")


def _operator_types_nonsense(world: World, _trouble: Trouble, chance: random.Random) -> None:
    if world.console.is_talking:
        world.operator.nonsense(world.clock.us, chance)


def _operator_changes_settings(world: World, _trouble: Trouble, chance: random.Random) -> None:
    if world.console.is_talking:
        world.operator.change_settings(world.clock.us, chance)


def _mood(mood: str) -> "Deed":
    def change(world: World, trouble: Trouble, _chance: random.Random) -> None:
        def awake() -> None:
            world.listener.mood = AWAKE

        world.listener.mood = mood
        world.after(trouble.for_s, awake)

    return change


def _button_stuck(world: World, trouble: Trouble, chance: random.Random) -> None:
    world.board.hold(Press(0, microseconds(trouble.for_s), chance.choice((1, 1, 2))))


def _button_bounces(world: World, _trouble: Trouble, _chance: random.Random) -> None:
    for bounce in range(BOUNCES):
        world.board.hold(Press(bounce * BOUNCE_US, BOUNCE_US // 10))


Deed = Callable[[World, Trouble, random.Random], None]

DEEDS: Final[dict[str, Deed]] = {
    "board reset": _board_reset,
    "board swapped": _board_swapped,
    "board without noise": _board_without_noise,
    "board hangs": _board_hangs,
    "tone port gone": _tone_port_gone,
    "tone port renamed": _tone_port_renamed,
    "console gone": _console_gone,
    "tone port takes nothing": _tone_port_takes_nothing,
    "console is not read": _console_is_not_read,
    "power cut": _power_cut,
    "power cut while writing": _power_cut_while_writing,
    "power cut of all": _power_cut_of_all,
    "killed": _killed,
    "told to end": _told_to_end,
    "disk full": _disk_full,
    "disk read-only": _disk_read_only,
    "disk error": _disk_error,
    "disk slow": _disk_slow,
    "wall clock jumps": _wall_clock_jumps,
    "asleep with its clock": _asleep_with_its_clock,
    "not scheduled": _not_scheduled,
    "other calibration": _other_calibration,
    "other seal key": _other_seal_key,
    "operator pauses": _operator_says("SESS:PAUS"),
    "operator types nonsense": _operator_types_nonsense,
    "operator types PINs": _operator_types_pins,
    "operator plays a tone": _operator_says("TONE LEFT,1000,40", "TONE RIGHT,4000,30,45"),
    "operator plays a calibration tone": _operator_says(
        "CAL:TONE LEFT,1000,-20", "CAL:TONE RIGHT,8000,-6", "CAL:STOP"
    ),
    "operator changes settings": _operator_changes_settings,
    "operator aborts": _operator_says("SESS:ABOR"),
    "operator resets": _operator_says(RESET),
    "operator ends it": _operator_says("SYST:EXIT"),
    "listener asleep": _mood(ASLEEP),
    "listener answers everything": _mood(ANSWERS_EVERYTHING),
    "button stuck": _button_stuck,
    "button bounces": _button_bounces,
}
assert DEEDS.keys() == KINDS.keys()
