"""JSON: everything a result says, in a form that has a schema and a version."""

import json
from collections.abc import Sequence
from pkgutil import get_data
from typing import Final

from host_tools.commands.export.examination import Examination

FORMAT: Final = "gp-pta sessions 1"
SCHEMA: Final = "sessions-1.schema.json"


def as_json(examinations: Sequence[Examination]) -> bytes:
    """Return one document of all sessions, at full precision."""
    document = {
        "format": FORMAT,
        "sessions": [examination.as_json() for examination in examinations],
    }
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def schema_text() -> str:
    """Return the JSON Schema of the documents."""
    content = get_data("host_tools.commands.export", SCHEMA)
    assert content is not None, "a part of the package"
    return content.decode()
