"""What can go wrong while a card is made."""


class CardError(Exception):
    """A card cannot be made; the message says why."""
