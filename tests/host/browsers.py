"""The browser of this machine in which pages are looked at."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from playwright.sync_api import Browser, sync_playwright

CHROMIUM: Final = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome")
     if (path := os.environ.get("CHROMIUM") or shutil.which(name))),
    None,
)  # fmt: skip
OPTIONS: Final = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
NEEDS_CHROMIUM: Final = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium here: apt install chromium"
)


@contextmanager
def a_browser() -> Iterator[Browser]:
    """Start a browser without any history of its own."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=CHROMIUM, headless=True, args=OPTIONS, timeout=60_000
        )
        yield found
        found.close()
