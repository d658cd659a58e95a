"""What the builder's page says of levels and limits is what the code reckons."""

import math
import re
from dataclasses import replace
from typing import Final

import pytest

from device.build.budget import first_limit, rows, worked_build
from device.build.parts import BUILDS, EARPHONES, REFERENCE_HZ
from device.calibration.retspl import TABLES
from host_tools.main import main
from tests.test_pages import ROOT

PAGE: Final = (ROOT / "device/build/README.md").read_text("utf-8")
TABLE_OF_NAMES: Final = re.findall(r"^\| `([\w-]+)` \|(.*)\|$", PAGE, re.MULTILINE)
VOLTS: Final = re.findall(r"^\| ([^|]+) \| (\d+) mV \| (\d+) mV \|$", PAGE, re.MULTILINE)


def test_the_table_of_first_limits_has_them_all() -> None:
    found = {name: [cell.strip() for cell in cells.split("|")] for name, cells in TABLE_OF_NAMES}
    wanted = {}
    for name, earphone in EARPHONES.items():
        builds = [worked_build(build, earphone) for build in BUILDS]
        at_1k = [{r.frequency_hz: r for r in rows(build)}[REFERENCE_HZ] for build in builds]
        noise = [max(row.noise.db_hl for row in rows(build)) for build in builds]
        wanted[name] = [
            *(f"{build.attenuator_ohm:g}" for build in builds),
            *(f"{row.highest.db_hl:.0f}" for row in at_1k),
            *(f"{each:.0f}" for each in noise),
            *(f"{first_limit(build):g}" for build in builds),
        ]
    assert found == wanted


@pytest.mark.parametrize(("build", "name"), [("A", "hda280"), ("B", "tdh39")])
def test_the_worked_examples_are_what_the_command_prints(
    build: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["budget", "--build", build, "--transducer", name]) == 0
    assert f"```text\n{capsys.readouterr().out}```\n" in PAGE


def test_the_volts_of_the_multimeter() -> None:
    assert [name for name, *_ in VOLTS] == [
        earphone.name.replace("ohm", "Ω") for earphone in EARPHONES.values()
    ]
    for earphone, (_, *said_mv) in zip(EARPHONES.values(), VOLTS, strict=True):
        ohm = earphone.impedance_ohm
        for build, said in zip(BUILDS, said_mv, strict=True):
            volts = 2.1 * ohm / (earphone.resistors_ohm[build] + ohm)
            assert float(said) == pytest.approx(1000.0 * volts, rel=0.01)


def test_what_the_box_costs_is_the_sum_of_its_parts() -> None:
    shop = PAGE.partition("## What to buy")[2].partition("**Another DAC**")[0]
    prices = {
        row[0]: row[1] for row in re.findall(r"^\| (.+?) \|.*\| (\d+)(?: e)? \|$", shop, re.M)
    }
    box = [int(price) for part, price in prices.items()
           if not re.match("B:|earphones|or |microphone|Pi 3B|multimeter", part)]  # fmt: skip
    of_b = next(int(price) for part, price in prices.items() if part.startswith("B:"))
    assert f"**{sum(box)}; {sum(box) + of_b}**" in shop
    multimeter = int(prices["multimeter, true RMS, to 1 kHz"])
    for earphone in ("earphones: HDA 280", "or ER-3A, ER-3C"):
        total = sum(box) + multimeter + int(prices[earphone])
        assert f" {round(total, -1)} |" in PAGE.partition("| no meter |")[2].partition("\n")[0]


def test_what_it_says_of_a_shorted_resistor() -> None:
    """Some 130 dB HL at 1 kHz: the volts of the DAC alone at the earphone."""
    loudest = [
        earphone.sensitivity_at(1000) + 20.0 * math.log10(2.1)
        - TABLES[earphone.transducer].levels_db_spl[1000]
        for earphone in EARPHONES.values()
    ]  # fmt: skip
    assert [each for each in loudest if not 122.0 < each < 133.0] == []
    assert "some 130 dB HL" in PAGE


def test_the_limit_without_a_resistor_is_that_of_the_loudest_earphone() -> None:
    bare = [replace(worked_build("B", each), attenuator_ohm=0.0) for each in EARPHONES.values()]
    page = (ROOT / "device/tone_generator/README.md").read_text("utf-8")
    assert f"{min(map(first_limit, bare)):g} dBFS keeps the loudest parts below" in page


def test_what_is_said_of_what_is_inferred() -> None:
    assert "elsewhere 13 dB less (25 above 4 kHz) and 6 dB more may come" in " ".join(PAGE.split())
