"""Format 1 (0.1.0 up to commit 979db64f): read as format 2. See `journal/FORMATS.md`.

It has sentences where later ones have codes, and no verdict: nobody judged whether there was a
test, so nothing follows from its thresholds (`terms/verdicts.py`). It names no tone
generator, no fitting device, and of a session that was gone on with after a power cut
only that it was, not when.

What is malformed is left as it is: whoever checks the record of today's form says what is wrong.
"""

from typing import Any, Final

from firmware_py.journal import Record

# By so much a clinic's procedure settles above the 50 % points of a listener with 2 dB of noise and
# 1 % of lapses and false alarms: what is told of these records stays, whatever is taken today.
CLINICAL_OFFSET_DB: Final = 2.79
# Settings that later formats have, as all tests of this one were made.
SETTINGS: Final = {"routes": "air", "ear_check": False, "threshold_convention": "50 %"}


def header(record: Record) -> Record:
    old = {name: value for name, value in record.items() if name != "seed"}  # a setting, too
    old["device"] = ""
    if "procedure" in old:
        return old
    old |= {"tone_generator": "", "speed": 1.0}
    if isinstance(old.get("settings"), dict):
        old["settings"] = {**old["settings"], **SETTINGS}
    if isinstance(old.get("calibration"), dict):
        old["calibration"] = _calibration(old["calibration"])
    return old


def input_(record: Record) -> Record:
    old = {name: value for name, value in record.items() if name != "serial"}
    if old.pop("resumed", None) is True:
        old["resumed"] = ""
    event = record.get("event")
    if not isinstance(event, dict):
        return old
    event = {**event}
    if event.get("what") in ("started", "board-ready"):
        event["board"] = ""
    if event.get("what") == "paused":
        event["why"] = []
    if isinstance(event.get("why"), str):
        event["why"] = _reasons(event["why"])
    return {**old, "event": event}


def result(old: Any) -> Any:
    if not isinstance(old, dict):
        return old
    old = {**old}
    if isinstance(old.get("remarks"), list):
        old["remarks"] = [{"code": "told", "told": words} for words in old["remarks"]]
    if isinstance(old.get("ears"), list):  # a tuning has none
        old |= {"ears": [*map(_ear, old["ears"])], "which_ear": "not-asked"}
    return old


def _ear(old: Any) -> Any:
    if not isinstance(old, dict):
        return old
    ear = {
        **old,
        "why": _reasons(old.get("why")),
        "clinical_offset_db": CLINICAL_OFFSET_DB,
        "verdict": "not-judged",
        "reasons": [],
        "boards": [],
        "pta4": None,
    }
    if isinstance(old.get("thresholds"), list):
        ear["thresholds"] = [*map(_threshold, old["thresholds"])]
    return ear


def _threshold(old: Any) -> Any:
    """Return a threshold whose test does not say which levels could be asked."""
    return {**old, "floor_db_hl": None, "ceiling_db_hl": None} if isinstance(old, dict) else old


def _calibration(old: Record) -> Record:
    """Return a calibration as it was judged, with a code in the place of the sentence why."""
    made = {name: value for name, value in old.items() if name != "why"}
    if "why" not in old:
        return made
    if old.get("state") != "OVERDUE":  # there is none that could be used, and why
        return {**made, "why": {"code": "nominal-since", "told": old["why"]}}
    try:
        about = old["content"]["calibration"]
        date, due, today = str(about["date"]), str(about["due"]), str(old["judged_on"])
    except (KeyError, TypeError):
        return old
    if today > due:
        return {**made, "why": {"code": "overdue", "date": date, "due": due}}
    return {**made, "why": {"code": "clock-is-wrong", "date": date, "today": today}}


def _reasons(words: Any) -> Any:
    """Return a sentence as the reason that somebody told it; none of an empty one."""
    if not isinstance(words, str):
        return words
    return [{"code": "told", "told": words}] if words else []
