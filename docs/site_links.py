"""Links of pages to folders: on the site they lead to the page in the folder, if it has one.

A link to anything that is not there stays a warning of Sphinx, which ends `make docs`.
"""

import re
from pathlib import Path
from typing import Any, Final

LINK: Final = re.compile(r"\[([^\]]*)\]\(([\w./-]+)\)")
PAGE: Final = "README.md"


def follow_folders(text: str, page: Path) -> str:
    """Return a page without links to folders."""

    def follow(link: re.Match[str]) -> str:
        folder = page.parent / link[2]
        if not folder.is_dir():
            return link[0]
        return f"[{link[1]}]({link[2]}/{PAGE})" if (folder / PAGE).exists() else link[1]

    return LINK.sub(follow, text)


def setup(app: Any) -> dict[str, Any]:
    """Have Sphinx read every page so."""

    def read(_app: Any, name: str, content: list[str]) -> None:
        content[0] = follow_folders(content[0], Path(app.env.doc2path(name)))

    app.connect("source-read", read)
    return {"parallel_read_safe": True}
