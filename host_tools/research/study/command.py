"""`gp-pta study`: methods compared on simulated listeners, and the paper's figures."""

import argparse
import json
import os
import signal
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Final

from device.simulator.serve import end_by_signals
from firmware_py.inference.library import JIT, VARIABLE
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.files import write_text
from host_tools.research.methods.names import METHODS_FURTHER, METHODS_USUAL
from host_tools.research.study import arguments as options
from host_tools.research.study.arguments import (
    FIGURES,
    METHODS,
    WORKERS_MAX,
    Kind,
    check_ears,
    check_options,
    kind_asked,
)
from host_tools.terminal import say

if TYPE_CHECKING:  # these bring Numba and Arrow with them, which other commands do without
    from host_tools.research.study.options import Options
    from host_tools.research.study.plan import Study
    from host_tools.research.study.sessions import Row
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
  gp-pta study --discomfort --audiograms air_bone.csv
  gp-pta study --as-published --audiograms ears.csv --ears 36
  gp-pta study --time-to-go --audiograms bisgaard
  gp-pta study --tuning --people 60
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

# Looked for after the arguments are known to be right, so not needed by the command as a whole.
LIBRARIES: Final = ("matplotlib", "numba", "pyarrow", "threadpoolctl")
NEEDS: Final = {
    "--audiograms": LIBRARIES,
    "--figure": ("matplotlib",),
    "--dask": ("distributed",),
}

OF_EARS_ALONE: Final = ("--bone", "--discomfort")  # they read their table themselves
SUMMARY: Final = "summary.md"  # of a table that is kept: what was printed

add_arguments = options.add_arguments


def run(arguments: argparse.Namespace) -> int:
    os.environ[VARIABLE] = JIT  # the other methods have kernels of their own, in no library
    kind = kind_asked(arguments)
    check_options(arguments, kind)
    with end_by_signals(signal.SIGTERM):
        if kind.option == "--figure":
            return _figure(arguments)
        if kind is METHODS and arguments.out is None:
            raise HostError("-o is missing; allowed is a directory, or a file of --figure")
        check_ears(arguments, kind)
        return _methods(arguments) if kind is METHODS else _table(arguments, kind)


def _figure(arguments: argparse.Namespace) -> int:
    if arguments.figure not in FIGURES:
        raise HostError(f"--figure is {arguments.figure!r}; allowed are {', '.join(FIGURES)}")
    if arguments.out is None:
        raise HostError("-o is missing; allowed is a file of --figure, .svg, .png or .pdf")
    need("gp-pta study --figure", *NEEDS["--figure"], use="study")
    from host_tools.research.study.figures import draw_figure

    numbers = draw_figure(arguments)
    if arguments.json:
        print(json.dumps(numbers))
    return 0


def _table(arguments: argparse.Namespace, kind: Kind) -> int:
    """Run a table, which is kept in a directory if one is named."""
    where = _where(arguments)
    kept = () if arguments.out is None else ("pyarrow",)
    need(f"gp-pta study {kind.option}", "numba", *kept, "threadpoolctl", use="study")
    from host_tools.research.study.ears import Tables

    # Before methods are imported, which may have to be compiled, for minutes.
    named = arguments.audiograms if kind.option not in OF_EARS_ALONE else None
    tables = Tables.read(named, arguments.train, arguments.columns)
    table = import_module(f"host_tools.research.{kind.module}").table(arguments, tables)
    if arguments.out is None:
        from host_tools.research.study.work import all_done

        made = all_done(table.run, table.units, where)
    else:
        from host_tools.research.study.plan import plan_of_table
        from host_tools.research.study.store import run_table

        table = replace(table, plan=plan_of_table(kind.option, arguments, table.units))
        made = [*run_table(table, arguments.out, where)]
    rows = table.rows(made)
    lines = table.lines(rows)
    if arguments.out is not None:
        write_text(arguments.out / SUMMARY, "\n".join(lines) + "\n", for_all=True)
    if arguments.json:
        lines = [_json({**table.about, "rows": rows})]
    say(*lines)
    return 0


def _methods(arguments: argparse.Namespace) -> int:
    from host_tools.research.study.options import Options

    where = _where(arguments)
    study = _plan(Options.of(arguments))
    need("gp-pta study", *LIBRARIES, use="study")
    from host_tools.research.study.pictures import draw_pictures
    from host_tools.research.study.store import Store
    from host_tools.research.study.summary import Results, as_csv, summary

    store = Store(arguments.out, study)
    store.run_what_is_missing(where)
    store.assemble()
    results = Results(arguments.out, study.methods, study.setting.tones)
    rows = summary(results)
    write_text(arguments.out / "summary.csv", as_csv(rows), for_all=True)
    pictures = draw_pictures(results, arguments.out)
    say(*_lines(study, rows))
    if arguments.json:
        about = {
            "directory": str(arguments.out),
            "ears": len(study.ears),
            "seeds": study.seeds,
            "sessions": study.sessions,
            "tones": study.setting.tones,
            **study.setting.answering.about,
            "remarks": list(study.remarks),
            "pictures": pictures,
            "methods": rows,
        }
        say(_json(about))
    return 0


def _json(about: "Row") -> str:
    from host_tools.research.study.sessions import rounded

    return json.dumps(rounded(about))


def _plan(asked: "Options") -> "Study":
    from host_tools.research.study.ears import Tables

    # Before methods are imported, which may have to be compiled, for minutes.
    tables = Tables.read(asked.audiograms, asked.train, asked.columns)
    from host_tools.research.study.plan import plan_study

    return plan_study(asked, tables)


def _where(arguments: argparse.Namespace) -> "Where":
    from host_tools.research.study.cluster import check_address
    from host_tools.research.study.work import Where

    workers = arguments.workers
    if arguments.dask is not None:
        check_address(arguments.dask)
    if workers is None:
        return Where(min(os.cpu_count() or 1, WORKERS_MAX), arguments.dask)
    if arguments.dask is not None:
        raise HostError("--workers is for this machine; with --dask the cluster has its own")
    if not 0 <= workers <= WORKERS_MAX:
        raise HostError(f"--workers is {workers}; allowed are whole numbers 0 to {WORKERS_MAX}")
    return Where(workers)


def _lines(study: "Study", rows: "list[Row]") -> list[str]:
    from host_tools.research.study.summary import table_lines

    failed = {row["method"]: row["failed"] for row in rows if row["failed"]}
    return [
        f"{len(study.ears)} ears x {study.seeds} seeds, {study.setting.tones} tones",
        study.setting.answering.words,
        *study.remarks,
        *table_lines(rows),
        *(f"{name} could not go on in {each:.1%} of its sessions" for name, each in failed.items()),
    ]
