"""Which ear is asked next, by which route, and what it begins with."""

from collections.abc import Iterable

from firmware_py.ear.ear import EarTest
from firmware_py.session.cross_hearing import CrossHearing
from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.route import Route
from firmware_py.terms.settings import BETTER, Settings


def next_route(settings: Settings, ears: Iterable[EarTest]) -> Route | None:
    """Return the route by air to go on with, None if all are over.

    All are familiarised first if the better one is to begin; then it is one after the other. A
    check comes before that.
    """
    tests = [ear for ear in ears if not ear.route.by_bone]
    waiting = [ear for ear in tests if not ear.over]
    if not waiting:
        return None
    if settings.first_ear != BETTER or len(tests) == 1:
        return waiting[0].route
    checked = [ear for ear in waiting if ear.phase == Purpose.CHECK]
    strange = [ear for ear in waiting if ear.phase == Purpose.FAMILIARISE]
    begun = [ear for ear in waiting if ear.begun]
    return (checked or strange or begun or [min(waiting, key=_familiar_level)])[0].route


def _familiar_level(ear: EarTest) -> float:
    level = ear.familiarisation.threshold_db_hl
    return float("inf") if level is None else level


def next_again(hearing: CrossHearing) -> Route | None:
    """Return one to be asked again with noise: by air before the tests by bone, and after them.

    Not between them, for earphones and vibrator would be put on once more each.
    """
    if hearing.bone.under_way:
        return None
    by_bone_over = hearing.bone.next_route() is None
    routes = [route for route in hearing.ears if by_bone_over or not route.by_bone]
    by_bone_first = sorted(routes, key=lambda route: not route.by_bone)
    return next(filter(hearing.ask_again, by_bone_first), None)


def next_before_bone(
    settings: Settings, hearing: CrossHearing
) -> tuple[Route | None, bool, tuple[Route, Presentation] | None]:
    """Return a route by air or one to be asked again, if it is that, and else a check with noise.

    What is asked by bone behind noise comes as long as the vibrator is where it was.
    """
    route = next_route(settings, hearing.ears.values())
    check = None if route else hearing.next_behind_noise()
    if route is not None or check is not None:
        return route, False, check
    again = next_again(hearing)
    if again and hearing.bone.placing.wanted and (check := hearing.next_behind_noise()):
        return None, False, check  # found wanting on the way, of an ear before that one
    return again, again is not None, None if again else hearing.next_check()


def next_confirmed(ears: Iterable[EarTest]) -> Route | None:
    """Return one to be confirmed, by air: both are known, and have noise where it is needed."""
    by_air = (ear for ear in ears if not ear.route.by_bone)
    found = next(filter(_begins, by_air), None)
    return None if found is None else found.route


def _begins(ear: EarTest) -> bool:
    chosen = bool(ear.frequencies_to_confirm_hz)
    if chosen:
        ear.begin_confirmation()
    return chosen


def next_beside_air(hearing: CrossHearing) -> tuple[Route | None, EarTest | None]:
    """Return what comes when nothing is to be asked by air: bone, confirmed ears, who hears.

    Second in what is returned is an ear in which nothing was heard, if it is its turn: somebody is
    to say who hears its tones. Of an ear by air that is asked before the vibrator comes, while the
    earphones are on.
    """
    bone = hearing.bone.next_route()
    unheard = [ear for ear in hearing.ears.values() if ear.asks_equipment]
    by_air = [ear for ear in unheard if not ear.route.by_bone]
    if bone is not None and by_air:
        return by_air[0].route, by_air[0]
    route = bone or next_confirmed(hearing.ears.values())
    if route is None and unheard:
        return unheard[0].route, unheard[0]
    return route, None


def let_begin(ear: EarTest, hearing: CrossHearing) -> None:
    """Let an ear begin with what was told before: of the listener, and by bone of the ear."""
    if ear.route.by_bone:
        if ear.evidence.listener is None:
            ear.begin_by_bone(hearing.bone.by_either(ear.route), hearing.ears[Route(ear.route.ear)])
        return
    others = [
        each for route, each in hearing.ears.items()
        if each is not ear and not route.by_bone and each.found and each.observations
    ]  # fmt: skip
    if others and not ear.begun and others[0].outcome != Outcome.UNRELIABLE:
        ear.expect_listener(others[0], hearing.crossed_answers(ear.route))
