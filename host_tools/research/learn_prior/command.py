"""`gp-pta learn-prior`: the prior a session begins with, from a table of audiograms."""

import argparse
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from device.audiogram_tables.mapping import ARGUMENT, OPTION, in_full
from firmware_py.inference.library import JIT, VARIABLE
from host_tools.errors import HostError
from host_tools.files import check_name, write_text
from host_tools.terminal import progress

if TYPE_CHECKING:  # these bring Numba with them, which other commands do without
    from firmware_py.inference.mixture.population_prior import PopulationPrior
    from host_tools.research.learn_prior.em import Mixture
    from host_tools.research.learn_prior.sample import Sample
    from host_tools.research.learn_prior.selecting import Size
    from host_tools.research.methods.population import Population

EXAMPLE = """\
examples:
  gp-pta learn-prior ears.csv -o prior.json
  gp-pta learn-prior ears.csv -o prior.json --part 1 --components 6 --licence "CC0"
  gp-pta learn-prior --routes both.csv -o gap_prior.json --part 1

A table has a row an ear, thresholds in columns t500, t1000 ... in dB HL (blank: not measured), and,
if known, subject, age, sex, and no_response: the frequencies not heard at the audiometer's limit.
Other tables are read, too (host_tools/README.md, "Tables of audiograms"), some with --columns.
People not learned from (--part) are left for `gp-pta study` to test on. With --routes the columns
are air500, bone500 and so on, and person; people whose ears differ by 25 dB or more by air are left
out, as nothing tells whether their poorer ear was masked.
"""

AUTO: Final = "auto"
PART: Final = 0.8
SEED: Final = 1
SEED_MAX: Final = 2**31 - 1
STANDARD_WEIGHT: Final = 0.35
UNUSUAL_WEIGHT: Final = 0.32
COMPONENTS_MAX: Final = 48
# Of the options that a command line names in the provenance, and of the picture, which it does not:
# what they are unless told.
USUAL: Final[dict[str, Any]] = {
    "--components": AUTO,
    "--part": PART,
    "--seed": SEED,
    "--standard-audiograms": STANDARD_WEIGHT,
    "--unusual-ears": UNUSUAL_WEIGHT,
    "--picture": None,
}
# Options about the mixture of thresholds; of gaps there are always the same classes.
OF_THRESHOLDS: Final = ("--components", "--standard-audiograms", "--unusual-ears", "--picture")
PEOPLE_MIN: Final = 50  # to learn from; a frequency measured in fewer is left out
LOG_DENSITY: Final = "log density an ear (mean, natural logarithm)"
NEEDS: Final = {"": ("matplotlib", "numba", "pyarrow", "threadpoolctl")}


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("table", type=Path, metavar="FILE.csv", help="whose ears to learn from")
    p.add_argument(OPTION, **ARGUMENT)
    p.add_argument(
        "--routes", action="store_true", help="learn air-bone gaps, from a table of both routes"
    )
    p.add_argument(
        "-o", "--out", type=Path, required=True, metavar="PRIOR.json", help="the file to write"
    )
    p.add_argument(
        "--components",
        default=AUTO,
        metavar="auto|N",
        help="size of the mixture (default: auto, by held-out likelihood)",
    )
    p.add_argument(
        "--part",
        type=float,
        default=PART,
        metavar="SHARE",
        help=f"of the people to learn from; 1: everybody (default: {PART:g})",
    )
    p.add_argument(
        "--seed", type=int, default=SEED, help=f"of the split and the starts (default: {SEED})"
    )
    p.add_argument(
        "--standard-audiograms",
        type=float,
        default=STANDARD_WEIGHT,
        metavar="WEIGHT",
        help="of one more component, the ten of IEC 60118-15; 0: none "
        f"(default: {STANDARD_WEIGHT:g})",
    )
    p.add_argument(
        "--unusual-ears",
        type=float,
        default=UNUSUAL_WEIGHT,
        metavar="WEIGHT",
        help="of components by which answers can overrule the prior: ears of any shape, and ears "
        f"with one free threshold; 0: none (default: {UNUSUAL_WEIGHT:g})",
    )
    p.add_argument(
        "--licence", default="", metavar="TEXT", help="of the table, kept in the provenance"
    )
    p.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="the summary: .svg, .png or .pdf (default: beside PRIOR.json, as .svg)",
    )
    p.add_argument("--force", action="store_true", help="overwrite what is there")
    p.add_argument("--json", action="store_true", help="end with one line of JSON")


def run(arguments: argparse.Namespace) -> int:
    os.environ[VARIABLE] = JIT  # some of its arithmetic is written as kernels that no library has
    components = _check(arguments)
    if arguments.routes:
        from host_tools.research.learn_prior.routes_command import learn_routes

        for option in OF_THRESHOLDS:
            if _told(arguments, option) != USUAL[option]:
                raise HostError(f"{option} has no meaning with --routes")
        check_name(arguments.out, "-o", (".json",), arguments.force)
        return learn_routes(arguments, _command(arguments))
    from host_tools.drawings.drawing import PICTURE_ENDINGS

    check_name(arguments.out, "-o", (".json",), arguments.force)
    picture = arguments.picture or arguments.out.with_suffix(".svg")
    check_name(picture, "--picture", PICTURE_ENDINGS, arguments.force)
    return _learn(arguments, components, picture)


def _check(arguments: argparse.Namespace) -> int | None:
    """Refuse what is not allowed, and return the number of components; None: to be found."""
    if not 0.0 < arguments.part <= 1.0:
        raise HostError(f"--part is {arguments.part:g}; allowed is above 0 and at most 1")
    if not 0 <= arguments.seed <= SEED_MAX:
        raise HostError(f"--seed is {arguments.seed}; allowed are whole numbers 0 to {SEED_MAX}")
    for option, weight in (
        ("--standard-audiograms", arguments.standard_audiograms),
        ("--unusual-ears", arguments.unusual_ears),
    ):
        if not 0.0 <= weight < 1.0:
            raise HostError(f"{option} is {weight:g}; allowed is at least 0 and below 1")
    if arguments.components == AUTO:
        return None
    text = arguments.components
    components = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    if not 1 <= components <= COMPONENTS_MAX:
        raise HostError(
            f"--components is {text!r}; allowed are auto and whole numbers 1 to {COMPONENTS_MAX}"
        )
    return components


def _learn(arguments: argparse.Namespace, components: int | None, picture: Path) -> int:
    from firmware_py.inference.mixture.population_prior import PopulationPrior
    from firmware_py.inference.mixture.prior_reading import PriorError
    from host_tools.research.learn_prior.checking import at_frequencies, bands, mean_scores
    from host_tools.research.learn_prior.fill import prior_of
    from host_tools.research.learn_prior.picture import draw_prior
    from host_tools.research.learn_prior.sample import sample_of
    from host_tools.research.learn_prior.unusual import with_unusual_ears
    from host_tools.research.study.pieces import one_thread

    one_thread()
    sha256, taught, unseen, left_out = _read(arguments)
    sample = sample_of(taught)
    table, learned, one = _fit(sample, components, arguments.seed)
    about: dict[str, Any] = {
        "learned_from": {
            "file": arguments.table.name,
            "sha256": sha256,
            "sources": sorted({person.split("/")[0] for person in taught.person} - {""}),
            "licence": arguments.licence or "not stated",
            "frequencies_hz": [float(f) for f in sample.frequencies_hz],
            "left_out_hz": left_out,
        },
        "command": _command(arguments),
        "split": {
            "part": arguments.part,
            "seed": arguments.seed,
            "by": "person",
            "taught": _counts(taught),
            "unseen": _counts(unseen),
        },
        "components_learned": len(learned),
        "components_chosen_by": "held-out likelihood" if table else "the option --components",
        "cross_validation": [
            {name: round(value, 4) for name, value in vars(size).items()} for size in table
        ],
        "standard_audiograms_weight": arguments.standard_audiograms,
        "unusual_ears_weight": arguments.unusual_ears,
    }
    prior = prior_of(learned, sample.frequencies_hz, arguments.standard_audiograms, about)
    prior = with_unusual_ears(prior, arguments.unusual_ears)
    if len(unseen):
        marginal, tested = at_frequencies(prior, sample.frequencies_hz), sample_of(unseen)
        mixtures = {"one_gaussian": one, "learned": learned, "prior": marginal}
        about["log_density_an_unseen_ear"] = {
            name: mean_scores(tested, mixture) for name, mixture in mixtures.items()
        }
        about["bands_of_unseen_ears"] = bands(unseen, marginal)
    text = prior.to_json()
    try:
        PopulationPrior.from_json(text, arguments.out.name)  # what is written can be read
    except PriorError as error:
        raise HostError(f"{error}; nothing was written") from None
    write_text(arguments.out, text, for_all=True)
    draw_prior(prior, table, sample.frequencies_hz, picture)
    _show(prior, table, arguments.out, picture)
    if arguments.json:
        print(json.dumps({"prior": str(arguments.out), "picture": str(picture), **about}))
    return 0


def _fit(
    sample: "Sample", components: int | None, seed: int
) -> "tuple[list[Size], Mixture, Mixture]":
    """Return how sizes compare, the mixture of the chosen size, and one Gaussian.

    With `components` given, no sizes are compared.
    """
    from host_tools.research.learn_prior.em import Learner, usual_shrinkage
    from host_tools.research.learn_prior.selecting import (
        FOLDS,
        chosen_size,
        compare_sizes,
        sizes_for,
    )

    sizes = sizes_for(sample) if components is None else []
    table: list[Size] = []
    # A fit takes as long as it has components.
    total = FOLDS * sum(sizes) + (components or max(sizes)) + 1
    fitted = 0
    with progress("components fitted", total) as tell:

        def tick(size: int) -> None:
            nonlocal fitted
            fitted += size
            tell(fitted)

        if components is None:
            table = compare_sizes(sample, sizes, seed, tick)
            components = chosen_size(table)
        learner = Learner(sample, usual_shrinkage(sample.frequencies_hz))
        found = []
        for size in (components, 1):
            found.append(learner.fit(size, seed).mixture)
            tick(size)
    return table, found[0], found[1]


def _read(
    arguments: argparse.Namespace,
) -> tuple[str, "Population", "Population", list[float]]:
    """Return the file's SHA-256, who teaches, who stays unseen, and the frequencies left out."""
    import numpy as np

    from host_tools.research.learn_prior.fill import FREQUENCIES_MIN
    from host_tools.research.learn_prior.sample import degree
    from host_tools.research.study.ears import read_table, say_what_is_read

    table = read_table(arguments.table, columns=arguments.columns)
    ears = table.population
    say_what_is_read(str(arguments.table), ears, int((degree(ears) < 0).sum()))
    taught, unseen = (
        part.select(degree(part) >= 0) for part in ears.split(arguments.part, arguments.seed)
    )
    name = str(arguments.table)
    people = len(set(taught.person))
    if people < PEOPLE_MIN:
        raise HostError(
            f"{name}: {people} people to learn from, of known degree of loss (0.5, 1, 2 and "
            f"4 kHz); allowed are {PEOPLE_MIN} or more"
        )
    of_column = [
        len({taught.person[i] for i in np.flatnonzero(column)}) for column in taught.measured.T
    ]
    kept = np.array([people >= PEOPLE_MIN for people in of_column])
    if kept.sum() < FREQUENCIES_MIN:
        raise HostError(
            f"{name}: {kept.sum()} frequencies were measured in {PEOPLE_MIN} people or more; "
            f"allowed are {FREQUENCIES_MIN} or more"
        )
    taught, unseen = (
        replace(
            part,
            frequencies_hz=part.frequencies_hz[kept],
            thresholds_db_hl=part.thresholds_db_hl[:, kept],
            censored=part.censored[:, kept],
        )
        for part in (taught, unseen)
    )
    return table.sha256, taught, unseen, [float(f) for f in ears.frequencies_hz[~kept]]


def _counts(ears: "Population") -> dict[str, Any]:
    import numpy as np

    from host_tools.research.learn_prior.sample import degree
    from host_tools.research.methods.population import STRATA

    of_degree = np.bincount(degree(ears), minlength=len(STRATA)) if len(ears) else [0] * len(STRATA)
    return {
        "people": len(set(ears.person)),
        "ears": len(ears),
        "ears_by_pta4": {name: int(n) for name, n in zip(STRATA, of_degree, strict=True)},
        "thresholds_missing": int((~ears.measured).sum()),
        "thresholds_censored": int(ears.censored.sum()),
    }


def _told(arguments: argparse.Namespace, option: str) -> Any:
    return getattr(arguments, option.strip("-").replace("-", "_"))


def _command(arguments: argparse.Namespace) -> str:
    """Return the command line, with the options that differ from the usual and no directories.

    What columns have is said in full, whether or not a file of it was named.
    """
    routes = ["--routes"] if arguments.routes else []
    words = ["gp-pta learn-prior", *routes, arguments.table.name, "-o", arguments.out.name]
    for option, usual in USUAL.items():
        value = _told(arguments, option)
        if value != usual and option != "--picture":
            words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    for option, text in ((OPTION, in_full(arguments.columns)), ("--licence", arguments.licence)):
        if text:
            words += [option, json.dumps(text, ensure_ascii=False)]
    return " ".join(words)


def _show(prior: "PopulationPrior", table: "list[Size]", out: Path, picture: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    screen = Console(highlight=False)
    about = prior.provenance
    taught, unseen = about["split"]["taught"], about["split"]["unseen"]
    screen.print(
        f"learned from {taught['ears']} ears of {taught['people']} people; {unseen['ears']} of "
        f"{unseen['people']} stay unseen"
    )
    if about["learned_from"]["left_out_hz"]:
        listed = ", ".join(f"{f:g}" for f in about["learned_from"]["left_out_hz"])
        screen.print(f"left out, measured in fewer than {PEOPLE_MIN} people: {listed} Hz")
    if table:
        grid = Table("components", "alone", "given age and sex", "below the best", box=None)
        grid.title = f"held-out {LOG_DENSITY}"
        grid.title_justify = "left"
        for size in table:
            chosen = size.components == about["components_learned"]
            grid.add_row(
                f"{size.components}{' *' if chosen else '  '}",
                f"{size.thresholds_alone:.3f}",
                f"{size.given_age_and_sex:.3f}",
                f"{size.below_best:.3f} ± {size.standard_error:.3f}",
                style="bold" if chosen else "",
            )
        for column in grid.columns:
            column.justify = "right"
        screen.print(grid)
    if unseen["ears"]:
        found = about["log_density_an_unseen_ear"]
        screen.print(f"{LOG_DENSITY}\nof unseen people, alone / given age and sex:")
        for name, value in found.items():
            screen.print(
                f"  {name.replace('_', ' '):<13}{value['thresholds_alone']:8.3f} "
                f"{value['given_age_and_sex']:8.3f}"
            )
        for line in about["bands_of_unseen_ears"]:
            screen.print(
                f"  {line['stratum']:<20}{line['ears']:5} ears: 95 % band holds "
                f"{line['within_95']:.1%}, 50 % band {line['within_50']:.1%}"
            )
    screen.print(f"{out} and {picture}", markup=False, soft_wrap=True)
