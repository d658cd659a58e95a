"""The units are what systemd understands, closed as tightly as they say, and fit the firmware."""

import configparser
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firmware_py.installation.configuration import read_configuration
from firmware_py.main import parser
from firmware_py.platform.clock import YEAR_MIN
from firmware_py.platform.supervisor import WATCHDOG_US_MIN
from tests.device.install.conftest import CONSOLES, INSTALL, Staging

# systemd's own scale, from 0 to 10, best first. 0.4 is reached: what is left are mostly the two
# ports, the notification socket, /proc/cpuinfo, and the code that Numba makes.
EXPOSURE_MAX = 1.0

UNITS = INSTALL / "files/common/etc/systemd/system"
UNIT_NAMES = ("gp-pta-device.service", "gp-pta-clock.service")
FIRMWARE = "/opt/gp-pta/bin/gp-pta-device"

needs_systemd = pytest.mark.skipif(
    not shutil.which("systemd-analyze"),
    reason="systemd-analyze is not installed (Debian: apt install systemd)",
)


def output_of(*command: str) -> str:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.stdout


def verify(root: Path, typo: tuple[str, str] = ("", "")) -> str:
    """Return what systemd has to say of the installed units, with a typo in them.

    The firmware is not at its place here; the one beside this Python is.
    """
    units = [root / "etc/systemd/system" / name for name in UNIT_NAMES]
    ours = str(Path(sys.executable).with_name("gp-pta-device"))
    for unit in units:
        unit.write_text(unit.read_text().replace(*typo, 1).replace(FIRMWARE, ours))
    return output_of("systemd-analyze", "verify", "--man=no", *map(str, units))


@needs_systemd
@pytest.mark.parametrize(
    ("text", "instead", "words"),
    [
        ("WatchdogSec=", "WatchdogSecs=", "WatchdogSecs"),
        (f"={FIRMWARE}", "=/opt/gp-pta/bin/gp-pta-devise", "is not executable"),
        ("@system-service", "@sistem-service", "sistem-service"),
    ],
)
def test_a_typo_is_noticed(staging: Staging, text: str, instead: str, words: str) -> None:
    """The alarm rings."""
    staging.install("uart")
    assert words in verify(staging.root, (text, instead))


@needs_systemd
@pytest.mark.parametrize("console", CONSOLES)
def test_systemd_understands_every_word_and_the_firmware_is_closed_in(
    staging: Staging, console: str
) -> None:
    staging.install(console)
    unit = staging.root / "etc/systemd/system/gp-pta-device.service"
    network = {"PrivateNetwork=yes", "IPAddressDeny=any", "RestrictAddressFamilies=AF_UNIX"}
    assert network <= {*unit.read_text().splitlines()}, "it has none"
    said = output_of("systemd-analyze", "security", "--offline=yes", "--no-pager", str(unit))
    reached = re.search(r"Overall exposure level for gp-pta-device.service: (\d+\.\d)", said)
    assert reached is not None, said
    assert float(reached[1]) <= EXPOSURE_MAX, said
    assert verify(staging.root) == ""


def udev_is_older_than(version: int) -> bool:
    if not shutil.which("udevadm"):
        return True
    return int(re.findall(r"\d+", output_of("udevadm", "--version"))[0]) < version


@pytest.mark.skipif(udev_is_older_than(254), reason="udevadm verify came with systemd 254")
@pytest.mark.parametrize("console", CONSOLES)
def test_udev_understands_every_rule(staging: Staging, console: str) -> None:
    staging.install(console)
    rules = map(str, (staging.root / "etc/udev/rules.d").iterdir())
    command = ["udevadm", "verify", "--resolve-names=never", *rules]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# That the files fit each other, and the firmware


def service() -> dict[str, list[str]]:
    """Return what the section [Service] says, every value of a repeated key."""
    found: dict[str, list[str]] = {}
    section = (UNITS / "gp-pta-device.service").read_text().partition("[Service]\n")[2]
    for line in section.partition("\n[")[0].splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def options() -> list[str]:
    text = (INSTALL / "configuration/options").read_text()
    content = configparser.ConfigParser(interpolation=None)
    content.read_string(f"[options]\n{text}")
    return shlex.split(content["options"]["gp_pta_options"].strip('"'))


def test_the_options_are_those_of_the_firmware_and_of_its_unit() -> None:
    given = parser().parse_args(options())
    unit = service()

    assert str(given.data) == f"/var/lib/{unit['StateDirectory'][0]}"
    assert str(given.config) == "/etc/gp-pta/gp-pta.toml"
    assert unit["ExecStart"] == [f"{FIRMWARE} $GP_PTA_OPTIONS"]
    assert unit["ExecStartPre"] == [f"-{FIRMWARE} --check $GP_PTA_OPTIONS"]
    assert "XDG_CACHE_HOME=/var/cache" in unit["Environment"]
    assert unit["CacheDirectory"] == ["gp-pta"], "$XDG_CACHE_HOME/gp-pta"


def test_the_configuration_as_it_comes_is_read() -> None:
    assert read_configuration(INSTALL / "configuration/gp-pta.toml").pin is None


@pytest.mark.parametrize("console", CONSOLES)
def test_the_ports_have_the_names_of_the_rules_and_may_be_opened(console: str) -> None:
    given = parser().parse_args(options())
    allowed = service()["DeviceAllow"]
    for port, room in ((given.tone_generator, "common"), (given.console, console)):
        files = INSTALL / "files" / room / "etc"
        rules = "".join(path.read_text() for path in (files / "udev/rules.d").iterdir())
        rule = next(line for line in rules.splitlines() if f'SYMLINK+="{Path(port).name}"' in line)
        assert 'GROUP="gp-pta", MODE="0660"' in rule
        tty = re.search(r'KERNEL=="(tty[A-Z]+)', rule)
        assert tty is not None
        dropped_in = files / "systemd/system/gp-pta-device.service.d/console.conf"
        also = dropped_in.read_text() if dropped_in.exists() else ""
        assert f"char-{tty[1]} rw" in [*allowed, also.rpartition("DeviceAllow=")[2].strip()]


def test_the_keep_alive_can_come_as_often_as_it_has_to() -> None:
    (wanted,) = service()["WatchdogSec"]
    assert int(wanted.removesuffix("s")) * 1_000_000 >= WATCHDOG_US_MIN


@pytest.mark.parametrize(
    ("date", "waits"),
    [(None, True), ("1970-01-01", True), (f"{YEAR_MIN - 1}-12-31", True),
     (f"{YEAR_MIN}-01-01", False), ("2030-06-01", False), ("2099-01-01", False)],
)  # fmt: skip
def test_a_real_time_clock_that_was_set_is_not_waited_for(
    tmp_path: Path, date: str | None, waits: bool
) -> None:
    rtc = tmp_path / "date"
    if date is not None:
        rtc.write_text(f"{date}\n")
    unit = (UNITS / "gp-pta-clock.service").read_text()
    condition = re.search("^ExecCondition=(.*)$", unit, re.MULTILINE)
    assert condition is not None
    assert "/sys/class/rtc/rtc0/date" in condition[1]
    command = condition[1].replace("/sys/class/rtc/rtc0/date", str(rtc))
    assert (subprocess.run(shlex.split(command), check=False).returncode == 0) == waits
