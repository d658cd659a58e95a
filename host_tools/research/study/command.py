"""`gp-pta study`: methods compared on simulated listeners, and the paper's figures."""

import argparse
import json
import os
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from device.simulator.kinds import HONEST
from device.simulator.odd_ears import ODD_EARS
from firmware_py.inference.library import JIT, VARIABLE
from firmware_py.terms.settings import BRISK
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.research.methods.names import METHODS_FURTHER, METHODS_USUAL
from host_tools.research.study import arguments as options
from host_tools.research.study.arguments import (
    FIGURES,
    RESPONSE_TIME_S_USUAL,
    RETEST_DRIFT_USUAL,
    SEEDS_USUAL,
    TRIALS_USUAL,
    WORKERS_MAX,
)
from host_tools.terminal import progress

if TYPE_CHECKING:  # these bring Numba and Arrow with them, which other commands do without
    from host_tools.research.study.ears import Tables
    from host_tools.research.study.options import Options
    from host_tools.research.study.plan import Study
    from host_tools.research.study.store import Store
    from host_tools.research.study.summary import Line
    from host_tools.research.study.work import Runs

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
    """Run the study, or draw the figure."""
    os.environ[VARIABLE] = JIT  # the other methods have kernels of their own, in no library
    _check_one_table(arguments)
    if arguments.bone:
        return _bone(arguments)
    if arguments.robustness:
        return _robustness(arguments)
    if arguments.cases is not None:
        raise HostError("--cases are rows of --robustness, which is not there")
    if arguments.seconds:
        return _seconds(arguments)
    if arguments.as_published:
        return _as_published(arguments)
    _refuse_of_seconds(arguments)
    if arguments.out is None:
        raise HostError("-o is missing; allowed is a directory, or a file of --figure")
    if arguments.figure is not None:
        return _figure(arguments)
    if arguments.audiograms is None:
        raise HostError(f"--audiograms is missing; {AUDIOGRAMS_ALLOWED}")
    return _study(arguments)


def _figure(arguments: argparse.Namespace) -> int:
    if arguments.figure not in FIGURES:
        raise HostError(f"--figure is {arguments.figure!r}; allowed are {', '.join(FIGURES)}")
    _refuse_times(arguments, "--figure")
    _refuse_own(arguments, "--figure")
    if arguments.listener != HONEST.text:
        raise HostError(f"--listener is {arguments.listener!r}; of --figure allowed is honest")
    if arguments.audiograms is not None:
        raise HostError("--figure has one ear: --audiogram, not --audiograms")
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
    _refuse(arguments, "--robustness", "its rows say what is run, and it prints a table")
    _refuse_of_seconds(arguments)
    _refuse_times(arguments, "--robustness")
    _refuse_own(arguments, "--robustness")
    if arguments.seconds:
        raise HostError("--seconds does not go with --robustness: each prints a table of its own")
    if arguments.listener != HONEST.text:
        raise HostError("--listener does not go with --robustness: its rows have their listeners")
    workers = _workers(arguments)
    need("gp-pta study --robustness", "numba", "threadpoolctl", use="study")
    from host_tools.research.study.ears import real_table

    table = (
        None
        if arguments.audiograms is None
        else real_table(arguments.audiograms, arguments.columns)
    )
    from host_tools.research.study.robustness_command import robustness

    return robustness(arguments, table, workers)


def _seconds(arguments: argparse.Namespace) -> int:
    _refuse(arguments, "--seconds", "it runs whole tests, and prints a table")
    if arguments.audiograms is None:
        raise HostError(f"--audiograms is missing; {AUDIOGRAMS_ALLOWED}")
    if arguments.trials != TRIALS_USUAL:
        raise HostError("--trials does not go with --seconds: a whole test ends by itself")
    workers = _workers(arguments)
    asked = _options(arguments, seeds=1, conduct=BRISK)
    need("gp-pta study --seconds", "numba", "threadpoolctl", use="study")
    tables = _tables(asked)
    from host_tools.research.study.seconds_command import seconds

    return seconds(arguments, asked, tables, workers)


def _as_published(arguments: argparse.Namespace) -> int:
    _refuse(arguments, "--as-published", "it runs whole tests, and prints tables")
    _refuse_own(arguments, "--as-published")
    _refuse_of_seconds(arguments)
    if arguments.audiograms is None:
        raise HostError("--audiograms is missing; allowed are a table of ears, bisgaard")
    for option, allowed, why in (
        ("trials", (TRIALS_USUAL,), "a whole test ends by itself"),
        ("conduct", (BRISK,), "it runs each conduct"),
        ("listener", (HONEST.text, "human"), "its listeners are human"),
    ):
        if getattr(arguments, option) not in allowed:
            raise HostError(f"--{option} does not go with --as-published: {why}")
    workers = _workers(arguments)
    asked = _options(arguments, seeds=1, conduct=BRISK)
    need("gp-pta study --as-published", "numba", "pyarrow", "threadpoolctl", use="study")
    tables = _tables(asked)
    from host_tools.research.study.as_published_command import as_published

    return as_published(arguments, asked, tables, workers)


def _bone(arguments: argparse.Namespace) -> int:
    _refuse(arguments, "--bone", "it runs whole tests, and prints a table")
    _refuse_of_seconds(arguments)
    _refuse_times(arguments, "--bone")
    _refuse_own(arguments, "--bone")
    if arguments.audiograms is None:
        raise HostError("--audiograms is missing; allowed is a table of ears by air and by bone")
    usual = {
        "robustness": False, "seconds": False, "cases": None, "seeds": None, "noise": 2.0,
        "lapse_rate": 0.01, "false_alarm_rate": 0.01, "listener": HONEST.text, "part": "auto",
        "no_jitter": False, "trials": TRIALS_USUAL,
    }  # fmt: skip
    for option, value in usual.items():
        if getattr(arguments, option) != value:
            raise HostError(f"--{option.replace('_', '-')} does not go with --bone")
    workers = _workers(arguments)
    need("gp-pta study --bone", "numba", "threadpoolctl", use="study")
    from host_tools.research.study.bone_people import people_asked

    people = people_asked(arguments.audiograms, arguments.ears, arguments.columns)
    from host_tools.research.study.bone_command import bone

    return bone(arguments, people, workers)


def _refuse(arguments: argparse.Namespace, mode: str, why: str) -> None:
    for option in ("figure", "out", "methods", "train", "dask"):
        if getattr(arguments, option) is not None:
            raise HostError(f"--{option} does not go with {mode}: {why}")


def _check_one_table(arguments: argparse.Namespace) -> None:
    """Refuse --as-published beside another table, and what only it has."""
    if not arguments.as_published:
        if arguments.retest_drift != RETEST_DRIFT_USUAL:
            raise HostError("--retest-drift is of --as-published, which is not there")
        return
    for other in ("robustness", "seconds", "bone"):
        if getattr(arguments, other):
            raise HostError(f"--{other} does not go with --as-published: each prints its own table")


def _refuse_own(arguments: argparse.Namespace, mode: str) -> None:
    for option in ("prior", "objective"):
        if getattr(arguments, option):
            raise HostError(f"--{option} does not go with {mode}: it is of methods, and --seconds")


def _refuse_of_seconds(arguments: argparse.Namespace) -> None:
    """Refuse options that only --seconds has."""
    for option, usual in (("tested", "one"), ("unsure_half_width", 0.0)):
        if getattr(arguments, option) != usual:
            name = option.replace("_", "-")
            raise HostError(f"--{name} is of --seconds, which is not there")


def _refuse_times(arguments: argparse.Namespace, mode: str) -> None:
    """Refuse what the seconds follow from, where none are told."""
    for option, usual in (("conduct", BRISK), ("response_time", RESPONSE_TIME_S_USUAL)):
        if getattr(arguments, option) != usual:
            name = option.replace("_", "-")
            raise HostError(f"--{name} does not go with {mode}: it tells no seconds")


def _study(arguments: argparse.Namespace) -> int:
    workers = _workers(arguments)
    asked = _options(arguments, SEEDS_USUAL, arguments.conduct)
    study = _plan(asked, _tables(asked))
    need("gp-pta study", *LIBRARIES, use="study")
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


def _run_what_is_missing(study: "Study", store: "Store", workers: int, dask: str | None) -> None:
    """Run the chunks that are not done, and keep each as it comes."""
    missing = store.missing()
    if not missing:
        return
    done = study.sessions - sum(len(study.numbers_in(index)) for index in missing)
    try:
        with (
            progress("sessions", study.sessions, done) as tell,
            closing(_runs(study, store, missing, workers, dask)) as runs,
        ):
            for index, sessions in runs:
                store.keep(index, sessions)
                done += len(sessions)
                tell(done)
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
    from host_tools.research.study.work import (
        one_thread,
        run_here,
        run_in_processes,
        run_on_cluster,
    )

    one_thread()
    chunks = study.make(missing, store.learn())
    if dask is not None:
        return run_on_cluster(chunks, dask)
    if workers == 0:
        return run_here(chunks)
    return run_in_processes(chunks, min(workers, len(missing)))


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
