"""JSON: everything a result says, in a form that has a schema and a version."""

import json
from collections.abc import Sequence
from importlib.resources import files
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
    return (files("host_tools.commands.export") / SCHEMA).read_text(encoding="utf-8")
