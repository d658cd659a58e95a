"""What may be shown of a text that somebody else wrote: the one rule, for every edge."""

from typing import Final

SHOWN_CHARACTERS: Final = 60  # of a value that is refused


def printable(text: str) -> str:
    """Return a text in which nothing acts on a terminal, a line or a page.

    What cannot be printed is spelt out as Python does: ESC, newlines, direction marks; all else is
    left as it is.
    """
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def show(value: object) -> str:
    """Return a value that is refused for a message: in one line, and not too long."""
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
