"""The directory of a study: its plan, the parts that are done, and the table they make.

| file | what |
|---|---|
| `study.json` | the plan, and what else a reader should know |
| `learned.json` | what methods have learned from a population |
| `parts/` | the sessions that are done, a chunk a file |
| `study.parquet`, `study.csv` | the table, one row per method, ear, seed and number of tones |

Each file is written whole or not at all, so a study that was cut short can be continued. The bytes
of the table depend on the plan only.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from firmware_py.platform.named_file import TEXT, content_of
from host_tools.errors import HostError
from host_tools.files import UNFINISHED, file_to_write, write_text
from host_tools.research.methods.registry import NOTHING_LEARNED, Learned, learn
from host_tools.research.study.plan import Study, differences
from host_tools.research.study.session import METRICS, Session

FORMAT: Final = 2
PLAN: Final = "study.json"
LEARNED: Final = "learned.json"
PARTS: Final = "parts"
TABLE: Final = "study.parquet"
TABLE_CSV: Final = "study.csv"
ROW_GROUP_ROWS: Final = 2**17  # 10 MB of memory

JSON_BYTES_MAX: Final = 1 << 28

SCHEMA: Final = pa.schema(
    [
        ("method", pa.string()),
        ("ear", pa.string()),
        ("stratum", pa.string()),
        ("seed", pa.uint64()),
        ("tones", pa.uint16()),
        ("seconds", pa.float64()),
        ("ended", pa.bool_()),
        ("failed", pa.bool_()),
        *[(name, pa.float64()) for name in METRICS],
    ]
)


class Store:
    """The directory of one study, made if it is not there.

    Raises
    ------
    HostError
        The directory cannot be used, or has another study in it, or something else.
    """

    def __init__(self, directory: Path, study: Study) -> None:
        self.directory = directory
        self._study = study
        try:
            (directory / PARTS).parent.mkdir(parents=True, exist_ok=True)
            self._claim()
            (directory / PARTS).mkdir(exist_ok=True)
        except OSError as error:
            raise HostError(f"-o {str(directory)!r} cannot be used: {error.strerror}") from None

    def learn(self) -> Learned:
        """Return what the methods have learned, from the file or learned now."""
        if self._study.training is None:
            return NOTHING_LEARNED
        path = self.directory / LEARNED
        try:
            return Learned.from_json(json.loads(_content(path)))
        except FileNotFoundError:
            learned = learn(self._study.methods, self._study.training)
        except (KeyError, TypeError, ValueError):
            raise HostError(f"{path} is damaged; remove it, and it is made again") from None
        write_text(path, json.dumps(learned.as_json()) + "\n", for_all=True)
        return learned

    def missing(self) -> list[int]:
        """Return the indices of the chunks that are not done."""
        return [index for index in self._study.chunks if not self._is_done(index)]

    def keep(self, index: int, sessions: list[Session]) -> None:
        """Write a part."""
        with file_to_write(self._part(index), for_all=True) as path:
            pq.write_table(table_of(sessions), path, write_page_checksum=True)

    def assemble(self) -> None:
        """Write the table from the parts, all of which are done."""
        with (
            file_to_write(self.directory / TABLE, for_all=True) as parquet_path,
            file_to_write(self.directory / TABLE_CSV, for_all=True) as csv_path,
            pq.ParquetWriter(parquet_path, SCHEMA, compression="zstd") as parquet,
            pyarrow.csv.CSVWriter(csv_path, SCHEMA) as csv,
        ):
            for group in self._row_groups():
                parquet.write_table(group, row_group_size=group.num_rows)
                csv.write_table(group)

    def _row_groups(self) -> Iterator[pa.Table]:
        gathered: list[pa.Table] = []
        rows = 0
        for index in self._study.chunks:
            gathered.append(self._read(index))
            rows += gathered[-1].num_rows
            if rows >= ROW_GROUP_ROWS:
                yield pa.concat_tables(gathered).combine_chunks()
                gathered, rows = [], 0
        if gathered:
            yield pa.concat_tables(gathered).combine_chunks()

    def _read(self, index: int) -> pa.Table:
        path = self._part(index)
        try:
            return pq.read_table(path, schema=SCHEMA, page_checksum_verification=True)
        except (OSError, pa.ArrowException) as error:
            raise HostError(
                f"{path} is damaged ({' '.join(str(error).split())}); remove it, and the same "
                "command makes it again"
            ) from None

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
        about = {
            "format": FORMAT,
            "plan": self._study.plan,
            "ears": len(self._study.ears),
            "remarks": list(self._study.remarks),
        }
        write_text(path, json.dumps(about, indent=2) + "\n", for_all=True)

    def _check_plan(self, path: Path) -> None:
        try:
            about = json.loads(_content(path))
            plan, known = about["plan"], about["format"] == FORMAT
        except (ValueError, KeyError, TypeError):
            plan = None
        if not isinstance(plan, Mapping):
            raise HostError(f"{path} is damaged; nothing in its directory was changed")
        different = differences(plan, self._study.plan)
        if not known or different:
            what = "; ".join(different) or f"its format is not {FORMAT}"
            raise HostError(
                f"-o {str(self.directory)!r} has another study in it: {what}. Nothing was changed; "
                "name a new directory"
            )


def table_of(sessions: list[Session]) -> pa.Table:
    """Return the rows of sessions; a metric that a method does not give is null."""
    rows = [len(session.metrics) for session in sessions]
    tones = np.concatenate([np.arange(count) for count in rows])
    ended_after = [np.inf if s.ended_after is None else s.ended_after for s in sessions]
    ended = tones >= np.repeat(ended_after, rows)
    failed = ended & np.repeat([session.failed for session in sessions], rows)
    metrics = np.concatenate([session.metrics for session in sessions])

    jobs = [session.job for session in sessions for _ in session.metrics]
    return pa.table(
        [
            [job.method for job in jobs],
            [job.ear.name for job in jobs],
            [job.ear.stratum for job in jobs],
            [job.seed for job in jobs],
            tones,
            np.concatenate([session.seconds for session in sessions]),
            ended,
            failed,
            *[pa.array(column, from_pandas=True) for column in metrics.T],
        ],
        schema=SCHEMA,
    )


def _content(path: Path) -> str:
    return content_of(path, JSON_BYTES_MAX).decode(TEXT)
