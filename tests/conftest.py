"""What all tests share: how much of them is run, and the switch for the golden sessions."""

from __future__ import annotations

import gc
import os
import platform
import re
import signal
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.inference.library import BESIDE, VARIABLE, chosen_library, is_made
from firmware_py.sessions import session_record
from tests import budget

if TYPE_CHECKING:
    from device.hearing_aid.openmha import Installation
    from tests.device.image.image import Image

# Read when NumPy is imported. The matrices of the tests are small: with several workers on as many
# processors BLAS threads only wait for one another, and the suite takes three times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# In the background of a script SIGINT is ignored, by everything that is started there, too; and the
# programs are told to end by it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What Numba runs: the methods to compare with, whose kernels are in no library; how kernels are
# compiled; what notes the calls of kernels to count them; and what calls kernels that are a part of
# others there, and slow as plain Python.
NUMBA_ONLY = (
    "bench/*", "host/research/*", "inference/test_kernels.py",
    "inference/laplace/test_posterior.py",
    "inference/mixture/test_selection.py",
)  # fmt: skip
# How a file says that all of its tests are left to `make test-all`.
ALL_THOROUGH = re.compile(r"^pytestmark = .*\bmark\.thorough\b", re.MULTILINE)
# What has to be the same whatever runs the kernels, and is seen under both each time.
NUMBA_TOO = ("firmware/test_golden.py",)

UPDATED = pytest.StashKey[list[str]]()


@pytest.fixture
def as_if_calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it that the levels of every session are dB HL, so that conclusions follow from them."""
    monkeypatch.setattr(CalibrationInForce, "nominal", False)


@pytest.fixture
def as_if_real(as_if_calibrated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it that a person was tested each time, too, so that a result may be final."""
    monkeypatch.setattr(session_record, "BOARD_NAME", "no board is called so")


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: these processes are killed in thought only."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


@pytest.fixture(scope="session")
def one_ear(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a short session."""
    from tests.firmware.whole_sessions import ONE_EAR, a_listener, run_session  # imports NumPy

    return run_session(tmp_path_factory.mktemp("one-ear"), a_listener("S2"), ONE_EAR)


@pytest.fixture(scope="session")
def two_buttons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a short session with unsure answers."""
    from tests.firmware.whole_sessions import a_listener, run_session

    listener = a_listener("N3", unsure_half_width_db=4.0)
    settings = {
        "ears": "left", "tones_max": 26, "stop_half_width_db": 2.0, "unsure_button": True,
    }  # fmt: skip
    return run_session(tmp_path_factory.mktemp("two-buttons"), listener, settings)


@pytest.fixture(scope="session")
def two_ears(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a session of both ears."""
    from tests.firmware.whole_sessions import a_listener, run_session

    return run_session(tmp_path_factory.mktemp("two-ears"), a_listener("N4"), {})


@pytest.fixture(scope="session")
def deaf_ear(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a left ear that heard nothing, by the operator's word: a valid test."""
    from tests.host.judged import write_deaf_ear

    return write_deaf_ear(tmp_path_factory.mktemp("deaf") / "data")


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Image:
    """Return the image for this machine, made once for all workers; else the test is skipped."""
    from tests.device.image.image import make_image  # takes a compiler, which most do not need

    place = tmp_path_factory.getbasetemp()
    of_all_workers = place.parent if "PYTEST_XDIST_WORKER" in os.environ else place
    kept = getattr(pytestconfig, "cache", None)  # it may be switched off
    cache = of_all_workers if kept is None else kept.mkdir("kernels")
    made = make_image(of_all_workers / "image", cache)
    if made is None:
        pytest.skip(f"there is no image for {sys.platform} on {platform.machine()}")
    return made


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="run the sessions of tests/golden again and rewrite their journals",
    )

    parser.addoption(
        "--all",
        action="store_true",
        help="run the tests that are marked thorough, too, and as many examples as it takes",
    )

    parser.addoption(
        "--under-numba",
        action="store_true",
        help="with GP_PTA_KERNELS=jit: only the tests that see to Numba",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what needs Numba where there is a library, and all else with --under-numba.

    What is thorough as a whole is not even imported without --all.
    """
    path = str(collection_path.relative_to(Path(__file__).parent))
    if collection_path.suffix != ".py":
        return None
    everything = config.getoption("--all") or collection_path.name == "conftest.py"
    if not everything and ALL_THOROUGH.search(collection_path.read_text("utf-8")):
        return True
    only = any(fnmatch(path, pattern) for pattern in NUMBA_ONLY)
    too = any(fnmatch(path, pattern) for pattern in NUMBA_TOO)
    if config.getoption("--under-numba"):
        return None if only or too else True
    return True if only and chosen_library() is not None else None


def pytest_configure(config: pytest.Config) -> None:
    config.stash[UPDATED] = []
    # Where files of one directory are named with one of a directory above it between them, pytest
    # 9.1 collects the directory twice, and its fixtures belong to the first time only.
    config.args.sort(key=lambda named: Path(named.partition("::")[0]).parts)
    gc.disable()  # to collect the tests makes a million objects that stay
    if VARIABLE not in os.environ and BESIDE.exists() and not is_made():
        raise pytest.UsageError("the library of kernels is of other kernels; run: make kernels")
    if not hasattr(config, "workerinput"):
        from firmware_py.inference.kernel import prepare  # imports NumPy

        prepare()  # Numba's kernels, too: a firmware that compiles them is not silent
    budget.load(budget.ALL if config.getoption("--all") else budget.QUICK)
    if config.getoption("--update-golden") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--update-golden rewrites files: run it without -n")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only `make test-all` runs, unless it is named on the command line."""
    if config.getoption("--all"):
        return
    named = [argument for argument in config.args if "::" in argument]
    left_out = {
        item
        for item in items
        if item.get_closest_marker("thorough")
        and not any(item.nodeid.startswith(name) for name in named)
    }
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Rewrite all golden sessions or none: half a set would belong to two versions."""
    gc.enable()
    gc.freeze()  # and no test has to walk them
    if not session.config.getoption("--update-golden"):
        return
    golden = [item for item in session.items if item.get_closest_marker("golden")]
    there = {item.callspec.params["name"] for item in golden if isinstance(item, pytest.Function)}
    if not there or there != set(golden[0].module.RECORDINGS):  # type: ignore[attr-defined]
        raise pytest.UsageError(
            f"--update-golden rewrites the whole set, and {len(there)} of it are in this run; "
            "run: pytest --update-golden tests/firmware/test_golden.py"
        )


def pytest_report_header(config: pytest.Config) -> str:
    seed = config.getoption("--hypothesis-seed", None)
    return f"hypothesis: {'derandomized' if seed is None else f'seed {seed}'}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if lines := terminalreporter.config.stash[UPDATED]:
        terminalreporter.section("golden sessions rewritten")
        for line in lines:
            terminalreporter.write_line(line)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say last of all what was not tested: after the summary, where it is read."""
    reporter: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        _name_what_was_not_emulated(reporter)
        if not config.getoption("--under-numba") and chosen_library() is not None:
            reporter.write_line(f"without what needs Numba: {', '.join(NUMBA_ONLY)}")


def _name_what_was_not_emulated(reporter: pytest.TerminalReporter) -> None:
    skipped = [r for r in reporter.stats.get("skipped", []) if "device/emulator" in r.nodeid]
    if skipped:
        why = skipped[0].longrepr[2].removeprefix("Skipped: ")
        reporter.write_line(
            f"NOT RUN: {len(skipped)} tests of the emulated board: {why}", red=True, bold=True
        )


@pytest.fixture(scope="session")
def installation() -> Installation:
    """Return where the real openMHA is; without it the test says so."""
    from device.hearing_aid.openmha import Installation, OpenMhaError

    try:
        return Installation()
    except OpenMhaError as error:
        pytest.skip(str(error))
