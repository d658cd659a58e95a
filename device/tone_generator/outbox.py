"""What a board has to say to its host: frames that wait, and events that may be asked for again."""

from firmware_py.link.frames import encode
from firmware_py.link.messages import EVENTS, EVENTS_KEPT_MAX, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FRAMES_MAX = 2 * EVENTS_KEPT_MAX + 16  # every event sent and asked again + answers


class Outbox:
    """The frames that wait to be sent, and the events that the host may ask for again.

    `waiting`: who sends a frame takes it out. `events`: number and frame of each that is not
    acknowledged, the newest `EVENTS_KEPT_MAX`. `greeted`: before that nobody is there whom an event
    could be meant for. `dropped`: frames that there was no room for.
    """

    def __init__(self) -> None:
        self.newest_event = 0
        self.dropped = 0
        self.greeted = False
        self.waiting: list[bytes] = []
        self.events: list[tuple[int, bytes]] = []

    def take(self, frames_max: "int | None" = None) -> bytes:
        frames = self.waiting[:frames_max]
        del self.waiting[:frames_max]
        return b"".join(frames)

    def send(self, frame: bytes, place: int = -1) -> None:
        """Have a frame sent, last of all or at a place."""
        if len(self.waiting) >= FRAMES_MAX:
            self.dropped += 1
        elif place < 0:
            self.waiting.append(frame)
        else:
            self.waiting.insert(place, frame)

    def put_event(self, verb: str, values: "dict[str, Any]") -> None:
        """Give an event its number, keep it, and have it sent if a host has greeted."""
        self.newest_event += 1
        frame = encode(self.newest_event, verb, write(EVENTS[verb], values))
        self.events.append((self.newest_event, frame))
        if len(self.events) > EVENTS_KEPT_MAX:
            self.events.pop(0)
        if self.greeted:
            self.send(frame)

    def forget(self, up_to: int) -> None:
        while self.events and self.events[0][0] <= up_to:
            self.events.pop(0)

    def repeat(self, after: int) -> None:
        for number, frame in self.events:
            if number > after:
                self.send(frame)
