"""What is taken from packages, and the libraries that it needs."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from device.card.errors import CardError
from device.card.unpack import LIBRARIES, Tree

pytestmark = pytest.mark.skipif(
    not shutil.which("dpkg-deb") or not shutil.which("readelf"), reason="it takes Debian's tools"
)
CONTROL = "Package: {}\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: a test\n"


def package(place: Path, name: str, files: dict[str, str | bytes | Path]) -> Path:
    """Return a package with these files; a path is where a link leads to."""
    source = place / name
    (source / "DEBIAN").mkdir(parents=True)
    (source / "DEBIAN/control").write_text(CONTROL.format(name))
    for path, content in files.items():
        target = source / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            target.symlink_to(content)
        else:
            target.write_bytes(content.encode() if isinstance(content, str) else content)
            target.chmod(0o4755)
    made = place / f"{name}.deb"
    subprocess.run(
        ["dpkg-deb", "-Znone", "--build", "--root-owner-group", source, made],
        check=True,
        capture_output=True,
    )
    return made


def linked_libraries(program: Path) -> list[str]:
    told = subprocess.run(
        ["readelf", "--dynamic", program], check=True, capture_output=True, text=True
    ).stdout
    return [line.split("[")[1].rstrip("]") for line in told.splitlines() if "(NEEDED)" in line]


def libraries_of(program: Path) -> dict[str, str | bytes | Path]:
    """Return files of packages: the libraries, each a link to one with its whole version."""
    names = linked_libraries(program)
    links = {f"{LIBRARIES}{name}": Path(f"{name}.0") for name in names}
    return {**links, **{f"{LIBRARIES}{name}.0": "no program" for name in names}}


def test_old_places_are_those_below_usr_and_no_program_is_setuid(tmp_path: Path) -> None:
    tree = Tree([package(tmp_path, "a", {"bin/su": "old", "usr/bin/ls": "new"})])
    names = tree.matching(["usr/bin/*"])
    assert names == {"usr/bin/ls", "usr/bin/su"}
    tree.write(names, tmp_path / "root")
    assert (tmp_path / "root/usr/bin/su").read_text() == "old"
    assert (tmp_path / "root/usr/bin/su").stat().st_mode & 0o7777 == 0o755


def test_what_begins_with_a_minus_is_taken_away_again(tmp_path: Path) -> None:
    tree = Tree([package(tmp_path, "a", {f"usr/lib/{name}": name for name in "abc"})])
    assert tree.matching(["usr/lib/*", "- usr/lib/b"]) == {"usr/lib/a", "usr/lib/c"}
    with pytest.raises(CardError, match="no package has 'usr/lib/d'"):
        tree.matching(["usr/lib/d"])


@pytest.mark.thorough
def test_libraries_come_with_what_is_linked_with_them(tmp_path: Path) -> None:
    python = Path(sys.executable).resolve()
    libraries = libraries_of(python)
    program = package(tmp_path, "program", {"usr/bin/python": python.read_bytes()})
    tree = Tree([program, package(tmp_path, "libraries", {**libraries, "usr/lib/other.so": "x"})])
    assert tree.with_libraries({"usr/bin/python"}) == {"usr/bin/python", *libraries}

    without = Tree([program])
    with pytest.raises(CardError, match=r"usr/bin/python needs lib\S+, which no package has"):
        without.with_libraries({"usr/bin/python"})


def test_libraries_of_a_wheel_are_looked_at_too(tmp_path: Path) -> None:
    wheels = Path(np.__file__).parents[1]
    extension = next(wheels.glob("numpy/_core/_multiarray_umath*.so"))
    besides = [*wheels.glob("numpy.libs/*.so*")]
    libraries = {
        path: content
        for each in (extension, *besides)
        for path, content in libraries_of(each).items()
    }
    tree = Tree([package(tmp_path, "libraries", libraries)])
    of_wheels = {f"{LIBRARIES}{path.name}" for path in besides}
    assert f"{LIBRARIES}libc.so.6" in tree.with_libraries(set(), [extension, *besides]) - of_wheels
    with pytest.raises(CardError, match=r"_multiarray_umath.* needs lib"):
        Tree([]).with_libraries(set(), [extension])
