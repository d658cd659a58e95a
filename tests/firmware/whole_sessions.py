"""Listeners, sessions run from end to end, and what their journals say."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

from device.simulator.audiograms import audiogram_named
from device.simulator.head import USUAL, Head
from device.simulator.listener import Listener, Press, SimulatedListener
from device.simulator.virtual_clock import MS
from device.simulator.world import World
from firmware_py.journal import read_journal
from firmware_py.journal.records import TAIL_BYTES, chained_crc
from firmware_py.platform import version
from firmware_py.presenting.pace import Pace
from firmware_py.terms.events import Continued
from firmware_py.terms.settings import Settings

# In a narrow range, so that it is soon over.
ONE_EAR: Final = {
    "ears": "left", "tones_max": 20, "frequency_min_hz": 1000.0, "frequency_max_hz": 2000.0,
}  # fmt: skip
ONE_WHOLE_EAR: Final = {"ears": "left", "tones_max": 20}


def a_listener(
    audiogram: str = "N3",
    *,
    response_noise_db: float = 2.0,
    lapse_rate: float = 0.0,
    false_alarm_rate: float = 0.0,
    unsure_half_width_db: float = 0.0,
    response_time_s: float = 0.4,
    head: Head = USUAL,
) -> SimulatedListener:
    """Return a listener who neither lapses nor presses without a tone by default."""
    return SimulatedListener(
        audiogram_named(audiogram),
        response_noise_db=response_noise_db,
        lapse_rate=lapse_rate,
        false_alarm_rate=false_alarm_rate,
        seed=3,
        unsure_half_width_db=unsure_half_width_db,
        head=head,
        response_time_s=response_time_s,
    )


@contextmanager
def of_no_commit() -> Iterator[None]:
    """Have journals that are written meanwhile name the version alone, which is kept for longer."""
    with mock.patch.object(version, "commit_of", return_value=""):
        version.full_version.cache_clear()
        yield
    version.full_version.cache_clear()


class Leaves(Listener):
    """Somebody who presses nothing while away."""

    def __init__(self, listener: Listener, away: bool = False) -> None:
        self._listener = listener
        self.away = away

    def answer(self, *tone: Any, **more: Any) -> Press | None:
        press = self._listener.answer(*tone, **more)
        return None if self.away else press

    def spontaneous_press(self, after_id: str, slot: int) -> Press | None:
        press = self._listener.spontaneous_press(after_id, slot)
        return None if self.away else press


def records_of(path: Path, kind: str) -> list[dict[str, Any]]:
    """Return the events (kind "input") or actions (kind "output") of a journal."""
    inner = {"input": "event", "output": "action"}[kind]
    return [record[inner] for record in read_journal(path).records if record["kind"] == kind]


def finish_and_place(world: World) -> None:
    """Let a test go on to its end; the vibrator is in its place as soon as it is asked for."""

    def is_over() -> bool:
        session = world.runner.session
        if session is not None and session.test.placing.wanted is not None:
            world.runner.feed(Continued())
        return session is None

    world.until(is_over)


def stimuli_of(path: Path) -> list[dict[str, Any]]:
    """Return the different tones of a journal, in order; one that was asked again comes once."""
    plays = [action for action in records_of(path, "output") if action["what"] == "play"]
    by_number: dict[int, dict[str, Any]] = {}
    for play in plays:
        assert by_number.setdefault(play["number"], play) == play, "asked again, but another tone"
    return list(by_number.values())


def result_of(path: Path) -> dict[str, Any]:
    (finish,) = (action for action in records_of(path, "output") if action["what"] == "finish")
    result: dict[str, Any] = finish["result"]
    return result


def lines_of_session(path: Path, number: int) -> list[bytes]:
    """Return the lines of a journal, as they were if its session had another number."""
    crc, lines = "", []
    for line in path.read_bytes().splitlines(keepends=True):
        body = re.sub(rb'"session": \d+', b'"session": %d' % number, line[:-TAIL_BYTES], count=1)
        crc = chained_crc(crc, body)
        lines.append(body + f', "crc": "{crc}"}}\n'.encode())
    return lines


def run_session(
    directory: Path, listener: Listener, changes: Mapping[str, Any] | None = None
) -> Path:
    """Run a whole session and return its journal."""
    return World(directory, listener).live(changes)


WINDOW_AND_PAUSE: Final = 2  # waits, after each of which time has passed


def asked_again_though_answered(path: Path) -> list[int]:
    """Return the numbers of tones that were played again although they had an answer.

    Only the events are looked at. An answer is a press that is not too late, or the board's time
    when the window and the pause after it are over, while nothing disturbed the presentation. The
    procedure waits for these two: what it asked the board before is no answer yet.
    """
    records = read_journal(path).records
    settings = Settings.from_record(records[0]["settings"])
    pace = Pace(settings)
    answered: set[int] = set()
    wrong: list[int] = []
    number, onset_us, waits = 0, None, 0
    for what in (record.get("event") or record.get("action") or {} for record in records):
        match what:
            case {"what": "play"}:
                number, onset_us = what["number"], None
                wrong += [number] * (number in answered)
            case {"what": "tone-on"} if what["number"] == number:
                onset_us, waits = what["onset_us"], 0
            case {"what": "time"}:
                waits += 1
            case {"what": "button-down", "button": 2} if not settings.unsure_button:
                pass  # of a button that there is not
            case {"what": "button-down" | "board-time", "at_us": at_us} if onset_us is not None:
                since_us = at_us - onset_us
                pressed = what["what"] == "button-down"
                in_time = MS * settings.response_ms_min <= since_us <= pace.late_us
                over_us = pace.window_us + pace.pause_us(number + 1)
                over = waits >= WINDOW_AND_PAUSE and since_us > over_us
                if number not in answered and (in_time if pressed else over):
                    answered.add(number)
                    if pressed:
                        pace.take_answer(since_us)
            case {"what": "tone-off", "cut": True} | {"what": "paused" | "board-lost"}:
                onset_us = None
    return wrong
