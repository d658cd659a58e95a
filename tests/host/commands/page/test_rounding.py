"""The page rounds a number as a report does, to the same digit."""

from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from host_tools.catalogue import ENGLISH, catalogue_of
from host_tools.commands.page.assemble import function_of, modules
from tests.host.javascript import compute

PROGRAM: Final = """
globalThis.document = { documentElement: {} };
useWords(["format_decimal"], { en: ["."] }, "en");
return given.values.map((value) => [
  ...[0, 1, 2, 3].map((decimals) => fixed(value, decimals)), number(value), oneDecimal(value),
]);
"""
IN_THE_MIDDLE: Final = [sixteenths / 16.0 for sixteenths in range(-512, 513)]


@given(st.lists(st.floats(-300.0, 300.0), max_size=200))
@settings(max_examples=3)
def test_a_number_is_written_as_python_writes_it(drawn: list[float]) -> None:
    values, english = IN_THE_MIDDLE + drawn, catalogue_of(ENGLISH)
    own = "\n".join(function_of(each) for each in modules("words.js").values())
    found = compute(own + PROGRAM, values=values)
    for value, (*fixed, number, one_decimal) in zip(values, found, strict=True):
        assert fixed == [f"{value + 0.0:.{decimals}f}" for decimals in range(4)]
        assert number == english.number(value)
        assert one_decimal == english.number(value, ".1f")


def test_no_other_module_of_the_page_rounds() -> None:
    rounding = {
        name for name, source in modules().items() if "toFixed" in source or "Math.round" in source
    }
    assert rounding == {"rounding.js"}
