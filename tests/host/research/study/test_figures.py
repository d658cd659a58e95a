"""The pictures and the paper's figures: they are there, the same every time, and legible."""

import json
import math
import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from host_tools import terminal
from host_tools.main import main
from host_tools.research.study.figures import (
    STAGES,
    Stage,
    evolution_figure,
    frequencies_hz,
    session,
)
from host_tools.research.study.listener import Ear
from host_tools.research.study.pictures import coverage_figure, error_figure, tones_figure
from tests.budget import quick_rows
from tests.host.research.study.ears import CAREFUL, write_table

EAR = Ear("N3", "", (250.0, 1000.0, 4000.0), (35.0, 40.0, 60.0))
MAGIC = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}


def figure(path: Path, *more: str) -> int:
    return main(["study", "--profile", "gp-pta-2015", "-o", str(path), *more])


@pytest.mark.parametrize(
    ("name", "ending"),
    quick_rows(
        [("posterior-evolution", ".svg"), ("posterior-evolution", ".pdf"), ("mean-bald", ".svg"),
         ("mean-bald", ".png")], ("mean-bald", ".svg"),
    ),
)  # fmt: skip
def test_a_figure_has_the_same_bytes_every_time_and_says_what_is_in_it(
    name: str,
    ending: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(terminal, "LINE_AFTER_S", 0.0)
    first, second = tmp_path / f"1{ending}", tmp_path / f"2{ending}"
    for path in (first, second):
        assert figure(path, "--figure", name, "--trials", "4", "--json") == 0

    assert first.read_bytes().startswith(MAGIC[ending])
    assert first.read_bytes() == second.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [first.name, second.name]
    said, progress = capsys.readouterr()
    tones, last = {"mean-bald": (4, 80), "posterior-evolution": (21, 90)}[name]
    about = json.loads(said.splitlines()[0])
    assert (about["tones"], len(about["mean_bald_bits"])) == (tones, tones + 1)
    assert progress.splitlines()[-1].startswith(f"tones: {last} % done, about ")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("audiogram", "for_others"),
    [("N3", 0o044), ("island:2, N1", 0o044), ("ears.csv:1", 0), ("N3,ears.csv:1", 0)],
)
def test_a_figure_of_a_table_is_for_its_owner_only(
    audiogram: str, for_others: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_table(tmp_path / "ears.csv").parent)
    before = os.umask(0o022)
    words = ("--audiogram", audiogram, "--trials", "1")
    assert figure(tmp_path / "a.svg", "--figure", "mean-bald", *words) == 0
    os.umask(before)
    assert (tmp_path / "a.svg").stat().st_mode & 0o077 == for_others


def test_another_seed_makes_another_figure(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        assert figure(tmp_path / f"{seed}.svg", "--figure", "mean-bald", "--seed", seed) == 0

    assert (tmp_path / "1.svg").read_bytes() != (tmp_path / "2.svg").read_bytes()


@pytest.fixture(scope="module")
def stages() -> list[Stage]:
    return [*session("gp-pta-2015", EAR, 1, CAREFUL, STAGES[-1])]


def test_each_stage_is_drawn_with_the_answers_so_far(stages: list[Stage]) -> None:
    figure = evolution_figure(stages, EAR, "gp-pta-2015")

    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "prior", "after 7 tones", "after 14 tones", "after 21 tones",
    ]  # fmt: skip
    for count, axes in zip(STAGES, figure.axes, strict=True):
        drawn = {line.get_label(): np.size(line.get_xdata()) for line in axes.get_lines()}
        assert drawn["heard"] + drawn["not heard"] == count
        assert drawn["next tone"] == 1


def test_the_stages_are_those_of_the_session(stages: list[Stage]) -> None:
    assert [len(stages[n].answers) for n in STAGES] == [0, 7, 14, 21]
    assert [len(stage.answers) for stage in stages] == list(range(22))
    for before, after in pairwise(stages):
        assert after.answers[-1][0] == before.proposed
    # The band of one SD of a Gaussian posterior.
    assert stages[7].high_db_hl == pytest.approx(stages[7].mean_db_hl + stages[7].sd_db, rel=1e-4)
    assert {heard for _, heard in stages[-1].answers} == {True, False}


def test_the_mean_objective_is_that_of_the_paper() -> None:
    before, *_, after = session("gp-pta-2015", EAR, 1, CAREFUL, 20)

    # Before the first answer the SD is 12 dB everywhere, and C = 2 sqrt(pi ln 2 / 2).
    c = 2.0 * math.sqrt(math.pi * math.log(2.0) / 2.0)
    assert before.mean_bald_bits == pytest.approx(1.0 - c / math.hypot(12.0, c), rel=1e-9)
    assert 0.0 < after.mean_bald_bits < 0.5 * before.mean_bald_bits
    steps = np.diff(6.0 * np.arcsinh(frequencies_hz() / 600.0))
    assert steps == pytest.approx(np.full(len(steps), steps.mean()))


# The pictures of a study


class FakeResults:
    """Eight methods that all end at nearly the same place; the last one has no bands."""

    methods = tuple(f"method-{i}" for i in range(8))
    tones = 12
    weight = np.full(10, 0.1)

    def metric(self, method: str, name: str) -> Any:
        if method == self.methods[-1] and name != "rmse_db":
            return np.full((10, 13), np.nan)
        index = self.methods.index(method)
        values = np.linspace(20.0, 2.0 + 0.01 * index, 13) + np.linspace(0.0, 2.0, 10)[:, None]
        return values if name == "rmse_db" else 0.9 + values / 1000.0

    def mean(self, method: str, name: str) -> Any:
        return self.weight @ self.metric(method, name)

    def quantiles(self, method: str, name: str, at: tuple[float, ...]) -> Any:
        return np.quantile(self.metric(method, name), at, axis=0)

    def tones_to(self, method: str, goal_db: float) -> Any:
        return np.where(np.arange(10) < 4, np.inf, 10.0 - goal_db)


@pytest.mark.parametrize("draw", [error_figure, coverage_figure, tones_figure])
def test_no_two_words_of_a_picture_overlap(draw: Any) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    drawn = draw(FakeResults())
    canvas: Any = FigureCanvasAgg(drawn)
    canvas.draw()
    boxes = [
        # Of a label with a line to what it labels, the label.
        (text.get_text(), Text.get_window_extent(text, canvas.get_renderer()))
        for text in drawn.findobj(Text)
        if text.get_visible() and text.get_text().strip()
    ]
    boxes = [(words, box) for words, box in boxes if box.width and box.height]

    assert {"method-0", "method-6"} <= {words for words, _ in boxes}
    assert [
        (a, b)
        for i, (a, box) in enumerate(boxes)
        for b, other in boxes[i + 1 :]
        if box.x0 < other.x1 and other.x0 < box.x1 and box.y0 < other.y1 and other.y0 < box.y1
    ] == []


def test_no_picture_of_coverage_without_bands() -> None:
    class WithoutBands(FakeResults):
        methods = FakeResults.methods[-1:]

    WithoutBands.methods = ("method-7",)
    assert coverage_figure(WithoutBands()) is None  # type: ignore[arg-type]


def test_drawing_needs_no_screen() -> None:
    assert "matplotlib.pyplot" not in sys.modules
