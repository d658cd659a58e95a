"""What can be asked of `gp-pta study`: its kinds, its options, and which go together."""

import argparse
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from device.audiogram_tables.mapping import ARGUMENT, OPTION
from device.simulator.kinds import HONEST, KINDS_WORDS
from device.simulator.odd_ears import ODD_EARS
from firmware_py.terms.settings import BRISK, CONDUCTS
from host_tools.errors import HostError

TRIALS_USUAL: Final = 40
RESPONSE_TIME_S_USUAL: Final = 0.4
RETEST_DRIFT_USUAL: Final = "2.3/1"  # dB, NHANES; octaves, ours
SENSITIVITY_USUAL: Final = 1.4
WORKERS_MAX: Final = 512
NUMBER_MAX: Final = 1_000_000  # of ears, seeds or people
FIGURES: Final = ("posterior-evolution", "mean-bald")

ALWAYS: Final = {"audiograms", "columns", "json", "out", "ears", "workers", "dask"}
LISTENER: Final = {"noise", "lapse_rate", "false_alarm_rate"}
WHOLE_TESTS: Final = {"listener", "response_time", *LISTENER, "part", "no_jitter", "seeds"}
OWN: Final = {"prior", "objective"}
NO_SECONDS: Final = "it tells no seconds"
ENDS: Final = "a whole test ends by itself"
PRINTS: Final = "it runs whole tests, and prints a table"
NO_EARS: Final = {
    "audiograms": "its people are simulated", "columns": "its people are simulated",
    "ears": "--people says how many they are",
}  # fmt: skip
BISGAARD: Final = ("bisgaard",)
NAMED_EARS: Final = (*BISGAARD, *ODD_EARS)
ALL_EARS: Final = f"allowed are a table of ears, {', '.join(NAMED_EARS)}"
FEW_EARS: Final = "allowed are a table of ears, bisgaard"


@dataclass(frozen=True)
class Kind:
    """Something that can be asked for."""

    option: str  # what asks for it; "": nothing, which is methods compared
    module: str  # has `table`, which returns the table; "": it prints none
    takes: set[str]  # the options that go with it, beside `ALWAYS`
    help: str = ""
    why: str = ""  # other options do not go with it
    whys: Mapping[str, str] = field(default_factory=dict)  # of some that is another reason
    audiograms: str = ""  # what is allowed of --audiograms; "": it cannot have them
    named_ears: Collection[str] = ()  # of these, those that are no table
    needs_ears: bool = True  # it cannot be without --audiograms
    seeds: int = 1  # where nothing is said of it


METHODS: Final = Kind(
    "", "", {"methods", "train", "trials", "conduct", *OWN, *WHOLE_TESTS},
    audiograms=ALL_EARS, named_ears=NAMED_EARS, seeds=20,
)  # fmt: skip
KINDS: Final = (
    Kind(
        "--as-published", "study.as_published", {"retest_drift", "prior", *WHOLE_TESTS},
        "print instead how the device agrees with a manual audiogram and with itself, in the "
        "units of papers, beside what they say of tests on people",
        "it runs whole tests, and prints tables",
        {"trials": ENDS, "conduct": "it runs each conduct"},
        FEW_EARS, BISGAARD,
    ),
    Kind(
        "--robustness", "study.robustness_sessions", {"cases", "seeds", "prior"},
        "print what becomes of odd ears and odd listeners instead, beside what is wanted; real "
        "ears with steep steps are those of --audiograms FILE",
        "its rows say what is run, and who listens",
        {"conduct": NO_SECONDS, "response_time": NO_SECONDS},
        "allowed is a table of real ears", needs_ears=False, seeds=3,
    ),
    Kind(
        "--bone", "study.bone", {"prior", "cases", "seeds"},
        "print instead what whole tests by air and bone find, and manual tests by bone, of people "
        "of --audiograms FILE, a table with columns air500, bone500 ...; --ears: how many people "
        "(default: 40; 0: all); --cases: with other equipment, mostly faults",
        PRINTS, audiograms="allowed is a table of ears by air and by bone",
    ),
    Kind(
        "--discomfort", "told_levels", set(),
        "print instead what levels of discomfort of people of --audiograms FILE, a table with "
        "columns air500, ucl500 ..., tell of their others, and the constants learned from them",
        "it simulates nobody, and prints a table", {"ears": "it takes all people"},
        audiograms="allowed is a table of ears by air, with levels of discomfort",
    ),
    Kind(
        "--seconds", "study.seconds",
        {"conduct", "tested", "unsure_half_width", *OWN, *WHOLE_TESTS},
        "print instead what whole tests take by an exact clock, and where the time goes",
        PRINTS, {"trials": ENDS}, ALL_EARS, NAMED_EARS,
    ),
    Kind(
        "--time-to-go", "time_to_go", {"part", "people", "seed"},
        "print instead how well sessions tell their time to go, and the coefficients that would "
        "tell it best",
        PRINTS, {"ears": "--people says how many are tested"},
        FEW_EARS, BISGAARD,
    ),
    Kind(
        "--rooms", "rooms", {"people", "seed"},
        "print instead what whole tests find in noisy rooms that are told, heard or not known",
        PRINTS, {"ears": "--people says how many are tested"},
        FEW_EARS, BISGAARD,
    ),
    Kind(
        "--changed", "changed_ears", {"people"},
        "print instead how often an ear is said to have changed between two tests: one that did "
        "not, and one that did",
        PRINTS, NO_EARS,
    ),
    Kind(
        "--rules", "rules_by_name", {"people"},
        "print instead how often the rules of OSHA, NIOSH and ASHA are met by ears that did not "
        "change, and by ears that did",
        PRINTS, NO_EARS,
    ),
    Kind(
        "--whole", "whole_bands", {"people"},
        "print instead how often the bands of the answers and of the whole measurement hold the "
        "truth, all that lies beside the answers drawn",
        PRINTS, NO_EARS,
    ),
    Kind(
        "--tuning", "tuning.table", {"people", "seed", "sensitivity"},
        "print instead what tunings of a hearing aid end with, for people who answer in many ways, "
        "beside tuning up and down",
        "it tunes for simulated people, and prints a table", NO_EARS,
    ),
    Kind(
        "--figure", "", {"profile", "audiogram", "seed", "trials", *LISTENER},
        "draw a figure of the paper instead",
        "it draws one session of an honest listener",
        {
            "audiograms": "it has one ear: --audiogram, not --audiograms",
            "conduct": NO_SECONDS, "response_time": NO_SECONDS,
        },
    ),
)  # fmt: skip

_LIST: Final = "NAME,..."
OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "--audiograms": {
        "metavar": "FILE|bisgaard|ODD",
        "help": f"whose ears are measured; ODD: {', '.join(ODD_EARS)}",
    },
    "--methods": {"metavar": _LIST, "help": "see below (default: the first list)"},
    OPTION: ARGUMENT,
    "--prior": {
        "type": Path, "metavar": "FILE",
        "help": "the prior of gp-pta and its relatives, and of the tests of --seconds, "
        "--as-published, --robustness and --bone, as gp-pta learn-prior writes it (default: the "
        "one that ships)",
    },
    "--objective": {
        "default": "", "metavar": "package.module:Class",
        "help": "what they choose tones by: a class of your own, made of Objective",
    },
    "--ears": {
        "type": int, "metavar": "N",
        "help": "so many of each degree of loss in a FILE (normal, mild ...), 0: all; or so many "
        "of an ODD family (default: 40)",
    },
    "--part": {
        "default": "auto", "metavar": "auto|all|train|held-out",
        "help": "of a FILE: 80 %% of its people are to learn from (default: auto, those held out "
        "if anything was learned from this file, else all)",
    },
    "--no-jitter": {
        "action": "store_true",
        "help": "leave a FILE's thresholds as they are; otherwise each is moved within 2.5 dB, "
        "which undoes their rounding",
    },
    "--train": {
        "type": Path, "metavar": "FILE",
        "help": "what cast, de-vries and methods of your own learn from (default: the part to "
        "learn from of --audiograms)",
    },
    "--noise": {"type": float, "default": 2.0, "metavar": "DB", "help": "default: 2"},
    "--lapse-rate": {"type": float, "default": 0.01, "metavar": "P", "help": "default: 0.01"},
    "--false-alarm-rate": {"type": float, "default": 0.01, "metavar": "P", "help": "default: 0.01"},
    "--response-time": {
        "type": float, "default": RESPONSE_TIME_S_USUAL, "metavar": "S",
        "help": f"default: {RESPONSE_TIME_S_USUAL:g}",
    },
    "--listener": {
        "default": HONEST.text, "metavar": "KIND", "help": f"{KINDS_WORDS} (default: honest)",
    },
    "--trials": {
        "type": int, "default": TRIALS_USUAL, "metavar": "N", "help": "tones (default: 40)",
    },
    "--seeds": {
        "type": int, "metavar": "N",
        "help": "an ear (default: 20; of --robustness 3, of --seconds 1)",
    },
    "--workers": {
        "type": int, "metavar": "N",
        "help": "processes; 0: this one alone (default: one per processor)",
    },
    "--dask": {"metavar": "ADDRESS", "help": "run on the Dask cluster of this scheduler"},
    "--cases": {
        "metavar": _LIST,
        "help": "rows of --robustness (default: all); faults of --bone (default: none)",
    },
    "--conduct": {
        "default": BRISK, "metavar": _LIST,
        "help": f"whose pauses and windows: {', '.join(CONDUCTS)}; of --seconds one column each "
        f"(default: {BRISK})",
    },
    "--tested": {
        "default": "one", "metavar": "one,both",
        "help": "of --seconds: one ear a test, or both ears of a person in a FILE (default: one)",
    },
    "--unsure-half-width": {
        "type": float, "default": 0.0, "metavar": "DB",
        "help": "of --seconds: there is a second button, for 'perhaps', which listeners press so "
        "near the threshold (default: 0, there is none)",
    },
    "--retest-drift": {
        "default": RETEST_DRIFT_USUAL, "metavar": "DB[/OCTAVES]",
        "help": "of --as-published: SD by which an ear's thresholds differ from test to test, and "
        f"over how many octaves that is alike (default: {RETEST_DRIFT_USUAL})",
    },
    "--people": {
        "type": int, "metavar": "N",
        "help": "of --time-to-go (default: 40), --rooms, --changed and --rules (100), --whole "
        "(500) and --tuning (60): a row",
    },
    "--sensitivity": {
        "type": float, "default": SENSITIVITY_USUAL, "metavar": "S",
        "help": "of --tuning: median of the people, SDs of a comparison's noise to a unit of "
        f"utility (default: {SENSITIVITY_USUAL:g})",
    },
    "--profile": {"default": "default", "help": "of the figure (default: default)"},
    "--audiogram": {
        "default": "N3", "metavar": "NAME|FILE.csv:ROW", "help": "of the figure (default: N3)",
    },
    "--seed": {
        "type": int, "default": 1,
        "help": "of the figure, or of the first of --people (default: 1)",
    },
    "--json": {"action": "store_true", "help": "end with one line of JSON"},
}  # fmt: skip


def add_arguments(p: argparse.ArgumentParser) -> None:
    for option, about in OPTIONS.items():
        p.add_argument(option, **about)
    for kind in KINDS:
        if kind.option == "--figure":
            p.add_argument(kind.option, metavar="|".join(FIGURES), help=kind.help)
        else:
            p.add_argument(kind.option, action="store_true", help=kind.help)
    p.add_argument(
        "-o", "--out", type=Path, metavar="DIR|FILE",
        help="the study's directory, needed by no table; or the figure's file: .svg, .png or .pdf",
    )  # fmt: skip


def check_ears(arguments: argparse.Namespace, kind: Kind) -> None:
    """Refuse ears that are not there, or are none for what is asked for."""
    if kind.audiograms and kind.needs_ears and arguments.audiograms is None:
        raise HostError(f"--audiograms is missing; {kind.audiograms}")
    if arguments.audiograms in {*NAMED_EARS} - {*kind.named_ears}:
        raise HostError(
            f"--audiograms is {arguments.audiograms}; with {kind.option} {kind.audiograms}"
        )


def kind_asked(arguments: argparse.Namespace) -> Kind:
    """Return what is asked for: the first of `KINDS` whose option is there."""
    return next((kind for kind in KINDS if _is_there(arguments, _name(kind.option))), METHODS)


def check_options(arguments: argparse.Namespace, kind: Kind) -> None:
    """Refuse options that do not go with what is asked for, and say why they cannot be."""
    others = {_name(each.option) for each in KINDS} - {_name(kind.option)}
    for name in usual_options():
        if name == _name(kind.option) or not _is_there(arguments, name):
            continue
        option = f"--{name.replace('_', '-')}"
        if name in others:
            raise HostError(
                f"{option} does not go with {kind.option}: each prints a table of its own"
            )
        if name in kind.whys or name not in kind.takes | ALWAYS:
            takers = [each.option or "methods" for each in (METHODS, *KINDS) if name in each.takes]
            if name not in METHODS.takes | ALWAYS and name not in kind.whys:
                raise HostError(f"{option} is of {', '.join(takers)}, which is not there")
            why = kind.whys.get(name, kind.why)
            allowed = f"; it goes with {', '.join(takers)}" if takers else ""
            raise HostError(f"{option} does not go with {kind.option}: {why}{allowed}")


@cache
def usual_options() -> Mapping[str, Any]:
    """Return the options as they are where nothing is said of them."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return vars(parser.parse_args([]))


def _is_there(arguments: argparse.Namespace, name: str) -> bool:
    return bool(getattr(arguments, name) != usual_options()[name])


def _name(option: str) -> str:
    return option[2:].replace("-", "_")


def whole_number(
    option: str, value: int | None, usual: int, low: int = 1, high: int = NUMBER_MAX
) -> int:
    """Return a number of an option, or what is usual; one that is not allowed is refused."""
    number = usual if value is None else value
    if not low <= number <= high:
        raise HostError(f"{option} is {number}; allowed are whole numbers {low} to {high}")
    return number


def names_in(option: str, text: str | None, allowed: Collection[str]) -> list[str]:
    """Return the names that a text has with commas, each once; all that are allowed of no text."""
    names = [*allowed] if text is None else [name.strip() for name in text.split(",")]
    for name in names:
        if name not in allowed:
            raise HostError(f"{option} has {name!r}; allowed are {', '.join(allowed)}")
    return list(dict.fromkeys(names))
