"""Whether the listener confirmed which ear is which is told wherever a result is.

Exports: `commands/export/promises.py`.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from device.simulator.listener import EARS, Tone
from firmware_py.journal import read_journal
from firmware_py.terms.outcomes import WhichEar
from firmware_py.terms.reasons import Code, as_json, reason
from host_tools.catalogue import LANGUAGES, language_of
from host_tools.devices.simulation import add_board_arguments, listener_of
from host_tools.recordings.recorded_session import ReplayedSession
from tests.host.journals import BOTH, LEFT_S2, session_of, write_again
from tests.host.renderers import RENDERERS, Shown
from tests.host.reports import facts, report_of

pytestmark = pytest.mark.xdist_group("recorded")  # they read the same sessions, once

UNSURE = (WhichEar.NOT_CONFIRMED, WhichEar.CONTRADICTED)


def a_session(found: WhichEar, path: Path = BOTH) -> ReplayedSession:
    session = session_of(path)
    return replace(session, recorded=replace(session.result, which_ear=found))


@pytest.mark.parametrize("found", WhichEar)
def test_the_paper_says_it(found: WhichEar) -> None:
    told = facts(report_of(a_session(found)).paper)
    assert told["fact-which-ear"] == {"code": f"which-ear-{found}"}


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Shown]:
    """Return a session for each thing that may be found, and its journal."""
    header, *records = read_journal(BOTH).records
    (result,) = (r["action"]["result"] for r in records if "result" in r.get("action", {}))
    remarks, found = result["remarks"], []
    for which in WhichEar:
        doubt = [reason(Code.EARS_NOT_CONFIRMED)] if which in UNSURE else []
        result |= {"which_ear": which, "remarks": [*remarks, *as_json(doubt)]}
        path = tmp_path_factory.mktemp(which) / BOTH.name
        write_again(path, header, records)
        of = a_session(which)
        recorded = replace(of.result, remarks=(*of.result.remarks, *doubt))
        found.append(Shown(replace(of, recorded=recorded), path))
    return found


@pytest.mark.parametrize("name", RENDERERS)
def test_every_page_paper_and_answer_says_it_or_that_it_was_not_confirmed(
    sessions: list[Shown], name: str
) -> None:
    said = [RENDERERS[name](each) for each in sessions]
    by_remark = name == "live"  # a screen shows the remark alone
    assert len({*said}) == (2 if by_remark else len(WhichEar))
    assert said[0] != said[2], "it is told where it was not confirmed"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_its_own_words_for_each(language: str) -> None:
    said = language_of(language).sentences
    assert len({said[f"which-ear-{found}"] for found in WhichEar}) == len(WhichEar)


def test_a_paper_of_one_ear_says_nothing_of_it() -> None:
    assert "fact-which-ear" not in facts(report_of(session_of(LEFT_S2)).paper)


@pytest.mark.parametrize(("way", "swapped"), [("right", False), ("swapped", True)])
def test_a_simulated_listener_may_wear_the_earphones_the_wrong_way_round(
    way: str, swapped: bool
) -> None:
    parser = argparse.ArgumentParser()
    add_board_arguments(parser)
    listener = listener_of(parser.parse_args(["--audiogram", "N1,N7", "--earphones", way]))

    heard = {ear: listener.answer(Tone("1", ear, 1000.0, 40.0)) is not None for ear in EARS}
    assert heard == {"right": not swapped, "left": swapped}
