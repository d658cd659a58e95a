"""The console's commands for an update, and the system of a card behind them."""

import base64
import errno
import hashlib
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NoReturn

import pytest

from firmware_py.board.self_check import Part
from firmware_py.console.command_row import UnderWay
from firmware_py.console.console import Console, Left
from firmware_py.installation.card_system import CardSystem
from firmware_py.operator.update_desk import COMMANDS, PIECE_BYTES_MAX, SYNCED_BYTES, UpdateDesk
from firmware_py.platform.data_directory import DataDirectory, DataDirectoryError
from firmware_py.platform.room_on_disk import LEFT_BY_UPDATE_BYTES
from firmware_py.terms.reasons import Code, reason
from host_tools.commands.update import pieces_of
from tests.strange_files import full, link, second_name

BUNDLE: Final = bytes(range(256)) * 3
SHA256: Final = hashlib.sha256(BUNDLE).hexdigest()
BEGIN: Final = f"SYST:UPD:BEG {len(BUNDLE)},{SHA256}"
GOOD: Final = [Part(name, True, reason(Code.TOLD, told="-")) for name in ("wire", "board", "disk")]


class Card:
    """A card's system, and the console in front of it."""

    def __init__(self, data: DataDirectory, place: Path) -> None:
        self.place, self.updates = place, place / "updates"
        self.under_way, self.free_bytes = UnderWay.NOTHING, 10**9
        self.disk_is_gone = False
        self.data = data
        self.start()

    def start(self) -> None:
        """Start the firmware, perhaps again."""
        self.system = CardSystem(self.place, self.data)
        self._console = Console((), None, under_way=lambda: self.under_way)
        self.desk = UpdateDesk(self.system, self.data, self.look_for_room)
        self._console.add(COMMANDS, self.desk)

    def look_for_room(self) -> int:
        if self.disk_is_gone:
            raise DataDirectoryError("data directory cannot be read")
        return self.free_bytes

    def ask(self, line: str) -> str:
        return self._console.execute(line)[-1]

    def come(self) -> list[Path]:
        """Return what of the data directory is of updates."""
        return sorted(self.data.path.glob("update*"))

    def send(self, begun: int = 0) -> None:
        for line in pieces_of(BUNDLE, begun):
            assert self.ask(line) == "OK"


@pytest.fixture
def card(tmp_path: Path) -> Iterator[Card]:
    place = tmp_path / "system"
    (place / "told").mkdir(parents=True)
    (place / "updates").mkdir()
    (place / "slot").write_text("slot A\n")
    data = DataDirectory(tmp_path / "data", None)
    yield Card(data, place)
    data.close()


def test_the_longest_piece_fits_into_a_line() -> None:
    lines = list(pieces_of(bytes(PIECE_BYTES_MAX), 0))
    assert len(lines) == 1
    assert len(lines[0].replace(" 0,", " 199999999,")) <= 200


@pytest.mark.parametrize(("word", "older"), [("", False), (" NEWER", False), (" OLDER", True)])
def test_an_update_that_came_is_handed_over(card: Card, word: str, older: bool) -> None:
    assert card.ask("SYST:UPD?") == "none"
    assert card.ask(BEGIN) == "OK"
    card.send()
    assert card.ask("SYST:UPD?") == f"receiving,{len(BUNDLE)},{len(BUNDLE)}"
    assert card.ask(f"SYST:UPD:END{word}") == "OK"
    handed_over = card.data.path / ("update-older.raucb" if older else "update.raucb")
    assert handed_over.read_bytes() == BUNDLE
    assert card.come() == [handed_over]
    assert card.ask("SYST:UPD?") == "installing"
    assert "an update is being installed" in card.ask(BEGIN)
    handed_over.unlink()
    (card.place / "update").write_text("refused: no\n")
    card.system.look(idle=True)
    assert card.ask("SYST:UPD?") == "none,refused: no"


@pytest.mark.parametrize("synced", [0, 1, 2, 5])
def test_what_was_synced_outlives_the_power_and_zeros_after_it_do_not(
    card: Card, synced: int
) -> None:
    bundle = random.Random(synced).randbytes(synced * SYNCED_BYTES + 1000)
    begin = f"SYST:UPD:BEG {len(bundle)},{hashlib.sha256(bundle).hexdigest()}"
    card.ask(begin)
    for line in list(pieces_of(bundle, 0))[:-1]:
        assert card.ask(line) == "OK"
    (part,) = card.come()
    with part.open("r+b") as file:  # as ext4 has it where a block was growing
        file.seek(max(0, synced * SYNCED_BYTES - PIECE_BYTES_MAX))
        file.write(bytes(PIECE_BYTES_MAX))
    card.start()
    assert card.ask("SYST:UPD?") == "none"
    assert "no update was begun" in card.ask("SYST:UPD:END")
    assert card.ask(begin) == "OK"
    kept = max(0, synced - 1) * SYNCED_BYTES
    assert card.ask("SYST:UPD?") == f"receiving,{kept},{len(bundle)}"
    for line in pieces_of(bundle, kept):
        assert card.ask(line) == "OK"
    assert card.ask("SYST:UPD:END") == "OK"
    assert (card.data.path / "update.raucb").read_bytes() == bundle


def test_a_whole_block_that_came_is_on_the_disk(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_size))
    bundle = bytes(3 * SYNCED_BYTES)
    card.ask(f"SYST:UPD:BEG {len(bundle)},{hashlib.sha256(bundle).hexdigest()}")
    for line in pieces_of(bundle, 0):
        assert card.ask(line) == "OK"
    assert [size // SYNCED_BYTES for size in synced] == [1, 2, 3]


def test_another_update_throws_away_what_came_of_the_one_before(card: Card) -> None:
    card.ask(BEGIN)
    card.send()
    assert card.ask(f"SYST:UPD:BEG 5,{'0' * 64}") == "OK"
    assert card.ask("SYST:UPD:DATA 0,aGVsbG8=") == "OK"
    assert len(card.come()) == 1
    assert "it is thrown away" in card.ask("SYST:UPD:END")
    assert card.come() == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("SYST:UPD:BEG 5,abc", "sha256 is 'abc'; allowed are 64 characters"),
        (f"SYST:UPD:BEG 0,{SHA256}", "allowed are whole numbers from 1 to 200000000 bytes"),
        ("SYST:UPD:DATA 0,aGVsbG8", "no base64"),
        ("SYST:UPD:DATA 5,aGVsbG8=", "offset is 5, with 5 bytes; allowed is 0"),
        (f"SYST:UPD:DATA 0,{base64.b64encode(bytes(129)).decode()}", "up to 128"),
        ("SYST:UPD:END", "0 of 128 bytes have come"),
    ],
)
def test_what_is_no_part_of_an_update_is_refused(card: Card, line: str, words: str) -> None:
    card.ask(f"SYST:UPD:BEG 128,{SHA256}")
    assert words in card.ask(line)


def test_an_update_waits_for_the_test_and_for_room(card: Card) -> None:
    card.under_way = UnderWay.TEST
    assert card.ask(BEGIN).startswith("ERROR -221")
    card.under_way = UnderWay.NOTHING
    assert card.ask(BEGIN) == "OK"
    card.under_way = UnderWay.TEST
    assert card.ask(next(iter(pieces_of(BUNDLE, 0)))).startswith("ERROR -221")
    card.under_way = UnderWay.NOTHING
    card.free_bytes = LEFT_BY_UPDATE_BYTES + 100
    assert f"needs {len(BUNDLE)} bytes; 100 are free" in card.ask(BEGIN)


def test_a_disk_that_fails_takes_no_update_and_the_operator_is_told(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert card.ask(BEGIN) == "OK"
    with monkeypatch.context() as full:
        full.setattr(card.data.disk, "write", refuse)
        assert card.ask(next(iter(pieces_of(BUNDLE, 0)))).startswith("ERROR -250")
    card.send()
    with monkeypatch.context() as full:
        full.setattr(card.data.disk, "rename", refuse)
        assert card.ask("SYST:UPD:END").startswith("ERROR -250")
    assert not card.system.updating
    card.disk_is_gone = True
    assert card.ask(BEGIN).startswith('ERROR -250,"the update cannot be kept: data directory')


def test_on_trial_the_system_before_is_not_overwritten(card: Card) -> None:
    (card.place / "trial").touch()
    (card.updates / "offered.raucb").write_bytes(BUNDLE)
    card.start()
    card.system.look(idle=True)
    assert not card.system.updating
    assert "this system is on trial" in card.ask(BEGIN)
    assert "this system is on trial" in card.ask("SYST:UPD:END")
    (card.place / "trial").unlink()
    card.system.look(idle=True)
    assert card.system.updating
    assert (card.place / "told/take").exists()


@pytest.mark.parametrize(
    ("make", "code"), [(link, "OK"), (second_name, "OK"), (os.mkfifo, "OK"), (full, "ERROR -250")]
)
def test_no_update_is_written_to_where_its_name_leads(
    card: Card, make: Callable[[Path], None], code: str
) -> None:
    outside = card.data.path / "outside"
    outside.write_bytes(b"not ours")
    make(card.data.path / f"update.part-{SHA256[:16]}")

    assert card.ask(BEGIN).startswith(code)
    if code == "OK":
        card.send()
        assert card.ask("SYST:UPD:END") == "OK"
        assert (card.data.path / "update.raucb").read_bytes() == BUNDLE
    assert outside.read_bytes() == b"not ours"


@pytest.mark.parametrize("older", ["", "-older"])
def test_what_a_stick_offers_is_taken_when_nothing_is_under_way(card: Card, older: str) -> None:
    """And the console says what is under way."""
    card.ask(BEGIN)
    card.send()
    offered = card.updates / f"offered{older}.raucb"
    offered.write_bytes(b"of the stick")
    card.system.look(idle=False)
    assert not card.system.updating
    card.system.look(idle=True)
    assert card.system.under_way is UnderWay.STICK
    begun = offered.rename(card.updates / f"bundle-stick{older}.raucb")
    (card.place / "told/take").unlink()
    card.system.look(idle=True)
    assert card.system.under_way is UnderWay.STICK
    assert "an update from a USB stick is being installed" in card.ask("SYST:UPD:END")
    begun.unlink()  # it was refused
    card.system.look(idle=True)
    assert card.ask("SYST:UPD:END") == "OK", "what came over the console is still there"
    assert "an update is being installed" in card.ask("SYST:UPD:END")
    offered.write_bytes(b"of the next stick")
    card.system.look(idle=True)
    assert not (card.place / "told/take").exists()


def test_an_operator_who_leaves_ends_the_sending(card: Card) -> None:
    card.ask(BEGIN)
    card.send()
    card.desk.operator_left(Left.LINE)
    assert card.ask("SYST:UPD?") == "none"
    assert "no update was begun" in card.ask("SYST:UPD:END")
    assert card.ask(BEGIN) == "OK"


def test_what_the_system_finds_wrong_is_told_once(card: Card) -> None:
    faults = card.place / "faults"
    assert card.system.look(idle=True) == []
    faults.write_text("one\n")
    assert card.system.look(idle=True) == ["one"]
    faults.write_text("one\ntwo\nthr")
    assert card.system.look(idle=True) == ["two"]
    faults.write_text(f"one\ntwo\nthree\n{'x' * 99}\n" * 100)  # more than is read at once
    lines = card.system.look(idle=True)
    while more := card.system.look(idle=True):
        lines += more
    assert lines == faults.read_text().splitlines()[2:]


def bad_disk(card: Card) -> str:
    return card.system.judge([Part("disk", False, reason(Code.TOLD, told="full")), *GOOD[:2]], [])


def bad_recording(card: Card) -> str:
    return card.system.judge(GOOD, ["comes out differently"])


@pytest.mark.parametrize(
    ("judged", "words"), [(bad_disk, "disk: full"), (bad_recording, "comes out differently")]
)
def test_a_system_on_trial_that_is_not_good_is_told_apart(
    card: Card, judged: Callable[[Card], str], words: str
) -> None:
    (card.place / "trial").touch()
    card.start()
    assert card.ask("SYST:UPD?") == "trial"
    assert judged(card) == f"this system, slot A, does not pass its trial: {words}"
    assert not (card.place / "told/well").exists()


def test_a_system_on_trial_that_is_good_says_so_as_soon_as_it_can(card: Card) -> None:
    assert bad_disk(card) == "", "nobody asked"
    (card.place / "trial").touch()
    (card.place / "told").rmdir()
    card.start()
    nothing_plugged_in = [*GOOD, Part("button", False, reason(Code.TOLD, told="stuck"))]
    assert card.system.judge(nothing_plugged_in, []) == ""
    assert card.system.is_to_be_judged
    (card.place / "told").mkdir()
    assert card.system.judge(nothing_plugged_in, []) == ""
    assert not card.system.is_to_be_judged
    assert (card.place / "told/well").exists()
    (card.place / "trial").unlink()
    card.system.look(idle=True)
    assert card.ask("SYST:UPD?") == "none"


def test_without_a_card_there_is_nothing_to_tell(card: Card) -> None:
    system = CardSystem(None, card.data)
    assert (system.slot, system.look(idle=True), system.judge([], ["bad"])) == ("", [], "")


def test_of_what_the_system_tells_no_more_than_8_kib_are_read(card: Card) -> None:
    (card.place / "slot").write_bytes(b"A" * 8191 + b"BC")

    card.start()

    assert card.system.slot == "A" * 8191 + "B"
