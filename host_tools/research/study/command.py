"""`gp-pta study`: methods compared on simulated listeners, and the paper's figures."""

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from device.simulator.kinds import HONEST
from device.simulator.odd_ears import ODD_EARS
from firmware_py.inference.library import JIT, VARIABLE
from firmware_py.terms.settings import BRISK
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.research.methods.names import METHODS_FURTHER, METHODS_USUAL
from host_tools.research.study import arguments as options
from host_tools.research.study.arguments import FIGURES, SEEDS_USUAL, WORKERS_MAX
from host_tools.research.study.kinds import check_options, kind_asked

if TYPE_CHECKING:  # these bring Numba and Arrow with them, which other commands do without
    from host_tools.research.study.ears import Tables
    from host_tools.research.study.options import Options
    from host_tools.research.study.plan import Study
    from host_tools.research.study.summary import Line
    from host_tools.research.study.table import Table
    from host_tools.research.study.work import Where

EXAMPLE = f"""\
examples:
  gp-pta study --audiograms bisgaard --methods gp-pta,gp-pta-2015,quest --seeds 20 -o study
  gp-pta study --audiograms ears.csv --ears 40 --workers 8 -o study
  gp-pta study --audiograms ears.csv --ears 0 --dask tcp://10.0.0.1:8786 -o study
  gp-pta study --audiograms narrow-notch --listener lapses=.1 --methods gp-pta,quest -o study
  gp-pta study --seconds --audiograms ears.csv --ears 36 --conduct brisk,clinical
  gp-pta study --robustness --audiograms ears.csv
  gp-pta study --robustness --cases island,tent --ears 4 --seeds 1
  gp-pta study --bone --audiograms air_bone.csv
  gp-pta study --as-published --audiograms ears.csv --ears 36
  gp-pta study --audiograms bisgaard --methods gp-pta,my_methods:Bracket -o study
  gp-pta study --audiograms ears.csv --methods gp-pta --prior prior.json -o study
  gp-pta study --figure posterior-evolution --profile gp-pta-2015 -o figure.svg

methods: {", ".join(METHODS_USUAL)};
and, if named: {", ".join(METHODS_FURTHER)}.
One of your own: package.module:Class, see host_tools/research/methods/README.md; or by the name
that an installed package has in the entry points gp_pta.methods.
An unbiased staircase takes off the 2.5 dB by which it settles above the level heard half the time.

A study that was cut short goes on with the same command. Its results have the same bytes for any
number of workers, and on a cluster of machines of one kind.
"""

AUDIOGRAMS_ALLOWED: Final = f"allowed are a table of ears, bisgaard, {', '.join(ODD_EARS)}"
# Looked for after the arguments are known to be right, so not needed by the command as a whole.
LIBRARIES: Final = ("matplotlib", "numba", "pyarrow", "threadpoolctl")
NEEDS: Final = {
    "--audiograms": LIBRARIES,
    "--figure": ("matplotlib",),
    "--dask": ("distributed",),
}

add_arguments = options.add_arguments


def run(arguments: argparse.Namespace) -> int:
    """Run the study, print the table, or draw the figure."""
    os.environ[VARIABLE] = JIT  # the other methods have kernels of their own, in no library
    kind = kind_asked(arguments)
    check_options(arguments, kind)
    return RUN[kind.option](arguments)


def _figure(arguments: argparse.Namespace) -> int:
    if arguments.figure not in FIGURES:
        raise HostError(f"--figure is {arguments.figure!r}; allowed are {', '.join(FIGURES)}")
    _check_out(arguments)
    need("gp-pta study --figure", *NEEDS["--figure"], use="study")
    from host_tools.research.study.figures import draw_figure

    numbers = draw_figure(
        arguments.figure,
        arguments.out,
        profile=arguments.profile,
        audiogram=arguments.audiogram,
        columns=arguments.columns,
        seed=arguments.seed,
        response_noise_db=arguments.noise,
        lapse_rate=arguments.lapse_rate,
        false_alarm_rate=arguments.false_alarm_rate,
        trials=arguments.trials,
    )
    if arguments.json:
        print(json.dumps(numbers))
    return 0


def _robustness(arguments: argparse.Namespace) -> int:
    where = _ready(arguments)
    from host_tools.research.study.ears import real_table

    at = arguments.audiograms
    ears = None if at is None else real_table(at, arguments.columns)
    from host_tools.research.study.robustness_command import table

    return _print(table(arguments, ears), arguments, where)


def _seconds(arguments: argparse.Namespace) -> int:
    _check_audiograms(arguments, AUDIOGRAMS_ALLOWED)
    asked = _options(arguments, seeds=1, conduct=BRISK)
    where = _ready(arguments)
    tables = _tables(asked)
    from host_tools.research.study.seconds import table

    return _print(table(arguments, asked, tables), arguments, where)


def _as_published(arguments: argparse.Namespace) -> int:
    _check_audiograms(arguments, "allowed are a table of ears, bisgaard")
    if arguments.listener not in (HONEST.text, "human"):
        raise HostError("--listener does not go with --as-published: its listeners are human")
    asked = _options(arguments, seeds=1, conduct=BRISK)
    where = _ready(arguments, "pyarrow")
    tables = _tables(asked)
    from host_tools.research.study.as_published_table import table

    return _print(table(arguments, asked, tables), arguments, where)


def _bone(arguments: argparse.Namespace) -> int:
    _check_audiograms(arguments, "allowed is a table of ears by air and by bone")
    where = _ready(arguments)
    from host_tools.research.study.bone import table

    return _print(table(arguments), arguments, where)


def _ready(arguments: argparse.Namespace, *more: str) -> "Where":
    """Return where a table is run, once what it needs is known to be there."""
    workers = _workers(arguments)
    kept = () if arguments.out is None else ("pyarrow",)
    what = f"gp-pta study {kind_asked(arguments).option}"
    need(what, "numba", *more, *kept, "threadpoolctl", use="study")
    from host_tools.research.study.work import Where

    return Where(workers, arguments.dask)


def _print(table: "Table[Any, Any]", arguments: argparse.Namespace, where: "Where") -> int:
    if arguments.out is not None:
        from host_tools.research.study.plan import plan_of_table

        option = kind_asked(arguments).option
        table = replace(table, plan=plan_of_table(option, arguments, table.units))
    table.print(where, arguments.out, json_wanted=arguments.json)
    return 0


def _check_audiograms(arguments: argparse.Namespace, allowed: str) -> None:
    if arguments.audiograms is None:
        raise HostError(f"--audiograms is missing; {allowed}")


def _check_out(arguments: argparse.Namespace) -> None:
    if arguments.out is None:
        raise HostError("-o is missing; allowed is a directory, or a file of --figure")


def _study(arguments: argparse.Namespace) -> int:
    _check_out(arguments)
    _check_audiograms(arguments, AUDIOGRAMS_ALLOWED)
    workers = _workers(arguments)
    asked = _options(arguments, SEEDS_USUAL, arguments.conduct)
    study = _plan(asked, _tables(asked))
    need("gp-pta study", *LIBRARIES, use="study")
    from rich.console import Console

    from host_tools.files import write_text
    from host_tools.research.study.pictures import draw_pictures
    from host_tools.research.study.store import Store
    from host_tools.research.study.summary import Results, as_csv, summary
    from host_tools.research.study.work import Where

    store = Store(arguments.out, study)
    store.run_what_is_missing(Where(workers, arguments.dask))
    store.assemble()
    results = Results(arguments.out, study.methods, study.setting.tones)
    lines = summary(results)
    write_text(arguments.out / "summary.csv", as_csv(lines), for_all=True)
    pictures = draw_pictures(results, arguments.out)
    screen = Console(highlight=False)
    _show(screen, study, lines)
    if arguments.json:
        about = {
            "directory": str(arguments.out),
            "ears": len(study.ears),
            "sessions": study.sessions,
            "remarks": list(study.remarks),
            "pictures": pictures,
            "methods": [line.flat() for line in lines],
        }
        print(json.dumps(about))
    return 0


# What is run, by the option that asks for it.
RUN: Final[dict[str, Callable[[argparse.Namespace], int]]] = {
    "": _study,
    "--as-published": _as_published,
    "--bone": _bone,
    "--robustness": _robustness,
    "--seconds": _seconds,
    "--figure": _figure,
}


def _tables(asked: "Options") -> "Tables":
    from host_tools.research.study.ears import Tables

    return Tables.read(asked.audiograms, asked.train, asked.columns)


def _plan(asked: "Options", tables: "Tables") -> "Study":
    from host_tools.research.study.plan import plan_study

    return plan_study(asked, tables)


def _options(arguments: argparse.Namespace, seeds: int, conduct: str) -> "Options":
    """Return the options; `seeds`: how many there are where nothing is said of it."""
    from host_tools.research.study.options import Options

    names = (arguments.methods or "").split(",")
    named = tuple(name.strip() for name in names if name.strip())
    return Options(
        audiograms=arguments.audiograms,
        columns=arguments.columns,
        methods=None if arguments.methods is None else named,
        ears_per_stratum=arguments.ears,
        part=arguments.part,
        jitter=not arguments.no_jitter,
        train=arguments.train,
        response_noise_db=arguments.noise,
        lapse_rate=arguments.lapse_rate,
        false_alarm_rate=arguments.false_alarm_rate,
        trials=arguments.trials,
        seeds=seeds if arguments.seeds is None else arguments.seeds,
        listener=arguments.listener,
        conduct=conduct,
        response_time_s=arguments.response_time,
        prior=arguments.prior,
        objective=arguments.objective,
    )


def _workers(arguments: argparse.Namespace) -> int:
    if arguments.workers is None:
        return min(os.cpu_count() or 1, WORKERS_MAX)
    if arguments.dask is not None:
        raise HostError("--workers is for this machine; with --dask the cluster has its own")
    workers: int = arguments.workers
    if not 0 <= workers <= WORKERS_MAX:
        raise HostError(f"--workers is {workers}; allowed are whole numbers 0 to {WORKERS_MAX}")
    return workers


def _show(screen: Any, study: "Study", lines: "list[Line]") -> None:
    from host_tools.research.study.summary import table_lines

    how = study.setting.answering.as_told()
    screen.print(
        f"{len(study.ears)} ears x {study.seeds} seeds, {study.setting.tones} tones; noise "
        f"{how.response_noise_db:g} dB, lapses {how.lapse_rate:g}, false alarms "
        f"{how.false_alarm_rate:g}; listeners: {how.kind.text}",
        markup=False,
    )
    for remark in study.remarks:
        screen.print(remark, style="yellow", markup=False, soft_wrap=True)
    for row in table_lines(lines):
        screen.print(row, markup=False, soft_wrap=True)
    for line in lines:
        if line.failed:
            screen.print(f"{line.method} could not go on in {line.failed:.1%} of its sessions")
