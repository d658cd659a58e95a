"""`python -m device.hearing_aid.serve`: the hearing aid as a process that a firmware talks to.

It plays a speech at settings of a fit, through openMHA, and says when it is over. It takes one
connection at a time, on loopback only, of the user who runs it. Its lines are on the page of this
directory.
"""

import argparse
import os
import selectors
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

import numpy as np

from device.hearing_aid.chain import SAMPLE_RATE_HZ
from device.hearing_aid.fit import Fit, FitError
from device.hearing_aid.fit_file import fit_digest, read_fit
from device.hearing_aid.last_limiter import LastLimiter
from device.hearing_aid.openmha import LOOPBACK, Installation, OpenMhaError
from device.hearing_aid.player import CardPlayer, FilePlayer, Player, PlayerError
from device.hearing_aid.processing import FileAid, file_aid
from device.hearing_aid.sound import SoundError, read_speech
from device.speech import FloatArray
from firmware_py.comparisons.space import DIMENSIONS, PRESCRIPTION, Setting
from firmware_py.link.aid import SOUND_NUMBERS, decimal_between, whole_between
from firmware_py.link.frames import LineReader
from firmware_py.platform.named_file import open_named
from firmware_py.platform.program import run_program
from firmware_py.terms.printable import SHOWN_CHARACTERS

NAME: Final = "openmha"
LINE_BYTES_MAX: Final = 512
PACE_LIMITS: Final = (0.1, 1000.0)
REFUSED: Final = 2
TCP: Final = Path("/proc/net/tcp")  # whose connections there are
ESTABLISHED: Final = "01"
MADE_MAX: Final = 64  # sounds that are kept, each of a setting


class LineError(ValueError):
    """A line that is not allowed; the words of the answer."""


class Aid:
    """What the lines do: the part without a socket.

    The speech is (frames, 2); its time passes `pace` times faster than real, by the `clock` in s.
    """

    def __init__(
        self,
        aid: FileAid,
        fit: Fit,
        version: str,
        speech: FloatArray,
        player: Player,
        pace: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._aid, self._fit, self._player = aid, fit, player
        self._speech, self._pace, self._clock = speech, pace, clock
        self._ranges_db = fit.ranges_db()
        self._greeting = self._words_of_greeting(version)
        self._made: dict[Setting, FloatArray] = {}
        self._number = 0
        self._ends_s: float | None = None
        self.setting = PRESCRIPTION

    def answer(self, line: str) -> str:
        """Do what a line says, and return the answer; `OpenMhaError` if the engine is gone."""
        try:
            verb, *words = line.split()
            told = dict(word.split("=", 1) for word in words)
        except ValueError:
            return _error("line", line[:60], "hello, play, set, stop")
        try:
            match verb:
                case "hello":
                    self._stop()
                    return self._greeting
                case "play":
                    number, setting = _number(told), self._setting_of(told)
                    self._play(number, setting)
                    return f"ok {self._comes_out(setting)}"
                case "set":
                    self.setting = self._setting_of(told)
                    self._aid.fit(self._fit.tune(self.setting))
                case "stop":
                    self._stop()
                case _:
                    raise LineError(_error("command", verb, "hello, play, set, stop"))
        except LineError as error:
            return str(error)
        return "ok"

    def over(self) -> str:
        """Return the line that a sound is over, once; empty: none is."""
        if self._ends_s is None or self._clock() < self._ends_s:
            return ""
        self._ends_s = None
        return f"played number={self._number}"

    def seconds_to_wait(self) -> float | None:
        """Return when to look again whether a sound is over."""
        return None if self._ends_s is None else max(self._ends_s - self._clock(), 0.0)

    def _play(self, number: int, setting: Setting) -> None:
        sound = self._sound_at(setting)
        self._player.play(sound)
        self._number, self.setting = number, setting
        self._ends_s = self._clock() + len(sound) / SAMPLE_RATE_HZ / self._pace

    def _sound_at(self, setting: Setting) -> FloatArray:
        """Return the speech as the aid makes it at a setting; a pair is heard more than once."""
        if setting not in self._made:
            if len(self._made) >= MADE_MAX:
                self._made.clear()
            self._aid.fit(self._fit.tune(setting))
            self._made[setting] = self._aid.process(self._speech)
        return self._made[setting]

    def _comes_out(self, setting: Setting) -> str:
        """Say what comes out of a setting within the limits, in the mean of both ears."""
        numbers_db = np.mean(self._fit.comes_out_db(setting), axis=0).round(2) + 0.0
        pairs = zip(DIMENSIONS, numbers_db.tolist(), strict=True)
        return " ".join(f"{each.name}={value_db:g}" for each, value_db in pairs)

    def _stop(self) -> None:
        self._ends_s = None
        self._player.stop()

    def _setting_of(self, told: dict[str, str]) -> Setting:
        values = {}
        for dimension in DIMENSIONS:
            low_db, high_db = self._ranges_db[dimension.name]
            text = told.get(dimension.name, "")
            try:
                values[dimension.name] = decimal_between(text, low_db, high_db)
            except ValueError:
                allowed = f"{low_db:g},{high_db:g}"
                raise LineError(_error(dimension.name, text or "-", allowed)) from None
        return Setting(**values)

    def _words_of_greeting(self, version: str) -> str:
        sds_db = self._fit.prior_sd_db()
        ranges = " ".join(f"{n}={low:g},{high:g}" for n, (low, high) in self._ranges_db.items())
        sds = " ".join(f"{n.removesuffix('_db')}_sd_db={sd:.2f}" for n, sd in sds_db.items())
        person = self._fit.of.person
        whose = f" person={quote(person)}" if person else ""
        digest = fit_digest(self._fit)
        return f"ok aid={NAME} version={version} fit={digest} {ranges} {sds}{whose}"


def _number(told: dict[str, str]) -> int:
    text = told.get("number", "")
    try:
        return whole_between(text, *SOUND_NUMBERS)
    except ValueError:
        low, high = SOUND_NUMBERS
        raise LineError(_error("number", text or "-", f"{low},{high}")) from None


def _error(what: str, value: str, allowed: str) -> str:
    shown = "".join(
        each if each.isascii() and each.isprintable() else "?" for each in value[:SHOWN_CHARACTERS]
    )
    quoted = shown.replace("\\", "?").replace('"', "?").replace("'", "?").replace(" ", "_")
    return f"error what={what} value={quoted} allowed={allowed}"


class Server:
    """One connection at a time, on loopback, of the user who runs this; no line is waited for."""

    def __init__(self, aid: Aid, port: int = 0) -> None:
        self._aid = aid
        self._listener = socket.create_server((LOOPBACK, port), backlog=1)
        self._listener.setblocking(False)
        self.port = int(self._listener.getsockname()[1])
        self._line: socket.socket | None = None
        self._reader = LineReader(LINE_BYTES_MAX)

    def run(self) -> None:
        """Serve until interrupted; `OpenMhaError` or `PlayerError` if nothing can be played."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select(self._aid.seconds_to_wait()):
                    if key.fileobj is self._listener:
                        self._meet(selector)
                    elif key.fileobj is self._line:
                        self._take(selector)
                if (over := self._aid.over()) and not self._say(over):
                    self._hang_up(selector)

    def close(self) -> None:
        self._listener.close()
        if self._line is not None:
            self._line.close()

    def _meet(self, selector: selectors.BaseSelector) -> None:
        """Take a new connection of this user; the one before is over."""
        try:
            line, peer = self._listener.accept()
        except OSError:  # it is gone already
            return
        if not is_of_this_user(peer, line.getsockname()):
            line.close()
            return
        self._hang_up(selector)
        line.setblocking(False)
        self._line, self._reader = line, LineReader(LINE_BYTES_MAX)
        selector.register(line, selectors.EVENT_READ)

    def _hang_up(self, selector: selectors.BaseSelector) -> None:
        if self._line is not None:
            selector.unregister(self._line)
            self._line.close()
            self._line = None
            self._aid.answer("stop")

    def _take(self, selector: selectors.BaseSelector) -> None:
        assert self._line is not None
        try:
            data = self._line.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        lines = self._reader.feed(data)
        if not data or self._reader.dropped:
            self._hang_up(selector)
            return
        for each in lines:
            try:
                heard = self._say(self._aid.answer(each.decode("ascii", "replace").strip()))
            except (OpenMhaError, PlayerError) as error:
                words = "".join(c if c.isalnum() or c in " .,:-" else "_" for c in str(error))
                self._say(f'lost why="{words[:300]}"')
                raise
            if not heard:
                self._hang_up(selector)
                return

    def _say(self, line: str) -> bool:
        """Send a line; return False if it is not taken at once: nobody reads there."""
        data = f"{line}\n".encode("ascii", "replace")
        try:
            return self._line is None or self._line.send(data) == len(data)
        except OSError:
            return False


def is_of_this_user(peer: tuple[str, int], here: tuple[str, int], table: Path = TCP) -> bool:
    """Return whether the other end of a connection on loopback is of the user who runs this.

    Where the system does not tell, it is not.
    """
    wanted = [_in_table(peer), _in_table(here), ESTABLISHED]
    try:
        with open_named(table) as file:
            rows = [line.decode("ascii").split() for line in file]
    except OSError:
        return False
    return any(row[1:4] == wanted and row[7] == str(os.geteuid()) for row in rows if len(row) > 7)


def _in_table(address: tuple[str, int]) -> str:
    """Return an address as Linux lists it: the number as it lies in memory, and the port."""
    (number,) = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{number:08X}:{address[1]:04X}"


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="python -m device.hearing_aid.serve", description=__doc__)
    p.add_argument("--fit", type=Path, required=True, help="of both ears")
    p.add_argument("--speech", type=Path, required=True, help="1 to 30 s, .wav")
    p.add_argument("--openmha", type=Path, metavar="DIR", help="where make aid put it")
    p.add_argument("--sound-card", metavar="NAME", help="plays there; default, a name or number")
    p.add_argument("--out", type=Path, metavar="FILE", help="keeps what is played, .wav")
    p.add_argument("--port", type=int, default=0, help="of TCP (default: one that is free)")
    p.add_argument("--pace", type=float, default=1.0, help="times faster than real (default: 1)")
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until interrupted; 2 if something is not allowed, or the aid is lost."""
    arguments = parser().parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if not PACE_LIMITS[0] <= arguments.pace <= PACE_LIMITS[1]:
            low, high = PACE_LIMITS
            raise FitError(f"--pace is {arguments.pace:g}; allowed is {low:g} to {high:g}")
        fit, speech = read_fit(arguments.fit), read_speech(arguments.speech)
        installation = Installation(arguments.openmha)
        player = _player(arguments, fit)
        with file_aid(fit, installation) as engine:
            aid = Aid(engine, fit, installation.version(), speech, player, arguments.pace)
            _serve(Server(aid, arguments.port), player)
    except (FitError, SoundError, OpenMhaError, PlayerError, OSError) as error:
        print(f"hearing aid: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        pass
    return 0


def _serve(server: Server, player: Player) -> None:
    try:
        print(f"socket://{LOOPBACK}:{server.port}", flush=True)
        server.run()
    finally:
        server.close()
        player.close()


def _player(arguments: argparse.Namespace, fit: Fit) -> Player:
    limiter = LastLimiter(fit)
    if arguments.sound_card is not None:
        return CardPlayer(arguments.sound_card, limiter)
    return Player(limiter) if arguments.out is None else FilePlayer(arguments.out, limiter)


if __name__ == "__main__":
    sys.exit(run_program(main))
