"""The console's commands of desks of their own; those that not every device has come in late."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from firmware_py.console.console import Console
from firmware_py.installation.card_system import CardSystem
from firmware_py.installation.configuration import Configuration
from firmware_py.link.client import Client
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.ports import Port
from firmware_py.sessions.runner import Runner

if TYPE_CHECKING:
    from firmware_py.tuning.tuner import Tuner


def add_tuning(
    console: Console,
    configuration: Configuration,
    client: Client,
    hearing_aid: Port,
    data: DataDirectory,
    clock: SteadyClock,
    tell: Callable[[str, dict[str, Any]], None],
    tests: Runner,
) -> "Tuner":
    """Return what tunes the hearing aid, and have the console take its commands."""
    from firmware_py.operator.tuning_desk import COMMANDS as OF_TUNING
    from firmware_py.operator.tuning_desk import TuningDesk
    from firmware_py.tuning.tuner import Tuner

    within_s = configuration.resume_within_s
    tuner = Tuner(data, client, hearing_aid, clock, tell, within_s, tests)
    console.add(OF_TUNING, TuningDesk(configuration, tuner))
    return tuner


def add_updates(console: Console, system: CardSystem, data: DataDirectory) -> None:
    from firmware_py.operator.update_desk import COMMANDS as OF_UPDATES
    from firmware_py.operator.update_desk import UpdateDesk

    desk = UpdateDesk(system, data, data.free_bytes)
    console.add(OF_UPDATES, desk, desk.operator_left)
