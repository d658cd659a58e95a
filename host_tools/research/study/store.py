"""The directory of a study: its plan, the parts that are done, and the table they make.

| file | what |
|---|---|
| `study.json` | the plan, and what else a reader should know |
| `learned.json` | what methods have learned from a population |
| `parts/` | the sessions that are done, a chunk a file |
| `study.parquet`, `study.csv` | of methods: one row per method, ear, seed and number of tones |

Each file is written whole or not at all, so a study that was cut short can be continued. The bytes
of the table depend on the plan only.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from firmware_py.platform.named_file import TEXT, content_of
from host_tools.errors import HostError
from host_tools.files import UNFINISHED, file_to_write, write_text
from host_tools.research.study.sessions import UNIT, Json, Sessions, Table, from_json, run_chunk
from host_tools.research.study.work import INTERRUPTS, Where, run
from host_tools.terminal import progress, say_aside

FORMAT: Final = 2
PLAN: Final = "study.json"
PARTS: Final = "parts"
TABLE: Final = "study.parquet"
TABLE_CSV: Final = "study.csv"
ROW_GROUP_ROWS: Final = 2**17  # 10 MB of memory
JSON_BYTES_MAX: Final = 1 << 28  # of the plan
METHODS: Final = "a study of methods"  # what is not a table, which its option names in the plan

Given = TypeVar("Given")
Made = TypeVar("Made")


class Store(Generic[Given, Made]):
    """The directory of one study, made if it is not there."""

    def __init__(self, directory: Path, study: Sessions[Given, Made]) -> None:
        self.directory = directory
        self._study = study
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._claim()
            (directory / PARTS).mkdir(exist_ok=True)
        except OSError as error:
            raise HostError(f"-o {str(directory)!r} cannot be used: {error.strerror}") from None

    def missing(self) -> list[int]:
        return [index for index in self._study.chunks if not self._is_done(index)]

    def run_what_is_missing(self, where: Where) -> None:
        """Run the chunks that are not done, and keep each as it comes."""
        study, missing = self._study, self.missing()
        done = study.sessions - sum(len(study.numbers_in(index)) for index in missing)
        here = Where(min(where.workers, len(missing)), where.dask)
        if not missing:
            return
        study = study.ready_in(self.directory)
        try:
            with (
                progress("sessions", study.sessions, done) as tell,
                closing(run(run_chunk, study.make(missing), here)) as runs,
            ):
                for index, made in runs:
                    self.keep(index, made)
                    done += len(made)
                    tell(done)
        except INTERRUPTS:
            say_aside(
                f"gp-pta: interrupted; {done} of {study.sessions} sessions are kept in "
                f"{str(self.directory)!r}, and the same command goes on with them"
            )
            raise

    def keep(self, index: int, made: list[Made]) -> None:
        with file_to_write(self._part(index), for_all=True) as path:
            pq.write_table(self._study.rows_of(made), path, write_page_checksum=True)

    def assemble(self) -> None:
        """Write the table from the parts, all of which are done."""
        schema = self._study.schema
        with (
            file_to_write(self.directory / TABLE, for_all=True) as parquet_path,
            file_to_write(self.directory / TABLE_CSV, for_all=True) as csv_path,
            pq.ParquetWriter(parquet_path, schema, compression="zstd") as parquet,
            pyarrow.csv.CSVWriter(csv_path, schema) as csv,
        ):
            for group in self._row_groups():
                parquet.write_table(group, row_group_size=group.num_rows)
                csv.write_table(group)

    def parts(self) -> Iterator[pa.Table]:
        """Yield the rows of all parts, which are done."""
        for index in self._study.chunks:
            path = self._part(index)
            try:
                yield pq.read_table(
                    path, schema=self._study.schema, page_checksum_verification=True
                )
            except (OSError, pa.ArrowException) as error:
                raise HostError(
                    f"{path} is damaged ({' '.join(str(error).split())}); remove it, and the same "
                    "command makes it again"
                ) from None

    def _row_groups(self) -> Iterator[pa.Table]:
        gathered: list[pa.Table] = []
        rows = 0
        for part in self.parts():
            gathered.append(part)
            rows += part.num_rows
            if rows >= ROW_GROUP_ROWS:
                yield pa.concat_tables(gathered).combine_chunks()
                gathered, rows = [], 0
        if gathered:
            yield pa.concat_tables(gathered).combine_chunks()

    def _part(self, index: int) -> Path:
        return self.directory / PARTS / f"part-{index:06d}.parquet"

    def _is_done(self, index: int) -> bool:
        rows = len(self._study.numbers_in(index)) * self._study.rows_per_session
        try:
            return bool(pq.read_metadata(self._part(index)).num_rows == rows)
        except (OSError, pa.ArrowInvalid):  # not there, or the disk has lost it
            return False

    def _claim(self) -> None:
        path = self.directory / PLAN
        if path.exists():
            self._check_plan(path)
            return
        if any(not name.name.endswith(UNFINISHED) for name in self.directory.iterdir()):
            raise HostError(
                f"-o {str(self.directory)!r} has files in it, and no {PLAN}; allowed are a new or "
                "empty directory, and one with the same study"
            )
        about = {"format": FORMAT, "plan": self._study.plan, **self._study.about}
        write_text(path, json.dumps(about, indent=2) + "\n", for_all=True)

    def _check_plan(self, path: Path) -> None:
        try:
            about = json.loads(text_of(path))
            plan, known = about["plan"], about["format"] == FORMAT
        except (ValueError, KeyError, TypeError):
            plan = None
        if not isinstance(plan, Mapping):
            raise HostError(f"{path} is damaged; nothing in its directory was changed")
        before, now = (each.get("table", METHODS) for each in (plan, self._study.plan))
        if before != now:
            raise HostError(
                f"-o {str(self.directory)!r} has {before} in it; this is {now}. Nothing was "
                "changed; name a new directory"
            )
        different = differences(plan, self._study.plan)
        if not known or different:
            what = "; ".join(different) or f"its format is not {FORMAT}"
            raise HostError(
                f"-o {str(self.directory)!r} has another study in it: {what}. Nothing was changed; "
                "name a new directory"
            )


def text_of(path: Path) -> str:
    return content_of(path, JSON_BYTES_MAX).decode(TEXT)


def run_table(table: Table[Given, Made], directory: Path, where: Where) -> Iterator[Made]:
    """Run what of a table is not done in a directory, and yield what all its sessions gave."""
    store = Store(directory, table)
    store.run_what_is_missing(where)
    kept = (text for part in store.parts() for text in part.column("session").to_pylist())
    for unit, text in zip(table.units, kept, strict=True):
        made = from_json(table.made, json.loads(text))
        yield replace(made, unit=unit) if hasattr(made, UNIT) else made


def differences(before: Json, now: Json) -> list[str]:
    """Say in words where two plans differ."""
    words = []
    for name in sorted(set(before) | set(now)):
        was, is_now = before.get(name), now.get(name)
        if isinstance(was, Mapping) and isinstance(is_now, Mapping):
            words += differences(was, is_now)
        elif was != is_now:
            words.append(f"{name} was {_show(was)} and is {_show(is_now)}")
    return words


def _show(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
