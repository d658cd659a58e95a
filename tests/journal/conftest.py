"""A small journal, as bytes, and how to read one from bytes."""

from pathlib import Path
from typing import Any

import pytest

from firmware_py.journal import JournalWriter, Recovered, read_journal
from tests.journal.simulated_disk import SimulatedDisk

PATH = Path("/data/s.jsonl")


def read(content: bytes) -> Recovered:
    disk = SimulatedDisk()
    disk.put(PATH, content)
    return read_journal(PATH, disk=disk)


@pytest.fixture(scope="session")
def sample_records() -> list[dict[str, Any]]:
    """Return six records as a session would append them."""
    return [
        {"kind": "output", "what": "tone", "frequency_hz": 1000.0, "level_db_hl": 42.5},
        {"kind": "input", "what": "button-down", "us": 81250113},
        {"kind": "input", "what": "tone-off", "us": 81650004},
        {"kind": "note", "what": "operator", "text": 'a "quoted" é\n line'},
        {"kind": "output", "what": "play", "pause_s": 0.1 + 0.2, "list": [1, None, {"a": []}]},
        {"kind": "end"},
    ]


@pytest.fixture(scope="session")
def sample(sample_records: list[dict[str, Any]]) -> bytes:
    """Return a journal of the six records, each synced by itself."""
    disk = SimulatedDisk()
    with JournalWriter.create(PATH, {"seed": 1}, disk=disk) as writer:
        for record in sample_records:
            writer.append(record)
            writer.sync()
    content = disk.content(PATH)
    assert content is not None
    return content
