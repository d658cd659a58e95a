"""The first step that is proposed is done, and asking changes nothing."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from device.simulator.hearing import SimulatedTest, ear_named
from device.simulator.kinds import kind_named
from device.simulator.listener import SimulatedListener
from device.simulator.operator import Operator
from firmware_py.ear import agenda, course
from firmware_py.ear.reasons_to_ask import INTERRUPTS, REASONS_TO_ASK, Look
from firmware_py.session import hearing
from firmware_py.session.agenda import SESSION_REASONS, SessionReason, SessionState
from firmware_py.terms.settings import Settings
from tests.session.driver import two_ears

pytestmark = pytest.mark.xdist_group("agenda")  # one test counts what the others saw

COMPUTED: Final = (
    "_limits_db_hl",
    "_estimated",
    "modelled",
    "tones",
    "observations",
    "pauses",
    "_looked_at",
    "_otherwise",
)


class Steps:
    """A reason that proposes these."""

    def __init__(self, *steps: int) -> None:
        self._steps = steps

    def propose(self, _known: object, /) -> Sequence[int]:
        return self._steps


def test_steps_are_done_in_order_until_one_ends_the_search() -> None:
    done: list[int] = []

    def do(step: int) -> bool:
        done.append(step)
        return step == 0

    assert agenda.take_first([Steps(), Steps(1, 2), Steps(3, 0, 4), Steps(5)], None, do)
    assert done == [1, 2, 3, 0]
    assert not agenda.take_first([Steps(), Steps(6)], None, do)


def state_of(whole: object, seen: set[int]) -> Iterator[tuple[str, object]]:
    """Yield all that an ear or a session keeps, but for what it computed of it."""
    if id(whole) in seen or type(whole).__module__.split(".")[1:2] not in (["ear"], ["session"]):
        return
    seen.add(id(whole))
    for name, value in vars(whole).items():
        if name in COMPUTED:
            continue
        yield f"{type(whole).__name__}.{name}", kept(value)
        for each in value.values() if isinstance(value, dict) else [value]:
            if hasattr(each, "__dict__"):
                yield from state_of(each, seen)


def kept(value: object) -> object:
    """Return what is kept of a value: a plain one itself, of others which ones they are."""
    if isinstance(value, dict):
        return [(key, kept(each)) for key, each in value.items()]
    if isinstance(value, list | tuple | set):
        return [id(each) for each in value]
    return value if isinstance(value, int | float | str | None) else id(value)


@pytest.fixture(scope="module")
def proposed() -> dict[str, int]:
    """How often each reason proposed something, in tests in which all of them have cause."""
    return dict.fromkeys([*map(name_of, (*INTERRUPTS, *REASONS_TO_ASK, *SESSION_REASONS))], 0)


def name_of(reason: object) -> str:
    if isinstance(reason, SessionReason):
        return reason.propose.__name__
    return type(reason).__name__


N1, N3, N6, CONDUCTIVE, DEAF = (
    Audiogram((250.0, 1000.0, 4000.0), levels)
    for levels in (
        (10.0, 10.0, 30.0), (35.0, 40.0, 60.0), (75.0, 90.0, 100.0), (55.0, 45.0, 45.0),
        (math.inf,) * 3,
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("right", "left", "about", "values"),
    [
        (N1, N6, {}, {}),
        (N3, N3, {"kind": kind_named("silent=12")}, {}),
        (N3, N3, {"kind": kind_named("late=6")}, {"ask_all": True}),
        (N3, N1, {"kind": kind_named("bursts")}, {}),
        (N3, N1, {"kind": kind_named("moved=22/20")}, {"ears": "right"}),
        (N3, N1, {}, {"conduct": "clinical", "confirm": "hughson-westlake", "ears": "both"}),
        (CONDUCTIVE, N1, {"head": Head({"right": 40.0})}, {"routes": "air, bone", "seed": 6}),
        (DEAF, N3, {}, {"routes": "air, bone"}),
        (
            CONDUCTIVE,
            CONDUCTIVE,
            {"head": Head({"right": 40.0, "left": 40.0})},
            {"routes": "air, bone"},
        ),
    ],
)
def test_a_reason_that_is_asked_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, proposed: dict[str, int],
    right: Audiogram, left: Audiogram, about: dict[str, Any], values: dict[str, Any],
) -> None:  # fmt: skip
    """Asked twice it proposes the same: the order of the questions is the whole of it."""
    ears = {ear_named("right"): right, ear_named("left"): left}
    settings = Settings.from_record({"seed": 3, **values})
    seed = settings.seed
    listener = SimulatedListener(ears, response_noise_db=2.0, lapse_rate=0.02, seed=seed, **about)
    test = SimulatedTest(settings, listener, operator=Operator(seats=True, hears="operator"))
    take_first: Any = agenda.take_first

    def watch(reasons: Iterable[Any], known: Any, do: Callable[[Any], bool]) -> bool:
        whole = known.ear if isinstance(known, Look) else test.test
        before = [*state_of(whole, set())]
        for each in reasons:
            first = each.propose(known)
            assert in_words(each.propose(known)) == in_words(first)
            proposed[name_of(each)] += bool(first)
        assert [*state_of(whole, set())] == before
        return bool(take_first(reasons, known, do))

    monkeypatch.setattr(course, "take_first", watch)
    monkeypatch.setattr(hearing, "take_first", watch)
    test.run()


def in_words(steps: Sequence[Any]) -> str:
    """Return steps but for where in memory a retest lies that is not begun."""
    return re.sub(r"0x\w+", "", repr(steps))


def test_all_reasons_had_cause_there(proposed: dict[str, int]) -> None:
    """But the first of all, which was due before anybody looked."""
    assert {name for name, times in proposed.items() if not times} <= {"Familiarise"}


def test_what_a_session_asks_about_is_what_it_knows() -> None:
    test = SimulatedTest(Settings(ears="left"), two_ears(left=20.0, right=20.0)).test
    known = SessionState(test.settings, test.cross_hearing, test.ear_check)
    steps = [each.propose(known) for each in SESSION_REASONS]

    assert [bool(each) for each in steps] == [False, True, *[False] * 9]
