"""The machines an image can be made for."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Target:
    """A machine: what it is called, in LLVM's words and in those of the linker.

    Attributes
    ----------
    name : str
        As in `make image TARGET=name`.
    triple, processor, features : str
        For LLVM. No feature is asked for that contracts a product and a sum into one operation.
    linked_as, linked_for : str
        Target and processor, for the linker.
    """

    name: str
    triple: str
    processor: str
    features: str
    linked_as: str
    linked_for: str


TARGETS: Final = {
    target.name: target
    for target in (
        # Every x86-64 processor since 2009; rounding down is an instruction there.
        Target(
            "x86-64", "x86_64-unknown-linux-gnu", "x86-64-v2", "", "x86_64-linux-gnu", "x86_64_v2"
        ),
        # Raspberry Pi 3 and newer, with a 64-bit system.
        Target(
            "aarch64", "aarch64-unknown-linux-gnu", "cortex-a53", "", "aarch64-linux-gnu",
            "cortex_a53",
        ),
        # Debian's armhf: ARMv7 with VFPv3-D16, the Raspberry Pi 2 and newer with a 32-bit system.
        Target(
            "armhf", "armv7-unknown-linux-gnueabihf", "generic", "+vfp3d16,-neon",
            "arm-linux-gnueabihf", "generic+v7a+vfp3d16",
        ),
    )
}  # fmt: skip
