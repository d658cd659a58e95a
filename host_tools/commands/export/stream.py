"""A JSON document with a long list at its end, item by item: the bytes that `json.dumps` gives."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

INDENT: Final = 1  # blanks a level
_OF_LIST: Final = "\n" + INDENT * " "
_OF_ITEM: Final = _OF_LIST + INDENT * " "


def document(head: Mapping[str, Any], name: str, items: Iterable[Any]) -> Iterator[bytes]:
    """Yield a document in parts, none of which ends within a character.

    Parameters
    ----------
    head : mapping
        What comes before the list.
    name : str
        Of the list.
    items : iterable
        Each is taken when the one before it is yielded.
    """
    opened, closed = _text({**head, name: []}).rsplit("]", 1)
    before = opened
    for item in items:
        yield (before + _OF_ITEM + _text(item).replace("\n", _OF_ITEM)).encode()
        before = ","
    end = opened if before == opened else _OF_LIST
    yield f"{end}]{closed}\n".encode()


def _text(value: Any) -> str:
    return json.dumps(value, indent=INDENT, ensure_ascii=False)
