"""Whether the voltage is too low: the script of a card, with Linux's files below a directory."""

import os
import subprocess
from pathlib import Path

import pytest

from device.card.root import FILES
from tests.linux_files import write_files

SCRIPT = FILES / "usr/lib/gp-pta/power"
LINES = "proc/device-tree/soc/firmware/gpio/gpio-line-names"
EXPANDER = {
    LINES: "BT_ON\0WL_ON\0STATUS_LED\0LAN_RUN\0HDMI_HPD_N\0CAM_GPIO0\0CAM_GPIO1\0PWR_LOW_N\0",
    "sys/class/gpio/gpiochip504/label": "raspberrypi-exp-gpio\n",
    "sys/class/gpio/gpiochip504/base": "504\n",
    "sys/class/gpio/gpiochip0/label": "pinctrl-bcm2835\n",
    "sys/class/gpio/export": "",
}
WELL, LOW = "sys/class/gpio/gpio511/value", "too low at 12.50 s after the start, by "
BY = "devices/platform/soc/soc:firmware/get_throttled"
THROTTLED = f"sys/{BY}"
HWMON = {
    "sys/class/hwmon/hwmon0/name": "cpu_thermal\n",
    "sys/class/hwmon/hwmon1/name": "rpi_volt\n",
}
ALARM = "sys/class/hwmon/hwmon1/in0_lcrit_alarm"


@pytest.mark.parametrize(
    ("files", "told", "is_low"),
    [
        ({}, "", False),
        (EXPANDER, "", False),  # of an emulated Pi: nobody reads its line
        ({**EXPANDER, WELL: "1\n"}, "well so far, by class/gpio/gpio511/value", False),
        ({**EXPANDER, WELL: "0\n"}, f"{LOW}class/gpio/gpio511/value", True),
        ({**EXPANDER, LINES: "BT_ON\0WL_ON\0PWR_LED_OFF\0", WELL: "0\n"}, "", False),
        ({THROTTLED: "0\n"}, f"well so far, by {BY}", False),
        ({THROTTLED: "50000\n"}, f"{LOW}{BY}", True),
        (
            {THROTTLED: "80008\n"},  # it was too hot
            f"well so far, by {BY}", False,
        ),
        ({**HWMON, ALARM: "0\n"}, "well so far, by class/hwmon/hwmon1/in0_lcrit_alarm", False),
        ({**HWMON, ALARM: "1\n"}, f"{LOW}class/hwmon/hwmon1/in0_lcrit_alarm", True),
    ],
)  # fmt: skip
def test_a_voltage_that_is_too_low_is_said_where_a_machine_tells_it(
    tmp_path: Path, files: dict[str, str], told: str, is_low: bool
) -> None:
    write_files(tmp_path, {"proc/uptime": "12.50 20.00\n", "run/gp-pta/faults": "", **files})
    (tmp_path / "sleep").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "sleep").chmod(0o755)
    common = SCRIPT.with_name("common").read_text()
    script = SCRIPT.read_text().replace(". /usr/lib/gp-pta/common", common)
    for place in ("/sys/", "/proc/", "/run/"):
        script = script.replace(place, f"{tmp_path}{place}")
    script = script.replace(f"##*{tmp_path}/sys/", "##*/sys/")
    subprocess.run(
        ["sh"], input=script, text=True, check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip

    power = tmp_path / "run/gp-pta/power"
    assert (power.read_text().strip() if power.exists() else "") == told
    said = "the voltage is too low" in (tmp_path / "run/gp-pta/faults").read_text()
    assert said == is_low
