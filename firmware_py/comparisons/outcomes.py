"""The words for what the answers of a tuning tell."""

from enum import StrEnum


class Finding(StrEnum):
    """What the answers tell."""

    WISH = "wish"  # the person wants another setting than the prescription, or just that
    UNSURE = "unsure"  # a wish, but less sure than it should be
    NONE = "none"  # answers as they come by chance: the prescription stays
