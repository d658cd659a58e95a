"""The options of `gp-pta study`."""

import argparse
from pathlib import Path
from typing import Final

from device.audiogram_tables.mapping import ARGUMENT, OPTION
from device.simulator.kinds import HONEST, KINDS_WORDS
from device.simulator.odd_ears import ODD_EARS
from firmware_py.terms.settings import BRISK, CONDUCTS

SEEDS_USUAL: Final = 20  # an ear
TRIALS_USUAL: Final = 40
RESPONSE_TIME_S_USUAL: Final = 0.4
RETEST_DRIFT_USUAL: Final = "2.3/1"  # dB, NHANES; octaves, ours
WORKERS_MAX: Final = 512
FIGURES: Final = ("posterior-evolution", "mean-bald")


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    p.add_argument(
        "--audiograms",
        metavar="FILE|bisgaard|ODD",
        help=f"whose ears are measured; ODD: {', '.join(ODD_EARS)}",
    )
    p.add_argument("--methods", metavar="NAME,...", help="see below (default: the first list)")
    _add_own_arguments(p)
    p.add_argument(
        "--ears",
        type=int,
        metavar="N",
        help="so many of each degree of loss in a FILE (normal, mild ...), 0: all; or so many of "
        "an ODD family (default: 40)",
    )
    p.add_argument(
        "--part",
        default="auto",
        metavar="auto|all|train|held-out",
        help="of a FILE: 80 %% of its people are to learn from (default: auto, those held out if "
        "anything was learned from this file, else all)",
    )
    p.add_argument(
        "--no-jitter",
        action="store_true",
        help="leave a FILE's thresholds as they are; otherwise each is moved within 2.5 dB, which "
        "undoes their rounding",
    )
    p.add_argument(
        "--train",
        type=Path,
        metavar="FILE",
        help="what cast and de-vries learn from (default: the part to learn from of --audiograms)",
    )
    _add_listener_arguments(p)
    _add_running_arguments(p)
    p.add_argument(
        "--robustness",
        action="store_true",
        help="print what becomes of odd ears and odd listeners instead, beside what is wanted; "
        "real ears with steep steps are those of --audiograms FILE",
    )
    p.add_argument("--cases", metavar="NAME,...", help="rows of --robustness (default: all)")
    p.add_argument(
        "--bone",
        action="store_true",
        help="print instead what whole tests by air and bone find, of people of --audiograms FILE, "
        "a table with columns air500, bone500 ...; --ears: how many people (default: 40; 0: all)",
    )
    _add_seconds_arguments(p)
    _add_as_published_arguments(p)
    _add_figure_arguments(p)
    p.add_argument(
        "-o",
        "--out",
        type=Path,
        metavar="DIR|FILE",
        help="the study's directory, needed by no table; or the figure's file: .svg, .png or .pdf",
    )
    p.add_argument("--json", action="store_true", help="end with one line of JSON")


def _add_own_arguments(p: argparse.ArgumentParser) -> None:
    """Add what somebody brings for the estimator of this product."""
    p.add_argument(OPTION, **ARGUMENT)
    p.add_argument(
        "--prior", type=Path, metavar="FILE",
        help="the prior of gp-pta and its relatives, and of the tests of --seconds, as gp-pta "
        "learn-prior writes it (default: the one that ships)",
    )  # fmt: skip
    p.add_argument(
        "--objective", default="", metavar="package.module:Class",
        help="what they choose tones by: a class of your own, made of Objective",
    )  # fmt: skip


def _add_running_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--trials", type=int, default=TRIALS_USUAL, metavar="N", help="tones (default: 40)"
    )
    seeds = "an ear (default: 20; of --robustness 3, of --seconds 1)"
    p.add_argument("--seeds", type=int, metavar="N", help=seeds)
    p.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes; 0: this one alone (default: one per processor)",
    )
    p.add_argument("--dask", metavar="ADDRESS", help="run on the Dask cluster of this scheduler")


def _add_figure_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("--figure", metavar="|".join(FIGURES), help="draw a figure of the paper instead")
    p.add_argument("--profile", default="default", help="of the figure (default: default)")
    p.add_argument(
        "--audiogram",
        default="N3",
        metavar="NAME|FILE.csv:ROW",
        help="of the figure (default: N3)",
    )
    p.add_argument("--seed", type=int, default=1, help="of the figure (default: 1)")


def _add_seconds_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--seconds",
        action="store_true",
        help="print instead what whole tests take by an exact clock, and where the time goes",
    )
    p.add_argument(
        "--conduct",
        default=BRISK,
        metavar="NAME,...",
        help=f"whose pauses and windows: {', '.join(CONDUCTS)}; of --seconds one column each "
        f"(default: {BRISK})",
    )
    p.add_argument(
        "--tested",
        default="one",
        metavar="one,both",
        help="of --seconds: one ear a test, or both ears of a person in a FILE (default: one)",
    )
    p.add_argument(
        "--unsure-half-width",
        type=float,
        default=0.0,
        metavar="DB",
        help="of --seconds: there is a second button, for 'perhaps', which listeners press so near "
        "the threshold (default: 0, there is none)",
    )


def _add_as_published_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--as-published",
        action="store_true",
        help="print instead how the device agrees with a manual audiogram and with itself, in the "
        "units of papers, beside what they say of tests on people",
    )
    p.add_argument(
        "--retest-drift",
        default=RETEST_DRIFT_USUAL,
        metavar="DB[/OCTAVES]",
        help="of --as-published: SD by which an ear's thresholds differ from test to test, and "
        f"over how many octaves that is alike (default: {RETEST_DRIFT_USUAL})",
    )


def _add_listener_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("--noise", type=float, default=2.0, metavar="DB", help="default: 2")
    p.add_argument("--lapse-rate", type=float, default=0.01, metavar="P", help="default: 0.01")
    p.add_argument(
        "--false-alarm-rate", type=float, default=0.01, metavar="P", help="default: 0.01"
    )
    p.add_argument(
        "--response-time",
        type=float,
        default=RESPONSE_TIME_S_USUAL,
        metavar="S",
        help=f"default: {RESPONSE_TIME_S_USUAL:g}",
    )
    p.add_argument(
        "--listener", default=HONEST.text, metavar="KIND", help=f"{KINDS_WORDS} (default: honest)"
    )
