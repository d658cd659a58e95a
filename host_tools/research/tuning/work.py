"""Sessions here or in processes: the inference keeps one thread busy."""

import multiprocessing
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

CHUNK: Final = 2  # sessions handed out at a time

Given = TypeVar("Given")
Made = TypeVar("Made")


def all_done(function: Callable[[Given], Made], given: Sequence[Given], workers: int) -> list[Made]:
    """Apply a function to each, and return what it makes in their order.

    Parameters
    ----------
    function : callable
        At the top of a module.
    given : sequence
    workers : int
        Processes; with 0 it is done in this one.
    """
    if workers == 0:
        return [function(each) for each in given]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        return [*pool.imap(function, given, CHUNK)]
