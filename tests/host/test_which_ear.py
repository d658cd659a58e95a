"""Whether the listener confirmed which ear is which is told wherever a result is."""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import pytest

from device.simulator.listener import EARS
from firmware_py.procedure.outcomes import WhichEar
from host_tools.catalogue import LANGUAGES, catalogue_of
from host_tools.commands.export.examination import Examination, read_examination
from host_tools.devices.simulation import add_board_arguments, listener_of
from host_tools.recordings.heading import NO_HEADING
from host_tools.recordings.particulars import Particulars
from host_tools.recordings.recorded_session import ReplayedSession
from tests.host.commands.export.sessions import as_fhir, as_json
from tests.host.journals import BOTH, LEFT_S2, session_of

TOLD = {
    WhichEar.NOT_ASKED: "not asked",
    WhichEar.CONFIRMED: "confirmed by the listener",
    WhichEar.NOT_CONFIRMED: "not confirmed by the listener",
    WhichEar.CONTRADICTED: "the listener named the other ear",
}


def a_session(found: WhichEar, path: Path = BOTH) -> ReplayedSession:
    session = session_of(path)
    assert session.recorded is not None
    result = replace(session.recorded, which_ear=found)
    return replace(session, recorded=result)


def an_examination(found: WhichEar, path: Path = BOTH) -> Examination:
    examination = read_examination(path)
    return replace(examination, result=replace(examination.result, which_ear=found))


def facts(session: ReplayedSession, language: str) -> dict[str, str]:
    return dict(Particulars(session, NO_HEADING, catalogue_of(language)).facts())


@pytest.mark.parametrize("found", WhichEar)
def test_the_paper_says_it(found: WhichEar) -> None:
    assert facts(a_session(found), "en")["which ear is which"] == TOLD[found]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_its_own_words_for_each(language: str) -> None:
    said = {facts(a_session(found), language).popitem() for found in WhichEar}

    assert len({name for name, _ in said}) == 1
    assert len(said) == len(WhichEar)


def test_a_paper_of_one_ear_says_nothing_of_it() -> None:
    assert "which ear is which" not in facts(session_of(LEFT_S2), "en")


@pytest.mark.parametrize("found", WhichEar)
def test_exports_say_it(found: WhichEar) -> None:
    examination = an_examination(found)
    (session,) = json.loads(as_json([examination]))["sessions"]
    bundle = json.loads(as_fhir([examination]))
    panel = bundle["entry"][-1]["resource"]

    assert session["which_ear"] == found
    notes = [note["text"] for note in panel["note"]]
    assert f"which ear is which: {found.replace('-', ' ')}" in notes


@pytest.mark.parametrize(("way", "swapped"), [("right", False), ("swapped", True)])
def test_a_simulated_listener_may_wear_the_earphones_the_wrong_way_round(
    way: str, swapped: bool
) -> None:
    parser = argparse.ArgumentParser()
    add_board_arguments(parser)
    listener = listener_of(parser.parse_args(["--audiogram", "N1,N7", "--earphones", way]))

    heard = {ear: listener.answer("1", ear, 1000.0, 40.0) is not None for ear in EARS}
    assert heard == {"right": not swapped, "left": swapped}


def test_exports_of_one_ear_say_nothing_of_it() -> None:
    assert b"which ear is which" not in as_fhir([read_examination(LEFT_S2)])
