"""Objects for any number of threads, which do one thing at a time, and whose copies are copies."""

import copy
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

_LOCK: Final = "_turn"  # the one attribute that a copy has of its own


class OneAtATime:
    """Has the methods and properties of its subclasses wait for one another.

    They work in memory that is allocated once, so that two at a time would spoil each other's work;
    and a copy shares nothing, for its next answer would change the original. To wait costs less
    than a microsecond where nobody else is at it.
    """

    _turn: threading.RLock  # of a thread: a method may call another

    def __new__(cls, *_: Any, **__: Any) -> Any:
        """Make it with a lock, however it is made: anew, as a copy, or unpickled."""
        made = super().__new__(cls)
        made._turn = threading.RLock()
        return made

    def __init_subclass__(cls) -> None:
        for name, value in [*vars(cls).items()]:
            if name.startswith("_"):
                continue
            if isinstance(value, property) and value.fget is not None:
                setattr(cls, name, property(_alone(value.fget), doc=value.__doc__))
            elif callable(value):
                setattr(cls, name, _alone(value))

    def __getstate__(self) -> dict[str, Any]:
        """Return copies of all that it has: `copy`, `deepcopy` and `pickle` ask for it."""
        with self._turn:
            return copy.deepcopy({name: v for name, v in vars(self).items() if name != _LOCK})


def _alone(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: OneAtATime, *values: Any, **named: Any) -> Any:
        with self._turn:
            return method(self, *values, **named)

    return call
