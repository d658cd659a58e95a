"""The formats by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from host_tools.commands.export.bundle import as_fhir
from host_tools.commands.export.document import as_json
from host_tools.commands.export.examination import Examination
from host_tools.commands.export.table import as_csv, as_parquet


@dataclass(frozen=True)
class Format:
    """A way of writing sessions.

    Attributes
    ----------
    ending : str
        Of its files, with the dot.
    encode : callable
        Of sessions: the content of the file.
    text : bool
        A person may read it, in UTF-8.
    libraries : tuple of str
        That it needs beside those of every command.
    """

    ending: str
    encode: Callable[[Sequence[Examination]], bytes]
    text: bool = True
    libraries: tuple[str, ...] = ()


FORMATS: Final = {
    "csv": Format(".csv", as_csv),
    "json": Format(".json", as_json),
    "fhir": Format(".json", as_fhir),
    "parquet": Format(".parquet", as_parquet, text=False, libraries=("pyarrow",)),
}
