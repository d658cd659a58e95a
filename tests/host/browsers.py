"""The browser of this machine in which pages are looked at."""

import atexit
import os
import shutil
from functools import cache
from typing import Final

import pytest
from playwright.sync_api import Browser, sync_playwright

# The first has no windows, and takes half the processor time.
CHROMIUM: Final = next(
    (path for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
     if (path := os.environ.get("CHROMIUM") or shutil.which(name))),
    None,
)  # fmt: skip
OPTIONS: Final = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
NEEDS_CHROMIUM: Final = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium here: apt install chromium-headless-shell"
)


@cache
def a_browser() -> Browser:
    """Return the browser of this process; Playwright cannot be started twice in one."""
    playwright = sync_playwright().start()
    found = playwright.chromium.launch(
        executable_path=CHROMIUM, headless=True, args=OPTIONS, timeout=60_000
    )
    atexit.register(playwright.stop)
    atexit.register(found.close)
    return found
