"""The commands that make libraries, images and wheels: what they make, and what they say."""

import fcntl
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Timer
from typing import Any
from unittest.mock import Mock

import pytest

from device.image import build, kernels, wheels
from device.image.compile import BuildError
from device.image.targets import TARGETS, Target, target_of_this_machine

Tell = Callable[[str], None]


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the library of a checkout is, whose making takes no time."""
    library = tmp_path / "kernels.so"

    def export(tell: Tell) -> str:
        for name in ("exp", "log", "exp"):
            tell(name)
        return "text"

    def make(text: str, _target: Target, path: Path, _commit: str) -> None:
        path.write_text(text)

    monkeypatch.setattr(kernels, "BESIDE", library)
    monkeypatch.setattr(kernels, "is_as_made_now", library.exists)
    monkeypatch.setattr(kernels, "target_of_this_machine", lambda: TARGETS["aarch64"])
    monkeypatch.setattr(kernels, "export", export)
    monkeypatch.setattr(kernels, "make_library", make)
    return library


def test_the_library_of_a_checkout_is_made_once(
    beside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kernels.main() == 0
    assert beside.read_text() == "text"
    first, second, last = (line.strip() for line in capsys.readouterr().err.splitlines())
    assert first.startswith("making this machine's library of kernels, once: 1 of ")
    assert first.endswith(", exp")
    assert second.endswith(", log"), "each kernel is named once"
    assert last == "the library of kernels is made"

    beside.write_text("as it is")
    assert kernels.main() == 0
    kernels.make_beside(print)
    assert beside.read_text() == "as it is"
    assert capsys.readouterr() == ("", "")


def test_who_comes_second_waits_until_the_first_has_made_the_library(beside: Path) -> None:
    first = os.open(beside.parent, os.O_RDONLY)
    fcntl.flock(first, fcntl.LOCK_EX)
    told: list[str] = []

    def finish() -> None:
        beside.write_text("of the first")
        os.close(first)  # its lock is gone with it

    def tell(line: str) -> None:
        told.append(line)
        Timer(0.1, finish).start()

    kernels.make_beside(tell)
    assert told == ["another process is making the library of kernels; waiting for it"]
    assert beside.read_text() == "of the first"


@pytest.mark.parametrize(
    ("program", "step", "options", "error"),
    [
        (kernels, "make_library", None, BuildError("no linker")),
        (kernels, "make_library", None, OSError("no linker")),
        (build, "export", [], BuildError("no compiler")),
        (build, "assemble", [], BuildError("it is too large")),
        (wheels, "export", [], BuildError("no compiler")),
    ],
)
def test_what_cannot_be_made_is_said(
    beside: Path,
    program: Any,
    step: str,
    options: list[str] | None,
    error: Exception,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if program is build:
        monkeypatch.setattr(build, "export", lambda: "text")
    monkeypatch.setattr(program, step, Mock(side_effect=error))
    assert (program.main() if options is None else program.main(options)) == 1
    assert capsys.readouterr().err.endswith(f"{program.__name__}: {error}\n")
    assert not beside.exists()


def test_a_machine_for_which_there_is_no_library_is_told_so(
    beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "target_of_this_machine", lambda: None)
    told: list[str] = []
    kernels.make_beside(told.append)
    assert told == ["there is no library of kernels for this kind of machine: Numba compiles them"]
    assert not beside.exists()


@pytest.mark.parametrize("asked", ["all", "aarch64"])
def test_images_are_made_of_the_machines_asked_for(
    asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def assemble(_text: str, target: Target, directory: Path, *_: object) -> Path:
        library = directory / "firmware_py" / "inference" / "kernels.so"
        library.parent.mkdir(parents=True)
        library.write_bytes(b"12")
        packed = tmp_path / f"{target.name}.tar.gz"
        packed.write_bytes(b"123")
        return packed

    monkeypatch.setattr(build, "export", lambda: "text")
    monkeypatch.setattr(build, "assemble", assemble)
    assert build.main(["--target", asked, "--out", str(tmp_path / "image")]) == 0
    names = build.DEVICES if asked == "all" else [asked]
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path / name}.tar.gz: 3 bytes; kernels 2 bytes" for name in names
    ]


@pytest.mark.parametrize("options", [[], ["--untried"]])
def test_every_wheel_is_made_and_that_of_this_machine_is_tried(
    options: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def make(_text: str, targets: Sequence[Target], _place: Path, out: Path) -> list[Path]:
        found = [out / f"{target.name}.whl" for target in targets]
        for path in found:
            path.write_bytes(b"1234")
        return found

    tried: list[Path] = []
    monkeypatch.setattr(wheels, "export", lambda: "text")
    monkeypatch.setattr(wheels, "make_wheels", make)
    monkeypatch.setattr(wheels, "try_wheel", lambda wheel, _place: tried.append(wheel))
    assert wheels.main(["--out", str(tmp_path), *options]) == 0
    assert capsys.readouterr().out.count(".whl: 4 bytes\n") == len(TARGETS)
    own = target_of_this_machine()
    wanted = [] if own is None or options else [tmp_path / f"{own.name}.whl"]
    assert tried == wanted
