"""Every method by its name, and what some have to learn from people before the first ear."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from device.simulator.own_code import OwnCodeError, class_named, digest_of_source, is_own, names_in
from firmware_py.ear.objective import Objective
from firmware_py.inference.trial_time import TrialTime
from host_tools.errors import HostError
from host_tools.research.methods.barthelme_mamassian import BarthelmeMamassian
from host_tools.research.methods.cast import Cast, Patterns, learn_patterns
from host_tools.research.methods.de_vries import DeVries, Mixture, learn_mixture
from host_tools.research.methods.gp_pta import GpPta
from host_tools.research.methods.interface import FAILURES, Method, Task
from host_tools.research.methods.names import METHODS, METHODS_LEARNED
from host_tools.research.methods.own_method import held_objective, own_learned, own_method
from host_tools.research.methods.per_frequency import Quest
from host_tools.research.methods.population import Population
from host_tools.research.methods.song_gp import SCHLITTENLACHER, SongGp
from host_tools.research.methods.staircase import StaircaseAsha, StaircaseIso

Values = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Learned:
    """What methods have learned from a population; None where nothing was learned."""

    patterns: Patterns | None = None  # of CAST
    mixture: Mixture | None = None  # of de Vries et al.
    own: Values = field(default_factory=dict)  # of somebody's own, by name: JSON values

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values; `from_json` gives back the same bits."""
        ours = {"patterns": _lists(self.patterns), "mixture": _lists(self.mixture)}
        return {**ours, "own": dict(self.own)}

    @classmethod
    def from_json(cls, values: Values) -> "Learned":
        """Return what `as_json` returned the JSON values of."""
        patterns, mixture = values["patterns"], values["mixture"]
        return cls(
            None if patterns is None else Patterns(**_arrays(patterns)),
            None if mixture is None else Mixture(**_arrays(mixture)),
            dict(values["own"]),
        )


NOTHING_LEARNED: Final = Learned()
TRIAL_TIME: Final = TrialTime(answered_s=1.4, silent_s=2.0)  # of a brisk test, about

_MAKERS: Final[Mapping[str, Callable[[Task, Learned], Method]]] = {
    "gp-pta": lambda task, _: GpPta(task),
    "gp-pta-2015": lambda task, _: GpPta(task, "gp-pta-2015"),
    "staircase-asha": lambda task, _: StaircaseAsha(task),
    "staircase-iso": lambda task, _: StaircaseIso(task),
    "quest": lambda task, _: Quest(task),
    "cast": lambda task, learned: Cast(task, learned.patterns),
    "barthelme-mamassian": lambda task, _: BarthelmeMamassian(task),
    "de-vries": lambda task, learned: DeVries(task, learned.mixture),
    "song-gp": lambda task, _: SongGp(task),
    "gp-pta-untold": lambda task, _: GpPta(task, told=False),
    "gp-pta-per-second": lambda task, _: GpPta(task, told=False, time=TRIAL_TIME),
    "gp-pta-age-sex": lambda task, _: GpPta(task, person=True),
    "staircase-asha-unbiased": lambda task, _: StaircaseAsha(task, subtract_bias=True),
    "staircase-iso-unbiased": lambda task, _: StaircaseIso(task, subtract_bias=True),
    "schlittenlacher-gp": lambda task, _: SongGp(task, SCHLITTENLACHER),
}
assert tuple(_MAKERS) == METHODS

# Groups of entry points, and what a class has to have that is one of these.
GROUP: Final = "gp_pta.methods"
OBJECTIVES: Final = "gp_pta.objectives"
WANTED: Final = ("next_stimulus", "observe", "threshold")
WANTED_OF_OBJECTIVE: Final = ("choose",)


def make_method(name: str, task: Task, learned: Learned = NOTHING_LEARNED) -> Method:
    """Make one of `METHODS`, or one of somebody's own, for one ear.

    With nothing learned, CAST and de Vries begin with the ten standard audiograms.
    """
    if name not in _MAKERS:
        task = replace(task, learned=learned.own.get(name))
        return own_method(name, class_named(name, GROUP, WANTED), task)
    return _MAKERS[name](task, learned)


def objective_named(name: str) -> type[Objective]:
    """Return the objective of somebody's own that a text names, held to the interface."""
    return held_objective(name, _objective_class(name))


def _objective_class(name: str) -> type[Objective]:
    try:
        found: type[Objective] = class_named(name, OBJECTIVES, WANTED_OF_OBJECTIVE)
    except OwnCodeError as error:
        raise HostError(f"--objective {error}") from None
    if not issubclass(found, Objective):
        raise HostError(
            f"--objective {name!r} is no class made of Objective (firmware_py.ear.objective)"
        )
    return found


def check_objective(name: str) -> None:
    """Refuse an objective of somebody's own that raises something, or chooses no tone there is."""
    method = GpPta(Task(objective=objective_named(name)))
    try:
        tone = method.next_stimulus()
        method.observe(tone.frequency_hz, tone.level_db_hl, heard=True)
    except HostError:
        raise
    except Exception as error:  # whatever somebody's own class may raise
        raise HostError(f"--objective {name!r} {OwnCodeError.of(error)}") from error


def sources(methods: Iterable[str], objective: str) -> dict[str, str]:
    """Return a digest of the file that each class of somebody's own stands in."""
    found = {name: class_named(name, GROUP, WANTED) for name in methods if name not in _MAKERS}
    if objective:
        found[objective] = _objective_class(objective)
    return {name: digest_of_source(each) for name, each in found.items()}


def check_method_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, or refuse them: one is no method or there twice, or there is none."""
    names = tuple(names)
    for name in names:
        _check_name(name)
        if names.count(name) > 1:
            raise HostError(f"--methods has {name!r} twice; allowed is once")
    if not names:
        raise HostError(f"--methods is empty; allowed are {', '.join(METHODS)}")
    return names


def _check_name(name: str) -> None:
    own = is_own(name, GROUP)
    if name in METHODS and own:
        raise HostError(
            f"--methods has {name!r}, and an installed package has it in {GROUP}, too: the name is "
            "taken; name its class, package.module:Class"
        )
    if name in METHODS:
        return
    if not own:
        allowed = ", ".join([*METHODS, *names_in(GROUP), "package.module:Class"])
        raise HostError(f"--methods has {name!r}; allowed are {allowed}")
    try:
        task = Task()
        method = make_method(name, task)
        method.next_stimulus()
        method.threshold(task.audiogram_frequencies_hz)
    except (OwnCodeError, HostError) as error:
        raise HostError(f"--methods has {error}") from error
    except FAILURES as error:
        words = f"{type(error).__name__}: {error}"
        raise HostError(
            f"--methods has {name!r}, which fails before the first tone: {words}"
        ) from error


def learns(name: str) -> bool:
    """Return whether a method learns from people."""
    if name in METHODS:
        return name in METHODS_LEARNED
    return hasattr(class_named(name, GROUP, WANTED), "learn")


def learn(names: Iterable[str], population: Population) -> Learned:
    """Learn what these methods need from a population, or refuse one that is too small."""
    wanted = {name for name in names if learns(name)}
    own = {name: class_named(name, GROUP, WANTED) for name in wanted - {*METHODS}}
    try:
        return Learned(
            learn_patterns(population) if "cast" in wanted else None,
            learn_mixture(population) if "de-vries" in wanted else None,
            {name: own_learned(name, each, population) for name, each in own.items()},
        )
    except ValueError as error:
        raise HostError(f"nothing can be learned from this population: {error}") from None


def _lists(values: Patterns | Mixture | None) -> dict[str, Any] | None:
    if values is None:
        return None
    lists = {name: array.tolist() for name, array in vars(values).items()}
    assert all(math.isfinite(number) for array in vars(values).values() for number in array.flat)
    return lists


def _arrays(values: Values) -> dict[str, Any]:
    return {name: np.array(numbers, dtype=np.float64) for name, numbers in values.items()}
