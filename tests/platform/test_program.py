"""No program of ours runs without its assertions, and none gives a traceback for what people do."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from firmware_py.platform.program import BROKEN_PIPE, INTERRUPTED, run_program

ROOT = Path(__file__).parents[2]
TOPS = ("firmware_py", "device", "host_tools", "bench")
# Helpers of one other program, the room that imports no other, and other environments.
OTHERS = (
    "device/hearing_aid/confined.py",
    "device/image/export.py",
    "device/image/stack.py",
    "firmware_py/inference/",
    "bench/peers/",
)
CHECK = ("firmware_py.main", "--tone-generator=no", "--console=no", "--data=.", "--check")


def interrupt() -> int:
    raise KeyboardInterrupt


def test_the_exit_code_says_how_it_ended() -> None:
    assert run_program(lambda: 3) == 3
    assert run_program(lambda: None) == 0
    assert run_program(interrupt) == INTERRUPTED
    with pytest.raises(SystemExit, match="7"):
        run_program(lambda: sys.exit(7))


@pytest.mark.parametrize(
    "words",
    [CHECK, ("firmware_py.main", "--help"), ("host_tools.main", "--help")],
)
def test_a_reader_that_goes_away_is_no_error(words: tuple[str, ...], tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    with subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == BROKEN_PIPE


def test_closed_standard_files_are_no_error_and_nothing_else_gets_their_numbers() -> None:
    opened = "import os; print(1); raise SystemExit(os.open('/dev/zero', os.O_RDONLY))"
    run = f"run_program(lambda: exec({opened!r}))"
    program = f"from firmware_py.platform.program import run_program; {run}"
    shell = ["/bin/sh", "-c", 'exec "$@" <&- >&-', "sh", sys.executable, "-c", program]
    done = subprocess.run(shell, cwd=ROOT, capture_output=True, check=False)
    assert done.stderr == b""
    assert done.returncode > 2


def test_every_program_ends_in_one_place() -> None:
    for top in TOPS:
        for path in (ROOT / top).rglob("*.py"):
            name = str(path.relative_to(ROOT))
            _, program, last = path.read_text("utf-8").partition('\nif __name__ == "__main__":')
            if program and not name.startswith(OTHERS):
                main = re.search(r"sys\.exit\((run_program\(|main\(\)\))", last)
                assert main is not None, name
                assert "run_program(" in path.read_text("utf-8"), name


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (["-O"], {}),
        pytest.param(["-OO"], {}, marks=pytest.mark.thorough),
        pytest.param([], {"PYTHONOPTIMIZE": "1"}, marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize(
    ("module", "name"), [("firmware_py.main", "gp-pta-device"), ("host_tools.main", "gp-pta")]
)
def test_python_without_assertions_is_refused(
    module: str, name: str, options: list[str], environment: dict[str, str]
) -> None:
    ended = subprocess.run(
        [sys.executable, *options, "-m", module, "--version"], cwd=ROOT,
        env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"{name}: Python was started with -O or PYTHONOPTIMIZE, which leaves checks out; start it "
        "without\n"
    )


# Fills memory megabyte by megabyte and says how far it came.
GROW = """
import sys
from firmware_py.platform.program import limit_growth
limit_growth(int(sys.argv[1]))
taken = []
try:
    while len(taken) < 1000:
        taken.append(bytearray(1_000_000))
except MemoryError:
    taken_mb = len(taken)
    taken.clear()
    print(taken_mb)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("reserve_mb", [8, 32])
def test_a_process_that_grows_beyond_its_reserve_gets_a_memory_error(reserve_mb: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", GROW, str(reserve_mb)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert reserve_mb - 3 <= int(done.stdout) <= reserve_mb
