"""The picture of the operator's page, made anew: ``python -m tests.host.pictures``; with Chromium.

A real firmware measures a simulated listener in virtual time, and the page is shown in the middle.
"""

import sys
import tempfile
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, expect

from host_tools.commands.page import assemble
from tests.firmware.whole_sessions import a_listener
from tests.host.browsers import a_browser
from tests.host.commands.page.conftest import Operator
from tests.host.commands.page.rig import Device
from tests.test_pages import ROOT

PAGE: Final = ROOT / "host_tools" / "commands" / "page" / "operator.png"
ANSWERS: Final = 30  # so many are shown of the test
WIDTH: Final = 900


def operate(browser: Browser, place: Path) -> None:
    """Keep a picture of a test under way."""
    html = place / "operator.html"
    html.write_text(assemble.page(), encoding="utf-8")
    operator = Operator(browser, html)
    try:
        with Device(place / "data", a_listener("S2")) as device:
            page = operator.prepare(device)
            page.set_viewport_size({"width": WIDTH, "height": 760})
            page.fill("#identifier", "P-17")
            page.click("#start")
            expect(page.locator("#view-live")).to_be_visible()
            device.until_answers(ANSWERS)
            page.locator("#answers tr").nth(ANSWERS - 1).wait_for(state="attached")
            page.screenshot(path=PAGE)
    finally:
        operator.close()


def main() -> int:
    """Make the picture, and return the exit code."""
    with tempfile.TemporaryDirectory() as place:
        operate(a_browser(), Path(place))
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
