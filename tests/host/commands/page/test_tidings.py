"""What the page does with a line that nobody asked for, whatever word it begins with."""

from typing import Any, Final

import pytest

from host_tools.commands.page.assemble import function_of, modules
from tests.host.javascript import compute

# All that takes the tidings writes down what it was asked to do.
LISTENED: Final = """
const did = [];
const note = (name) => (...about) => { did.push([name, ...about]); };
const all = (...names) => Object.fromEntries(names.map((name) => [name, note(name)]));
const forget = (isSuch) => given.numbers.filter(isSuch).forEach(note("mended"));
const problem = note("problem");
const [outcomeOf, refused, say] = ["outcomeOf", "refused", "say"].map(note);
const [DISK_REFUSES, selfTest] = [-250, async () => {}];
const screen = all("board", "status", "speak");
"""
TOLD: Final = """
const follower = { ...all("refresh", "hasBegun"), live: all("tone", "answer") };
const listen = tidingsTo(follower, all("told"), { ...all("told"), load: async () => {} });
return given.lines.map((line) => {
  listen(told(line), line);
  return did.splice(0).map(([name]) => name);
});
"""
NUMBERS: Final = (-250, -241, 0, 101, 106)


def what_is_done(*lines: str) -> Any:
    sources = modules("tidings.js")
    own = "\n".join(function_of(sources[name]) for name in ("lines.js", "tidings.js"))
    return compute(f"{LISTENED}\n{own}\n{TOLD}", lines=lines, numbers=NUMBERS)


def test_what_is_told_unasked_is_shown_and_mends_what_was_wrong() -> None:
    assert what_is_done("! tone number=1", "! board-ready", "! ear ear=left", "! button-up") == [
        ["tone"],
        ["mended", "mended", "board", "status", "refresh"],
        ["speak", "refresh"],
        ["told"],
    ]


@pytest.mark.parametrize(
    "word", ["constructor", "toString", "__defineGetter__", "__proto__", "later", ""]
)
def test_an_unasked_line_of_a_word_that_means_nothing_does_nothing(word: str) -> None:
    assert what_is_done(f"! {word} constructor=1 __proto__=2") == [[]]
