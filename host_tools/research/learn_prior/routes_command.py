"""`gp-pta learn-prior --routes`: the prior of air-bone gaps, from a table of both routes."""

import argparse
import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from host_tools.errors import HostError
from host_tools.files import write_text

if TYPE_CHECKING:
    from host_tools.research.learn_prior.routes import GapMixture, Gaps

PEOPLE_MIN: Final = 50  # who have both routes at a frequency
FREQUENCIES_MIN: Final = 2


def learn_routes(arguments: argparse.Namespace, command: str) -> int:
    """Learn the classes of gaps, write them with the command line, and say what was found."""
    from firmware_py.inference.mixture.gap_prior import GapPrior
    from firmware_py.inference.mixture.prior_reading import PriorError
    from host_tools.research.learn_prior.gap_classes import gap_prior_of
    from host_tools.research.learn_prior.routes import gaps_of

    sha256, air, bone = _read(arguments)
    halves = (ears.split(arguments.part, arguments.seed) for ears in (air, bone))
    taught, unseen = (gaps_of(*part) for part in zip(*halves, strict=True))
    taught = _often_measured(taught, arguments)
    mixture, found = _fit(taught, unseen)
    about = {
        "learned_from": {
            "file": arguments.table.name,
            "sha256": sha256,
            "licence": arguments.licence or "not stated",
            "frequencies_hz": [float(f) for f in taught.frequencies_hz],
            "people": len(set(taught.person)),
            "ears": len(taught),
            "asymmetric_people_left_out": taught.asymmetric,
        },
        "command": command,
        **found,
    }
    prior = gap_prior_of(mixture, taught.frequencies_hz, about)
    text = prior.to_json()
    try:
        GapPrior.from_json(text, arguments.out.name)  # what is written can be read
    except PriorError as error:
        raise HostError(f"{error}; nothing was written") from None
    write_text(arguments.out, text, for_all=True)
    _show(prior, arguments)
    return 0


def _often_measured(gaps: "Gaps", arguments: argparse.Namespace) -> "Gaps":
    """Return the gaps at the frequencies that enough people have by both routes."""
    people = [
        len({who for who, there in zip(gaps.person, column, strict=True) if there})
        for column in gaps.measured.T
    ]
    kept = [f for f, n in zip(gaps.frequencies_hz, people, strict=True) if n >= PEOPLE_MIN]
    if len(kept) < FREQUENCIES_MIN:
        raise HostError(
            f"{arguments.table}: {len(kept)} frequencies were measured by air and bone in "
            f"{PEOPLE_MIN} people or more; allowed are {FREQUENCIES_MIN} or more"
        )
    return gaps.at(kept)


def _fit(taught: "Gaps", unseen: "Gaps") -> tuple["GapMixture", dict[str, Any]]:
    """Return the classes that people have, and what is told of them: shares and log densities."""
    from host_tools.research.learn_prior.gap_classes import LEARNED_NAMES
    from host_tools.research.learn_prior.routes import learn_gaps, log_density_of

    fits = {"one_class": learn_gaps(taught.gap_db, (1.0,)), "classes": learn_gaps(taught.gap_db)}
    mixture = fits["classes"].mixture
    found: dict[str, Any] = {
        "learned_weights": {
            name: round(float(weight), 3)
            for name, weight in zip(LEARNED_NAMES, mixture.weight, strict=True)
        },
        "log_density_an_ear": {name: round(fit.log_density[-1], 3) for name, fit in fits.items()},
    }
    rest = unseen.at(taught.frequencies_hz)
    if len(rest):
        found["log_density_an_unseen_ear"] = {
            name: round(float(log_density_of(rest.gap_db, fit.mixture).mean()), 3)
            for name, fit in fits.items()
        }
    return mixture, found


def _read(arguments: argparse.Namespace) -> tuple[str, Any, Any]:
    """Return the file's SHA-256, and its ears by air and by bone."""
    from device.audiogram_tables.table import Table
    from host_tools.research.learn_prior.routes import read_routes
    from host_tools.research.methods.population import PopulationError
    from host_tools.research.study.ears import say_what_is_read

    try:
        content = Table.bytes_of(arguments.table)
        air, bone = read_routes(arguments.table, content, arguments.columns)
    except OSError as error:
        raise HostError(f"{str(arguments.table)!r}: {error.strerror}") from None
    except PopulationError as error:
        raise HostError(str(error)) from None
    say_what_is_read(f"{arguments.table}, by air", air)
    say_what_is_read(f"{arguments.table}, by bone", bone)
    return hashlib.sha256(content).hexdigest(), air, bone


def _show(prior: Any, arguments: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.table import Table

    screen = Console(highlight=False)
    about = prior.provenance
    learned = about["learned_from"]
    screen.print(
        f"learned from {learned['ears']} ears of {learned['people']} people; "
        f"{learned['asymmetric_people_left_out']} left out, whose ears differ by 25 dB or more"
    )
    listed = [f"{f:g}" for f in prior.frequencies_hz]
    grid = Table("gap in dB at", "share", *listed, box=None)
    for each in prior.classes:
        grid.add_row(each.name, f"{each.weight:.1%}", *(f"{value:.1f}" for value in each.mean_db))
    for column in grid.columns[1:]:
        column.justify = "right"
    screen.print(grid)
    screen.print(f"{arguments.out}", markup=False, soft_wrap=True)
    if arguments.json:
        print(json.dumps({"prior": str(arguments.out), **about}))
