"""A card that keeps less than it says is named, and what is recorded on it outlives the power."""

import sys
from pathlib import Path
from typing import Final

import pytest

from tests.card.lying_card import FORGETS, WRAPS
from tests.card.machine import Kind
from tests.card.rig import Rig
from tests.card.variants import STATUS, boot_file

SAYS: Final = 4 << 30


@pytest.mark.on_a_pi
@pytest.mark.parametrize(("lie", "keeps"), [(WRAPS, 1 << 30), (FORGETS, 700 << 20)])
def test_a_card_that_keeps_less_than_it_says_is_named(
    kind: Kind, card: Path, lie: str, keeps: int
) -> None:
    with Rig(kind, card, card_bytes=keeps) as rig:
        command = (sys.executable, "-m", "tests.card.lying_card")
        nbd = str(rig.machine.place / "nbd")
        rig.machine.card_server = (*command, nbd, str(rig.machine.card), str(SAYS), lie)
        words = f"it says it has 4.2 GB, and keeps {keeps // 10**8 / 10} GB; replace it"
        rig.start(*kind.board.little_memory)
        assert any(words in error for error in rig.errors())
        assert rig.machine.ask("SESS:STAR RIGHT,SEED=5") == "OK"
        rig.wait_until_idle()
        rig.machine.hear_for(5)
        journal = next(rig.data().glob("session-*.journal")).read_bytes()
        assert words in boot_file(rig.machine.card, STATUS)
        rig.start(*kind.board.little_memory, plugged_in=False)
        assert any(words in error for error in rig.errors()), "at every start"
        assert next(rig.data().glob("session-*.journal")).read_bytes() == journal
