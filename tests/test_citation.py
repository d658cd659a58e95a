"""How to cite the project: `CITATION.cff` says what the package says."""

import tomllib
from pathlib import Path
from typing import Any, Final

import yaml
from packaging.version import Version

from firmware_py import __version__

ROOT: Final = Path(__file__).parents[1]
CITATION: Final[dict[str, Any]] = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_it_has_what_its_format_wants() -> None:
    """What the schema 1.2.0 of the Citation File Format requires, of the whole and of a source."""
    assert {"cff-version", "message", "title", "authors"} <= {*CITATION}
    assert (CITATION["cff-version"], CITATION["type"]) == ("1.2.0", "software")
    assert CITATION["authors"]
    for each in CITATION["references"]:
        assert {"type", "title", "authors"} <= {*each}


def test_it_agrees_with_the_package() -> None:
    cited, here = Version(str(CITATION["version"])), Version(PROJECT["version"])
    assert not cited.is_prerelease, "a release is cited"
    assert cited < here if here.is_prerelease else cited == here
    assert PROJECT["version"] == __version__
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["keywords"] == PROJECT["keywords"]
    assert CITATION["title"] == f"GP-PTA: {PROJECT['description']}"


def test_it_names_the_paper_that_the_first_page_names() -> None:
    (paper,) = CITATION["references"]
    first_page = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert paper["title"] in first_page
    assert paper["url"] in first_page
    assert [person["family-names"] for person in paper["authors"]] == ["Cox", "Vries"]
