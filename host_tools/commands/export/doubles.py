"""Sessions that are there twice: copies of a journal, and what a session was before it went on.

A copy may have another name, and lie in a directory that was copied from one device to another: it
is found by what is in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from firmware_py.archive import UNFINISHED
from host_tools.commands.export.examination import Examination


@dataclass
class Sorted:
    """Sessions without doubles, and what is to be said of the others."""

    kept: list[Examination] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    doubted: list[str] = field(default_factory=list)  # that are kept


def without_doubles(examinations: Sequence[Examination]) -> Sorted:
    """Leave out what is there twice; the finished one of two counts, else the first one."""
    told = Sorted()
    for each in sorted(examinations, key=lambda e: e.outcome == UNFINISHED):
        twin = next((other for other in told.kept if other.content == each.content), None)
        same = next((other for other in told.kept if _same_session(other, each)), None)
        if twin is not None:
            told.left_out.append(f"{each.where} is a copy of {twin.where}")
        elif same is not None and each.outcome == UNFINISHED:
            told.left_out.append(f"{each.where} is {same.where} before it was finished")
        else:
            if same is not None:
                told.doubted.append(
                    f"{each.where} and {same.where} both say that they are session "
                    f"{each.header.session} of device {each.header.device}, and differ"
                )
            told.kept.append(each)
    order = {id(each): place for place, each in enumerate(examinations)}
    told.kept.sort(key=lambda each: order[id(each)])
    return told


def _same_session(one: Examination, other: Examination) -> bool:
    """Tell whether two are of one session of one device; of an unknown device nobody knows."""
    return one.header.device != "" and _place(one) == _place(other)


def _place(of: Examination) -> tuple[str, int, str]:
    return of.header.device, of.header.session, of.header.started
