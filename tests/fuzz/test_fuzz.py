"""Bytes that once broke something, and some thousands more, with every run of the tests."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py.session.hearing import HearingTest
from firmware_py.terms.events import Action
from tests.budget import examples
from tests.fuzz.targets import TARGETS, Target
from tests.fuzz.tries import tries

CORPUS: Final = Path(__file__).parent / "corpus"
INPUTS: Final = 150  # a target
TOKENS: Final = (
    b"0", b"-1", b"1e999", b"nan", b"\n", b"\r", b'"', b",", b"=", b"null", b"'", b"\xc3\xa9",
    b"[" * 10, b"99999999999999999999",
)  # fmt: skip


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_are_inputs(name: str, tmp_path: Path) -> None:
    assert seeds_of(name)
    for seed in seeds_of(name):
        TARGETS[name].check(seed, tmp_path)


@pytest.mark.parametrize(
    "path", sorted(CORPUS.glob("*/*")), ids=lambda p: f"{p.parent.name}/{p.name}"
)
def test_what_once_broke_it_does_not_any_more(path: Path, tmp_path: Path) -> None:
    TARGETS[path.parent.name].check(path.read_bytes(), tmp_path)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=examples(INPUTS))
@given(data=st.data())
def test_seeds_with_other_bytes_somewhere_break_nothing(name: str, data: st.DataObject) -> None:
    """`make fuzz` looks further, guided by coverage."""
    seed = data.draw(st.sampled_from(seeds_of(name)))
    at, gone = data.draw(st.integers(0, len(seed))), data.draw(st.integers(0, 12))
    other = data.draw(st.one_of(st.sampled_from(TOKENS), st.binary(max_size=12)))
    with TemporaryDirectory() as directory:
        TARGETS[name].check(seed[:at] + other + seed[at + gone :], Path(directory))


@cache
def seeds_of(name: str) -> list[bytes]:
    return [*TARGETS[name].seeds()]


def test_a_session_that_breaks_the_procedure_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the firmware lives on: replaying names what was not foreseen as well."""

    def faulty(*_: object) -> list[Action]:
        raise ZeroDivisionError

    monkeypatch.setattr(HearingTest, "handle", faulty)
    with pytest.raises(ZeroDivisionError):
        TARGETS["session"].check(next(iter(TARGETS["session"].seeds())), tmp_path)


def test_an_input_hangs_by_processor_time_whatever_else_the_machine_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.fuzz.tries.SECONDS_MAX", 0.01)

    def hang(_data: bytes, _directory: Path) -> None:
        while True:
            pass

    with pytest.raises(TimeoutError, match="processor time"):
        tries(Target(hang, lambda: iter([b"a"])), tmp_path)(b"a")
