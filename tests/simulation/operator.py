"""The operator at the console, who counts the answers."""

import math
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from device.simulator.virtual_clock import S
from tests.simulation.lock import ENTER, PIN, REFUSED, Lock
from tests.simulation.seconds import IDENTITY, SETTINGS, Seconds
from tests.simulation.violation import Violation

ANSWER_US_MAX: Final = 2 * S  # from a line to its answer, while the disk is not slow
LOOKS_AGAIN_US: Final = (1 * S, 4 * S)

NONSENSE: Final = (
    "SESS:HEAR", "SESS:HEAR OTHER", "SESS:HEAR NOBODY", "SESS:ROOM 500:30", "SESS:ROOM?",
    "SESS:DISC LEFT=1000:>95", "SESS:DISC RIGHT=1,LEFT=", "SESS:DISC?",
    "SESS:STAR UP", "SESS:STAR LEFT,SEED=-1", "SESS:STAR LEFT,7", "SESS:CONT", "SESS:PAUS 1",
    "SESS:LIST?", "SESS:LIST? 0", "SESS:RES?", "SESS:RES? 1", "SESS:RES? 99", "THR?", "THR? ,1",
    "THR? MIDDLE", "AUD", "AUD 1", "AUD 7", "HELP", "*IDN?", "*TST?", "*CLS", "*RST 7", "SYST:ERR?",
    "SYST:VERS?", "SYST:TIME?", "SYST:PIN 12", "SYST:PIN?", "SYST:LOCK", "SYST:EVEN",
    "SESS:STAR ID=Zoë,AGE=200", "SYST:EVEN?", "SETT? seed", "SETT? nothing", "SETT?",
    "SETT seed", "TONE", "TONE UP,1,1", "TONE LEFT,1000,130", "TONE:STOP", "CAL?", "CAL:LIM?",
    "CAL:TONE?", "CAL:STOP", "CAL:TONE LEFT,1000,-20", "x" * 200, "y" * 300,
    "SESS:STAR " + "," * 50, "\x00\x01", "\udce9\udcff", "  ", "", ":sess:stat?",
    "sess:stat?;*idn?", "SESS:STAT??", "?", ":", '"', "LEFT,1000,40",
)  # fmt: skip
ROOMS: Final = ("SESS:ROOM 40", "SESS:ROOM 55,SPEECH,1", "SESS:ROOM UNKNOWN")
NAME_EAR: Final = "SESS:EAR "
NAMED: Final = ("LEFT", "RIGHT", "UNSURE")
WORD_SHARE: Final = 0.5  # of the looks at a test that asks which ear it is; else it waits
RESET: Final = "*RST"
PAUSE: Final = "SESS:PAUS"
START: Final = "SESS:STAR"
LOCK: Final = "SYST:LOCK"
FORGOTTEN: Final = "settings are as configured again"  # the console has locked itself
NO_VIBRATOR: Final = "it is one without RETFL"  # the calibration: then the test is by air
TYPED: Final = (*[PIN] * 9, PIN[::-1])  # a mistake now and then
TUNING: Final = "a tuning is under way"
LOOKS: Final = (*["SESS:STAT?"] * 9, IDENTITY)
BLOCKS: Final = ("HELP", "AUD")  # answered by several lines


@dataclass
class Asked:
    """A line that was sent and not answered yet."""

    line: str
    at_us: int


class Operator:
    """Starts tests, looks how they go, and does what the story says."""

    def __init__(
        self, chance: random.Random, settings: dict[str, Any], talkative: bool,
        send: Callable[[bytes], None], lock: Lock | None, seconds: Seconds,
    ) -> None:  # fmt: skip
        self.tells_rooms = False
        self._chance = chance
        self._ear_chance = random.Random(f"ear {settings.get('seed')}")
        self._settings = settings
        self._talkative = talkative
        self._send = send
        self._lock = lock
        self._asked: deque[Asked] = deque()
        self._heard = b""
        self._set_up = self._setting_up = False
        self.due_us: int = 0
        self.slack_us = 0  # how much later an answer may be
        self._wants_test = False
        self.has_seen_enough: Callable[[], bool] = lambda: False  # and starts no test any more
        self.errors: list[str] = []  # that were read
        self.surplus: list[str] = []  # lines that nobody asked for
        self.lines = 0
        self.said_pause_us: float = -math.inf  # newest
        self.seconds = seconds
        self._is_new = True

    def look(self, now_us: int) -> None:
        """Do what is due: look how the test goes, if the last answer has come."""
        if self._asked and now_us - self._asked[0].at_us > ANSWER_US_MAX + self.slack_us:
            raise Violation(f"{self._asked[0].line!r} was not answered")
        self.due_us = now_us + self._chance.randint(*LOOKS_AGAIN_US)
        if not self._asked:
            if self._is_new:
                self._is_new = False
                self.say(now_us, SETTINGS)
            self.say(now_us, self._chance.choice(LOOKS))

    def say(self, now_us: int, line: str) -> None:
        self.lines += 1
        if line == PAUSE or line.startswith(NAME_EAR):  # the wrong ear holds a test
            self.said_pause_us = now_us
        if line in (RESET, LOCK):  # settings are as configured after it
            self._set_up = self._setting_up = False
        self.seconds.take_line(line)
        if self._lock:
            self._lock.take_line(line)
        sent = line.encode(errors="surrogateescape")
        if sent.decode("ascii", "replace").strip():
            self._asked.append(Asked(line, now_us))
        self._send(sent + self._chance.choice((b"\n", b"\r", b"\r\n")))

    def nonsense(self, now_us: int, chance: random.Random) -> None:
        for _ in range(chance.randint(1, 4)):
            lines = (*NONSENSE, *ROOMS * 5) if self.tells_rooms else NONSENSE
            self.say(now_us, chance.choice(lines))

    def change_settings(self, now_us: int, chance: random.Random) -> None:
        name, value = chance.choice(
            (("level_max_db_hl", 130), ("level_max_db_hl", 70), ("tones_max", 21), ("pulses", 0),
             ("catch_rate", 0.5), ("stop_half_width_db", 20), ("seed", 5), ("nothing", 1))
        )  # fmt: skip
        self.say(now_us, f"SETT {name},{value}")

    def hang_up(self) -> None:
        """Forget what was under way: the port or the firmware is gone."""
        self._asked.clear()
        self._heard = b""
        self.surplus.clear()
        self._set_up = self._setting_up = self._wants_test = False
        if self._lock:
            self._lock.close()
        self._is_new = True
        self.seconds.operator_comes()

    def hear(self, now_us: int, data: bytes, is_ending: bool) -> None:
        """Take in what the firmware says; the last it says before it ends is no answer."""
        *lines, self._heard = (self._heard + data).split(b"\r\n")
        if is_ending:
            self.surplus.append(lines.pop().decode())
        for line in lines:
            self._take(now_us, line.decode())

    def _take(self, now_us: int, line: str) -> None:
        if line.startswith("!"):
            return
        if not self._asked:
            self.surplus.append(line)
            return
        asked = self._asked[0]
        if not _ends(asked.line, line):
            return
        self._asked.popleft()
        if now_us - asked.at_us > ANSWER_US_MAX + self.slack_us:
            raise Violation(f"{asked.line!r} was answered after {now_us - asked.at_us} us")
        if self._lock:
            self._lock.take_answer(now_us, asked.line, line)
        self.seconds.take_answer(asked.line, line)
        if asked.line.startswith(START):
            self._take_start(now_us, line)
        if asked.line == "SESS:STAT?":
            self._saw(now_us, line)
        if asked.line == "SYST:ERR?":
            self._read_error(now_us, line)
        if self._setting_up:
            self._set_up_so_far(now_us, asked.line, line)

    def _take_start(self, now_us: int, line: str) -> None:
        """Settings are those of one test; and without the PIN none is begun for a person."""
        if line == "OK" or line.startswith(REFUSED) or FORGOTTEN in line:
            self._set_up = False
        if NO_VIBRATOR in line:
            self._settings, self._set_up = {**self._settings, "routes": "air"}, False
        if TUNING in line:
            self.say(now_us, self._chance.choice(("TUNE:CONT", "TUNE:ABOR", "TUNE:STAT?")))

    def _saw(self, now_us: int, state: str) -> None:
        """Start a test where there is none, go on with one that is paused."""
        about = dict(word.partition("=")[::2] for word in state.split())
        if about.get("check") == "ear" and self._ear_chance.random() < WORD_SHARE:
            self.say(now_us, f"{NAME_EAR}{self._ear_chance.choice(NAMED)}")
            return
        match about.get("state"):
            case "idle" | "finished" if self.has_seen_enough():
                return
            case "idle" | "finished":
                self._wants_test = True
                self.say(now_us, "SYST:ERR?")
            case "paused":
                if self._lock and about.get("check") == "identity":
                    self.say(now_us, f"{ENTER}{self._chance.choice(TYPED)}")
                self.say(now_us, "SESS:CONT")
            case None:
                raise Violation(f"SESS:STAT? was answered with {state!r}")

    def _read_error(self, now_us: int, error: str) -> None:
        """Read all that is wrong before a test is started."""
        if not error.startswith("0,"):
            self.errors.append(error)
            self.say(now_us, "SYST:ERR?")
        elif self._wants_test:
            self._wants_test = False
            self._start(now_us)

    def _start(self, now_us: int) -> None:
        """Start a test; its settings, and the PIN for them, come first."""
        if self._set_up:
            self._begin(now_us)
        else:
            self._setting_up = True
            if self._lock:
                self.say(now_us, f"{ENTER}{self._chance.choice(TYPED)}")
            for name, value in self._settings.items():
                if value is not None:
                    told = str(value).lower().replace(", ", ";")
                    self.say(now_us, f"SETT {name},{told}")
            self.say(now_us, f"SYST:EVEN {'ON' if self._talkative else 'OFF'}")

    def _set_up_so_far(self, now_us: int, asked: str, answer: str) -> None:
        """Start the test when everything is set; look later again if it needs a PIN that waits."""
        if asked.startswith("SETT ") and answer.startswith(REFUSED):
            self._setting_up = False
        elif asked.startswith("SETT ") and answer.startswith("ERROR"):
            raise Violation(f"{asked} is refused, so the test is another than was told: {answer}")
        elif asked.startswith("SYST:EVEN O"):
            self._setting_up, self._set_up = False, True
            self._begin(now_us)

    def _begin(self, now_us: int) -> None:
        self.say(now_us, f"{START} ID={self.seconds.identifier}")


def _ends(asked: str, line: str) -> bool:
    """Return whether a line is the last, or only, one of an answer."""
    command = asked.partition(" ")[0]
    return command not in BLOCKS or line == "OK" or line.startswith("ERROR")
