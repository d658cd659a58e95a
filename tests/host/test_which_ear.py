"""Whether the listener confirmed which ear is which is told wherever a result is.

Exports: `commands/export/promises.py`.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from device.simulator.listener import EARS
from firmware_py.journal import read_journal
from firmware_py.procedure.outcomes import WhichEar
from firmware_py.procedure.reasons import Code, as_json, reason
from host_tools.catalogue import LANGUAGES, language_of
from host_tools.devices.simulation import add_board_arguments, listener_of
from host_tools.recordings.recorded_session import ReplayedSession
from tests.host.journals import BOTH, LEFT_S2, session_of, write_again
from tests.host.renderers import RENDERERS, Shown
from tests.host.reports import facts, report_of

UNSURE = (WhichEar.NOT_CONFIRMED, WhichEar.CONTRADICTED)


def a_session(found: WhichEar, path: Path = BOTH) -> ReplayedSession:
    session = session_of(path)
    assert session.recorded is not None
    result = replace(session.recorded, which_ear=found)
    return replace(session, recorded=result)


@pytest.mark.parametrize("found", WhichEar)
def test_the_paper_says_it(found: WhichEar) -> None:
    told = facts(report_of(a_session(found)).paper)
    assert told["fact-which-ear"] == {"code": f"which-ear-{found}"}


@pytest.mark.parametrize("name", RENDERERS)
def test_every_page_paper_and_answer_says_it_or_that_it_was_not_confirmed(
    tmp_path: Path, name: str
) -> None:
    header, *records = read_journal(BOTH).records
    (result,) = (r["action"]["result"] for r in records if "result" in r.get("action", {}))
    remarks = result["remarks"]
    said = []
    for found in WhichEar:
        doubt = [reason(Code.EARS_NOT_CONFIRMED)] if found in UNSURE else []
        result |= {"which_ear": found, "remarks": [*remarks, *as_json(doubt)]}
        path = tmp_path / found / BOTH.name
        path.parent.mkdir()
        write_again(path, header, records)
        of = a_session(found)
        assert of.recorded is not None
        told = replace(of.recorded, remarks=(*of.recorded.remarks, *doubt))
        said.append(RENDERERS[name](Shown(replace(of, recorded=told), path)))
    by_remark = name in ("watch", "live")  # a screen shows the remark alone
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

    heard = {ear: listener.answer("1", ear, 1000.0, 40.0) is not None for ear in EARS}
    assert heard == {"right": not swapped, "left": swapped}
