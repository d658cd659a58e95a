"""What is unfinished in a directory is a person's: no command takes it over for another."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from device.hearing_aid.fit_file import fit_digest, write_fit
from device.hearing_aid.whose import Whose
from device.simulator.aid import SimulatedAid
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.virtual_clock import S
from device.simulator.world import WholeRun
from firmware_py.platform.data_directory import SESSION, TUNING
from firmware_py.sessions.identity import Identity
from firmware_py.terms.person import UNKNOWN, Person
from firmware_py.terms.settings import Settings
from host_tools.devices.unfinished import (
    SIMULATED_KIND,
    check_tuning,
    check_unfinished,
    find_unfinished,
)
from host_tools.errors import HostError
from host_tools.main import main
from tests.device.hearing_aid.fits import plain_fit
from tests.firmware.whole_sessions import a_listener
from tests.host.journals import GpPta, Refused

FIT = fit_digest(plain_fit())
Left = Callable[[str, str], dict[str, bytes]]


@pytest.fixture
def leavings(tmp_path: Path, quick_disk: None) -> Left:
    """Return what leaves something of P-A unfinished, and returns what is in the directory."""

    def leave(kind: str, board: str) -> dict[str, bytes]:
        aid = SimulatedAid(fit=FIT)
        its_board = SimulatedBoard(a_listener(), boot=1, name=board)
        world = WholeRun(tmp_path / "data", board=its_board, aid=aid)
        world.clock.us = 3600 * S  # later than whatever goes on with it
        world.firmware.start()
        world.until(lambda: world.client.connected and world.firmware.tuner.aid.greeted is not None)
        if kind == SESSION:
            world.runner.begin(Settings(ears="left", seed=3), Person(identifier="P-A"))
        else:
            assert world.ask("TUNE:STAR ID=P-A,SEED=1") == ["OK"]
        world.run(5 * S)
        world.close()
        return content(tmp_path / "data")

    return leave


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize("kind", [SESSION, TUNING])
@pytest.mark.parametrize(
    "words",
    [
        ("demo", "--out"),
        ("demo", "--board", "emulated", "--out"),
        ("workbench", "--data"),
        ("listen", "--test", "--wav", "out.wav", "--out"),
    ],
)
def test_nothing_of_another_kind_of_board_is_taken_over(
    kind: str, words: tuple[str, ...], leavings: Left, tmp_path: Path, refusal_of: Refused,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("host_tools.devices.simulation.board_image", lambda: None)
    before = leavings(kind, "pico")
    why = refusal_of(*words, tmp_path / "data")
    assert f"'{tmp_path / 'data'}' has an unfinished {kind}: {kind} 1 of P-A, begun 2026-" in why
    assert "tone generator 'pico 51b0000000000001'; here it would be '" in why
    assert "finish it there as it began, or name another directory; nothing was touched" in why
    assert content(tmp_path / "data") == before


@pytest.mark.parametrize(
    "person", [Person(identifier="P-A"), Person(sex="F"), Person(age_years=40.0), UNKNOWN]
)
def test_what_met_no_board_yet_is_gone_on_with_by_any_only_if_it_is_nobodys(
    person: Person, tmp_path: Path, quick_disk: None
) -> None:
    world = WholeRun(tmp_path, wait=True)
    world.firmware.start()
    world.runner.begin(Settings(ears="left", seed=3), person)
    world.close()
    told = list[str]()
    if person != UNKNOWN:
        with pytest.raises(HostError, match=r"tone generator none yet; here it would be 'sim'"):
            check_unfinished(tmp_path, SIMULATED_KIND, told.append)
        return
    check_unfinished(tmp_path, SIMULATED_KIND, told.append)
    assert "session 1 of nobody named" in told[0]


@pytest.mark.usefixtures("benches")
def test_one_of_its_own_kind_goes_on_and_says_whose_it_is(
    leavings: Left, tmp_path: Path, gp_pta: GpPta
) -> None:
    """It waits for a word, by the clock; which is given for a simulated listener."""
    leavings(SESSION, "sim")
    code, out, _ = gp_pta("demo", "--out", tmp_path / "data")
    assert code == 0, out
    assert "session 1 of P-A, begun 2026-" in out
    assert "going on with the unfinished session in this directory: left ear" in out
    assert "the test goes on" in out
    assert find_unfinished(tmp_path / "data", SESSION) is None


@pytest.mark.parametrize(
    ("kind", "board", "person", "fit", "why"),
    [
        (SESSION, "card", "P-A", FIT, "one session is under way at a time"),
        (TUNING, "sim", "P-A", FIT, "here it would be 'card'"),
        (TUNING, "card", "P-B", FIT, "identifier 'P-A', not 'P-B'"),
        (TUNING, "card", "P-A", "f" * 12, "', not 'ffffffff'"),
        (TUNING, "card", "P-A", FIT, ""),
    ],
)
def test_a_tuning_goes_on_only_for_the_same_person_with_the_same_fit(
    kind: str, board: str, person: str, fit: str, why: str, leavings: Left, tmp_path: Path
) -> None:
    before, told = leavings(kind, board), list[str]()
    try:
        check_tuning(tmp_path / "data", Identity(person, fit=fit), told.append)
        said = ""
    except Exception as error:
        said = str(error)
    assert why in said
    assert bool(said) == bool(why)
    assert bool(told) == (not why)
    assert content(tmp_path / "data") == before


@pytest.mark.usefixtures("quick_disk")
def test_gp_pta_tune_refuses_before_anything_is_started(
    leavings: Left, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unfinished test got a press of the space bar; a fit of one person was tuned by another."""
    before = leavings(SESSION, "card")
    write_fit(tmp_path / "aid.fit", replace(plain_fit(), of=Whose("P-A")))
    words = ["tune", "--fit", str(tmp_path / "aid.fit"), "--speech", "none.wav"]
    for more, why in (
        (["--out", str(tmp_path / "data")], "has an unfinished session: session 1 of P-A, begun"),
        (["--id", "P-B"], "aid.fit: identifier 'P-A', not 'P-B': the fit is somebody else's"),
        (["--id", "a b"], "--id: identifier is 'a b'"),
    ):
        assert main([*words, *more]) == 2
        assert why in capsys.readouterr().err
    assert content(tmp_path / "data") == before
