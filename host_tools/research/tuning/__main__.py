"""`python -m host_tools.research.tuning`: regret by method, and what becomes of bad people."""

import argparse
import sys
from pathlib import Path
from typing import Final

from device.simulator.preferences import PEOPLE
from firmware_py.platform.program import run_program
from host_tools.drawings.drawing import PICTURE_ENDINGS
from host_tools.errors import HostError
from host_tools.research.study.work import Where, all_done
from host_tools.research.tuning.course import Course, run_course
from host_tools.research.tuning.methods import METHODS, PRODUCT, TITLES
from host_tools.research.tuning.peer import TITLE, run_peer
from host_tools.research.tuning.people import SENSITIVITY, drawn_person
from host_tools.research.tuning.procedure import run_tuning
from host_tools.research.tuning.tables import methods_table, procedure_table

SAME_PEOPLE: Final = ", the peer's people"


def main(arguments: list[str]) -> int:
    """Print the tables, and draw the picture."""
    given = _parser().parse_args(arguments)
    try:
        _run(given)
    except HostError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m host_tools.research.tuning", description=__doc__
    )
    parser.add_argument("--people", type=_positive, default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the first person")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes; 0: none")
    parser.add_argument(
        "--sensitivity", type=float, default=SENSITIVITY, metavar="S",
        help="median of the people: SDs of a comparison's noise to a unit of utility",
    )  # fmt: skip
    parser.add_argument(
        "--methods", type=_methods, default=[*METHODS], metavar="NAMES",
        help=f"with commas, the product's first; of {', '.join(METHODS)}",
    )  # fmt: skip
    parser.add_argument("--peer", metavar="PYTHON", help="an interpreter with AEPsych")
    parser.add_argument(
        "--peer-people", type=_positive, metavar="N", help="the first of them, for the peer"
    )
    parser.add_argument("--picture", type=_picture, metavar="FILE", help="regret by comparisons")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is less than 1")
    return value


def _methods(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in METHODS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(METHODS)}")
    if names[0] != PRODUCT:
        raise argparse.ArgumentTypeError(f"the first is not {PRODUCT}")
    return names


def _picture(text: str) -> Path:
    path = Path(text)
    if path.suffix not in PICTURE_ENDINGS:
        raise argparse.ArgumentTypeError(f"{text} ends with none of {', '.join(PICTURE_ENDINGS)}")
    return path


def _run(given: argparse.Namespace) -> None:
    seeds = range(given.seed, given.seed + given.people)
    people = [drawn_person(seed, sensitivity=given.sensitivity) for seed in seeds]
    jobs = [(method, person) for person in people for method in given.methods]
    by_method: dict[str, list[Course]] = {method: [] for method in given.methods}
    where = Where(given.workers)
    for course in all_done(run_course, jobs, where):
        by_method[course.method].append(course)
    courses = {TITLES[method]: some for method, some in by_method.items()}
    if given.peer:
        few = people[: given.peer_people]
        if len(few) < len(people):
            courses[TITLES[PRODUCT] + SAME_PEOPLE] = courses[TITLES[PRODUCT]][: len(few)]
        courses[TITLE] = run_peer(given.peer, few, given.workers)
    print(*methods_table(courses), "", sep="\n")
    everybody = [drawn_person(seed, kind, given.sensitivity) for kind in PEOPLE for seed in seeds]
    tuned = all_done(run_tuning, everybody, where)
    print(*procedure_table(tuned), sep="\n")
    if given.picture:
        from host_tools.research.tuning.picture import draw_regret

        drawn = {title: some for title, some in courses.items() if SAME_PEOPLE not in title}
        draw_regret(drawn, given.picture)


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(sys.argv[1:])))
