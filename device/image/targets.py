"""The machines that a library of kernels can be made for."""

import platform
import sys
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Target:
    """A machine: what it is called, in LLVM's words and in those of the linker."""

    name: str  # as in `make image TARGET=name`
    # `triple`, `processor`, `features`: For LLVM. No feature is asked for that contracts a product
    # and a sum into one operation.
    triple: str
    processor: str
    features: str
    # `linked_as`, `linked_for`: target and processor, for the linker
    linked_as: str
    linked_for: str
    # The platforms of a wheel with this library, in the words of PEP 425. The library asks nothing
    # of the system, so the oldest that has a name is right, with either C library.
    wheel_platform: str

    @property
    def wants_helpers(self) -> bool:
        """Return whether the processor lacks what a kernel does, such as 64-bit division."""
        return self.name == "armhf"

    @property
    def is_for_devices(self) -> bool:
        """Return whether there are images for it: a device runs Linux."""
        return "linux" in self.triple


def _on_linux(architecture: str) -> str:
    names = ("manylinux_2_17", "manylinux2014", "musllinux_1_1")
    return ".".join(f"{name}_{architecture}" for name in names)


TARGETS: Final = {
    target.name: target
    for target in (
        # Every x86-64 processor since 2009; rounding down is an instruction there.
        Target(
            "x86-64", "x86_64-unknown-linux-gnu", "x86-64-v2", "", "x86_64-linux-gnu", "x86_64_v2",
            _on_linux("x86_64"),
        ),
        # Raspberry Pi 3 and newer, with a 64-bit system.
        Target(
            "aarch64", "aarch64-unknown-linux-gnu", "cortex-a53", "", "aarch64-linux-gnu",
            "cortex_a53", _on_linux("aarch64"),
        ),
        # Debian's armhf: ARMv7 with VFPv3-D16, the Raspberry Pi 2 and newer with a 32-bit system.
        Target(
            "armhf", "armv7-unknown-linux-gnueabihf", "generic", "+vfp3d16,-neon",
            "arm-linux-gnueabihf", "generic+v7a+vfp3d16", _on_linux("armv7l"),
        ),
        # Built, and not tested yet.
        Target(
            "macos-x86-64", "x86_64-apple-macosx11.0.0", "x86-64-v2", "", "x86_64-macos.11.0",
            "x86_64_v2", "macosx_11_0_x86_64",
        ),
        Target(
            "macos-arm64", "arm64-apple-macosx11.0.0", "apple-m1", "", "aarch64-macos.11.0",
            "apple_m1", "macosx_11_0_arm64",
        ),
    )
}  # fmt: skip

_OF_MACHINE: Final = {
    ("linux", "x86_64"): "x86-64",
    ("linux", "aarch64"): "aarch64",
    ("linux", "armv7l"): "armhf",
    ("darwin", "x86_64"): "macos-x86-64",
    ("darwin", "arm64"): "macos-arm64",
}


def target_of_this_machine() -> Target | None:
    machine = platform.machine()
    if machine in ("aarch64", "armv8l") and sys.maxsize < 2**32:  # its kernel has 64 bits
        machine = "armv7l"
    name = _OF_MACHINE.get((sys.platform, machine))
    return TARGETS[name] if name else None
