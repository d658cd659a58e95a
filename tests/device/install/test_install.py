"""The install script lays down what it should, once, and takes away what it laid down."""

import re
import shutil
import subprocess
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.device.install.conftest import CMDLINE_TXT, CONFIG_TXT, CONSOLES, INSTALL, Staging

UNITS = "etc/systemd/system"
COMMON = {
    "boot/firmware/cmdline.txt",
    "boot/firmware/config.txt",
    "etc/gp-pta/gp-pta.toml",
    "etc/gp-pta/options",
    "etc/systemd/journald.conf.d/gp-pta.conf",
    f"{UNITS}/gp-pta-clock.service",
    f"{UNITS}/gp-pta-device.service",
    f"{UNITS}/gp-pta-device.service.d/console.conf",
    f"{UNITS}/multi-user.target.wants/gp-pta-device.service",
    "etc/sysusers.d/gp-pta.conf",
    "etc/udev/rules.d/71-gp-pta-console.rules",
    "etc/udev/rules.d/71-gp-pta-tone-generator.rules",
    "usr/local/bin/gp-pta-check",
    "usr/local/share/doc/gp-pta/README.md",
}
OF_CONSOLE = {
    "gadget": {
        "etc/modprobe.d/gp-pta.conf",
        "etc/modules-load.d/gp-pta.conf",
        f"{UNITS}/serial-getty@ttyGS0.service",
    },
    "uart": {f"{UNITS}/serial-getty@ttyAMA0.service"},
}


@pytest.mark.parametrize("console", CONSOLES)
def test_every_file_has_its_place_and_twice_is_as_good_as_once(
    staging: Staging, console: str
) -> None:
    staging.install(console)
    files = staging.files()

    assert set(files) == COMMON | OF_CONSOLE[console]
    getty = next(name for name in files if "serial-getty@" in name)
    assert files[getty] == "-> /dev/null", "masked"
    wanted = staging.root / UNITS / "multi-user.target.wants/gp-pta-device.service"
    assert wanted.resolve() == staging.root / UNITS / "gp-pta-device.service", "enabled"
    modes = {path: (staging.root / path).stat().st_mode & 0o777 for path in COMMON}
    assert modes["usr/local/bin/gp-pta-check"] == 0o755
    assert modes["etc/gp-pta/gp-pta.toml"] == 0o640, "it may have the hash of a PIN"
    assert (staging.root / "etc/gp-pta").stat().st_mode & 0o777 == 0o750
    staging.install(console)
    assert staging.files() == files


def test_another_console_leaves_nothing_of_the_one_before(staging: Staging, tmp_path: Path) -> None:
    staging.install("uart")
    staging.install("gadget")
    files = staging.files()

    fresh = Staging(tmp_path / "fresh")
    fresh.install("gadget")
    cmdline = "boot/firmware/cmdline.txt"
    assert files.pop(cmdline) != fresh.files()[cmdline], "what was there before is not known"
    assert files == {name: text for name, text in fresh.files().items() if name != cmdline}


def test_the_boot_files_are_those_of_the_console(staging: Staging) -> None:
    staging.install("gadget")
    added = (staging.boot / "config.txt").read_text().removeprefix(CONFIG_TXT)
    assert added.splitlines() == [
        "# gp-pta: begin", "[all]", "dtoverlay=dwc2,dr_mode=peripheral", "[all]", "# gp-pta: end",
    ]  # fmt: skip
    assert (staging.boot / "cmdline.txt").read_text() == CMDLINE_TXT

    staging.install("uart")
    added = (staging.boot / "config.txt").read_text().removeprefix(CONFIG_TXT)
    assert added.splitlines()[1:5] == ["[all]", "enable_uart=1", "dtoverlay=disable-bt", "[pi5]"]
    assert (staging.boot / "cmdline.txt").read_text() == (
        "console=tty1 root=PARTUUID=5e5a0f2c-02 rootwait\n"
    ), "the kernel does not talk on the operator's line"


def test_without_a_boot_partition_it_says_what_is_not_done(staging: Staging) -> None:
    shutil.rmtree(staging.root / "boot")
    assert "config.txt is not there: no Raspberry Pi OS?" in staging.install("uart")


def test_a_configuration_is_never_overwritten_unasked(staging: Staging) -> None:
    staging.install("uart")
    mine = staging.root / "etc/gp-pta/gp-pta.toml"
    first = mine.read_text()
    mine.write_text("[test]\ntones_max = 30\n")
    assert f"{mine} is left as it is" in staging.install("uart")
    assert mine.read_text() == "[test]\ntones_max = 30\n"

    staging.install("uart", "--replace-configuration")
    assert mine.read_text() == first
    assert mine.with_name("gp-pta.toml.~1~").read_text() == "[test]\ntones_max = 30\n"


@pytest.mark.parametrize("console", CONSOLES)
def test_what_was_laid_down_is_taken_away_and_nothing_else(staging: Staging, console: str) -> None:
    others = staging.root / UNITS / "gp-pta-device.service.d/mine.conf"
    journal = staging.root / "var/lib/gp-pta/session-000001.journal"
    for path in (others, journal):
        path.parent.mkdir(parents=True)
        path.write_text("mine\n")
    staging.install(console)
    done = staging.run("--uninstall")

    assert (done.returncode, done.stderr) == (0, "")
    assert set(staging.files()) == {
        "boot/firmware/cmdline.txt",
        "boot/firmware/config.txt",
        "etc/gp-pta/gp-pta.toml",
        "etc/gp-pta/options",
        str(others.relative_to(staging.root)),
        str(journal.relative_to(staging.root)),
    }
    assert (staging.boot / "config.txt").read_text() == CONFIG_TXT
    assert staging.run("--uninstall").returncode == 0, "twice is no error"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--console is missing; allowed are gadget and uart"),
        (["--console", "hdmi"], "--console is 'hdmi'; allowed are gadget and uart"),
        (["--console"], "--console needs a value"),
        (
            ["--console", "uart", "--image", "/none"],
            "--image is '/none', which is no directory with",
        ),
        (["--console", "uart", "--force"], "--force is not a known option"),
        (["--console", "uart", "--root", "/none"], "--root is '/none', which is no directory"),
    ],
)
def test_a_wrong_word_is_refused_and_nothing_done(
    staging: Staging, arguments: list[str], words: str
) -> None:
    before = staging.files()
    done = staging.run(*arguments)

    assert done.returncode == 2
    assert done.stderr.startswith(f"install.sh: {words}")
    assert "\n\nusage: install.sh --console gadget|uart" in done.stderr
    assert staging.files() == before


def test_the_packages_it_takes_from_the_lock_are_all_that_are_needed() -> None:
    script = (INSTALL / "install.sh").read_text()
    project = tomllib.loads((INSTALL.parents[1] / "pyproject.toml").read_text())
    told = project["project"]
    device = [name for name in told["dependencies"] if not name.startswith(("packaging", "rich"))]
    kernels = told["optional-dependencies"]["kernels"]
    for variable, wanted in (
        ("device_packages", device),
        ("build_packages", [*project["build-system"]["requires"], *kernels]),
    ):
        named = re.search(f"^{variable}='(.*)'$", script, re.MULTILINE)
        assert named is not None
        assert set(named[1].split()) == requirements_of([*wanted])


def requirements_of(requirements: list[str]) -> set[str]:
    """Return the names of packages, and of all that they need here."""
    found: set[str] = set()
    while requirements:
        requirement = Requirement(requirements.pop())
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if applies and requirement.name not in found:
            found.add(requirement.name)
            requirements += requires(requirement.name) or []
    return found


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
def test_the_scripts_are_clean() -> None:
    scripts = [INSTALL / "install.sh", INSTALL / "files/common/usr/local/bin/gp-pta-check"]
    command = ["shellcheck", "-x", *map(str, scripts)]
    done = subprocess.run(
        command, cwd=INSTALL.parents[1], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
