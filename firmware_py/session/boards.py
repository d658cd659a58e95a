"""Which tone generators the tones of each ear came from: another one may be louder."""

from typing import Final

from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.route import Route

OF_EAR_MAX: Final = 10  # are told of an ear: one more tells nothing more


def serial_of(board: str) -> str:
    """Return the serial number of a tone generator told by name and serial number."""
    return board.partition(" ")[2]


class Boards:
    """The tone generators of one test, each by its name and serial number."""

    def __init__(self) -> None:
        self.now = ""  # the one that answered last; "": unknown
        self._by_route: dict[Route, list[str]] = {}

    def take_answer(self, route: Route) -> None:
        """Take in that a tone, or a silence, in this ear got its answer."""
        of_ear = self._by_route.setdefault(route, [])
        if self.now and self.now not in of_ear and len(of_ear) < OF_EAR_MAX:
            of_ear.append(self.now)

    def of(self, route: Route) -> tuple[str, ...]:
        """Return those of an ear, in the order of their first answers."""
        return tuple(self._by_route.get(route, ()))

    @property
    def differ(self) -> bool:
        return len({tuple(of_ear) for of_ear in self._by_route.values()}) > 1

    def remark(self) -> Reason:
        code, of_ears = Code.BOARDS_OF_EAR, self._by_route.items()
        by_ear = [reason(code, ear=str(route), boards=of) for route, of in of_ears]
        return reason(Code.EARS_BY_BOARDS, by_ear=by_ear)
