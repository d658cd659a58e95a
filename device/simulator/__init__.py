"""A tone generator and a listener that need no hardware: pure objects, and a pty in front.

What a script needs that simulates whole tests can be imported from here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from device.simulator.audiogram import Audiogram
    from device.simulator.head import Head
    from device.simulator.hearing import SimulatedTest
    from device.simulator.listener import SimulatedListener
    from device.simulator.operator import Operator
    from firmware_py.terms.settings import Settings

__all__ = ["Audiogram", "Head", "Operator", "Settings", "SimulatedListener", "SimulatedTest"]

_MODULES: Final = {
    "Audiogram": "device.simulator.audiogram",
    "Head": "device.simulator.head",
    "Operator": "device.simulator.operator",
    "Settings": "firmware_py.terms.settings",
    "SimulatedListener": "device.simulator.listener",
    "SimulatedTest": "device.simulator.hearing",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for: who simulates a board needs no procedure."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
