"""Look through the built site: every link inside it leads somewhere, and nothing is fetched.

``python docs/check_site.py build/docs`` prints what is wrong.
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

PAGES_MIN: Final = 40  # of a whole site, with the pages of the index
# What a browser fetches by itself; what `a` names waits for a person.
FETCHED: Final = {
    "img": "src", "script": "src", "source": "src", "iframe": "src", "object": "data",
    "image": "href", "use": "href",
}  # fmt: skip
LINK_FETCHED: Final = {"stylesheet", "icon", "preload", "modulepreload", "preconnect"}
IN_STYLE: Final = re.compile(r"(?:url\(|@import\s+)\s*[\"']?((?:https?:)?//[^\s\"')]+)")


class Page(HTMLParser):
    """What a page has anchors for, links to, and fetches."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = IN_STYLE.findall(text)
        self.feed(text)

    def has(self, fragment: str) -> bool:
        """Return whether a link to this place on the page leads somewhere."""
        return unquote(fragment) in self.anchors

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag is and names."""
        told = {name: value or "" for name, value in attrs}
        self.anchors |= {told[name] for name in ("id", "name") if name in told}
        if tag == "a" and "href" in told:
            self.links.append(told["href"])
        if tag == "link" and LINK_FETCHED & {*told.get("rel", "").split()}:
            self.fetched.append(told["href"])
        if told.get(FETCHED.get(tag, "")):
            self.fetched.append(told[FETCHED[tag]])


def faults(site: Path) -> Iterator[str]:
    """Yield a line for each link that leads nowhere, and for each thing that is fetched."""
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        yield from (f"{where} fetches {each}" for each in page.fetched if is_elsewhere(each))
        for link in [*page.links, *page.fetched]:
            parts = urlsplit(link)
            if is_elsewhere(link) or parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{where} links to {link}, and there is no such file"
            elif parts.fragment and target in pages and not pages[target].has(parts.fragment):
                yield f"{where} links to {link}, and there is no such place on that page"
    for path in sorted(site.rglob("*.css")):
        found = IN_STYLE.findall(path.read_text("utf-8"))
        yield from (f"{path.relative_to(site)} fetches {each}" for each in found)


def is_elsewhere(link: str) -> bool:
    """Return whether a link leads out of the site; what is within the page itself does not."""
    parts = urlsplit(link)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def main(site: Path) -> int:
    """Print every fault, and return the exit code, 0 if there is none."""
    found = [*faults(site)]
    pages = len([*site.rglob("*.html")])
    if pages < PAGES_MIN:
        found.append(f"{site} has {pages} pages, and a whole site at least {PAGES_MIN}")
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{site / 'index.html'}: {pages} pages, {len(found)} faults")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
