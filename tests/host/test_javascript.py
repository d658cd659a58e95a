"""How large anything in JavaScript may be: what a reader can hold in his head, as in Python."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
SCRIPTS: Final = sorted((ROOT / "host_tools").rglob("*.js"))
FILE_LINES: Final = 400
FUNCTION_LINES: Final = 60
COMPLEXITY: Final = 10
WORDING_LINES: Final = 700  # of what says and shows a result
WORDING: Final = ("say.js", "words.js", "paper.js", "draw.js", "result.js")
# Comments, texts and what is matched: what stands in them is no code. A template is looked into.
TEXT: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\""
    r"|(?:(?<=\()|(?<=[(,=:!&|?] ))/(?:[^/\\\n\[]|\\.|\[[^\]]*\])+/[a-z]*",
    re.DOTALL,
)
# A function or a method that has a name; an arrow belongs to what it stands in.
HEAD: Final = re.compile(
    r"^[ ]*(?:(?:export )?(?:async )?function\*? ?(\w+)|(?:async )?\*?(?:get |set )?(#?\w+))\("
    r"[^;]*?\) \{$|^(?:export )?const (\w+) = (?:async )?\(.*?\) =>",
    re.MULTILINE,
)
NO_NAMES: Final = ("if", "for", "while", "switch", "catch", "return")
BRANCH: Final = re.compile(r"\b(?:if|for|while|case|catch)\b|&&|\|\||\?\?|\?(?![.?])")


def functions(source: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, lines and complexity of each function: one, and one more a branch."""
    code = TEXT.sub(lambda found: re.sub(r"[^\n]", "_", found[0]), source)
    for head in HEAD.finditer(code):
        name = head[1] or head[2] or head[3]
        if name in NO_NAMES:
            continue
        body = code[head.start() : _end(code, head)].strip()
        yield name, body.count("\n") + 1, 1 + len(BRANCH.findall(body))


def _end(code: str, head: re.Match[str]) -> int:
    """Return where a function ends: at a line that is indented as its head is, and closes it."""
    indent = re.match(" *", head[0])
    closing = rf"^{indent[0] if indent else ''}[}})].*$|^(?=\S)"
    found = re.compile(closing, re.MULTILINE).search(code, head.end())
    return found.end() if found else len(code)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_larger_than_it_may_be(path: Path) -> None:
    source = path.read_text("utf-8")
    assert source.count("\n") <= FILE_LINES
    large = [each for each in functions(source) if each[1] > FUNCTION_LINES]
    branched = [each for each in functions(source) if each[2] > COMPLEXITY]
    assert (large, branched) == ([], [])


def test_what_says_and_shows_a_result_is_little() -> None:
    pages = {path.name: path for path in SCRIPTS if path.parent.parent.name == "page"}
    assert sum(pages[name].read_text("utf-8").count("\n") for name in WORDING) <= WORDING_LINES


def test_functions_and_their_branches_are_found() -> None:
    source = """
function one(a) {
  return a ? a.b?.c ?? "if (d && e)" : /[?|]{2}||/; // && ??
}

class Two {
  async #three(a, b) {
    if (a || b) {
      for (const each of a) {
        each.then(() => (b && a ? 1 : 2));
      }
    }
  }
}
export const four = (a) =>
  a && a;
"""
    assert [*functions(source)] == [("one", 3, 3), ("#three", 7, 6), ("four", 2, 2)]
