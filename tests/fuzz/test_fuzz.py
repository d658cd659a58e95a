"""Bytes that once broke something, and some thousands more, with every run of the tests."""

import random
from pathlib import Path
from typing import Final

import pytest

from firmware_py.session.hearing import HearingTest
from firmware_py.terms.events import Action
from tests.budget import examples
from tests.fuzz.commands import QUICK, SLOW, SLOW_OF, trial_of
from tests.fuzz.hostile import JOURNAL_BYTES_MAX, Choices, hostile_journal
from tests.fuzz.targets import TARGETS, Target
from tests.fuzz.tries import Tries

CORPUS: Final = Path(__file__).parent / "corpus"
SEED: Final = 20261121
INPUTS: Final = 150  # a target


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_are_inputs(name: str, tmp_path: Path) -> None:
    seeds = list(TARGETS[name].seeds())
    assert seeds
    for seed in seeds:
        TARGETS[name].check(seed, tmp_path)


@pytest.mark.parametrize(
    "path", sorted(CORPUS.glob("*/*")), ids=lambda p: f"{p.parent.name}/{p.name}"
)
def test_what_once_broke_it_does_not_any_more(path: Path, tmp_path: Path) -> None:
    TARGETS[path.parent.name].check(path.read_bytes(), tmp_path)


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_changed_at_random_break_nothing(name: str, tmp_path: Path) -> None:
    chance = random.Random(f"{SEED} {name}")
    for _ in range(examples(INPUTS)):
        data = mutate(chance, list(TARGETS[name].seeds()))
        try:
            TARGETS[name].check(data, tmp_path)
        except BaseException:
            print(f"seed {SEED}, target {name}, input {data!r}")
            raise


def mutate(chance: random.Random, seeds: list[bytes]) -> bytes:
    """Change some bytes of a seed: overwrite, insert, delete, double, or cross with another."""
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.randrange(1, 6)):
        at, length = chance.randrange(len(data) + 1), chance.randrange(1, 12)
        match chance.randrange(5):
            case 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                data[at:at] = chance.choice(TOKENS)
            case 2:
                del data[at : at + length]
            case 3:
                data[at:at] = data[at : at + length]
            case 4:
                other = chance.choice(seeds)
                start = chance.randrange(len(other) + 1)
                data[at : at + length] = other[start : start + length]
    return bytes(data)


TOKENS: Final = (
    b"0", b"-1", b"1e999", b"nan", b"\xff", b"\x00", b"\n", b"\r", b'"', b",", b"[", b"{", b"=",
    b"99999999999999999999", b"null", b"true", b"'", b" ", b"\xc3\xa9", b"inf", b"[[[[[[[[[[",
)  # fmt: skip


def test_a_session_that_breaks_the_procedure_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the firmware lives on: replaying names what was not foreseen as well."""

    def faulty(*_: object) -> list[Action]:
        raise ZeroDivisionError

    monkeypatch.setattr(HearingTest, "handle", faulty)
    with pytest.raises(ZeroDivisionError):
        TARGETS["session"].check(next(iter(TARGETS["session"].seeds())), tmp_path)


def test_of_inputs_that_come_to_the_same_only_the_first_is_tried(tmp_path: Path) -> None:
    tried: list[bytes] = []
    target = Target(
        lambda data, _directory: tried.append(data), lambda: iter([b"a"]), meaning=bytes.lower
    )
    tries = Tries(target, tmp_path)
    for data in (b"a", b"A", b"b", b"a"):
        tries(data)
    assert tried == [b"a", b"b"]


def test_an_input_hangs_by_processor_time_whatever_else_the_machine_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.fuzz.tries.SECONDS_MAX", 0.01)

    def hang(_data: bytes, _directory: Path) -> None:
        while True:
            pass

    with pytest.raises(TimeoutError, match="processor time"):
        Tries(Target(hang, lambda: iter([b"a"])), tmp_path)(b"a")


def test_a_journal_takes_no_more_bytes_than_an_input_has_for_it() -> None:
    chance = random.Random(SEED)
    for _ in range(INPUTS):
        data = chance.randbytes(2 * JOURNAL_BYTES_MAX)
        cut = data[:JOURNAL_BYTES_MAX]
        assert hostile_journal(Choices(data)) == hostile_journal(Choices(cut))


def test_a_changed_input_of_a_slow_command_is_seldom_one_again() -> None:
    """Or a fuzzer draws pictures nearly all the time."""
    seeds = [bytes([first, second]) for first in range(8) for second in range(SLOW_OF)]
    slow = [seed for seed in seeds if list(trial_of(seed).command) in SLOW]
    assert 0 < len(slow) < 2 * 8
    after = [list(trial_of(seed + b"x").command) for seed in slow]
    assert sum(command in QUICK for command in after) > 0.9 * len(after)


def test_the_alarm_rings(tmp_path: Path) -> None:
    """A target that breaks at some input is seen to."""

    def brittle(data: bytes, _directory: Path) -> None:
        assert b"\xff" not in data

    target = Target(brittle, lambda: iter([b"abc"]))
    chance = random.Random(SEED)
    inputs = [mutate(chance, list(target.seeds())) for _ in range(INPUTS)]

    def try_all() -> None:
        for data in inputs:
            target.check(data, tmp_path)

    with pytest.raises(AssertionError):
        try_all()
