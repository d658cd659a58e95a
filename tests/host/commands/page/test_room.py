"""What is wide has room in every window: nothing is cut off, and nothing lies on anything else."""

from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from device.simulator.audiograms import audiogram_named
from device.simulator.head import Head
from device.simulator.listener import SimulatedListener
from device.simulator.world import World
from firmware_py.presenting.presenter import PAUSED
from firmware_py.terms.person import Person
from firmware_py.terms.settings import Settings
from host_tools.catalogue import LANGUAGES
from tests.host.commands.page.conftest import Operator
from tests.host.commands.page.rig import Device

pytestmark = pytest.mark.xdist_group("page-words")
TABLES: Final = "#result-thresholds table"
WIDTHS_PX: Final = (390, 720, 1024, 1280, 1920)
TWO_COLUMNS_PX: Final = 1024  # from here on
HEIGHT_PX: Final = 900
PAPER_PX: Final = 680  # of an A4 sheet, between its margins
NARROW: Final = Settings(
    routes="air, bone", frequency_min_hz=500.0, frequency_max_hz=1000.0, seed=2
)
# What reaches over the edge of the window, and which boxes lie on one another.
MISPLACED: Final = """() => {
  const isSeen = (each) => each.getClientRects().length && !each.closest("svg, .unseen");
  const seen = [...document.querySelectorAll("main *")].filter(isSeen);
  const named = (each) => `${each.tagName} ${each.id} ${each.textContent.slice(0, 40)}`;
  const isOut = ({ left, right }) => left < -0.5 || right > innerWidth + 0.5;
  const out = seen.filter((each) => isOut(each.getBoundingClientRect())).map(named);
  const boxes = seen.filter((each) => each.matches("figure, table"));
  const meet = (p, q) => p.left < q.right - 0.5 && q.left < p.right - 0.5
    && p.top < q.bottom - 0.5 && q.top < p.bottom - 0.5;
  const on = boxes.flatMap((one, i) => boxes.slice(i + 1)
    .filter((other) => meet(one.getBoundingClientRect(), other.getBoundingClientRect()))
    .map((other) => `${named(one)} on ${named(other)}`));
  return [...out, ...on];
}"""


@pytest.fixture(scope="module")
def both_routes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a session by air and bone, with noise and an age norm: the widest tables there are."""
    right, left = audiogram_named("N3")["right"], audiogram_named("N1")["left"]
    listener = SimulatedListener({"right": right, "left": left}, head=Head({"right": 35.0}), seed=2)
    world = World(tmp_path_factory.mktemp("both"), listener)
    world.begin(NARROW, Person(60.0, "F", "P-1"))
    while world.runner.session is not None:
        world.until(lambda: world.runner.session is None or is_waiting(world))
        if world.runner.session is not None:
            assert world.ask("SESS:CONT") == ["OK"]
    world.close()
    return world.journal()


def is_waiting(world: World) -> bool:
    session = world.runner.session
    return session is not None and session.test.state == PAUSED


def test_no_table_of_a_result_is_cut_off_or_lies_on_another(
    device: Device, operator: Operator, both_routes: Path
) -> None:
    """On a screen and on paper; the right ear is left of the left one, and bone below air."""
    page = operator.show(device, both_routes)
    expect(page.locator(TABLES)).to_have_count(4)
    assert page.locator(TABLES).first.locator("thead th").count() == 5
    page.locator("#result-fold summary").click()
    for language in LANGUAGES:
        page.select_option("#language", language)
        expect(page.locator("html")).to_have_attribute("lang", language)
        for width in WIDTHS_PX:
            page.set_viewport_size({"width": width, "height": HEIGHT_PX})
            assert page.evaluate(MISPLACED) == [], (language, width)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            check_order(page, width)
        page.emulate_media(media="print")
        page.set_viewport_size({"width": PAPER_PX, "height": HEIGHT_PX})
        assert page.evaluate(MISPLACED) == [], language
        page.emulate_media(media="screen")


def check_order(page: Page, width: int) -> None:
    rectangles = "each => each.map((e) => e.getBoundingClientRect().toJSON())"
    right, left, right_bone, left_bone = page.locator(TABLES).evaluate_all(rectangles)
    if width < TWO_COLUMNS_PX:
        assert right["y"] < left["y"] < right_bone["y"] < left_bone["y"]
        return
    assert right["x"] < left["x"]
    assert right["y"] == left["y"]
    assert (right["x"], left["x"]) == (right_bone["x"], left_bone["x"])
    assert right_bone["y"] == left_bone["y"] > right["y"] + right["height"]
