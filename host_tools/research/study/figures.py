"""Figures 2 and 3 of Cox & de Vries (arXiv 1511.08670), for any profile and ear.

`posterior-evolution` is figure 2: the threshold as it is known before the first tone, and after 7,
14 and 21, the shaded band one standard deviation to each side (68.27 % of the posterior), answers
heard (plus) and not heard (cross), and the tone proposed next (square).

`mean-bald` is figure 3: the mean of the objective (BALD, section 4) over frequency, tone by tone.
At every frequency it is taken at the level that maximises it, h = mu, where it is
1 - C / sqrt(s^2 + C^2) bit, and frequencies are evenly spread on the Bark scale. For a profile
whose posterior is no Gaussian, or that knows lapses, s and the noise are those it gives.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from device.audiogram_tables.ears import AudiogramError
from device.simulator.audiogram import Audiogram
from device.simulator.audiograms import audiogram_named
from device.simulator.odd_ears import ODD_EARS
from firmware_py.inference.laplace.selection import HALF_PI_LN2
from firmware_py.inference.profiles import PROFILES
from firmware_py.inference.scales import scale_named
from host_tools.drawings.drawing import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PICTURE_ENDINGS,
    in_style,
    new_figure,
    save,
)
from host_tools.errors import HostError
from host_tools.files import check_name
from host_tools.research.methods.gp_pta import GpPta
from host_tools.research.methods.interface import SEED_MAX, Array, Stimulus, Task
from host_tools.research.study.ears import BISGAARD
from host_tools.research.study.listener import Answering, Ear, Listener
from host_tools.research.study.options import Options
from host_tools.terminal import show_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STAGES: Final = (0, 7, 14, 21)
ONE_SD: Final = 0.6827
POINTS: Final = 200
FREQUENCY_TICKS_HZ: Final = (125, 250, 500, 1000, 2000, 4000, 8000)
DB_PER_OCTAVE: Final = 20.0  # an audiogram's octave is as wide as so many dB are high


@dataclass(frozen=True, eq=False)
class Stage:
    """What a profile knows after some tones."""

    answers: tuple[tuple[Stimulus, bool], ...]  # tones, and whether each was heard
    # (POINTS,) at `frequencies_hz()`; the band is that of one SD.
    mean_db_hl: Array
    sd_db: Array
    low_db_hl: Array
    high_db_hl: Array
    noise_db: float  # the response noise it takes to be there
    proposed: Stimulus

    @property
    def mean_bald_bits(self) -> float:
        """Return the mean over frequency of the objective, each at its best level."""
        c = self.noise_db * math.sqrt(HALF_PI_LN2)
        return float(np.mean(1.0 - c / np.hypot(self.sd_db, c)))


def draw_figure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Simulate a session, draw a figure of it in a new file, and return what is in it.

    Of an audiogram of two ears the right one is measured. `--trials` are for `mean-bald`.
    """
    name, profile, seed = arguments.figure, arguments.profile, arguments.seed
    check_name(arguments.out, "-o", PICTURE_ENDINGS)
    if profile not in PROFILES:
        raise HostError(f"--profile is {profile!r}; allowed are {', '.join(PROFILES)}")
    if not 0 <= seed <= SEED_MAX:
        raise HostError(f"--seed is {seed}; allowed are whole numbers 0 to {SEED_MAX}")
    options = Options.of(arguments, audiograms=BISGAARD)  # refuses what is not allowed
    ear = _ear_named(arguments.audiogram, arguments.columns)
    evolution = name == "posterior-evolution"
    tones = STAGES[-1] if evolution else options.trials
    known = session(profile, ear, seed, options.answering, tones)
    stages = [*show_progress(known, tones + 1, "tones")]
    draw: Callable[[list[Stage], Ear, str], Figure] = evolution_figure if evolution else bald_figure
    with in_style():
        save(draw(stages, ear, profile), arguments.out, for_all=of_nobody(arguments.audiogram))
    return {
        "figure": name,
        "profile": profile,
        "audiogram": arguments.audiogram,
        "tones": len(stages) - 1,
        "mean_bald_bits": [round(stage.mean_bald_bits, 6) for stage in stages],
    }


def frequencies_hz() -> Array:
    """Return frequencies evenly spread on the Bark scale over those that can be asked."""
    scale = scale_named("bark")
    low, high = (scale.warp(f) for f in Task.frequency_range_hz)
    inside = [scale.unwarp(x) for x in np.linspace(low, high, POINTS).tolist()]
    spread: Array = np.clip(inside, *Task.frequency_range_hz)
    return spread


def session(profile: str, ear: Ear, seed: int, answering: Answering, tones: int) -> Iterator[Stage]:
    """Measure an ear, and yield what is known before the first tone and after each."""
    task = Task(
        answering.response_noise_db, answering.lapse_rate, answering.false_alarm_rate,
        tones_max=tones,
    )  # fmt: skip
    method, listener = GpPta(task, profile), Listener(ear, answering, seed, tones)
    answers: list[tuple[Stimulus, bool]] = []
    stage = _stage(method, answers)
    yield stage
    for number in range(tones):
        tone = stage.proposed
        at = (tone.frequency_hz, tone.level_db_hl)
        answers.append((tone, listener.hears(number, *at)))
        method.observe(*at, answers[-1][1])
        stage = _stage(method, answers)
        yield stage


def evolution_figure(stages: list[Stage], ear: Ear, profile: str) -> "Figure":
    wanted = [stages[n] for n in STAGES]
    levels = [tone.level_db_hl for tone, _ in stages[-1].answers] + list(ear.thresholds_db_hl)
    levels += [
        level for stage in wanted for level in (stage.low_db_hl.min(), stage.high_db_hl.max())
    ]
    finite = [level for level in levels if math.isfinite(level)]
    low, high = 10.0 * math.floor(min(finite) / 10.0), 10.0 * math.ceil(max(finite) / 10.0)
    shape = (high - low) / (
        DB_PER_OCTAVE * math.log2(FREQUENCY_TICKS_HZ[-1] / FREQUENCY_TICKS_HZ[0])
    )
    figure = new_figure(9.0, 8.0 * shape + 1.5)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, stage in zip(panels.flat, wanted, strict=True):
        _draw_stage(axes, stage, ear)
        count = len(stage.answers)
        axes.set_title(f"after {count} tones" if count else "prior", loc="left", fontweight="bold")
        axes.set_ylim(high, low)  # levels grow downwards
        axes.set_box_aspect(shape)
    for axes in panels[1]:
        axes.set_xlabel("frequency in Hz")
    for axes in panels[:, 0]:
        axes.set_ylabel("level in dB HL")
    handles, labels = panels.flat[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    figure.suptitle(f"{profile}, audiogram {ear.name}", x=0.01, ha="left", fontsize=10)
    return figure


def bald_figure(stages: list[Stage], ear: Ear, profile: str) -> "Figure":
    figure = new_figure(6.0, 3.4)
    axes = figure.subplots()
    bits = [stage.mean_bald_bits for stage in stages]
    axes.plot(range(len(bits)), bits, color=BLUE, lw=1.8, marker="o", ms=3.5, clip_on=False)
    axes.set_xlim(0, len(bits) - 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("tones")
    axes.set_ylabel("mean BALD in bits")
    axes.grid(axis="y")
    axes.set_title(f"{profile}, audiogram {ear.name}", loc="left")
    return figure


def _stage(method: GpPta, answers: list[tuple[Stimulus, bool]]) -> Stage:
    at_hz = frequencies_hz()
    mean_db_hl, sd_db = method.threshold(at_hz)
    low_db_hl, high_db_hl = method.threshold_band(at_hz, ONE_SD)
    return Stage(
        answers=tuple(answers),
        mean_db_hl=mean_db_hl,
        sd_db=sd_db,
        low_db_hl=low_db_hl,
        high_db_hl=high_db_hl,
        noise_db=method.estimator.hyperparameters.response_noise_db,
        proposed=method.next_stimulus(),
    )


def _draw_stage(axes: "Axes", stage: Stage, ear: Ear) -> None:
    at_hz = frequencies_hz()
    axes.fill_between(
        at_hz, stage.low_db_hl, stage.high_db_hl, color=BLUE, alpha=0.2, lw=0, label="±1 SD"
    )
    axes.plot(at_hz, stage.mean_db_hl, color=BLUE, lw=1.8, label="estimate")
    low_hz, high_hz = Task.frequency_range_hz
    truth = Audiogram(ear.frequencies_hz, ear.thresholds_db_hl)
    knots_hz = [low_hz, *[f for f in ear.frequencies_hz if low_hz < f < high_hz], high_hz]
    truth_db_hl = [truth.threshold_db_hl(f) for f in knots_hz]
    axes.plot(knots_hz, truth_db_hl, color=INK, lw=1.2, linestyle="--", label="truth")
    for heard, marker, colour, label in (
        (True, "+", INK, "heard"),
        (False, "x", ORANGE, "not heard"),
    ):
        tones = [tone for tone, answer in stage.answers if answer is heard]
        axes.plot(
            [tone.frequency_hz for tone in tones], [tone.level_db_hl for tone in tones], marker,
            color=colour, ms=7, mew=1.6, label=label,
        )  # fmt: skip
    axes.plot(
        stage.proposed.frequency_hz, stage.proposed.level_db_hl, "s",
        mfc="none", mec=ORANGE, ms=9, mew=1.6, label="next tone", clip_on=False,
    )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(low_hz * 0.93, high_hz * 1.07)
    axes.set_xticks(FREQUENCY_TICKS_HZ, [_hertz(f) for f in FREQUENCY_TICKS_HZ])
    axes.set_xticks([], minor=True)
    axes.grid(color=GREY, alpha=0.25)


def _hertz(frequency_hz: int) -> str:
    return f"{frequency_hz // 1000}k" if frequency_hz >= 1000 else str(frequency_hz)


def of_nobody(audiogram: str) -> bool:
    """Return whether no ear that a text names is of a table, which may have people in it."""
    files = {name.strip().rpartition(":")[0] for name in audiogram.split(",")}
    return files <= {"", *ODD_EARS}


def _ear_named(text: str, columns: str | None) -> Ear:
    try:
        audiogram = audiogram_named(text, columns)["right"]
    except AudiogramError as error:
        raise HostError(f"--audiogram: {error}") from None
    return Ear(text, "", audiogram.frequencies_hz, audiogram.thresholds_db_hl)
