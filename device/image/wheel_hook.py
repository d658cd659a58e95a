"""What hatch runs when it builds: the commit goes into all, the library of kernels into a wheel.

`pip install .` makes the library for this machine, and `make wheels` one for each target. An
editable installation has the library beside the kernels. A wheel for a machine without a target has
no library and depends on Numba.
"""

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Path of a ready library, in a directory named as its target; if unset, one is made.
LIBRARY_VARIABLE: Final = "GP_PTA_WHEEL_LIBRARY"
# pip keeps what a build says to itself, but for -v; a person before a terminal is told this much.
TOLD: Final = (
    "gp-pta: the kernels are compiled for this machine: pip gets Numba and a linker for that (180 "
    "MB), which work for a minute or two and are not kept; pip install -v . shows how far it is"
)
WHEEL: Final = "wheel"
EXTRA: Final = "kernels"  # the packages that make a library, or run the kernels without one


class BuildHook(BuildHookInterface[Any]):
    """Adds the commit to what is built, and the library of kernels to a wheel."""

    def dependencies(self) -> list[str]:
        """Return what a build needs: nothing beside hatch if the library is made already."""
        sys.path.insert(0, self.root)
        from firmware_py.inference.library import is_made

        if self.target_name != WHEEL or is_made():
            return []
        tell_terminal(TOLD)
        return self._of_extra()

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Note the commit; make the library of a wheel and name its machines, or need Numba."""
        sys.path.insert(0, self.root)
        if version == "editable":
            self._make_beside()
            return
        self._made = tempfile.TemporaryDirectory()  # until all is written
        self._note_commit(build_data)
        if self.target_name == WHEEL:
            self._add_library(build_data)

    def _note_commit(self, build_data: dict[str, Any]) -> None:
        """Add the file with the commit, but in a source archive, which has it."""
        from device.image.commit import commit, write_commit
        from firmware_py.platform import version as of_program

        if (Path(self.root) / of_program.BUILT_FROM).exists():
            return
        noted = write_commit(commit(), Path(self._made.name))
        if noted is not None:
            build_data["force_include"][str(noted)] = of_program.BUILT_FROM

    def _add_library(self, build_data: dict[str, Any]) -> None:
        from device.image.targets import TARGETS, target_of_this_machine
        from firmware_py.inference.library import BESIDE, is_made

        told = os.environ.get(LIBRARY_VARIABLE)
        target = TARGETS[Path(told).parent.name] if told else target_of_this_machine()
        if target is None:
            build_data["dependencies"] += self._of_extra()
            return
        library = told or (BESIDE if is_made() else self._make(target))
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{target.wheel_platform}"
        build_data["force_include"][str(library)] = "firmware_py/inference/kernels.so"

    def _make_beside(self) -> None:
        from firmware_py.inference.library import VARIABLE, is_made

        if os.environ.get(VARIABLE) or is_made():
            return
        from device.image.kernels import make_beside

        make_beside(self.app.display_info)

    def _make(self, target: Any) -> Path:
        from device.image.commit import commit
        from device.image.kernels import export, make_library

        def tell(name: str) -> None:
            self.app.display_info(f"compiling the kernel {name}")

        library = Path(self._made.name) / "kernels.so"
        make_library(export(tell), target, library, commit())
        return library

    def _of_extra(self) -> list[str]:
        return self.metadata.core.optional_dependencies[EXTRA]


def tell_terminal(words: str) -> None:
    """Say something at the terminal, if there is one, past whoever reads this process."""
    with suppress(OSError), Path("/dev/tty").open("w", encoding="utf-8") as terminal:
        terminal.write(f"\n{words}\n")
