"""`python -m device.image.build`: images of the firmware, one for each kind of machine."""

import argparse
import ast
import gzip
import io
import json
import shutil
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from device.image.checksums import write_checksums
from device.image.commit import commit, write_commit
from device.image.compile import BuildError
from device.image.kernels import ROOT, export, make_library, refuse_more
from device.image.stack import stack_bytes
from device.image.targets import TARGETS, Target
from firmware_py import __version__
from firmware_py.inference.library import BESIDE
from firmware_py.platform.program import run_program

DEVICES: Final = [target.name for target in TARGETS.values() if target.is_for_devices]
STACK_BYTES_MAX: Final = 8192  # half of the smallest stack that a thread may have
KERNELS: Final = "inference"  # the library of kernels knows sources here by their check sum
PAGE: Final = "operator.html"
LAUNCHER: Final = """\
#!/usr/bin/env python3
import sys

from firmware_py.main import main

sys.exit(main())
"""


def assemble(
    text: str, target: Target, directory: Path, source_commit: str, page: Path | None = None
) -> Path:
    """Make the image of one target of LLVM's text of the kernels; return its tar beside it.

    What was in the directory is removed. Whoever has the device has the operator's `page`.
    """
    if directory.exists():
        shutil.rmtree(directory)
    shutil.copytree(
        ROOT / "firmware_py",
        directory / "firmware_py",
        ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.md", "*.svg", "*.pyi"),
    )
    for path in sorted((directory / "firmware_py").rglob("*.py")):
        if KERNELS not in path.parts:
            path.write_text(empty_docstrings(path.read_text("utf-8")), "utf-8")
    write_commit(source_commit, directory)
    shutil.copy(ROOT / "LICENSE", directory)
    if page is not None:
        shutil.copyfile(page, directory / PAGE)
    (directory / "gp-pta-device").write_text(LAUNCHER, encoding="ascii")
    library = directory / "firmware_py" / "inference" / BESIDE.name
    made_from = make_library(text, target, library, source_commit)
    stack = stack_bytes(text, target)
    refuse_more("a kernel takes a stack of", max(stack.values()), STACK_BYTES_MAX)
    manifest = {**made_from, "stack_bytes": stack}
    (directory / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "ascii")
    write_checksums(directory)
    return _pack(directory)


def empty_docstrings(source: str) -> str:
    """Return a module with docstrings of one space, so that it takes less room and memory.

    Each line stays where it is: an error names the line of the source. A data class without any
    docstring makes itself one, of its signature.
    """
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        if ast.get_docstring(node) is None:
            continue
        first = node.body[0]
        end = first.end_lineno or first.lineno
        line = lines[first.lineno - 1]
        lines[first.lineno - 1] = line[: len(line) - len(line.lstrip())] + '""\n'
        lines[first.lineno : end] = ["\n"] * (end - first.lineno)
    return "".join(lines)


def _files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


def _pack(directory: Path) -> Path:
    """Write a reproducible tar of the directory: the same files give the same bytes."""
    packed = directory.with_name(f"{directory.name}.tar.gz")
    with (
        packed.open("wb") as file,
        gzip.GzipFile("", "wb", mtime=0, fileobj=file) as compressed,
        tarfile.open(mode="w", fileobj=compressed, format=tarfile.USTAR_FORMAT) as tar,
    ):
        for path in _files(directory):
            content = path.read_bytes()
            entry = tarfile.TarInfo(str(path.relative_to(directory.parent)))
            entry.size = len(content)
            entry.mode = 0o755 if path.name == "gp-pta-device" else 0o644
            tar.addfile(entry, io.BytesIO(content))
            path.chmod(entry.mode)
    return packed


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m device.image.build", description="Make images of the firmware."
    )
    parser.add_argument(
        "--target", choices=[*DEVICES, "all"], default="all", help="the machine (default: all)"
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=ROOT / "build" / "image",
        help="where the images are put (default: build/image)",
    )  # fmt: skip
    parser.add_argument(
        "--page", metavar="FILE", type=Path, help="the operator's page, of gp-pta page -o"
    )
    arguments = parser.parse_args(argv)
    try:
        if arguments.page is not None and not arguments.page.is_file():
            raise BuildError(f"--page is {str(arguments.page)!r}, which is no file")
        text = export()
        for target in (TARGETS[name] for name in DEVICES):
            if arguments.target not in (target.name, "all"):
                continue
            directory = arguments.out / f"gp-pta-device-{__version__}-{target.name}"
            packed = assemble(text, target, directory, commit(), arguments.page)
            kernels = directory / "firmware_py" / "inference" / BESIDE.name
            sizes = [path.stat().st_size for path in (packed, kernels)]
            print(f"{packed}: {sizes[0]} bytes; kernels {sizes[1]} bytes")
    except BuildError as error:
        print(f"device.image.build: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
