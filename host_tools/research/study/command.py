"""`gp-pta study`: methods compared on simulated listeners, and the paper's figures."""

import argparse
import json
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from firmware_py.inference.library import JIT, VARIABLE
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.research.methods.names import METHODS_FURTHER, METHODS_USUAL

if TYPE_CHECKING:  # these bring Numba and Arrow with them, which other commands do without
    from host_tools.research.study.plan import Study
    from host_tools.research.study.store import Store
    from host_tools.research.study.summary import Line
    from host_tools.research.study.work import Runs

NAME = "study"
SUMMARY = "compare methods on simulated listeners, or draw a figure of the paper again"
EXAMPLE = f"""\
examples:
  gp-pta study --audiograms bisgaard --methods gp-pta,gp-pta-2015,quest --seeds 20 -o study
  gp-pta study --audiograms ears.csv --ears 40 --workers 8 -o study
  gp-pta study --audiograms ears.csv --ears 0 --dask tcp://10.0.0.1:8786 -o study
  gp-pta study --figure posterior-evolution --profile gp-pta-2015 -o figure.svg

methods: {", ".join(METHODS_USUAL)};
and, if named: {", ".join(METHODS_FURTHER)}.
An unbiased staircase takes off the 2.5 dB by which it settles above the level heard half the time.

A study that was cut short goes on with the same command. Its results have the same bytes for any
number of workers, and on a cluster of machines of one kind.
"""

FIGURES: Final = ("posterior-evolution", "mean-bald")
# Looked for after the arguments are known to be right, so not needed by the command as a whole.
LIBRARIES: Final = ("matplotlib", "numba", "pyarrow", "threadpoolctl")
NEEDS: Final = {
    "--audiograms": LIBRARIES,
    "--figure": ("matplotlib",),
    "--dask": ("distributed",),
}


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    p.add_argument("--audiograms", metavar="FILE|bisgaard", help="whose ears are measured")
    p.add_argument("--methods", metavar="NAME,...", help="see below (default: the first list)")
    p.add_argument(
        "--ears", type=int, metavar="N", help="of a FILE, per degree of loss; 0: all (default: 40)"
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
    p.add_argument("--noise", type=float, default=2.0, metavar="DB", help="default: 2")
    p.add_argument("--lapse-rate", type=float, default=0.01, metavar="P", help="default: 0.01")
    p.add_argument(
        "--false-alarm-rate", type=float, default=0.01, metavar="P", help="default: 0.01"
    )
    p.add_argument("--trials", type=int, default=40, metavar="N", help="tones (default: 40)")
    p.add_argument("--seeds", type=int, default=20, metavar="N", help="an ear (default: 20)")
    p.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes; 0: this one alone (default: one per processor)",
    )
    p.add_argument("--dask", metavar="ADDRESS", help="run on the Dask cluster of this scheduler")
    p.add_argument("--figure", metavar="|".join(FIGURES), help="draw a figure of the paper instead")
    p.add_argument("--profile", default="default", help="of the figure (default: default)")
    p.add_argument(
        "--audiogram",
        default="N3",
        metavar="NAME|FILE.csv:ROW",
        help="of the figure (default: N3)",
    )
    p.add_argument("--seed", type=int, default=1, help="of the figure (default: 1)")
    p.add_argument(
        "-o",
        "--out",
        type=Path,
        required=True,
        metavar="DIR|FILE",
        help="the study's directory, or the figure's file: .svg, .png or .pdf",
    )
    p.add_argument("--json", action="store_true", help="end with one line of JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run the study, or draw the figure."""
    os.environ[VARIABLE] = JIT  # the other methods have kernels of their own, in no library
    if arguments.figure is not None:
        return _figure(arguments)
    if arguments.audiograms is None:
        raise HostError("--audiograms is missing; allowed are a table of ears and bisgaard")
    return _study(arguments)


def _figure(arguments: argparse.Namespace) -> int:
    if arguments.figure not in FIGURES:
        raise HostError(f"--figure is {arguments.figure!r}; allowed are {', '.join(FIGURES)}")
    if arguments.audiograms is not None:
        raise HostError("--figure has one ear: --audiogram, not --audiograms")
    need(f"gp-pta {NAME} --figure", *NEEDS["--figure"], use=NAME)
    from host_tools.research.study.figures import draw_figure

    numbers = draw_figure(
        arguments.figure,
        arguments.out,
        profile=arguments.profile,
        audiogram=arguments.audiogram,
        seed=arguments.seed,
        response_noise_db=arguments.noise,
        lapse_rate=arguments.lapse_rate,
        false_alarm_rate=arguments.false_alarm_rate,
        trials=arguments.trials,
    )
    if arguments.json:
        print(json.dumps(numbers))
    return 0


def _study(arguments: argparse.Namespace) -> int:
    workers = _workers(arguments)
    study = _planned(arguments)
    need(f"gp-pta {NAME}", *LIBRARIES, use=NAME)
    from rich.console import Console

    from host_tools.files import write_text
    from host_tools.research.study.pictures import draw_pictures
    from host_tools.research.study.store import Store
    from host_tools.research.study.summary import Results, as_csv, summary

    store = Store(arguments.out, study)
    _run_what_is_missing(study, store, workers, arguments.dask)
    store.assemble()
    results = Results(arguments.out, study.methods, study.setting.tones)
    lines = summary(results)
    write_text(arguments.out / "summary.csv", as_csv(lines))
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


def _planned(arguments: argparse.Namespace) -> "Study":
    from host_tools.research.study.plan import Options, planned

    names = (arguments.methods or "").split(",")
    named = tuple(name.strip() for name in names if name.strip())
    return planned(
        Options(
            audiograms=arguments.audiograms,
            methods=None if arguments.methods is None else named,
            ears_per_stratum=arguments.ears,
            part=arguments.part,
            jitter=not arguments.no_jitter,
            train=arguments.train,
            response_noise_db=arguments.noise,
            lapse_rate=arguments.lapse_rate,
            false_alarm_rate=arguments.false_alarm_rate,
            trials=arguments.trials,
            seeds=arguments.seeds,
        )
    )


def _workers(arguments: argparse.Namespace) -> int:
    from host_tools.research.study.work import WORKERS_MAX

    if arguments.workers is None:
        return min(os.cpu_count() or 1, WORKERS_MAX)
    if arguments.dask is not None:
        raise HostError("--workers is for this machine; with --dask the cluster has its own")
    workers: int = arguments.workers
    if not 0 <= workers <= WORKERS_MAX:
        raise HostError(f"--workers is {workers}; allowed are whole numbers 0 to {WORKERS_MAX}")
    return workers


def _run_what_is_missing(study: "Study", store: "Store", workers: int, dask: str | None) -> None:
    """Run the chunks that are not done, and keep each as it comes."""
    from rich.console import Console
    from rich.progress import Progress

    missing = store.missing()
    if not missing:
        return
    done = study.sessions - sum(len(study.numbers_in(index)) for index in missing)
    bar = Progress(console=Console(stderr=True), disable=not sys.stderr.isatty())
    try:
        with bar, closing(_runs(study, store, missing, workers, dask)) as runs:
            task = bar.add_task("sessions", total=study.sessions, completed=done)
            for index, sessions in runs:
                store.keep(index, sessions)
                done += len(sessions)
                bar.update(task, completed=done)
    except KeyboardInterrupt:
        print(
            f"gp-pta: interrupted; {done} of {study.sessions} sessions are kept in "
            f"{str(store.directory)!r}, and the same command goes on with them",
            file=sys.stderr,
        )
        raise


def _runs(
    study: "Study", store: "Store", missing: list[int], workers: int, dask: str | None
) -> "Runs":
    from host_tools.research.study.cluster import run_on_cluster
    from host_tools.research.study.work import one_thread, run_here, run_in_processes

    one_thread()
    chunks = study.made(missing, store.learned())
    if dask is not None:
        return run_on_cluster(chunks, dask)
    if workers == 0:
        return run_here(chunks)
    return run_in_processes(chunks, min(workers, len(missing)))


def _show(screen: Any, study: "Study", lines: "list[Line]") -> None:
    how = study.setting.answering
    screen.print(
        f"{len(study.ears)} ears x {study.seeds} seeds, {study.setting.tones} tones; noise "
        f"{how.response_noise_db:g} dB, lapses {how.lapse_rate:g}, false alarms "
        f"{how.false_alarm_rate:g}"
    )
    for remark in study.remarks:
        screen.print(remark, style="yellow", markup=False, soft_wrap=True)
    for row in table_lines(lines, study.setting.tones):
        screen.print(row, markup=False, soft_wrap=True)
    for line in lines:
        if line.failed:
            screen.print(f"{line.method} could not go on in {line.failed:.1%} of its sessions")


def table_lines(lines: "list[Line]", tones: int) -> list[str]:
    """Return the summary as a table in characters, its header the first two lines."""
    goals = lines[0].tones_to_db
    table = [
        ["", "RMSE in dB", "95 % band", "tones"],
        [
            "method",
            "".join(f"{'@' + str(n):>6}" for n in lines[0].rmse_db),
            "".join(f"{'@' + str(n):>5}" for n in lines[0].covered_95),
            "".join(f"{f'to {goal} dB':>12}" for goal in goals),
        ],
    ]
    for line in lines:
        errors = "".join(f"{value:6.1f}" for value in line.rmse_db.values())
        covered = "".join(
            f"{'-' if v is None else f'{v:.2f}':>5}" for v in line.covered_95.values()
        )
        reached = "".join(f"{_reached(line, goal, tones):>12}" for goal in goals)
        table.append([line.method, errors, covered, reached])
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *[c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)],
            ]
        )
        for row in table
    ]


def _reached(line: "Line", goal: int, tones: int) -> str:
    """Return the median, and the share of the sessions that reach the goal."""
    median, share = line.tones_to_db[goal], line.reached[goal]
    shown = f">{tones}" if median is None else f"{median:.0f}"
    return f"{shown} ({share:.0%})"
