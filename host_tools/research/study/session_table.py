"""The rows of a study of methods: one per method, ear, seed and number of tones."""

from typing import Final

import numpy as np
import pyarrow as pa

from host_tools.research.study.session import METRICS, Session

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
