"""How Sphinx makes one site of the rooms' pages and the docstrings: `make docs`."""

import inspect
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from docs.own_figures import scrape_figures  # noqa: E402
from firmware_py import __version__  # noqa: E402

project = "GP-PTA"
author = "the GP-PTA maintainers"
release = version = __version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
    "docs.site_links",
]
# The pages stand where they belong, in their rooms: the source is the whole project.
include_patterns = ["*.md", "bench/**.md", "build/gallery/**.rst", "device/**.md", "docs/**",
                    "firmware_py/**.md", "host_tools/**.md", "tests/**.md"]  # fmt: skip
exclude_patterns = ["docs/gallery/**", "build/gallery/sg_execution_times.rst"]
root_doc = "docs/index"
suppress_warnings = ["config.cache"]
default_role = "code"

myst_heading_anchors = 4
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"GP-PTA {release}"
html_additional_pages = {"index": "to_first_page.html"}
templates_path = ["templates"]
html_show_copyright = False
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "docs/gallery"),
    "gallery_dirs": str(ROOT / "build/gallery"),
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "image_scrapers": (scrape_figures,),
    "capture_repr": ("_repr_html_",),
    "run_stale_examples": True,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
}


def setup(app: Any) -> None:
    """Have a class shown with what it is made of, whatever its `__new__` looks like."""

    def sign(_app: Any, what: str, _name: str, shown: Any, *_: Any) -> tuple[str, str] | None:
        if what != "class" or inspect.signature(shown).parameters.keys() == {"args", "kwargs"}:
            return None
        parameters = inspect.signature(shown).parameters.values()
        plain = [each.replace(annotation=inspect.Parameter.empty) for each in parameters]
        return str(inspect.Signature(plain)), ""

    app.connect("autodoc-process-signature", sign)
