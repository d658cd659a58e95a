"""A tuning at a firmware in a process of ours: begun, shown while it runs, and its result."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from firmware_py.comparisons import tells
from firmware_py.comparisons.result import TuningResult
from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.paper.blocks import rows, section, tables
from firmware_py.paper.tuning_paper import comparisons_row, finding_row, setting_table
from firmware_py.terms.tells import BoardLostTold, ErrorTold, PauseTold, Tell
from firmware_py.terms.words import say
from host_tools.catalogue import ENGLISH, language_of
from host_tools.devices.device_answers import told_unasked, understanding
from host_tools.devices.patience import Wait
from host_tools.devices.processes import HearingAidProcess, Operator
from host_tools.devices.unfinished import WAITS, waiting_words
from host_tools.errors import HostError
from host_tools.papers import Shown
from host_tools.papers.characters import show_sections
from host_tools.terminal import show

if TYPE_CHECKING:  # `gp-pta --help` can do without it
    from rich.console import Console

UNDER_WAY: Final = ("state=playing", "state=gap", "state=window", "state=between", "state=waiting")
PAUSED: Final = "state=paused"
WORDS: Final[Mapping[str, str]] = {
    "first": "the first is better",
    "second": "the second is better",
    "same": "no difference",
}
# Takes the name of what is told unasked, and what it tells; returns a line to type, or "".
Person = Callable[[str, Tell | None], str]


def finding_words(result: TuningResult) -> str:
    return language_of(ENGLISH).say(finding_row(result))


def nobody(_what: str, _told: Tell | None) -> str:
    """Leave the answers to whoever has the button."""
    return ""


def tune(
    operator: Operator,
    start: Mapping[str, object],
    screen: "Console",
    aid: HearingAidProcess,
    person: Person = nobody,
    *,
    go_on: bool = True,
) -> TuningResult:
    """Run a tuning and show it; have the firmware end, and return the result.

    `start` has the arguments of TUNE:STAR; None leaves one out. The tuning waits for the work of
    `aid`, and ends with it. `person` answers over the console; by default the button does. `go_on`:
    the operator has said that the person of an unfinished tuning sits there.
    """
    _begin(operator, start, screen, go_on=go_on)
    _follow(operator, screen, aid, person)
    result = told_result(operator.ask("TUNE:RES?"))
    operator.ask("SYST:EXIT")
    operator.firmware.wait()
    return result


def told_result(answer: str) -> TuningResult:
    """Take the answer to TUNE:RES?, which also says which tuning it is of."""
    with understanding("TUNE:RES?"):
        told = json.loads(answer)
        del told["tuning"]
        return TuningResult.from_record(told, so_far=True)


def _begin(
    operator: Operator, start: Mapping[str, object], screen: "Console", *, go_on: bool
) -> None:
    operator.greet()
    wait_for_aid = operator.ask("TUNE:STAT?")
    if wait_for_aid.startswith((*UNDER_WAY, PAUSED)):
        show(screen, "going on with the unfinished tuning in this directory")
        if WAITS in wait_for_aid and not go_on:
            raise HostError(waiting_words(wait_for_aid))
        if wait_for_aid.startswith(PAUSED) and (said := operator.ask("TUNE:CONT")) != "OK":
            raise HostError(f"the tuning does not go on: {said}")
        return
    words = ",".join(f"{name}={value}" for name, value in start.items() if value is not None)
    answer = operator.ask(f"TUNE:STAR {words}".strip())
    if answer != "OK":
        raise HostError(f"the firmware did not start a tuning: {answer}")


def _follow(operator: Operator, screen: "Console", aid: HearingAidProcess, person: Person) -> None:
    console, firmware = operator.console, operator.firmware

    def next_line() -> Wait:
        what = "tell of the tuning"
        return Wait("the firmware", what, lambda: firmware.work_s() + aid.work_s())

    wait, nobody_answers = next_line(), False
    while True:
        for line in console.lines(0.1):
            what, told = told_unasked(line)
            if not what:
                continue
            still = nobody_answers and isinstance(told, PauseTold)
            nobody_answers = isinstance(told, tells.NobodyTold) or still
            _show(told, screen)
            if what == "tuning-over":
                return
            if answer := person(what, told):
                console.send(answer)
            wait = next_line()
        aid.check()
        if nobody_answers:
            wait = next_line()
        firmware.hear(wait)
        if firmware.restart_if_killed():
            operator.greet()
        if why := wait.in_vain():
            raise HostError(f"the tuning does not go on: {operator.ask('TUNE:STAT?', why)}; {why}")


def _show(told: Tell | None, screen: "Console") -> None:
    match told:
        case tells.SpeechTold():
            words = setting_words(setting_of(told))
            show(screen, f"{told.comparison:>4}  {told.place:<6}  {words}", "dim")
        case tells.ComparisonTold(comparison, answer):
            show(screen, f"{comparison:>4}  {WORDS[answer]}")
        case tells.AgainTold(comparison):
            show(screen, f"{comparison:>4}  nothing was pressed: once more", "yellow")
        case tells.NobodyTold():
            words = "nobody answers: the tuning is paused until a button is pressed"
            show(screen, words, "yellow")
        case tells.AidLostTold(why) | BoardLostTold(why):
            show(screen, f"{told.WHAT}: {say(why)}", "yellow")
        case ErrorTold(number, words):
            show(screen, f"error {number}: {words}", "red")


def setting_of(speech: tells.SpeechTold) -> list[float]:
    return [getattr(speech, dimension.name) for dimension in DIMENSIONS]


def setting_words(values_db: list[float] | tuple[float, ...]) -> str:
    pairs = zip(DIMENSIONS, values_db, strict=True)
    return "  ".join(f"{d.name.removesuffix('_db')} {value:+5.1f}" for d, value in pairs)


def show_result(
    screen: "Console", result: TuningResult, truth_db: Sequence[float] | None = None
) -> None:
    """Say what was found, as a table; `truth_db`: what a simulated person wanted.

    What was not found has no figure.
    """
    remarks = (reason.to_record() for reason in result.remarks)
    told = [comparisons_row(result), *remarks]
    table = setting_table(result, truth_db=truth_db)
    show_sections(screen, [section("tuning", None, tables([table]), rows(told))], Shown())
