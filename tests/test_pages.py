"""The pages that people read: links lead somewhere, and what they name is there."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
ROOMS: Final = ("bench", "device", "firmware_py", "host_tools", "tests")
FIRST_PAGE: Final = ROOT / "README.md"
CHANGES: Final = ROOT / "CHANGELOG.md"
README_LINES_MAX: Final = 120
PAGES: Final = sorted(
    [FIRST_PAGE, CHANGES, *(page for room in ROOMS for page in (ROOT / room).rglob("*.md"))]
)
PAGE_OF_THE_CODE: Final = ROOT / "firmware_py" / "README.md"


def name(page: Path) -> str:
    """Return how a page is called in the output of pytest."""
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def is_there(named: str, page: Path) -> bool:
    """Return whether a file that a page names lies beside it, below it, or below the root."""
    whole = [ROOT / named, page.parent / named]
    below = page.parent.rglob(named) if page.parent != ROOT else ()
    return any(path.exists() for path in whole) or any(True for _ in below)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        linked = page.parent / path if path else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    named = re.findall(r"`([\w/.-]+\.py|(?:" + "|".join(ROOMS) + r")/[\w/.-]+)`", prose(page))
    assert [each for each in named if not is_there(each, page)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_page_begins_with_a_title_and_a_paragraph(page: Path) -> None:
    title, blank, first, *_ = page.read_text("utf-8").split("\n")
    assert title.startswith("# ")
    assert blank == ""
    assert re.match(r"\w", first)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_table_has_a_header_and_as_many_cells_in_each_row(page: Path) -> None:
    for table in re.findall(r"(?:^\|.*\n)+", prose(page), re.MULTILINE):
        header, *rows = (re.split(r"(?<!\\)\|", row)[1:-1] for row in table.splitlines())
        assert {*"".join(rows[0])} <= {*"-: "}, header
        assert [row for row in rows if len(row) != len(header)] == []


def test_the_first_page_is_short() -> None:
    assert len(FIRST_PAGE.read_text("utf-8").splitlines()) <= README_LINES_MAX


def test_the_page_of_each_audience_says_first_who_it_is_for() -> None:
    audiences = re.findall(
        r"^\| an? \*\*.*?\]\((.+?)\)", FIRST_PAGE.read_text("utf-8"), re.MULTILINE
    )
    assert len(audiences) == 7
    for page in audiences:
        assert "This page is for " in (ROOT / page).read_text("utf-8").split("\n\n")[1], page


def test_every_name_in_the_way_of_one_trial_is_in_the_code() -> None:
    sources = {path: path.read_text("utf-8") for path in (ROOT / "firmware_py").rglob("*.py")}
    named = re.findall(r"`([A-Z]\w*[a-z]\w*)(?:\.(\w+))?(?:\(.*\))?`", prose(PAGE_OF_THE_CODE))
    assert len(named) > 8
    for owner, member in named:
        defined = [s for s in sources.values() if re.search(rf"^class {owner}\b", s, re.MULTILINE)]
        assert defined, owner
        assert not member or any(f"def {member}(" in source for source in defined), member
