"""What a result tells of the noise of the room; what an unknown room may have done to it."""

from typing import Final

from firmware_py.ear.levels import level_at
from firmware_py.session.room import Room
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.results import SessionResult
from firmware_py.terms.room import NEEDED_HZ, room_of
from firmware_py.terms.route import BY_AIR, BY_BONE

USUAL_DBA: Final = 40.0  # of a quiet office, where a box of this price is used


def known_room(result: SessionResult) -> Reason | None:
    """Return what a session knew of its room; None: nothing, as of all before it was asked."""
    return next((each for each in result.remarks if each.code == Code.ROOM), None)


def unknown_room(kind: str, *, bone: bool) -> Reason:
    """Say that nothing is known of the room, and what an office would have done to thresholds.

    `kind`: of the earphones.
    """
    room = Room(kind)
    room.take(room_of(USUAL_DBA))
    by_air = level_at(NEEDED_HZ, room.floors_db_hl(BY_AIR))
    if not bone:
        return reason(Code.ROOM_UNKNOWN, dba=USUAL_DBA, level_db_hl=by_air)
    by_bone = level_at(NEEDED_HZ, room.floors_db_hl(BY_BONE))
    return reason(Code.ROOM_UNKNOWN_BONE, dba=USUAL_DBA, level_db_hl=by_air, bone_db_hl=by_bone)
