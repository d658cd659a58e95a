"""The circuit of the box: its text holds together, is that of the program, and was drawn."""

import re
from collections import Counter
from html import unescape
from itertools import pairwise
from typing import Any, Final

import pytest
import yaml

from device.tone_generator.settings import DEFAULT_PINS, OPTIONAL_PINS, OUTPUTS, Settings
from host_tools.commands.install_board import add_arguments
from host_tools.parser import CommandParser
from tests.test_pages import ROOT

ROOM: Final = ROOT / "device/build"
CIRCUIT: Final = yaml.safe_load((ROOM / "box.yml").read_text("utf-8"))
PARTS: Final[dict[str, dict[str, Any]]] = CIRCUIT["connectors"]
WIRE: Final = "--"
End = tuple[str, str]  # a part by its name, and its pin
# A ground of the Pico has no GP; the others follow the two rows of its pins.
GROUNDS: Final = (3, 8, 13, 18, 23, 28, 38)
GP: Final = [pin for pin in range(1, 35) if pin not in (*GROUNDS, 30, 33)]
GP_OF_PIN: Final = dict(zip(GP, [*range(23), 26, 27, 28], strict=True))


def ends(step: Any) -> list[End]:
    """Return the ends that a step of a connection names."""
    if isinstance(step, dict):
        ((part, pins),) = step.items()
        return [(part, str(pin)) for pin in pins]
    return [(name, "") for name in (step if isinstance(step, list) else [step])]


def wires() -> list[tuple[End, End]]:
    found: list[tuple[End, End]] = []
    for connection in CIRCUIT["connections"]:
        steps = [ends(step) for step in connection if step != WIRE]
        for here, there in pairwise(steps):
            found += zip(here, there, strict=True)
    return found


def is_simple(part: str) -> bool:
    return PARTS[part.partition(".")[0]].get("style") == "simple"


def test_every_pin_has_one_wire_and_every_resistor_two() -> None:
    used = Counter(end for wire in wires() for end in wire)
    pins = {(part, str(pin)) for part, about in PARTS.items() if not is_simple(part)
            for pin in about["pins"]}  # fmt: skip
    assert {end for end in used if not is_simple(end[0])} == pins, "all wired, and no other"
    for (part, _), count in used.items():
        template = part.partition(".")[0]
        wanted = {"GROUND": 1, "JOINT": 3}.get(template, 2) if is_simple(part) else 1
        assert count == wanted, part
    templates = {part.partition(".")[0] for part, _ in used}
    assert templates == {*PARTS}


def net_of(start: End, through: str = "JOINT") -> set[End]:
    """Return what a pin is joined with, by wires and by simple parts of these names."""
    found, ahead = {start}, [start]
    while ahead:
        here = ahead.pop()
        for one, other in wires():
            for near, far in ((one, other), (other, one)):
                if near == here and far not in found:
                    found.add(far)
                    if re.match(through, far[0]):
                        ahead.append(far)
    return found


def test_every_net_has_two_ends() -> None:
    for part, about in PARTS.items():
        for pin in about.get("pins", ()):
            net = net_of((part, str(pin)))
            assert len(net - {(part, str(pin))}) >= 1
            assert len({end[0] for end in net if not end[0].startswith("JOINT")}) >= 2, (part, pin)


def installed_pins() -> dict[str, int]:
    """Return the pins of the program as the page has it installed."""
    page = (ROOM / "README.md").read_text("utf-8").replace("\\\n", " ")
    (line,) = re.findall(r"^gp-pta install-board (.*)$", page, re.MULTILINE)
    p = CommandParser()
    add_arguments(p)
    given = dict(word.split("=") for word in p.parse_args(line.split()).pin)
    pins = {name: int(number) for name, number in given.items()}
    settings = Settings({"output": OUTPUTS[0], "limit_dbfs_left": -20.0, "limit_dbfs_right": -20.0,
                         "pins": pins})  # fmt: skip
    wired = {*GP_OF_PIN.values()}  # the light is on the Pico
    of_dac = {n: pin for n, pin in settings.pins.items() if not n.startswith("pwm")}
    return {name: pin for name, pin in of_dac.items() if pin in wired}


def test_the_pins_of_the_pico_are_those_of_the_program() -> None:
    labels = dict(zip(PARTS["PICO"]["pins"], PARTS["PICO"]["pinlabels"], strict=True))
    drawn = {}
    for pin, label in labels.items():
        if label.startswith("GP"):
            gp, name = label.split()
            assert gp == f"GP{GP_OF_PIN[pin]}", "as the board is made"
            drawn[name] = int(gp[2:])
        elif label == "GND":
            assert pin in GROUNDS
    assert drawn == installed_pins()
    assert {*drawn} <= {*DEFAULT_PINS, *OPTIONAL_PINS}
    assert (labels[36], labels[40]) == ("3V3", "VBUS")


@pytest.mark.parametrize(
    ("name", "part", "pin"),
    [
        ("i2s_bck", "DAC", "BCK"), ("i2s_ws", "DAC", "LRCK"), ("i2s_data", "DAC", "DIN"),
        ("xsmt", "DAC", "XSMT"), ("heard", "HEARD", "1"), ("unsure", "PERHAPS", "1"),
        ("mic_bck", "MIC", "SCK"), ("mic_ws", "MIC", "WS"), ("mic_data", "MIC", "SD"),
    ],
)  # fmt: skip
def test_each_signal_comes_where_it_should(name: str, part: str, pin: str) -> None:
    labels = dict(zip(PARTS["PICO"]["pinlabels"], PARTS["PICO"]["pins"], strict=True))
    (at,) = [number for label, number in labels.items() if label.endswith(f" {name}")]
    assert (part, pin) in net_of(("PICO", str(at)), "JOINT|R33|R1K")


def test_the_returns_of_both_ears_are_separate_and_left_is_left() -> None:
    for ear, channel in (("left", "OUTL"), ("right", "OUTR")):
        jack, other = ear.upper(), {"left": "RIGHT", "right": "LEFT"}[ear]
        assert net_of((jack, "sleeve")) == {(jack, "sleeve"), ("DAC", f"AGND {ear}")}
        before = net_of((jack, "tip"), "REAR")
        assert ("BUFFER", f"OUT {ear}") in before
        assert other not in {part for part, _ in before}
        assert net_of(("BUFFER", f"IN {ear}")) == {("BUFFER", f"IN {ear}"), ("DAC", channel)}


def test_the_drawing_is_of_this_text() -> None:
    """WireViz writes every label into it, and a wire for each wire."""
    drawing = unescape((ROOM / "box.svg").read_text("utf-8"))
    for part, about in PARTS.items():
        if not is_simple(part):
            labels = [*map(str, about["pins"]), *about.get("pinlabels", [])]
            for label in (part, about["type"], about.get("subtype", ""), *labels):
                assert f">{label}<" in drawing.replace("\xa0", " ") or not label, (part, label)
    assert drawing.count('class="edge"') == len(wires())
