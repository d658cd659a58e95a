"""A simulated hearing aid: speaks the aid's line, plays nothing, and takes the speech's time.

Bytes and the time come in, bytes go out; what it was set to is kept, for whoever judges it.
"""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from firmware_py.comparisons.space import DIMENSIONS, Setting

FIT: Final = "0123456789ab"  # the digest of a fit that nobody made
SPEECH_US: Final = 2_000_000


@dataclass
class SimulatedAid:
    """A hearing aid at the other end of the line.

    Attributes
    ----------
    fit, person : str
        The digest of its fit, and for whom that is; "": it does not say.
    limit_db, most_db : float
        How far each number of a setting may go, and the most that comes out of each.
    told : list of str
        The verbs of all lines, "hello" among them.
    played : list of Setting
        Of every sound that was begun.
    """

    fit: str = FIT
    person: str = ""
    speech_us: int = SPEECH_US
    limit_db: float = 12.0
    most_db: float = 12.0
    told: list[str] = field(default_factory=list)
    played: list[Setting] = field(default_factory=list)
    setting: Setting = field(default_factory=Setting)
    _partial: bytes = b""
    _said: bytes = b""
    _number: int = 0
    _ends_us: int | None = None

    def receive(self, data: bytes, now_us: int) -> None:
        self._partial += data
        *lines, self._partial = self._partial.split(b"\n")
        for line in lines:
            self._do(line.decode("ascii"), now_us)

    def advance(self, now_us: int) -> None:
        if self._ends_us is not None and now_us >= self._ends_us:
            self._ends_us = None
            self._say(f"played number={self._number}")

    def next_deadline_us(self) -> int | None:
        """Return when a sound is over, None if none sounds."""
        return self._ends_us

    def transmit(self) -> bytes:
        said, self._said = self._said, b""
        return said

    def _say(self, line: str) -> None:
        self._said += f"{line}\n".encode("ascii")

    def _do(self, line: str, now_us: int) -> None:
        verb, *words = line.split()
        self.told.append(verb)
        told = dict(word.split("=", 1) for word in words)
        match verb:
            case "hello":
                self._ends_us = None
                self._say(self._greeting())
            case "play" | "set":
                self._set(verb, told, now_us)
            case "stop":
                self._ends_us = None
                self._say("ok")
            case _:
                self._say(f"error what=command value={verb} allowed=hello,play,set,stop")

    def _greeting(self) -> str:
        limit = f"{-self.limit_db:g},{self.limit_db:g}"
        ranges = " ".join(f"{d.name}={limit}" for d in DIMENSIONS)
        sds = " ".join(f"{d.name.removesuffix('_db')}_sd_db={d.wish_sd_db:g}" for d in DIMENSIONS)
        person = f" person={quote(self.person)}" if self.person else ""
        return f"ok aid=simulated version=1 fit={self.fit} {ranges} {sds}{person}"

    def _set(self, verb: str, told: dict[str, str], now_us: int) -> None:
        setting = Setting(**{d.name: float(told[d.name]) for d in DIMENSIONS})
        if max(map(abs, setting.values_db())) > self.limit_db:
            self._say(f"error what=setting value={told} allowed=+-{self.limit_db:g}")
            return
        self.setting = setting
        if verb == "play":
            self.played.append(setting)
            self._number, self._ends_us = int(told["number"]), now_us + self.speech_us
            numbers = zip(DIMENSIONS, setting.values_db(), strict=True)
            heard = [f"{each.name}={min(value_db, self.most_db):g}" for each, value_db in numbers]
            self._say(f"ok {' '.join(heard)}")
            return
        self._say("ok")
