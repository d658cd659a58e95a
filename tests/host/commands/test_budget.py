"""`gp-pta budget`: what it prints of a chain of parts, and in which words."""

import json

import pytest

from device.build.budget import first_limit_dbfs, rows, worked_build
from device.build.parts import BUILDS, EARPHONES, TDH39
from host_tools.main import main

Capture = pytest.CaptureFixture[str]


def told(capsys: Capture, *words: str) -> str:
    assert main(["budget", *words]) == 0
    return capsys.readouterr().out


def test_without_a_transducer_it_tells_the_first_limits(capsys: Capture) -> None:
    lines = [line.split() for line in told(capsys).splitlines()]
    assert [*EARPHONES] in [line[1:] for line in lines]
    limits = {line[0]: [float(each) for each in line[1:]] for line in lines[-2:]}
    assert limits == {b: [first_limit_dbfs(b, name) for name in EARPHONES] for b in BUILDS}
    assert json.loads(told(capsys, "--build", "b", "--json")) == {
        "first_limit_dbfs": {"B": dict(zip(EARPHONES, limits["B"], strict=True))}
    }


def test_a_worked_build_and_its_parts_are_the_same(capsys: Capture) -> None:
    """Names in any case."""
    parts = ("--dac", "PCM5102A", "--gain", "OPA1688", "--attenuator", "120")
    by_parts = told(capsys, "--transducer", "tdh-39", *parts)
    assert by_parts == told(capsys, "--build", "b", "--transducer", "TDH39")
    other = told(capsys, "--build", "b", "--transducer", "TDH39", "--attenuator", "200")
    assert "OPA1688 with 0 dB at +-5 V, 200 ohm, TDH39 (10 ohm)" in other


def test_what_is_inferred_has_a_mark_and_is_explained(capsys: Capture) -> None:
    said = told(capsys, "--build", "A", "--transducer", "tdh39")
    marks = {int(line.split()[0]): line.count("~") for line in said.splitlines()[3:14]}
    assert marks == {row.frequency_hz: 3 * row.inferred for row in rows(worked_build("A", TDH39))}
    assert "~ is inferred" in said
    assert "~" not in told(capsys, "--build", "A", "--transducer", "hda280")


def test_what_speaks_against_a_build_is_told(capsys: Capture) -> None:
    words = ("--transducer", "tdh39", "--gain", "6", "--attenuator", "0", "--supply", "4")
    said = told(capsys, *words)
    assert "an amplifier with 6 dB at +-4 V, 0 ohm" in said
    assert "Limited by amplifier clips (highest), DAC quantisation (lowest), DAC noise" in said
    assert said.count("warning: ") == 3
    figures = json.loads(told(capsys, *words, "--json"))
    assert [line for line in figures["warnings"] if line not in said] == []
    assert figures["limited_by"]["highest"] == "amplifier clips"
    assert f"--limit-left {figures['first_limit_dbfs']:g} " in said
    assert [row["frequency_hz"] for row in figures["rows"]][:2] == [125, 250]
    board = told(capsys, "--transducer", "tdh39", "--attenuator", "530", "--dac-resistor", "470")
    assert "PCM5102A with 470 ohm, no amplifier, 530 ohm" in board
