"""How loud the noise was, told by the journal alone, is what a replay has of each tone."""

from pathlib import Path

import pytest

from firmware_py.sessions.archive import recorded_result
from firmware_py.sessions.noise_played import noise_played
from firmware_py.sessions.session_course import Output
from firmware_py.terms.outcomes import Purpose
from host_tools.recordings.recorded_session import ReplayedSession, read_true_session
from tests.host.journals import GOLDEN, MASKED

BONE = GOLDEN / "bone.journal"


@pytest.mark.parametrize("path", [MASKED, BONE], ids=lambda path: path.stem)
def test_the_journal_tells_what_a_replay_has(path: Path) -> None:
    session = read_true_session(path)
    assert isinstance(session, ReplayedSession)
    levels: dict[tuple[str, float], list[float]] = {}
    for trial in session.trials:
        # A check is in the ear of the noise, and asks whether that reaches it.
        if trial.noise_db_hl is not None and trial.frequency_hz and trial.purpose != Purpose.CHECK:
            at = str(trial.route), trial.frequency_hz
            levels.setdefault(at, []).append(trial.noise_db_hl)
    course = recorded_result(path).course
    assert course is not None
    told = {
        ("-".join(each[k] for k in ("ear", "transducer") if k in each), each["frequency_hz"]): (
            each["low_db_hl"], each["high_db_hl"],
        )
        for each in course.noise
    }  # fmt: skip
    assert told == {at: (min(each), max(each)) for at, each in levels.items()}
    assert len(told) > 3


def test_what_no_session_wrote_is_no_noise() -> None:
    noise = {"what": "mask", "ear": "left", "level_db_hl": 50.0}
    tone = {"what": "play", "ear": "right", "frequency_hz": 1000.0}

    def told(*actions: object) -> list[dict[str, object]]:
        return noise_played([Output(n, action, None) for n, action in enumerate(actions)])

    assert told(noise, tone) == [
        {"ear": "right", "frequency_hz": 1000, "low_db_hl": 50.0, "high_db_hl": 50.0}
    ]
    assert told(noise, {**tone, "transducer": "bone"})[0]["transducer"] == "bone"
    for ended in ({"what": "unmask"}, {"what": "silence"}):
        assert told(noise, ended, tone) == []
    assert told(noise, {**tone, "ear": "left"}) == [], "the ear of the noise itself"
    assert told(noise, {**tone, "frequency_hz": 1407.0}) == [], "no threshold is told of there"
    rising = told(noise, *({**tone, "frequency_hz": hz} for hz in (1000.0, 250.0)))
    assert [each["frequency_hz"] for each in rising] == [250, 1000]
    strange = [
        None, 7, {"what": ["mask"]}, {**tone, "ear": "nose"}, {**tone, "frequency_hz": "1"},
        {**tone, "transducer": "teeth"},
    ]  # fmt: skip
    assert told(noise, *strange) == []
    assert told({**noise, "level_db_hl": 1e9}, tone) == []
