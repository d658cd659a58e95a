"""A simulated head from the options of a command."""

import re
from collections.abc import Mapping
from typing import Any, Final

from device.simulator.audiograms import gaps_named
from device.simulator.head import (
    IN_PLACE,
    INTERAURAL_ATTENUATION_DB,
    OCCLUSION_DB,
    SKULL_ATTENUATION_DB,
    GapDb,
    Head,
    Vibrator,
)
from device.simulator.listener import EARS

SITS, WRONG_SIDE, SLIPS = "in-place", "wrong-side", "slips"

# As `argparse` takes them.
HEAD_OPTIONS: Final[Mapping[str, dict[str, Any]]] = {
    "--interaural-attenuation": {
        "type": float,
        "default": INTERAURAL_ATTENUATION_DB,
        "metavar": "DB",
        "help": "by how much less the other ear hears a tone (default: 50; inf: it never does)",
    },
    "--air-bone-gap": {
        "default": "",
        "metavar": "DB|DB,DB|EAR=DB,...",
        "help": "by how much better than through the air an ear hears through the skull, for both, "
        "or right and left, or right=40 (default: as the audiogram table has it in columns b500, "
        "b1000 ..., else 0, no conductive loss)",
    },
    "--skull-attenuation": {
        "type": float,
        "metavar": "DB",
        "help": "by how much less the other ear hears a tone by bone (default: 0 at 250 Hz to 5 at "
        "4 kHz; heads: 0 to 15)",
    },
    "--occlusion": {
        "action": "store_true",
        "help": "the earphone that brings noise makes low tones by bone louder in its ear, up to "
        "15 dB, while there is noise; without it both ears are open",
    },
    "--vibrator": {
        "default": SITS,
        "metavar": "WHERE",
        "help": f"{SITS}, {WRONG_SIDE} (on the other mastoid) or {SLIPS}:N, for good from the tone "
        f"of that number on, those by air counted (default: {SITS})",
    },
}


def head_of(options: Mapping[str, Any]) -> Head:
    """Return the head that the options describe, with the gaps of the audiogram's table.

    An option that is not allowed is a `ValueError`.
    """
    skull_db = options["skull_attenuation"]
    gaps_db = {
        **gaps_named(options["audiogram"], options.get("columns")),
        **_air_bone_gap_db(options["air_bone_gap"]),
    }
    return Head(
        air_bone_gap_db=gaps_db,
        interaural_attenuation_db=options["interaural_attenuation"],
        skull_attenuation_db=SKULL_ATTENUATION_DB if skull_db is None else skull_db,
        occlusion_db=OCCLUSION_DB if options["occlusion"] else 0.0,
        vibrator=_vibrator(options["vibrator"]),
    )


def _vibrator(text: str) -> Vibrator:
    if text in (SITS, WRONG_SIDE):
        return Vibrator(wrong_side=True) if text == WRONG_SIDE else IN_PLACE
    word, _, number = text.partition(":")
    if word != SLIPS or re.fullmatch("[1-9][0-9]{0,3}", number, re.ASCII) is None:
        raise ValueError(
            f"--vibrator is {text!r}; allowed are {SITS}, {WRONG_SIDE} and {SLIPS}:N, a number of "
            "a tone"
        )
    return Vibrator(slips_at=int(number))


def _air_bone_gap_db(text: str) -> dict[str, GapDb]:
    """Return the gap of each ear from one number for both, from two, or from ears with theirs."""
    words = text.split(",") if text else []
    by_ear = dict(word.split("=", 1) for word in words if "=" in word)
    named = [ear for ear in EARS if ear in by_ear]
    good = len(named) == len(words) if by_ear else len(words) <= len(EARS)
    try:
        gaps_db = [float(by_ear[ear]) for ear in named] if by_ear else [*map(float, words)]
    except ValueError:
        good = False
    if not good:
        raise ValueError(
            f"--air-bone-gap is {text!r}; allowed is a number for both ears, RIGHT,LEFT, or "
            "right=DB,left=DB"
        )
    if by_ear:
        return dict(zip(named, gaps_db, strict=True))
    return {ear: gaps_db[place] for ear, place in zip(EARS, (0, -1), strict=True) if gaps_db}
