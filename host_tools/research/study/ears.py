"""Which ears a study measures: the ten standard ones, odd ones, or a table's, drawn by severity."""

import hashlib
import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.table import Table as AudiogramTable
from device.simulator.odd_ears import ODD_EARS, odd_ear
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from host_tools.errors import HostError
from host_tools.research.methods.interface import Task
from host_tools.research.methods.population import (
    STRATA,
    Population,
    PopulationError,
    population_of,
)
from host_tools.research.study.listener import Ear, place_in_draw, uniforms
from host_tools.terminal import say_aside

BISGAARD: Final = "bisgaard"
STANDARD_STRATUM: Final = "standard"
# Where errors of odd ears are taken: the frequencies of NHANES.
ODD_FREQUENCIES_HZ: Final = (500.0, 1000.0, 2000.0, 3000.0, 4000.0, 6000.0, 8000.0)

# The split of a table by person, the same wherever something is learned from one.
TRAIN_SHARE: Final = 0.8
SPLIT_SEED: Final = 1

ALL: Final = "all"
TRAIN: Final = "train"
HELD_OUT: Final = "held-out"
AUTO: Final = "auto"
PARTS: Final = (AUTO, ALL, TRAIN, HELD_OUT)

EARS_PER_STRATUM: Final = 40
ALL_EARS: Final = 0
JITTER_DB: Final = 2.5

# Ears that no family of odd ears is.
STANDARD: Final = "standard"  # the ten standard audiograms, each better or worse
REAL: Final = "real"  # real ears, drawn by chance
STEEP: Final = "steep"  # real ears with a step of `STEP_DB` or more between neighbours
MILDER: Final = "milder"  # those of the standard ones that can be measured if 20 dB poorer
EVERYDAY: Final = "everyday"  # every second one hears normally, the others are `STANDARD`
ODD: Final = "odd"  # the families of odd ears in turn
FLAT: Final = "flat"  # one threshold between 40 and 50 dB HL
DEAD: Final = "dead"  # nothing is heard
# or the name of a standard audiogram, of which each is better or worse
STEP_DB: Final = 30.0
STANDARD_MOVED_DB: Final = 5.0  # a standard ear is so much better or worse as a whole at most
STANDARD_JITTER_DB: Final = 2.5  # and each threshold by so much more
NORMAL_DB_HL: Final = 5.0  # normal hearing, moved in the same way, and jittered by as much
FLAT_DB_HL: Final = (40.0, 50.0)
MILDER_MOST_DB_HL: Final = 60.0
_MOVE_STREAM: Final = 5


Readings = tuple[str, tuple[tuple[float, float, bool], ...]]  # of a person


@dataclass(frozen=True, eq=False)
class Table:
    """A table of ears."""

    sha256: str  # of the file's bytes
    population: Population

    def part(self, part: str) -> Population:
        """Return all ears, those to learn from, or those held out."""
        if part == ALL:
            return self.population
        train, held_out = self.population.split(TRAIN_SHARE, SPLIT_SEED)
        return train if part == TRAIN else held_out

    @cached_property
    def readings(self) -> frozenset[Readings]:
        """Return its ears by what is in them, whatever the file looks like."""
        return frozenset(readings_of(self.population))


def read_table(path: Path, option: str = "", columns: str | None = None) -> Table:
    """Read a table; an error begins with the option that named it, if one did."""
    try:
        content = AudiogramTable.bytes_of(path)
        read = AudiogramTable.read(path, content, columns)
        population = population_of(read)
        for remark in (*read.remarks, *read.doubts()):
            say_aside(remark)
        return Table(hashlib.sha256(content).hexdigest(), population)
    except OSError as error:
        names = f"{BISGAARD}, {', '.join(ODD_EARS)}"
        allowed = f"; allowed are a file, {names}" if option == "--audiograms" else ""
        raise HostError(f"{option} {str(path)!r}: {error.strerror}{allowed}".lstrip()) from None
    except (AudiogramError, PopulationError) as error:
        raise HostError(f"{option}: {error}".removeprefix(": ")) from None


def readings_of(ears: Population) -> list[Readings]:
    """Return of each ear the person, and frequency, threshold and whether it is but a limit."""
    at_hz = ears.frequencies_hz.tolist()
    rows = zip(ears.thresholds_db_hl.tolist(), ears.censored.tolist(), strict=True)
    known = (
        tuple(each for each in zip(at_hz, *row, strict=True) if not math.isnan(each[1]))
        for row in rows
    )
    return [*zip(ears.person, known, strict=True)]


def say_what_is_read(name: str, ears: Population, left_out: int = 0) -> None:
    """Say how much a table has, and of how many ears too little is known to learn from them."""
    heard = int((ears.measured & ~ears.censored).sum())
    say_aside(
        f"{name}: {len(ears)} ears of {len(set(ears.person))} people, {heard} thresholds, "
        f"{int(ears.censored.sum())} times no response, {int((~ears.measured).sum())} not known"
    )
    if left_out:
        say_aside(
            f"{name}: {left_out} of these ears are left out, as nothing is known of them at 500, "
            "1000, 2000 and 4000 Hz"
        )


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of a study; None: there is none.

    They are read before methods are imported, for those may have to be compiled, for minutes.
    """

    measured: Table | None
    learned_from: Table | None

    @classmethod
    def read(
        cls, audiograms: str | None, train: Path | None, columns: str | None = None
    ) -> "Tables":
        """Read those that are named; errors as of `read_table`."""
        none = audiograms is None or audiograms == BISGAARD or audiograms in ODD_EARS
        return cls(
            None if none else read_table(Path(str(audiograms)), "--audiograms", columns),
            None if train is None else read_table(train, "--train", columns),
        )


def standard_ears() -> tuple[Ear, ...]:
    frequencies_hz = tuple(float(frequency_hz) for frequency_hz in FREQUENCIES_HZ)
    return tuple(
        Ear(name, STANDARD_STRATUM, frequencies_hz, thresholds_db_hl)
        for name, thresholds_db_hl in STANDARD_AUDIOGRAMS_DB_HL.items()
    )


def odd_ears(family: str, count: int) -> tuple[Ear, ...]:
    """Return ears of a family of `ODD_EARS`, from its first on."""
    ears = []
    for number in range(1, count + 1):
        truth = odd_ear(family, number)
        at_db_hl = tuple(map(truth.threshold_db_hl, ODD_FREQUENCIES_HZ))
        ears.append(Ear(f"{family}:{number}", family, ODD_FREQUENCIES_HZ, at_db_hl, truth=truth))
    return tuple(ears)


def ears_of(population: Population, per_stratum: int) -> tuple[tuple[Ear, ...], list[str]]:
    """Return ears that can be scored, stratum after stratum, and remarks.

    Ears with a threshold that was not measured or lies beyond the audiometer's limit are left out,
    as their truth is not known. Which ears are drawn depends on their names only, and a larger draw
    contains a smaller one.
    """
    _check_frequencies(population)
    whole = population.complete(censored=False)
    remarks = []
    if left_out := len(population) - len(whole):
        remarks.append(
            f"{left_out} of {len(population)} ears left out: a threshold was not measured, or not "
            "found at the audiometer's limit"
        )
    stratum, names = whole.stratum, unique_names(whole)
    drawn: list[Ear] = []
    for index, stratum_name in enumerate(STRATA):
        members = sorted(np.flatnonzero(stratum == index), key=lambda i: place_in_draw(names[i]))
        chosen = members if per_stratum == ALL_EARS else members[:per_stratum]
        if len(chosen) < per_stratum:
            remarks.append(
                f"{stratum_name}: {len(chosen)} ears; --ears {per_stratum} asks for so many of "
                "each degree of loss"
            )
        drawn += [_ear(whole, int(i), names[i], stratum_name) for i in chosen]
    if not drawn:
        raise HostError("--audiograms: no ear is measured at every frequency; nothing was studied")
    return tuple(drawn), remarks


def every_ear(population: Population) -> list[Ear]:
    whole = population.complete(censored=False)
    named = zip(unique_names(whole), whole.stratum, strict=True)
    return [_ear(whole, i, name, STRATA[int(stratum)]) for i, (name, stratum) in enumerate(named)]


def other_ears(population: Population) -> dict[str, Ear]:
    """Return by the name of an ear the other one of that person, where both can be scored."""
    ears = {ear.name: ear for ear in every_ear(population)}
    names = {name: _other_name(name) for name in ears}
    return {name: ears[other] for name, other in names.items() if other in ears}


def _other_name(name: str) -> str:
    person, slash, side = name.rpartition("/")
    return f"{person}{slash}{side.translate(str.maketrans('LR', 'RL'))}"


def _ear(whole: Population, index: int, name: str, stratum: str) -> Ear:
    return Ear(
        name,
        stratum,
        tuple(whole.frequencies_hz.tolist()),
        tuple(whole.thresholds_db_hl[index].tolist()),
        None if np.isnan(whole.age_years[index]) else float(whole.age_years[index]),
        whole.sex[index] or None,
    )


def unique_names(population: Population) -> list[str]:
    """Return a name for every ear: person and side, and a number where a name comes again."""
    count: dict[str, int] = {}
    names = []
    for person, side in zip(population.person, population.ear, strict=True):
        name = f"{person}/{side}".strip("/")
        count[name] = count.get(name, 0) + 1
        names.append(name if count[name] == 1 else f"{name}#{count[name]}")
    return names


def _check_frequencies(population: Population) -> None:
    low_hz, high_hz = Task.frequency_range_hz
    for frequency_hz in population.frequencies_hz:
        if not low_hz <= frequency_hz <= high_hz:
            raise HostError(
                f"--audiograms has thresholds at {frequency_hz:g} Hz; allowed is {low_hz:g} to "
                f"{high_hz:g} Hz, where tones can be asked"
            )


def ears_of_kind(name: str, count: int) -> tuple[Ear, ...]:
    """Return ears of one of the words above, a family of odd ears or a standard audiogram."""
    originals = standard_ears()
    places = range(1, count + 1)
    if name in ODD_EARS:
        return odd_ears(name, count)
    if name == ODD:
        families = [odd_ears(family, -(-count // len(ODD_EARS))) for family in ODD_EARS]
        return tuple(ear for round_ in zip(*families, strict=True) for ear in round_)[:count]
    if name == EVERYDAY:
        return _everyday(count)
    if name == FLAT:
        return tuple(_flat(f"{FLAT}:{n}") for n in places)
    if name == DEAD:
        return tuple(Ear(f"{DEAD}:{n}", DEAD, (1000.0,), (math.inf,)) for n in places)
    if name == MILDER:
        originals = tuple(e for e in originals if max(e.thresholds_db_hl) <= MILDER_MOST_DB_HL)
    elif name != STANDARD:
        originals = tuple(ear for ear in originals if ear.name == name)
    return _standard(count, originals)


def _standard(count: int, originals: tuple[Ear, ...]) -> tuple[Ear, ...]:
    """Return ears like these, each of them as often as others."""
    return tuple(
        _move(originals[number % len(originals)], number // len(originals) + 1)
        for number in range(count)
    )


def _move(original: Ear, number: int, jitter_db: float = STANDARD_JITTER_DB) -> Ear:
    """Return an ear that is better or worse as a whole, and a little more at each frequency."""
    name = f"{original.name}:{number}"
    first, *each = uniforms(name, 1, _MOVE_STREAM, 1 + len(original.frequencies_hz)).tolist()
    moved = [
        threshold + STANDARD_MOVED_DB * (2 * first - 1) + jitter_db * (2 * draw - 1)
        for threshold, draw in zip(original.thresholds_db_hl, each, strict=True)
    ]
    return replace(original, name=name, thresholds_db_hl=tuple(moved))


def _everyday(count: int) -> tuple[Ear, ...]:
    """Return ears that hear normally and standard ones, by turns."""
    standard = _standard(count // 2, standard_ears())
    frequencies_hz = standard_ears()[0].frequencies_hz
    normal = Ear("normal", "normal", frequencies_hz, (NORMAL_DB_HL,) * len(frequencies_hz))
    return tuple(
        standard[number // 2] if number % 2 else _move(normal, number // 2 + 1, NORMAL_DB_HL)
        for number in range(count)
    )


def _flat(name: str) -> Ear:
    low_db_hl, high_db_hl = FLAT_DB_HL
    draw = float(uniforms(name, 1, _MOVE_STREAM, 1)[0])
    return Ear(name, FLAT, (1000.0,), (low_db_hl + draw * (high_db_hl - low_db_hl),))


def real_ears(kind: str, count: int, people: Population) -> tuple[Ear, ...]:
    """Return ears that were measured: drawn by chance, or those with the steepest steps first."""
    ears = every_ear(people)
    if kind == REAL:
        ears.sort(key=lambda ear: place_in_draw(ear.name))
        return tuple(ear.jitter(1, STANDARD_JITTER_DB) for ear in ears[:count])
    steep = [ear for ear in ears if _steepest_db(ear) >= STEP_DB]
    steep.sort(key=lambda ear: (-_steepest_db(ear), place_in_draw(ear.name)))
    return tuple(steep[:count])


def _steepest_db(ear: Ear) -> float:
    return float(np.abs(np.diff(ear.thresholds_db_hl)).max())
