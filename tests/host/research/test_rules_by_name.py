"""How often rules by name are met: simulated people whose truth is known."""

import pytest

from host_tools.commands.sessions.shift_rules import Told
from host_tools.research.rules_by_name import TOLD_OF, WORSE_DB, Found, Watched, findings, rows_of


def test_a_large_shift_is_met_by_every_rule_and_none_by_none() -> None:
    worse, same = (
        [found for number in (1, 2) for found in findings(Watched(number, worse_db))]
        for worse_db in (35.0, 0.0)
    )
    assert {each.rule for each in worse if each.told == Told.MET} == {r.name for r in TOLD_OF}
    assert [each for each in same if each.told == Told.MET] == []


def test_a_share_is_of_the_ears_of_its_rule_and_shift() -> None:
    found = [
        (0.0, Found("niosh", Told.NOT_MET, True)),
        (20.0, Found("niosh", Told.MET, True)),
        (20.0, Found("niosh", Told.MET, False)),
        (20.0, Found("niosh", Told.OPEN, False)),
        (20.0, Found("asha", Told.MET, True)),
    ]
    rows = {(row["rule"], row["worse_db"]): row for row in rows_of(found)}
    assert len(rows) == len(TOLD_OF) * len(WORSE_DB)
    row = rows["niosh", 20.0]
    assert row["ears"] == 3
    shares = [row[name] for name in ("met", "sure", "open")]
    assert shares == pytest.approx([2 / 3, 1 / 3, 1 / 3])
    assert rows["niosh", 0.0]["met"] == 0.0
