"""Format 2 (up to commit 347c7951): read as format 3. See `journal/FORMATS.md`.

It does not say what both routes told together of an ear's air-bone gap.
"""

from typing import Any


def result(old: Any) -> Any:
    """Return a result of format 2 as one of format 3; that of a tuning has no ears."""
    if not isinstance(old, dict) or not isinstance(old.get("ears"), list):
        return old
    ears = [{**ear, "gap": None} if isinstance(ear, dict) else ear for ear in old["ears"]]
    return {**old, "ears": ears}
