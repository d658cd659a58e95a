"""Whether the voltage is too low: the script of a card, with Linux's files below a directory."""

import os
import subprocess
from pathlib import Path

import pytest

from device.card.root import FILES
from tests.linux_files import write_files

SCRIPT = FILES / "usr/lib/gp-pta/power"
LINES = "proc/device-tree/soc/firmware/gpio/gpio-line-names"
EXPORT = "sys/class/gpio/export"
EXPANDER = {
    LINES: "BT_ON\0WL_ON\0STATUS_LED\0LAN_RUN\0HDMI_HPD_N\0CAM_GPIO0\0CAM_GPIO1\0PWR_LOW_N\0",
    "sys/class/gpio/gpiochip504/label": "raspberrypi-exp-gpio\n",
    "sys/class/gpio/gpiochip504/base": "504\n",
    "sys/class/gpio/gpiochip0/label": "pinctrl-bcm2835\n",
    EXPORT: "",
}
LEVEL = "sys/class/gpio/gpio511/value"


@pytest.mark.parametrize(
    ("files", "told", "is_low"),
    [
        ({}, "", False),
        (EXPANDER, "", False),  # of an emulated Pi: nobody tells the level
        ({**EXPANDER, LEVEL: "1\n"}, "well so far, looked at every 2 s", False),
        ({**EXPANDER, LEVEL: "0\n"}, "too low at 12.50 s after the start", True),
        ({**EXPANDER, LEVEL: "1\n", "run/gp-pta/power": "too low at 3 s"}, "too low at 3 s", False),
        ({LINES: EXPANDER[LINES], EXPORT: "", "sys/class/gpio/gpio7/value": "0\n"}, "", False),
        ({**EXPANDER, LINES: "BT_ON\0WL_ON\0PWR_LED_OFF\0", LEVEL: "0\n"}, "", False),
    ],
)
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
    subprocess.run(
        ["sh"], input=script, text=True, check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip

    power = tmp_path / "run/gp-pta/power"
    assert (power.read_text().strip() if power.exists() else "") == told
    said = "the voltage is too low" in (tmp_path / "run/gp-pta/faults").read_text()
    assert said == is_low
