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
# 1 % of lapses and false alarms (`ear/clinical_offset.py`); of others by 0.2 dB less.
CLINICAL_OFFSET_DB: Final = 2.79
# Settings that later formats have, as all tests of this one were made.
SETTINGS: Final = {"routes": "air", "ear_check": False, "threshold_convention": "50 %"}


def header(record: Record) -> Record:
    """Return a header as one of format 2."""
    told = {name: value for name, value in record.items() if name != "seed"}  # a setting, too
    told["device"] = ""
    if "procedure" in told:
        return told
    told |= {"tone_generator": "", "speed": 1.0}
    if isinstance(told.get("settings"), dict):
        told["settings"] = {**told["settings"], **SETTINGS}
    if isinstance(told.get("calibration"), dict):
        told["calibration"] = _calibration(told["calibration"])
    return told


def input_(record: Record) -> Record:
    """Return what went in as a record of format 2."""
    told = {name: value for name, value in record.items() if name != "serial"}
    if told.pop("resumed", None) is True:
        told["resumed"] = ""
    event = record.get("event")
    if not isinstance(event, dict):
        return told
    event = {**event}
    if event.get("what") in ("started", "board-ready"):
        event["board"] = ""
    if event.get("what") == "paused":
        event["why"] = []
    if isinstance(event.get("why"), str):
        event["why"] = _reasons(event["why"])
    return {**told, "event": event}


def result(told: Any) -> Any:
    """Return a result as one of format 2."""
    if not isinstance(told, dict):
        return told
    told = {**told}
    if isinstance(told.get("remarks"), list):
        told["remarks"] = [{"code": "told", "told": words} for words in told["remarks"]]
    if isinstance(told.get("ears"), list):  # a tuning has none
        told |= {"ears": [*map(_ear, told["ears"])], "which_ear": "not-asked"}
    return told


def _ear(told: Any) -> Any:
    if not isinstance(told, dict):
        return told
    ear = {
        **told,
        "why": _reasons(told.get("why")),
        "clinical_offset_db": CLINICAL_OFFSET_DB,
        "verdict": "not-judged",
        "reasons": [],
        "boards": [],
        "pta4": None,
    }
    if isinstance(told.get("thresholds"), list):
        ear["thresholds"] = [*map(_threshold, told["thresholds"])]
    return ear


def _threshold(told: Any) -> Any:
    """Return a threshold whose test does not say which levels could be asked."""
    return {**told, "floor_db_hl": None, "ceiling_db_hl": None} if isinstance(told, dict) else told


def _calibration(told: Record) -> Record:
    """Return a calibration as it was judged, with a code in the place of the sentence why."""
    made = {name: value for name, value in told.items() if name != "why"}
    if "why" not in told:
        return made
    if told.get("state") != "OVERDUE":  # there is none that could be used, and why
        return {**made, "why": {"code": "nominal-since", "told": told["why"]}}
    try:
        about = told["content"]["calibration"]
        date, due, today = str(about["date"]), str(about["due"]), str(told["judged_on"])
    except (KeyError, TypeError):
        return told
    if today > due:
        return {**made, "why": {"code": "overdue", "date": date, "due": due}}
    return {**made, "why": {"code": "clock-is-wrong", "date": date, "today": today}}


def _reasons(words: Any) -> Any:
    """Return a sentence as the reason that somebody told it; none of an empty one."""
    if not isinstance(words, str):
        return words
    return [{"code": "told", "told": words}] if words else []
