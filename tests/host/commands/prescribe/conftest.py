"""Golden sessions are read once, and prescribed from once for each rule, coupling and ear."""

from functools import cache
from pathlib import Path

import pytest

from host_tools.commands.prescribe import ear_prescription, prescription
from host_tools.commands.prescribe.ear_prescription import EarPrescription, prescribe_ears
from host_tools.commands.prescribe.from_session import source_of_session
from host_tools.commands.prescribe.source import Source
from host_tools.recordings.recorded_session import RecordedSession, read_true_session
from tests.host.journals import GOLDEN, recorded_calibrated


@cache
def prescribed(path: Path, rule: str, coupling: str, ear: str | None) -> list[EarPrescription]:
    return prescribe_ears(source_of_session(recorded_calibrated(path)), rule, coupling, ear)


@pytest.fixture(autouse=True)
def golden_sessions_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path) -> RecordedSession:
        return recorded_calibrated(path) if path.parent == GOLDEN else read_true_session(path)

    def prescribe(
        source: Source, rule: str, coupling: str, ear: str | None = None
    ) -> list[EarPrescription]:
        if source.told or source.session is None or source.session.path.parent != GOLDEN:
            return prescribe_ears(source, rule, coupling, ear)
        if source.session is not recorded_calibrated(source.session.path):
            return prescribe_ears(source, rule, coupling, ear)
        return prescribed(source.session.path, rule, coupling, ear)

    monkeypatch.setattr("host_tools.recordings.recorded_session.read_true_session", read)
    for module in (ear_prescription, prescription):
        monkeypatch.setattr(module, "prescribe_ears", prescribe)
