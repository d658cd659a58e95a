"""When a session was begun, or gone on with, as a record tells it."""

import datetime
from typing import Any

from firmware_py.terms.record_checks import refusal, text


def start(place: str, value: Any) -> Any:
    """Allow date and time of day with the zone, as Python writes it in ISO 8601."""
    try:
        time = datetime.datetime.fromisoformat(text(place, value))
    except ValueError:
        time = None
    # Python takes other forms as well, and in them whatever stands between date and time.
    if time is None or time.tzinfo is None or time.isoformat() != value:
        raise refusal(place, value, "is a time with its zone, ISO 8601")
    return value
