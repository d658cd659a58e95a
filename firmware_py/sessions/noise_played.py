"""How loud the noise in the other ear was, of each threshold of a session, by its journal."""

from collections.abc import Iterable
from typing import Any

from firmware_py.sessions.session_course import Output
from firmware_py.terms.results import LEVEL_DB_MAX
from firmware_py.terms.route import BONE, EARS, FREQUENCIES_HZ


def noise_played(told: Iterable[object]) -> list[dict[str, Any]]:
    """Return the lowest and the highest effective level while tones were played, as JSON values.

    Noise is there from its action on until it, or the tone with it, is ended. Of noise in the ear
    of the tone itself, which asks whether it reaches that, nothing is told, nor of frequencies that
    no audiogram has.
    """
    spans: dict[tuple[str, str, int], list[float]] = {}
    there: tuple[str, float] | None = None
    for each in told:
        match each.action if isinstance(each, Output) else None:
            case {"what": "mask", "ear": str(ear), "level_db_hl": int() | float() as level_db_hl}:
                there = ear, float(level_db_hl)
            case {"what": "unmask" | "silence"}:
                there = None
            case {"what": "play", "ear": str(ear), "frequency_hz": int() | float() as hz, **rest}:
                by, is_told = rest.get("transducer", ""), hz in FREQUENCIES_HZ
                if there and there[0] != ear and ear in EARS and by in ("", BONE) and is_told:
                    spans.setdefault((ear, by, int(hz)), []).append(there[1])
    return [
        {
            "ear": ear,
            **({"transducer": by} if by else {}),
            "frequency_hz": hz,
            "low_db_hl": min(levels),
            "high_db_hl": max(levels),
        }
        for (ear, by, hz), levels in sorted(spans.items())
        if all(abs(level) <= LEVEL_DB_MAX for level in levels)
    ]
