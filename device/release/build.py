"""`python -m device.release.build`: all of a version, checked and tried, in dist."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from device.card.build import version_of
from device.card.bundle import KEY
from device.image.checksums import write_checksums
from device.image.compile import BuildError
from device.image.kernels import export
from device.image.targets import TARGETS, target_of_this_machine
from device.image.wheels import make_wheels
from device.release.contents import Release, ReleaseError, pack, release_of, run
from device.release.tried import LAST_OF_0_1, Environment, try_package, try_upgrade, without_network
from firmware_py.platform.program import run_program
from firmware_py.platform.version import ROOT

CARD: Final = ROOT / "build/card"
PLACE: Final = ROOT / "build/release"


def make(release: Release, out: Path, tools: Path) -> None:
    """Make the files of a release in an empty directory, and try them; `ReleaseError`."""
    name = f"gp-pta-{release.version}"
    machine = target_of_this_machine()
    if machine is None:
        raise ReleaseError("no wheel is for this machine, so that none could be tried here")
    # Now, and not after a card was made.
    run("git", "-C", ROOT, "cat-file", "-e", f"{LAST_OF_0_1}^{{commit}}")
    keys = CARD / "keys"
    if not (keys / KEY).exists():
        _told(f"{keys} has no keys of updates: new ones are made; no card of before takes them")
    (out / "NOTES.md").write_text(release.notes)
    _make("card", "docs")
    card = f"gp-pta-{version_of(release.epoch)}.raucb"
    shutil.copy(CARD / card, out / card)
    for of_card in ("gp-pta-card.img.xz", "gp-pta-card.cdx.json"):
        shutil.copy(CARD / of_card, out / of_card.replace("gp-pta-", f"{name}-", 1))
    pack(ROOT / "build/docs", f"{name}-docs", out / f"{name}-docs.tar.xz", release.epoch)
    _told("the source archive")
    uv = Path(sys.executable).with_name("uv")
    run(uv, "build", "--quiet", "--no-config", "--sdist", "--no-build-isolation",
          "--no-create-gitignore", "--python", sys.executable, "--out-dir", out, ROOT)  # fmt: skip
    _told("the wheels")
    wheels = make_wheels(export(), [*TARGETS.values()], PLACE, out)
    (source,) = out.glob("gp_pta-*.tar.gz")
    run(tools / "twine", "check", "--strict", source, *wheels)
    own = next(
        wheel for wheel, target in zip(wheels, TARGETS.values(), strict=True) if target == machine
    )
    _told(f"the wheel, in an empty environment{'' if without_network() else ', with a network'}")
    tried = try_package(own, PLACE / "wheel")
    _bill_of_materials(tried, out / f"{name}.cdx.json", tools)
    _told("the source archive, in an empty environment")
    try_package(source, PLACE / "source")
    _told("the upgrade of 0.1.0")
    try_upgrade(own, PLACE / "upgrade")
    write_checksums(out)


def _bill_of_materials(tried: Environment, to: Path, tools: Path) -> None:
    """Write what the wheel was tried with, as CycloneDX, which the tool holds to its schema."""
    run(
        tools / "cyclonedx-py", "environment", "--output-reproducible", "--pyproject",
        ROOT / "pyproject.toml", "--output-file", to, tried.python,
    )  # fmt: skip


def _make(*targets: str) -> None:
    for target in targets:
        _told(f"make {target}")
        run("make", "--no-print-directory", "-C", ROOT, target)


def _told(words: str) -> None:
    print(words, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m device.release.build", description=__doc__)
    p.add_argument(
        "--tools", metavar="DIR", type=Path, required=True,
        help="where twine and cyclonedx-py are",
    )  # fmt: skip
    p.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "dist", help="default: dist")
    arguments = p.parse_args(argv)
    try:
        release = release_of()
        out = arguments.out / f"gp-pta-{release.version}"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        make(release, out.absolute(), arguments.tools.absolute())
    except (BuildError, OSError, ReleaseError) as error:  # or a tool that is not there
        print(f"device.release.build: {error}", file=sys.stderr)
        return 1
    for path in sorted(out.iterdir()):
        print(f"{path}: {path.stat().st_size} bytes")
    print(f"tag it: git tag --annotate v{release.version} --message 'GP-PTA {release.version}'")
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
