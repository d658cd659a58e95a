"""What bytes from outside may do: be taken, or be refused by the error that is for it.

Each target takes any bytes, checks what holds for all of them, and lets every other exception out.
`run.py` looks for bytes that break one, guided by coverage; `test_fuzz.py` tries those that once
did, and some more, with every `make test`.
"""

import binascii
import json
import random
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from device.audiogram_tables.ears import AudiogramError
from device.simulator.aid import SimulatedAid
from device.simulator.audiograms import audiogram_named
from device.simulator.listener import Listener
from device.simulator.simulated_board import SimulatedBoard
from firmware_py.calibration.fields import CalibrationError
from firmware_py.calibration.file import read_calibration
from firmware_py.inference.mixture.population_prior import (
    AGE_LIMITS_YEARS,
    PopulationPrior,
    shipped_prior,
)
from firmware_py.inference.mixture.prior_reading import PriorError
from firmware_py.installation.configuration import ConfigurationError, read_configuration
from firmware_py.journal import JournalError, JournalWriter, read_journal
from firmware_py.journal.errors import JournalDamagedError, JournalRecordError
from firmware_py.journal.records import RESERVED_KEYS, encode_line
from firmware_py.link.aid import AidClient, AidGone, AidGreeted, SpeechPlayed
from firmware_py.link.client import Client
from firmware_py.link.frames import FrameError, LineReader, decode, encode
from firmware_py.link.messages import ROOM_BANDS_HZ
from firmware_py.link.notices import TimeTold, ToneEnded
from firmware_py.sessions.replay import ReplayError, replay
from host_tools.errors import HostError
from host_tools.research.study.ears import read_table
from tests.console.instrument import connect
from tests.fuzz.commands import BYTES_MAX, commands, trial_of
from tests.fuzz.directory import ENTRIES_MAX, data_directory, entries
from tests.fuzz.served import serve
from tests.journal.simulated_disk import SimulatedDisk

REPO: Final = Path(__file__).parents[2]
GOLDEN: Final = REPO / "tests" / "golden"
JOURNAL: Final = Path("/journals/session-000001.journal")
SECOND_US: Final = 1_000_000
INPUT_BYTES_MAX: Final = 4096
BOARD_LIMIT_DBFS: Final = -30.0
LINES_MAX: Final = 64  # of an input that is lines: what goes wrong does so in fewer


@dataclass(frozen=True)
class Target:
    """Something that takes bytes."""

    # takes the bytes, and a directory for files; raises only if something is wrong
    check: Callable[[bytes, Path], None]
    seeds: Callable[[], Iterator[bytes]]  # returns inputs to begin from
    bytes_max: int = INPUT_BYTES_MAX
    # returns what bytes come to: of those that come to the same, one is enough
    meaning: Callable[[bytes], Hashable] = bytes


# The wire


def frames(data: bytes, _directory: Path) -> None:
    """Lines do not depend on how the bytes are cut, and a frame is what it is read as."""
    whole = LineReader().feed(data)
    reader, cut = LineReader(), data[:1] and data[0] % (len(data) + 1)
    assert reader.feed(data[: cut or 0]) + reader.feed(data[cut or 0 :]) == whole
    for line in whole:
        try:
            sequence, verb, fields = decode(line)
        except FrameError:
            continue
        assert encode(sequence, verb, fields) == line


def board(data: bytes, _directory: Path) -> None:
    """A board takes whatever a host and a listener do; what it says is frames, in order.

    A line that begins with ``+`` or ``-`` is a button that goes down or up, of two the one that its
    length says. No tone is louder than the limit, and none ends but the one that began.
    """
    it = SimulatedBoard(Listener(), boot=1, output_limit_dbfs=BOARD_LIMIT_DBFS)
    sounding = ""
    for now_s, line in enumerate(_frames(data)):
        now_us = now_s * SECOND_US // 3
        it.advance(now_us)
        if line[:1] in (b"+", b"-"):
            it.server.button(1 + len(line) % 2, line[:1] == b"+", now_us)
        it.receive(line, now_us)
        for said in it.transmit().splitlines(keepends=True):
            _, verb, fields = decode(said)
            if verb == "tone-on":
                sounding = fields["id"]
            elif verb == "tone-off" and sounding:  # a new host clears what was not sent
                assert fields["id"] == sounding
        assert all(tone.level_dbfs <= BOARD_LIMIT_DBFS for tone in it.played)


def client(data: bytes, _directory: Path) -> None:
    """A host takes whatever a board sends; what it says is frames, and a room has its levels."""
    it = Client(lambda: "00000001")
    it.connect(0)
    for now_s, line in enumerate(_frames(data)):
        for notice in it.receive(line, now_s * SECOND_US // 3):
            if isinstance(notice, ToneEnded | TimeTold):
                levels = notice.room_db_spl
                assert len(levels) in (0, len(ROOM_BANDS_HZ))
                assert all(0.0 <= level <= 127.5 for level in levels)
        it.advance(now_s * SECOND_US // 3)
        for said in it.transmit().splitlines(keepends=True):
            decode(said)


def aid(data: bytes, _directory: Path) -> None:
    """A firmware takes whatever an aid says; what it believes can be recorded and shown."""
    it = AidClient()
    it.connect()
    for now_s, line in enumerate(data.split(b"\n")[:LINES_MAX]):
        it.transmit(now_s * SECOND_US // 3)
        for told in it.receive(line + b"\n", now_s * SECOND_US // 3):
            match told:
                case AidGreeted():
                    json.dumps(asdict(told), allow_nan=False)
                    assert f"{told.aid}{told.fit}".isprintable()
                    assert all(abs(each) <= 80.0 for pair in told.ranges_db for each in pair)
                    it.play(now_s, (0.0, 0.0, 0.0, 0.0))
                case SpeechPlayed(number):
                    assert 0 <= number < LINES_MAX, "of a sound that was asked for"
                case AidGone(why):
                    assert why.isprintable()
                    it.connect()


def _frames(data: bytes) -> Iterator[bytes]:
    """Return lines, those that begin with a digit with the CRC that belongs to them."""
    for line in data.split(b"\n")[:LINES_MAX]:
        if line[:1].isdigit():
            yield line + b" *%08x\n" % binascii.crc32(line)
        else:
            yield line + b"\n"


def _aid_seeds() -> Iterator[bytes]:
    it = SimulatedAid(person="P-\u00c4")
    for told in (b"hello\n", b"play number=1 overall_db=0 tilt_db=0 mid_db=0 soft_db=0\n", b"x\n"):
        it.receive(told, 0)
    it.advance(SECOND_US * 60)
    said = it.transmit()
    yield said
    yield said.replace(b"played number=1", b"played number=" + b"9" * 5000)
    yield said.replace(b"aid=", b"aid=\x1b[2J")
    yield said + b"lost why='no sound card'\n"


# The console


def console(data: bytes, _directory: Path) -> None:
    """Every line has an answer of printable characters, the last of it a value, OK or an error."""
    _, it = connect()
    for line in data.splitlines(keepends=True)[:LINES_MAX]:
        answers = it.receive(line)
        assert all(answer.isprintable() for answer in answers)
        assert len(it._partial) <= 201, "a line without an end takes no more memory"
    assert len(it.receive(b"\r*STB?\rHELP\r")) >= 2


# The journal


def journal(data: bytes, _directory: Path) -> None:
    """What is read of a journal is still there after it was resumed."""
    disk = _disk_with(data)
    try:
        found = read_journal(JOURNAL, disk=disk)
    except JournalDamagedError as error:
        _check_good_part(error, data)
        return
    except JournalError:
        return
    writer, recovered = JournalWriter.resume(JOURNAL, disk=disk)
    writer.close()
    again = read_journal(JOURNAL, disk=disk)
    assert again.records[: len(found.records)] == found.records
    assert recovered.records[: len(found.records)] == found.records
    assert again.torn_bytes == 0


def session(data: bytes, _directory: Path) -> None:
    """A journal whose every line is whole is followed, or refused, whatever its records say."""
    records = []
    for line in data.splitlines()[:LINES_MAX]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            records.append(record)
    try:
        replay(read_journal(JOURNAL, disk=_disk_with(_content(records))).records)
    except JournalError:
        return
    except ReplayError as error:
        if error.__cause__ is not None:  # a firmware lives on; it was not foreseen all the same
            raise error.__cause__ from None


def _disk_with(content: bytes) -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.put(JOURNAL, content)
    return disk


def _check_good_part(error: JournalDamagedError, data: bytes) -> None:
    """See that what a damaged journal is said to hold is what its undamaged part holds."""
    if error.good is not None and error.good.records:
        whole = _disk_with(data[: error.good.good_bytes])
        assert read_journal(JOURNAL, disk=whole).records == error.good.records


def _content(records: Iterable[dict[str, Any]]) -> bytes:
    """Return the bytes of a journal with these records, as far as they can be in one."""
    lines: list[bytes] = []
    crc = ""
    for record in records:
        own = {key: value for key, value in record.items() if key not in RESERVED_KEYS}
        try:
            line, crc = encode_line(len(lines), len(lines), own, crc)
        except (JournalRecordError, KeyError):
            continue
        lines.append(line)
    return b"".join(lines)


# Files


def by_name(
    read: Callable[[Path], object], error: type[Exception], name: str
) -> Callable[[bytes, Path], None]:
    """Return the check that a file of this name is taken, or refused by name."""

    def check(data: bytes, directory: Path) -> None:
        path = directory / name
        path.write_bytes(data)
        words = name
        try:
            read(path)
        except error as refusal:
            words = str(refusal)
        assert name in words
        assert len(words) < 4 * INPUT_BYTES_MAX, "a message is for people"

    return check


configuration = by_name(read_configuration, ConfigurationError, "wrong.toml")
calibration = by_name(read_calibration, CalibrationError, "wrong.toml")
audiograms = by_name(lambda path: audiogram_named(f"{path}:1"), AudiogramError, "wrong.csv")
population = by_name(read_table, HostError, "wrong.csv")


def prior(data: bytes, _directory: Path) -> None:
    """A prior that is taken is one for every age and sex, and comes back as it was written."""
    try:
        it = PopulationPrior.from_json(data.decode("utf-8", "replace"), "wrong.json")
    except PriorError:
        return
    assert PopulationPrior.from_json(it.to_json(), "again.json") == it
    for age_years in (None, *AGE_LIMITS_YEARS):
        weights = [c.weight for c in it.condition(age_years, "F").components]
        assert all(weight >= 0.0 for weight in weights)


# Where to begin from


def _of_file(*paths: Path) -> Callable[[], Iterator[bytes]]:
    return lambda: (path.read_bytes() for path in paths)


def _of_text(*texts: str) -> Callable[[], Iterator[bytes]]:
    return lambda: (text.encode() for text in texts)


def _journal_seeds() -> Iterator[bytes]:
    for path in sorted(GOLDEN.glob("*.journal")):
        lines = path.read_bytes().splitlines(keepends=True)
        yield b"".join(lines[:24])
        yield b"".join(lines[:6]) + lines[6][:20]


def _prior_seeds() -> Iterator[bytes]:
    shipped = shipped_prior()
    yield (
        PopulationPrior(**{**vars(shipped), "components": shipped.components[:1]})
        .within(500.0, 1000.0)
        .to_json()
        .encode()
    )


def _of_choices() -> Iterator[bytes]:
    """Return choices of every command, journal and kind of change, by chance."""
    chance = random.Random(CHOICES_SEED)
    return (chance.randbytes(CHOICES_BYTES) for _ in range(CHOICES))


CHOICES: Final = 20
CHOICES_BYTES: Final = 40
CHOICES_SEED: Final = 18
WIRE: Final = (
    "1 hello wire=1 host=00000001",
    "2 tone id=1 ear=l hz=1000 dbfs=-40 on=225 off=225 n=3 rise=25",
    "3 ping\n4 stop\n5 ack event=1\n6 events after=0",
    "1 hello wire=1 host=00000001\n2 tone id=1 ear=l hz=1000 dbfs=-40 on=500 off=225 n=3 rise=25 "
    "buttons=3 press=100\n+\n-\n++\n3 ping",
    "1 ok wire=1 board=sim version=1 boot=00c0ffee event=0 tone=-\n2 ok serial=1 press_ends=1\n"
    "3 ok\n4 ok event=0 us=1000000\n1 tone-on id=1-1 us=1000100\n2 button-down us=1000200\n"
    "3 tone-off id=1-1 us=1000200 cut=1",
    "1 ok wire=1 board=sim version=1 boot=00c0ffee event=0 tone=-\n2 ok serial=1\n3 ok\n"
    "4 ok event=2 us=1000000\n5 ok event=2\n1 button-down us=900000\n2 button-up us=950000",
    "1 ok wire=1 board=sim version=1 boot=00c0ffee event=0 tone=-\n2 ok serial=1 room=1\n3 ok\n"
    "4 ok event=0 us=1000000 room=7f6d5b4f4941382b1f0c00\n1 tone-on id=1-1 us=1000100\n"
    "2 tone-off id=1-1 us=1000200 cut=0 room=7f6d5b4f4941382b1f00ff",
)  # fmt: skip
CONSOLE: Final = (
    "*IDN?\n*TST?\nSYST:ERR?\nHELP\n",
    "SESS:STAR LEFT,SEED=7,AGE=67,SEX=F,ID=P-17\nSESS:STAR ID=患者7\n",
    "SESS:PAUS\nSESS:CONT\nSESS:ABOR\nSESS:STAT?\n",
    "SETT unsure_button,true\nSETT unsure_half_width_db,3\nSETT?\n",
    "THR? LEFT,12\nAUD 3\n\x15TONE RIGHT,1000,40\x08\r\n",
    "SYST:PIN 4711\nsyst:lock\nSYST:EVEN ON\n",
)
TABLE: Final = (
    "subject,ear,age,sex,t500,t1000,t2000,t4000,no_response\n"
    "1,R,67,F,20,25,40,60,\n"
    "2,L,5,M,,,,9,500"
)
SETTINGS: Final = (
    '[test]\nears = "both"\nfirst_ear = "better"\nlevel_max_db_hl = 90\ntones_max = 40\n'
    "[device]\nreconnect_s = 30\nevents = true\n"
)

TARGETS: Final = {
    "frames": Target(frames, _of_text(*(f"{line} *00000000\n" for line in WIRE))),
    "board": Target(board, _of_text(*WIRE)),
    "client": Target(client, _of_text(*WIRE)),
    "aid": Target(aid, _aid_seeds),
    "console": Target(console, _of_text(*CONSOLE)),
    "journal": Target(journal, _journal_seeds),
    "session": Target(session, _journal_seeds),
    "configuration": Target(configuration, _of_text(SETTINGS)),
    "calibration": Target(calibration, _of_file(REPO / "device" / "calibration" / "example.toml")),
    "audiograms": Target(audiograms, _of_text(TABLE)),
    "population": Target(population, _of_text(TABLE)),
    "prior": Target(prior, _prior_seeds),
    "commands": Target(commands, _of_choices, BYTES_MAX, trial_of),
    "served": Target(serve, _of_choices),
    "directory": Target(data_directory, entries, 2 * ENTRIES_MAX),
}
