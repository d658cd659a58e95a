"""What `pip install` brings: a wheel with its kernels, and what a source archive becomes."""

import hashlib
import os
import pty
import re
import subprocess
import sys
import tarfile
import zipfile
from contextlib import suppress
from email import message_from_bytes
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from device.image.commit import UNKNOWN, commit
from device.image.targets import TARGETS, target_of_this_machine
from device.image.wheels import WHEEL_BYTES_MAX, make_wheels
from firmware_py.platform.version import BUILT_FROM, commit_of
from tests.device.image.image import ROOT, Image
from tests.device.install.test_install import requirements_of

PLAIN = {"numpy", "packaging", "pyserial", "rich"}
ALL_KERNELS_BYTES = 90_000  # in a wheel, compressed
PACKAGES = ("device", "firmware_py", "host_tools")
PICTURES = {".png", ".svg"}
OF_PAGES = {".md", ".yml", *PICTURES}
# They make a wheel, a card or a release of a checkout.
WHEEL_MAKERS = {"device/image/wheels.py", "device/image/wheel_hook.py"}
OTHER_MAKERS = ("device/card/", "device/release/")


def wheel_of(image: Image, places: pytest.TempPathFactory) -> Path:
    target = target_of_this_machine()
    assert target is not None
    libraries, out = places.mktemp("libraries"), places.mktemp("dist")
    (made,) = make_wheels(image.text, [target], libraries, out)
    return made


@pytest.fixture(scope="module")
def small_wheel(small_image: Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_of(small_image, tmp_path_factory)


@pytest.fixture(scope="module")
def wheel(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_of(image, tmp_path_factory)


def environment_with(place: Path, wheel: Path) -> Path:
    """Make an environment with a wheel and what it asks for, and nothing else; without a network.

    What it asks for is that of this environment, by way of links.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (packages,) = place.glob("lib/python*/site-packages")
    for name in requirements_of([*PLAIN]):
        files = distribution(name).files or []
        for top in {file.parts[0] for file in files} - {".."}:
            (packages / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python")]
    install = ["install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*pip, *install, str(wheel)], check=True)
    return place / "bin"


def test_a_wheel_is_for_the_machine_it_has_a_library_for(small_wheel: Path) -> None:
    tags = parse_wheel_filename(small_wheel.name)[-1]
    assert tags & {*sys_tags()}
    assert not any(tag.platform == "any" for tag in tags)


def test_a_wheel_asks_for_three_packages_and_has_its_kernels_and_commit(small_wheel: Path) -> None:
    wanted = "" if commit() == UNKNOWN else f"{commit()}\n"
    with zipfile.ZipFile(small_wheel) as archive:
        assert commit_in(archive) == wanted
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        told = message_from_bytes(archive.read(metadata)).get_all("Requires-Dist") or []
    plain = {Requirement(line).name for line in told if "extra ==" not in line}
    assert plain == PLAIN
    assert "firmware_py/inference/kernels.so" in names
    assert not any(name.startswith("tests/") for name in names)


def test_a_wheel_is_small_enough_with_all_kernels_too(small_wheel: Path) -> None:
    assert small_wheel.stat().st_size + ALL_KERNELS_BYTES <= WHEEL_BYTES_MAX


def of_the_packages() -> list[Path]:
    """Return the files of what a wheel brings, but for what tools and builds leave there."""
    files = (path for top in PACKAGES for path in (ROOT / top).rglob("*"))
    return [
        path
        for path in files
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.suffix not in (".so", ".part")
    ]


def test_a_wheel_has_all_of_the_packages_but_their_pages(small_wheel: Path) -> None:
    with zipfile.ZipFile(small_wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith(PACKAGES)}
    programs = [path for path in of_the_packages() if path.suffix not in OF_PAGES]
    expected = {str(path.relative_to(ROOT)) for path in programs if not is_of_a_checkout(path)}
    assert names - {"firmware_py/inference/kernels.so", BUILT_FROM} == expected


def is_of_a_checkout(path: Path) -> bool:
    name = str(path.relative_to(ROOT))
    return name in WHEEL_MAKERS or name.startswith(OTHER_MAKERS)


def commit_in(archive: zipfile.ZipFile | tarfile.TarFile) -> str:
    """Return the commit that an archive says it was built from; "": none is known."""
    if isinstance(archive, zipfile.ZipFile):
        return archive.read(BUILT_FROM).decode() if BUILT_FROM in archive.namelist() else ""
    (found,) = [name for name in archive.getnames() if name.endswith(BUILT_FROM)] or [""]
    file = archive.extractfile(found) if found else None
    return "" if file is None else file.read().decode()


def test_a_copy_of_the_sources_is_told_its_commit(tmp_path: Path) -> None:
    """What `install.sh` builds from is one: it would be of no commit."""
    subprocess.run(
        [sys.executable, "-m", "device.image.commit", str(tmp_path)], cwd=ROOT, check=True
    )
    assert commit_of(tmp_path) == ("" if commit() == UNKNOWN else commit())
    assert '-m device.image.commit "$work/source"' in (
        ROOT / "device/install/install.sh"
    ).read_text("utf-8")


def test_what_a_wheel_lacks_is_imported_by_nothing_that_it_has() -> None:
    modules = {*(Path(path).stem for path in WHEEL_MAKERS), r"device\.card"}
    found = [
        (path.name, module)
        for path in of_the_packages()
        if path.suffix == ".py" and not is_of_a_checkout(path)
        for module in modules
        if re.search(rf"(from|import) [\w.]*\b{module}\b", path.read_text("utf-8"))
    ]
    assert found == []


def test_a_page_or_picture_that_a_wheel_lacks_is_read_by_no_program_and_each_is_of_a_page() -> None:
    files = of_the_packages()
    lacking = {path.name for path in files if path.suffix in OF_PAGES}
    texts = [path.read_text("utf-8") for path in files if path.suffix not in OF_PAGES]
    assert "README.md" in lacking
    assert [name for name in sorted(lacking) if any(f'"{name}"' in text for text in texts)] == []
    pictures = [path.name for path in files if path.suffix in PICTURES]
    paths = (*ROOT.glob("*.md"), *(path for top in PACKAGES for path in (ROOT / top).rglob("*.md")))
    pages = [path.read_text("utf-8") for path in paths]
    assert pictures
    assert [name for name in pictures if not any(name in page for page in pages)] == []


@pytest.mark.thorough
def test_the_same_kernels_give_the_same_bytes(
    small_image: Image, small_wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    again = wheel_of(small_image, tmp_path_factory)
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (small_wheel, again)}
    assert len(digests) == 1


@pytest.mark.thorough
def test_a_demonstration_runs_where_only_the_wheel_was_installed(
    wheel: Path, tmp_path: Path
) -> None:
    """No compiler, no home that can be written to, no Numba: the kernels come with the wheel."""
    bin_directory = environment_with(tmp_path / "environment", wheel)

    def output_of(program: str, *arguments: str) -> str:
        done = subprocess.run(
            [bin_directory / program, *arguments],
            cwd=tmp_path, capture_output=True, text=True, check=False,
            env={"HOME": "/nonexistent", "PATH": "/nonexistent", "TMPDIR": str(tmp_path)},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    demonstration = output_of("gp-pta", "demo", "--ear", "left", "--speed", "100")
    assert "every stimulus and the result came out bit for bit" in demonstration
    version = output_of("gp-pta-device", "--version")
    assert re.search(r", ready-made kernels for \S+, commit \S+\n$", version)
    loaded = (
        "import firmware_py, sys; firmware_py.ThresholdEstimator().next_stimulus(); "
        "print(*({'numba', 'rich', 'serial'} & {*sys.modules}))"
    )
    assert output_of("python", "-c", loaded) == "\n"


def test_every_machine_has_a_tag_of_its_own() -> None:
    platforms = [target.wheel_platform for target in TARGETS.values()]
    single = [name for platform in platforms for name in platform.split(".")]
    assert len({*single}) == len(single)


def test_no_link_of_a_source_archive_leads_out_of_it() -> None:
    """Else uv refuses to unpack it, and so does the `data` filter of tarfile."""
    links = [path for path in (ROOT / "device").rglob("*") if path.is_symlink()]
    assert links
    for path in links:
        assert not path.readlink().is_absolute(), path
        assert (path.parent / path.readlink()).resolve().is_relative_to(ROOT), path


@pytest.mark.thorough
def test_a_wheel_is_built_from_the_source_archive(tmp_path: Path) -> None:
    """What `pip install gp_pta-VERSION.tar.gz` does, when it has what the build asks for."""
    build = "import sys; from hatchling.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, check=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps",
         "--disable-pip-version-check", "--no-build-isolation", "--wheel-dir", str(tmp_path),
         str(archive)],
        env={**os.environ, "HOME": str(tmp_path)}, check=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    assert parse_wheel_filename(wheel.name)[-1] & {*sys_tags()}
    with zipfile.ZipFile(wheel) as built, tarfile.open(archive) as source:
        assert "firmware_py/inference/kernels.so" in built.namelist()
        assert commit_in(built) == commit_in(source)
        assert commit_in(source) == ("" if commit() == UNKNOWN else f"{commit()}\n")


def test_a_build_tells_a_person_at_a_terminal_though_pip_keeps_its_output() -> None:
    script = (
        "import os; from device.image.wheel_hook import TOLD, tell_terminal; tell_terminal(TOLD)"
    )
    child, terminal = pty.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (1, 2):
            os.dup2(nowhere, descriptor)
        os.execv(sys.executable, [sys.executable, "-c", script])
    told = b""
    with suppress(OSError):  # the end, where Linux has it
        while part := os.read(terminal, 4096):
            told += part
    assert os.waitpid(child, 0)[1] == 0
    os.close(terminal)
    assert b"the kernels are compiled for this machine" in told
    assert b"180 MB" in told
