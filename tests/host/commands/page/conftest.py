"""A browser, the page as a file, and what an operator does with it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from firmware_py.inference.library import chosen_library
from host_tools.commands.page import assemble
from host_tools.commands.page.bridge import Bridge
from tests.host.browsers import CHROMIUM, a_browser
from tests.host.commands.page.rig import Device, FarPort, StandIn

SETTLED_MS: Final = 60_000  # on a busy machine
expect.set_options(timeout=SETTLED_MS)
SIZE: Final[ViewportSize] = {"width": 1024, "height": 768}


@pytest.fixture(scope="session")
def browser() -> Browser:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: apt install chromium-headless-shell")
    if chosen_library() is None:
        pytest.skip("a page does not see what runs the kernels: it is tried with the library")
    return a_browser()


@pytest.fixture(scope="session")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "operator.html"
    out.write_text(assemble.page(), encoding="utf-8")
    return out


@pytest.fixture
def device(tmp_path: Path, quick_disk: None) -> Iterator[Device]:
    """Return a device whose firmware is not started yet."""
    with Device(tmp_path / "data") as made:
        yield made


class Operator:
    """Somebody with a browser: pages are opened from a file, or as a bridge serves them."""

    def __init__(self, browser: Browser, html: Path) -> None:
        self._browser = browser
        self._html = html
        self._undo = ExitStack()
        self.wrong: list[str] = []  # what a page said to its developers
        self.asked: list[str] = []  # what a page asked for
        self.context: BrowserContext | None = None

    def open(
        self,
        end: StandIn | None = None,
        url: str = "",
        *,
        before: str = "",
        bypass_csp: bool = False,
    ) -> Page:
        """Open the page, in a further tab of the same browser if there is one already.

        `before` is what the browser runs before the page.
        """
        if self.context is None:
            self.context = self._browser.new_context(
                viewport=SIZE, locale="en-GB", bypass_csp=bypass_csp
            )
            self._undo.callback(self.context.close)
        page = self.context.new_page()
        page.set_default_timeout(SETTLED_MS)
        page.on("console", lambda message: self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.add_init_script(before + (end.script if end is not None else ""))
        page.goto(url or self._html.as_uri())
        return page

    def connect(self, end: StandIn) -> Page:
        page = self.open(end)
        page.click("#choose")
        return page

    def join(self, device: Device, **options: Any) -> Page:
        """Start a device with these options, and connect its page."""
        device.start(**options)
        return self.connect(device.stand_in())

    def prepare(self, device: Device) -> Page:
        page = self.join(device)
        expect(page.locator("#view-prepare")).to_be_visible()
        return page

    def show(self, device: Device, journal: Path) -> Page:
        """Start a device that has recorded this, and connect its page, with its result."""
        device.directory.mkdir(exist_ok=True)
        shutil.copy(journal, device.journal())
        page = self.join(device)
        expect(page.locator("#view-result")).to_be_visible()
        return page

    def close(self) -> None:
        self._undo.close()


def begin_test(page: Page, ears: str = "") -> None:
    """Start a test, and wait until it is shown: time that passes before is silence."""
    if ears:
        page.check(f"input[name=ears][value={ears}]")
    page.click("#start")
    expect(page.locator("#view-live")).to_be_visible()


def check_buttons(page: Page) -> list[str]:
    return page.locator("#live-check button:visible").all_inner_texts()


@pytest.fixture
def operator(browser: Browser, html: Path) -> Iterator[Operator]:
    """Return an operator; a page that complains, or asks for anything outside, is an error."""
    made = Operator(browser, html)
    yield made
    made.close()
    assert made.wrong == []
    assert [url for url in made.asked if not url.startswith(("file:", "http://127.0.0.1:"))] == []


@pytest.fixture
def bridge_says() -> SimpleQueue[str]:
    return SimpleQueue()


@pytest.fixture
def serve(bridge_says: SimpleQueue[str]) -> Iterator[Callable[[FarPort], str]]:
    """Return what bridges a port, as `gp-pta page PORT` does, and returns the page's address."""
    with ExitStack() as undo:
        yield (
            lambda end: (
                undo.enter_context(Bridge(str(end.name), assemble.page(), bridge_says.put)).address
            )
        )


@pytest.fixture
def page(device: Device, operator: Operator) -> Page:
    return operator.prepare(device)
