"""The formats by name; JSON, which has a schema and a version, is here."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from host_tools.commands.export.bundle import as_fhir
from host_tools.commands.export.examination import Examination
from host_tools.commands.export.table import as_csv, as_parquet


@dataclass(frozen=True)
class Format:
    """A way of writing sessions."""

    ending: str  # of its files, with the dot
    encode: Callable[[Sequence[Examination]], bytes]  # of sessions: the content of the file
    text: bool = True  # a person may read it, in UTF-8
    libraries: tuple[str, ...] = ()  # that it needs beside those of every command


def as_json(examinations: Sequence[Examination]) -> bytes:
    """Return one document of all sessions, at full precision."""
    sessions = [examination.as_json() for examination in examinations]
    document = {"format": "gp-pta sessions 1", "sessions": sessions}
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def schema_text() -> str:
    """Return the JSON Schema of the documents."""
    return (files(__package__) / "sessions-1.schema.json").read_text(encoding="utf-8")


FORMATS: Final = {
    "csv": Format(".csv", as_csv),
    "json": Format(".json", as_json),
    "fhir": Format(".json", as_fhir),
    "parquet": Format(".parquet", as_parquet, text=False, libraries=("pyarrow",)),
}
