"""What can be asked of `gp-pta study`, and which options go with it."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from host_tools.errors import HostError
from host_tools.research.study.arguments import add_arguments

# Options that only one kind has, and how that is said.
OF_ONE: Final = {
    "cases": "--cases are rows of --robustness",
    "tested": "--tested is of --seconds",
    "unsure_half_width": "--unsure-half-width is of --seconds",
    "retest_drift": "--retest-drift is of --as-published",
    "profile": "--profile is of --figure",
    "audiogram": "--audiogram is of --figure",
    "seed": "--seed is of --figure",
}
ALWAYS: Final = {"audiograms", "json", "out", "ears", "workers", "dask"}
LISTENER: Final = {"noise", "lapse_rate", "false_alarm_rate"}
EARS: Final = {"part", "no_jitter", "seeds"}
ITS_OWN: Final = "each prints a table of its own"
NO_SECONDS: Final = "it tells no seconds"


@dataclass(frozen=True)
class Kind:
    """Something that can be asked for.

    Attributes
    ----------
    option : str
        What asks for it; "": nothing, which is methods compared.
    takes : set of str
        The options that go with it, beside `ALWAYS`.
    why : str
        Why others do not.
    whys : mapping
        Why some do not, where that is another reason.
    """

    option: str
    takes: set[str]
    why: str = ""
    whys: Mapping[str, str] = field(default_factory=dict)


METHODS: Final = Kind(
    "",
    {
        "methods", "train", "listener", "response_time", "trials", "conduct", "prior",
        "objective", *LISTENER, *EARS,
    },
)  # fmt: skip
KINDS: Final = (
    Kind(
        "--as-published",
        {"listener", "response_time", "retest_drift", *LISTENER, *EARS},
        "it runs whole tests, and prints tables",
        {
            "trials": "a whole test ends by itself",
            "conduct": "it runs each conduct",
            "prior": "it is of methods, and --seconds",
            "objective": "it is of methods, and --seconds",
        },
    ),
    Kind("--bone", set(), "it runs whole tests, and prints a table"),
    Kind(
        "--robustness",
        {"cases", "seeds"},
        "its rows say what is run, and who listens",
        {"conduct": NO_SECONDS, "response_time": NO_SECONDS},
    ),
    Kind(
        "--seconds",
        {
            "listener", "response_time", "conduct", "tested", "unsure_half_width", "prior",
            "objective", *LISTENER, *EARS,
        },
        "it runs whole tests, and prints a table",
        {"trials": "a whole test ends by itself"},
    ),
    Kind(
        "--figure",
        {"profile", "audiogram", "seed", "trials", *LISTENER},
        "it draws one session of an honest listener",
        {
            "audiograms": "it has one ear: --audiogram, not --audiograms",
            "conduct": NO_SECONDS,
            "response_time": NO_SECONDS,
        },
    ),
)  # fmt: skip


def kind_asked(arguments: argparse.Namespace) -> Kind:
    """Return what is asked for: the first of `KINDS` whose option is there."""
    usual = usual_options()
    asked = (kind for kind in KINDS if _is_there(arguments, usual, _name(kind.option)))
    return next(asked, METHODS)


def check_options(arguments: argparse.Namespace, kind: Kind) -> None:
    """Refuse options that do not go with what is asked for.

    Raises
    ------
    HostError
        One is there; the message says why it cannot be.
    """
    usual = usual_options()
    others = {_name(each.option) for each in KINDS} - {_name(kind.option)}
    for name in usual:
        if name == _name(kind.option) or not _is_there(arguments, usual, name):
            continue
        option = f"--{name.replace('_', '-')}"
        if name in others:
            raise HostError(f"{option} does not go with {kind.option}: {ITS_OWN}")
        if name in kind.whys or name not in kind.takes | ALWAYS:
            if name in OF_ONE:
                raise HostError(f"{OF_ONE[name]}, which is not there")
            why = kind.whys.get(name, kind.why)
            raise HostError(f"{option} does not go with {kind.option}: {why}")


def usual_options() -> dict[str, Any]:
    """Return the options as they are where nothing is said of them."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return vars(parser.parse_args([]))


def _is_there(arguments: argparse.Namespace, usual: dict[str, Any], name: str) -> bool:
    return bool(getattr(arguments, name) != usual[name])


def _name(option: str) -> str:
    return option[2:].replace("-", "_")
