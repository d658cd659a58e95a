"""The page refuses what the console would refuse, before anything is sent."""

from typing import Final

from host_tools.commands.page.knowledge import knowledge
from tests.host.commands.page.in_javascript import run

PROGRAM: Final = """
const table = new Table(given.commands);
return given.tried.map(([header, told]) => {
  try {
    return table.line(header, told);
  } catch (error) {
    return [error.key, error.values];
  }
});
"""
EXACT_MAX: Final = 2**53  # of JavaScript's numbers


def test_a_number_is_allowed_up_to_its_bounds_and_not_beyond() -> None:
    commands = knowledge()["commands"]
    tried: list[object] = []
    expected: list[object] = []
    for header, command in commands.items():
        for argument in command.get("arguments", ()):
            name, low, high = argument["name"], argument.get("low"), argument.get("high")
            if low is None or high > EXACT_MAX or "optional" not in argument:
                continue
            word = f"{name}=" if "named" in command else ""
            bounds = {"least": low, "most": high, "unit": argument["unit"]}
            for value in (int(low), int(high)):
                tried.append((header, {name: value}))
                expected.append(f"{header} {word}{value}")
            for value in (int(low) - 1, int(high) + 1):
                tried.append((header, {name: value}))
                expected.append(["value_bounds", {"name": name, "value": f"{value}", **bounds}])

    assert run("table.js", PROGRAM, commands=commands, tried=tried) == expected
    assert len(tried) > 20
