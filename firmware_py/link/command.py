"""A command on its way to the board."""

from dataclasses import dataclass


@dataclass
class Command:
    """A command under way: its bytes, how often they were sent, and when first (`asked_us`).

    `told`: the last event that the board had told by then.
    """

    sequence: int
    verb: str
    line: bytes
    asked_us: int
    told: int = 0
    sent: int = 0
    due_us: int = 0

    def unanswered(self, bytes_received: int, frames_received: int) -> str:
        """Say that no answer came, and what came instead in this conversation."""
        why = f"{self.verb!r} was sent {self.sent} times without answer"
        if self.verb != "hello" or not bytes_received:
            return why
        if frames_received:
            return f"{why}; frames came, but none that answers (does the line echo?)"
        return f"{why}; {bytes_received} bytes came that are not of the wire"
