"""Up and down, as fitters tune by asking "better or worse?": one number after the other, no model.

From the prescription on a number is moved up, or else down, for as long as the new setting is
better than the one before. When all numbers had their turn the steps are halved.
"""

from collections.abc import Callable, Iterator
from typing import Final

from host_tools.research.tuning.people import LIMIT_DB, NUMBERS, SettingDb

STEPS_DB: Final = (6.0, 3.0, 1.5)

# Says whether the second of two settings is better; None: no comparison is left.
IsBetter = Callable[[SettingDb, SettingDb], bool | None]


def tune_up_and_down(is_better: IsBetter) -> SettingDb:
    """Return the setting that is left when the comparisons are over, or the steps."""
    setting_db: SettingDb = (0.0,) * NUMBERS
    for number, step_db in _turns():
        began_at = setting_db
        for way_db in (step_db, -step_db):
            while (moved_db := _moved(setting_db, number, way_db)) is not None:
                better = is_better(setting_db, moved_db)
                if better is None:
                    return setting_db
                if not better:
                    break
                setting_db = moved_db
            if setting_db != began_at:
                break
    return setting_db


def _turns() -> Iterator[tuple[int, float]]:
    return ((number, step_db) for step_db in STEPS_DB for number in range(NUMBERS))


def _moved(setting_db: SettingDb, number: int, way_db: float) -> SettingDb | None:
    """Return the setting with this number moved; None: it is at the end of its range."""
    value_db = setting_db[number] + way_db
    if abs(value_db) > LIMIT_DB:
        return None
    return (*setting_db[:number], value_db, *setting_db[number + 1 :])
