"""The site of pages and docstrings: its examples run, and a link that leads nowhere is found."""

import os
import pkgutil
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

from docs.check_site import faults, main
from docs.site_links import follow_folders

ROOT: Final = Path(__file__).parents[1]
EXAMPLES: Final = sorted((ROOT / "docs" / "gallery").glob("*.py"))


@pytest.mark.thorough
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    """Without a warning; it shows what it draws, and leaves nothing where it was run."""
    text = example.read_text("utf-8")
    if "import pandas" in text and find_spec("pandas") is None:
        pytest.skip("pandas is not installed: `make docs` installs it, and runs this")
    ran = subprocess.run(
        [sys.executable, "-W", "error", str(example)], cwd=tmp_path, capture_output=True, text=True,
        check=False, env=os.environ | {"MPLBACKEND": "Agg"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert text.endswith("plt.show()\n") or "figure = " in text
    assert [*tmp_path.iterdir()] == []


def test_there_is_an_example_of_what_researchers_bring() -> None:
    names = {path.stem for path in EXAMPLES}
    brought = {"own_loop", "own_method", "own_prior", "fleet_as_data_frame", "fit_of_a_table"}
    assert brought | {"figures_of_the_paper"} <= names


def test_all_of_the_reference_can_be_imported() -> None:
    text = (ROOT / "docs" / "api.rst").read_text("utf-8")
    named = re.findall(r"^\.\. auto\w+:: ([\w.]+)$", text, re.MULTILINE)
    assert len(named) > 10
    for name in named:
        pkgutil.resolve_name(name)


def test_every_page_is_in_the_contents() -> None:
    """`make docs` refuses a page that no contents name."""
    contents = re.findall(
        r"^\.\./(\S+)$", (ROOT / "docs/index.md").read_text("utf-8"), re.MULTILINE
    )
    named = {path.with_suffix("") for each in contents for path in ROOT.glob(f"{each}.md")}
    rooms = ("firmware_py", "device", "host_tools", "bench", "tests")
    assert {path.with_suffix("") for room in rooms for path in (ROOT / room).rglob("*.md")} <= named


def write_site(site: Path, body: str) -> Path:
    """Write a page with a heading, and one beside it."""
    site.mkdir()
    (site / "other.html").write_text('<h2 id="there">There</h2>', encoding="utf-8")
    (site / "index.html").write_text(f'<h1 id="top">A page</h1>{body}', encoding="utf-8")
    return site


@pytest.mark.parametrize(
    "body",
    [
        '<a href="other.html#there">x</a><a href="#top">x</a>',
        '<a href="https://example.org/">what a person follows</a>',
        '<img src="data:image/png;base64,AAAA"><script>"//no.comment"</script>',
    ],
)
def test_what_leads_somewhere_is_no_fault(body: str, tmp_path: Path) -> None:
    assert [*faults(write_site(tmp_path / "site", body))] == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="gone.html">x</a>', "links to gone.html, and there is no such file"),
        ('<img src="gone.png">', "links to gone.png, and there is no such file"),
        ('<a href="other.html#gone">x</a>', "and there is no such place on that page"),
        ('<a href="#gone">x</a>', "and there is no such place on that page"),
        ('<script src="https://example.org/x.js"></script>', "fetches https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "fetches //example.org/x.css"),
        ("<style>a { src: url('https://example.org/x.woff') }</style>",
         "fetches https://example.org/x.woff"),
    ],
)  # fmt: skip
def test_the_alarm_rings(body: str, fault: str, tmp_path: Path) -> None:
    (found,) = faults(write_site(tmp_path / "site", body))
    assert found.startswith("index.html ")
    assert found.endswith(fault)


def test_a_site_without_pages_is_no_site(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(write_site(tmp_path / "site", "")) == 1
    assert "has 2 pages, and a whole site at least" in capsys.readouterr().out


def test_a_link_to_a_folder_leads_to_its_page() -> None:
    page = ROOT / "firmware_py" / "README.md"
    assert follow_folders("[x](link) [y](../tests) [z](main.py)", page) == (
        "[x](link/README.md) [y](../tests/README.md) [z](main.py)"
    )
    assert follow_folders("[x](platform)", page) == "x", "there is no page in it"
