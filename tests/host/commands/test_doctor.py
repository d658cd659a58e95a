"""`gp-pta doctor`: it says what is missing, and its exit code is about what is installed."""

import ast
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from firmware_py.inference.library import chosen_library
from host_tools.commands.doctor import COLUMNS, hint, package, satisfies
from host_tools.extras import remedy
from host_tools.main import COMMANDS
from tests.host.journals import GpPta
from tests.host.terminal import REPO

EXTRA: Final = tuple(
    {m for command in COMMANDS for some in command.module.NEEDS.values() for m in some}
)


Doctor = Callable[..., str]


@pytest.fixture
def doctor(monkeypatch: pytest.MonkeyPatch, gp_pta: GpPta) -> Iterator[Doctor]:
    """Return what runs it in this process, without some packages, and with these variables.

    Numba is one of the packages that are taken away: there has to be a library.
    """
    if chosen_library() is None:
        pytest.skip("there is no library of kernels here")

    def run(*options: str, without: Sequence[str] = (), code: int = 0, **more: str) -> str:
        for name in without:
            monkeypatch.setitem(sys.modules, name, None)
        for name, value in more.items():
            monkeypatch.setenv(name, value)
        look_anew()
        found, said, errors = gp_pta("doctor", *options)
        assert (found, errors) == (code, ""), said
        return said

    yield run
    look_anew()


def look_anew() -> None:
    """Forget what was found out before."""
    package.cache_clear()
    chosen_library.cache_clear()


def row(said: str, name: str) -> str:
    """Return a row of the table, with the lines that it goes on in."""
    lines = iter(said.splitlines())
    words = next(line for line in lines if line.startswith(f"{name} "))
    for line in lines:
        if not line.startswith(" " * 16):
            break
        words += f" {line.strip()}"
    return words.removeprefix(name).strip()


def test_everything_is_here_where_the_tests_run(doctor: Doctor) -> None:
    said = doctor()

    assert row(said, "report") == row(said, "study") == "ready"
    assert said.splitlines()[-1] == "Nothing that is installed is at fault."
    assert ", type:" not in said


def test_what_is_missing_is_no_fault_and_has_the_line_that_its_command_would_say(
    doctor: Doctor,
) -> None:
    said = doctor(without=EXTRA)

    assert row(said, "completion") == "not ready: shtab is missing"
    assert row(said, "update") == row(said, "calibrate") == row(said, "doctor") == "ready"
    assert (
        row(said, "replay") == "ready, without --picture (matplotlib, quickjs, typst are missing)"
    )
    assert row(said, "sound cards") == "sounddevice is missing"
    typed = [line.strip() for line in said.splitlines() if line.startswith("  ") and "-m" in line]
    assert remedy(["matplotlib"]) in typed
    assert remedy(["matplotlib", "pyarrow", "threadpoolctl"]) in typed
    assert len(typed) == len(set(typed))
    for line in typed:
        assert shlex.split(line)[:4] == [sys.executable, "-m", "pip", "install"]
    assert said.splitlines()[-1] == "Nothing that is installed is at fault."


@pytest.mark.parametrize("without", [(), EXTRA])
def test_it_reads_well_at_80_columns_but_for_what_is_typed(
    doctor: Doctor, without: tuple[str, ...]
) -> None:
    said = doctor(without=without).splitlines()
    typed = {remedy([name]) for name in EXTRA} | {remedy(["matplotlib", "threadpoolctl"])}
    wide = [line for line in said if len(line) > COLUMNS and line.strip() not in typed]
    paths = (sys.executable, str(REPO))  # these are not broken up
    assert [line for line in wide if not any(path in line for path in paths)] == []


def test_as_json_it_says_the_same(doctor: Doctor) -> None:
    findings = json.loads(doctor("--json", without=("matplotlib", "shtab")))
    commands = {command["command"]: command for command in findings["commands"]}

    assert list(commands) == [command.name for command in COMMANDS]
    assert commands["completion"]["ready"] is False
    assert commands["replay"]["ready"] is True
    line, why = remedy(["matplotlib"]), "matplotlib is missing"
    assert commands["replay"]["lacks"] == [
        {"command": "replay", "option": "--picture", "why": why, "line": line}
    ]
    assert findings["faults"] == []
    assert {package["name"] for package in findings["packages"]} >= {"numpy", "pyserial", "rich"}


BROKEN: Final = {
    "shtab/__init__.py": "raise ImportError('libc is too old')",
    "rich-9.9.dist-info/METADATA": "Metadata-Version: 2.1\nName: rich\nVersion: 9.9\n",
}


def test_a_package_that_cannot_be_used_is_a_fault(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in BROKEN.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(content)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "shtab", raising=False)
    said = doctor(code=2)

    assert row(said, "completion") == "not ready: shtab is missing"
    assert said.splitlines()[-2:] == [
        f"fault: rich: version 9.9; wanted is >=13.3: {remedy(['rich'])}",
        f"fault: shtab: cannot be imported: ImportError: libc is too old: {remedy(['shtab'])}",
    ]


@pytest.mark.parametrize(
    ("kernels", "without", "words"),
    [
        ("/none.so", (), "GP_PTA_KERNELS: /none.so cannot be read: No such file or directory;"),
        ("jit", ("numba",), "Numba, which compiles them, is missing"),
    ],
)
def test_kernels_that_cannot_be_used_are_a_fault(
    kernels: str, without: tuple[str, ...], words: str, doctor: Doctor
) -> None:
    said = doctor(GP_PTA_KERNELS=kernels, without=without, code=2).splitlines()
    assert any(line.startswith("fault: ") and words in line for line in said)


def test_what_cannot_be_written_or_is_not_there_is_named_with_what_follows(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/proc")
    said = doctor(XDG_CACHE_HOME="/proc/none", MICROPYTHON_UF2="/none.uf2")

    assert row(said, "the cache").startswith("/proc/none/gp-pta cannot be written: ")
    assert row(said, "this directory").startswith("/proc cannot be written: ")
    assert row(said, "this directory").endswith("name others: --out, --data")
    assert not list(REPO.glob("tmp*")), "nothing stays of the trial"
    board = "MICROPYTHON_UF2 is '/none.uf2', and there is no such file"
    assert row(said, "emulated board") == board
    assert row(said, "demo") == "ready, without --board emulated"


def test_a_port_that_is_closed_has_the_line_that_opens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hint(Path("/dev/null")) == ""
    monkeypatch.setattr(os, "access", lambda *_: False)
    group = subprocess.run(
        ["stat", "-c", "%G", "/dev/null"], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert hint(Path("/dev/null")) == f"sudo usermod -aG {group} $USER, and log in again"
    assert "-aG dialout" in hint(Path("/dev/there-is-none"))


@pytest.mark.parametrize(
    ("there", "wanted", "well"),
    [
        ("0.68.1", "==0.68.*", True), ("0.69.0", "==0.68.*", False), ("13.9.9", ">=14", False),
        ("9.1", "<9.2,>=8.4", True), ("9.2.0", "<9.2,>=8.4", False), ("0.3.7", "==0.3.6", False),
        ("2.13.0+cpu", ">=2.13", True), ("3.0rc1", ">=3.0", True), ("1.0", "", True),
        ("of unknown version", ">=5", True),
    ],
)  # fmt: skip
def test_versions_are_compared_by_their_numbers(there: str, wanted: str, well: bool) -> None:
    assert satisfies(there, wanted) is well


def test_every_package_that_a_command_asks_for_is_known() -> None:
    """What is asked for by name, somewhere in a command, is what the doctor looks at."""
    asked = set()
    for path in (REPO / "host_tools").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "need":
                asked |= {
                    str(argument.value) for argument in node.args[1:]
                    if isinstance(argument, ast.Constant)
                }  # fmt: skip

    assert asked
    assert asked <= {*EXTRA}
