"""Results as the console tells them, taken back."""

import json
from dataclasses import fields
from typing import Any

from firmware_py.procedure.reading import NUMBERS
from firmware_py.procedure.results import EarResult, SessionResult, ThresholdResult
from host_tools.devices.told import understanding


def told_result(answer: str) -> SessionResult:
    """Take the answer to SESS:RES?, in which its verdict stands as well, and whose it is.

    Raises
    ------
    HostError
        It is not one of this version.
    """
    with understanding("SESS:RES?"):
        told = json.loads(answer)
        told = {field.name: told[field.name] for field in fields(SessionResult)}
        told["ears"] = [_recorded_ear(ear) for ear in told["ears"]]
        return SessionResult.from_record(told, so_far=True)


def _recorded_ear(told: dict[str, Any]) -> dict[str, Any]:
    """Return an ear as a result has it; what follows from its thresholds is not shown here."""
    ear = {field.name: told[field.name] for field in fields(EarResult)} | {"pta4": None}
    return ear | {"thresholds": [_recorded(each) for each in told["thresholds"]]}


def _recorded(told: dict[str, Any]) -> dict[str, Any]:
    """Return a threshold as a result has it: with the numbers that were inferred in their place."""
    names = [field.name for field in fields(ThresholdResult)]
    inferred = told["inferred"] or {}
    numbers = {name: inferred[short] for name, short in NUMBERS.items() if inferred}
    return {name: told.get(name) for name in names} | numbers
