"""Pictures of an example that pyplot does not know of: those in its variable `figure`."""

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper


def scrape_figures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save what a block of an example drew, and return how its page shows it."""
    shown: str = matplotlib_scraper(block, block_vars, gallery_conf)
    figure = block_vars["example_globals"].pop("figure", None)
    if shown or not isinstance(figure, Figure):
        return shown
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path)
    return str(figure_rst([path], gallery_conf["src_dir"]))
