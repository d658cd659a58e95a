"""From LLVM's text of the kernels to a shared library for one target.

The library depends on no other: the linker adds the few helpers that a processor without 64-bit
division needs. The same text and versions give the same bytes.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import llvmlite.binding as llvm

from device.image.targets import Target
from firmware_py.inference.library import DESCRIBE

_NATIVE_TARGET: Final = re.compile(r"^target .*\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^define [^@]*@(\w+)\(", re.MULTILINE)
DEFINE: Final = re.compile(r'^define [^@]*@"?([\w.]+)"?\(.*?(?= \{$)', re.MULTILINE)
_INTERNAL: Final = re.compile(r"^define (linkonce_odr|internal)", re.MULTILINE)
# The pointer to the data of an array, as Numba names it: the fifth field of an argument, or of a
# group's field. No kernel writes what it reaches through another of its arrays, as
# `firmware_py.inference.kernel` has it. So a loop that is vectorised needs no second one beside it
# for arrays that overlap: 8 % less library and 3 to 7 % fewer instructions, with the same bits.
_DATA: Final = re.compile(r"ptr (?=%arg\.[\w.]*\.4[,)])")
# A large kernel with many arguments and three calls. LLVM takes a call with many arguments to be
# dear, and would inline it at each: 9 % more library for aarch64, and no fewer instructions.
NEVER_INLINED: Final = "expectation_propagation12posterior_of"
# What takes place once and not for each hypothesis: for aarch64 10 kB less.
ONCE: Final = ("asked10find_asked", "asked14make_component", "check_prior")
# Kernels that run now and then, and are not waited for: their loops are left as short as they are
# written. For aarch64 those of the tuning then take 11 kB and not 46.
SHORT: Final = ("preference", *ONCE)


class BuildError(Exception):
    """An image that cannot be made; the message says why."""


def entries_of(text: str) -> list[str]:
    """Return the names of the kernels that are called from outside, in order."""
    lines = [line for line in text.splitlines() if line.startswith("define ")]
    return sorted(
        found[1]
        for line in lines
        if not _INTERNAL.match(line) and (found := _EXPORT.match(line)) is not None
    )


def _internal_but_entries(text: str, also: Iterable[str] = ()) -> Any:
    """Return LLVM's text as a module of which only the entries are seen from outside."""
    module = llvm.parse_assembly(text)
    seen_outside = {*entries_of(text), *also}
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name not in seen_outside:
            each.linkage = "internal"
    return module


def join_texts(texts: Iterable[str]) -> str:
    first, *others = (_internal_but_entries(_NATIVE_TARGET.sub("", text)) for text in texts)
    for other in others:
        first.link_in(other)
    return str(first)


def _with_description(text: str, about: dict[str, str]) -> str:
    """Add a function that returns what the library was made from and for."""
    words = " ".join(f"{key}={value}" for key, value in about.items()).encode("ascii")
    if any(not 32 < byte < 127 or byte in b'"\\' for byte in words.replace(b" ", b"")):
        raise BuildError(f"the description {words!r} has characters that LLVM's text cannot hold")
    text = DEFINE.sub(lambda found: _DATA.sub("ptr noalias ", found[0]), text)
    # A loop that writes zeros stays a loop: as a call of memset the library would depend on libc.
    text = DEFINE.sub(r'\g<0> "no-builtins"', text)
    return (
        text.replace("@sqrt(", "@llvm.sqrt.f64(").replace("@floor(", "@llvm.floor.f64(")
        + f'\n@description = private constant [{len(words) + 1} x i8] c"{words.decode()}\\00"\n'
        + f"define ptr @{DESCRIBE}() {{\n  ret ptr @description\n}}\n"
    )


def optimise(text: str, about: dict[str, str], target: Target) -> tuple[Any, Any]:
    """Return the module as LLVM optimises it for the target, and the target's machine."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.processor, features=target.features, opt=3, reloc="pic", codemodel="default"
    )
    module = _internal_but_entries(_with_description(text, about), [DESCRIBE])
    for function in module.functions:
        if any(name in function.name for name in (NEVER_INLINED, *ONCE)):
            function.add_function_attribute("noinline")
        if not function.is_declaration and any(room in function.name for room in SHORT):
            function.add_function_attribute("optsize")
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.slp_vectorization = True  # beside loops, which are vectorised anyway
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(module, passes)
    return module, machine


def compile_library(text: str, about: dict[str, str], target: Target, path: Path) -> None:
    """Compile and link LLVM's text of the kernels; `BuildError` if the linker refuses.

    `about` is what the library says of itself.
    """
    module, machine = optimise(text, about, target)
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        (directory / "kernels.o").write_bytes(machine.emit_object(module))
        command = [
            sys.executable, "-m", "ziglang", "build-lib", "-dynamic", "-fstrip",
            "-fcompiler-rt" if target.wants_helpers else "-fno-compiler-rt",
            "-O", "ReleaseSmall", "-target", target.linked_as, f"-mcpu={target.linked_for}",
            "--build-id=none", "--cache-dir", "cache",
            "--name", "kernels", "-femit-bin=kernels.so", "kernels.o",
        ]  # fmt: skip
        linked = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        if linked.returncode != 0:
            raise BuildError(f"the kernels for {target.name} cannot be linked: {linked.stderr}")
        path.write_bytes((directory / "kernels.so").read_bytes())
