"""The firmware as a process, at the mercy of ports, disk, operator and listener.

Whatever happens, there are clear words on the console and on standard error, the exit code that
belongs to them, silence, and nothing is lost that was recorded.
"""

import itertools
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from device.calibration.measurement import as_toml
from device.simulator.board import SERIAL
from device.simulator.listener import Ear, Noise, Press, SimulatedListener
from firmware_py.inference.library import chosen_library, runs_on
from firmware_py.journal import JournalError, read_journal
from firmware_py.link.frames import FrameError, decode, encode
from firmware_py.session import replay
from host_tools.commands.replay.codes import IDENTICAL, UNFINISHED
from host_tools.commands.replay.command import replay_journal
from host_tools.processes import ConsoleLine
from tests.calibration.calibrations import calibration, content
from tests.firmware.crash import assert_like_undisturbed
from tests.firmware.rig import Peer, Process, Rig
from tests.firmware.world import a_listener, records_of, run_session, stimuli_of

SLOW = 5.0  # a tone lasts a quarter of a second: time to do something while it sounds

# Run a program whose files may have only so many bytes, which is as good as a full disk.
LIMITED = (
    "import os, resource, sys; limit = int(sys.argv[1]); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)); os.execv(sys.argv[2], sys.argv[2:])"
)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with Rig(tmp_path / "data") as rig:
        yield rig


@pytest.fixture
def slow_rig(tmp_path: Path) -> Iterator[Rig]:
    """Give a rig with a listener who lets every tone sound to its end."""
    with Rig(tmp_path / "data", a_listener(lapse_rate=1.0), SLOW) as rig:
        yield rig


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of the session that `Rig.begin` starts, run in no time."""
    directory = tmp_path_factory.mktemp("undisturbed")
    return run_session(directory, a_listener("S2"), {"ears": "left", "seed": 3})


def assert_finished_like(undisturbed: Path, rig: Rig) -> None:
    assert_like_undisturbed(rig.journal(), undisturbed)


def assert_ends_like(undisturbed: Path, rig: Rig) -> None:
    rig.until("! session-over")
    assert_finished_like(undisturbed, rig)


def assert_refused(process: Process, code: int, *words: str) -> str:
    """It ended with this code and one line with these words; return the line."""
    got, said = process.end_of()
    assert got == code, said
    assert said.startswith("gp-pta-device: ")
    assert len(said.splitlines()) == 1
    for word in words:
        assert word in said
    return said.strip().removeprefix("gp-pta-device: ")


def finish(rig: Rig) -> None:
    """Start the firmware again, and let it end what it finds, unless it has already."""
    rig.start()
    if not rig.operator.greet().startswith(("state=idle", "state=finished")):
        rig.until("! session-over")


def is_complete(journal: Path) -> bool:
    try:
        return read_journal(journal).complete
    except JournalError:
        return False


# Ports


WRONG_PORTS = {
    "/dev/there-is-none": "No such file or directory",
    "/etc/hostname": "it is no serial port",
}


def test_a_wrong_port_is_named_at_both_ends(tmp_path: Path) -> None:
    with ExitStack() as stack:
        rigs = [stack.enter_context(Rig(tmp_path / str(n))) for n in range(len(WRONG_PORTS))]
        started = [rig.start(tones=port) for rig, port in zip(rigs, WRONG_PORTS, strict=True)]
        for rig, process, (port, why) in zip(rigs, started, WRONG_PORTS.items(), strict=True):
            said = assert_refused(process, 2, f"tone generator: cannot open {port!r}", why)
            assert f'ERROR -241,"{said}"' in rig.rest()


def test_a_wrong_console_is_named(rig: Rig) -> None:
    rig.plug(rig.served.port, "/dev/there-is-none")
    assert_refused(rig.start(), 2, "console: cannot open ", "No such file or directory")


def halves(come: bytes) -> bytes:
    return b"".join(line[: len(line) // 2] for line in come.splitlines())


def of_another_version(come: bytes) -> bytes:
    sequences = []
    for line in come.splitlines(keepends=True):
        try:
            sequences.append(decode(line)[0])
        except FrameError:
            continue
    refusal = (("code", "version"), ("wire", 2))
    return b"".join(encode(sequence, "error", refusal) for sequence in sequences)


NO_BOARDS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "nobody": (lambda _: b"", "'hello' was sent 9 times without answer"),
    "noise": (lambda _: random.Random(1).randbytes(200), "bytes came that are not of the wire"),
    "login prompt": (lambda _: b"login: ", "bytes came that are not of the wire"),
    "half frames": (halves, "bytes came that are not of the wire"),
    "echo": (lambda come: come, "frames came, but none that answers (does the line echo?)"),
    "another version": (of_another_version, "the tone generator speaks wire 2, this firmware 1"),
}


def test_who_is_no_board_is_named_at_both_ends(tmp_path: Path) -> None:
    with ExitStack() as stack:
        started = []
        for who, (answer, words) in NO_BOARDS.items():
            peer, rig = Peer(answer), stack.enter_context(Rig(tmp_path / who))
            stack.callback(peer.stop)
            started.append((peer, rig, rig.start(tones=peer.port), words))
        for peer, rig, process, words in started:
            said = assert_refused(process, 3, f"no tone generator at {peer.port!r}: ", words)
            assert f'ERROR 101,"{said}"' in rig.rest()


def test_a_port_that_vanishes_in_a_tone_for_good(slow_rig: Rig) -> None:
    rig = slow_rig
    process = rig.start(config="[device]\nreconnect_s = 3\n")
    rig.begin()
    rig.wait(lambda: rig.served.board.played != [])
    rig.hang_up()

    said = assert_refused(process, 3, "is gone", "the session is kept and goes on at the next")
    assert f'ERROR 101,"{said}"' in rig.rest()
    assert rig.served.board.is_silent_without_host()
    assert records_of(rig.journal(), "input")[-1]["what"] in ("board-lost", "time")
    assert "board-lost" in [event["what"] for event in records_of(rig.journal(), "input")]
    assert replay_journal(rig.journal()).code == UNFINISHED

    rig.new_board()
    rig.start()
    assert "presentation=1 tones=0" in rig.operator.greet()


@pytest.mark.parametrize("serial", [SERIAL, "e66123456789abcd"])
def test_a_port_that_vanishes_in_a_tone_and_comes_back_with_another_board(
    rig: Rig, undisturbed: Path, serial: str
) -> None:
    """One with a number of its own is known by it."""
    rig.begin()
    rig.until("! tone number=4")
    rig.new_board(serial=serial)
    rig.until("! board-lost")
    rig.until("! board-ready")
    assert_ends_like(undisturbed, rig)

    lost, *another = rig.errors().splitlines()
    assert lost.startswith("101,")
    words = (
        '105,"session 1 goes on with another tone generator: serial number '
        f"{serial}, before {SERIAL}; its levels are those of the calibration "
        'it began with"'
    )
    is_another = serial != SERIAL
    assert another == [words] * is_another
    inputs = [record for record in read_journal(rig.journal()).records if "serial" in record]
    assert [(record["event"]["what"], record["serial"]) for record in inputs] == [
        ("started", SERIAL), *[("board-ready", serial)] * is_another,
    ]  # fmt: skip


def test_a_board_of_another_version_in_a_test_is_named_and_the_session_is_kept(
    rig: Rig, undisturbed: Path
) -> None:
    process = rig.start(config="[device]\nreconnect_s = 5\n")
    rig.begin()
    rig.until("! tone number=4")
    peer = Peer(of_another_version)
    try:
        rig.hang_up()
        rig.plug(peer.port, rig.console.port)
        said = assert_refused(process, 3, "the tone generator speaks wire 2, this firmware 1")
    finally:
        peer.stop()
    assert said.endswith("; the session is kept and goes on at the next start")
    rig.new_board()
    finish(rig)
    assert_finished_like(undisturbed, rig)


def test_a_second_program_at_a_port_is_refused_and_the_first_goes_on(
    rig: Rig, undisturbed: Path
) -> None:
    rig.begin()
    console, free = rig._cables["c"], ConsoleLine()
    try:
        for tones, at, role in (
            (rig.served.port, str(console), "console"),
            (rig.served.port, free.port, "tone generator"),
        ):
            command = [
                sys.executable, "-m", "firmware_py.main", "--tone-generator", tones,
                "--console", at, "--data", str(rig.data.with_name(role)),
            ]  # fmt: skip
            words = f"{role}: cannot open ", "another program has it open"
            assert_refused(Process(command), 2, *words)
    finally:
        free.close()
    assert_ends_like(undisturbed, rig)


@pytest.mark.parametrize("stall", ["short", "long"])
def test_a_board_that_stalls(rig: Rig, undisturbed: Path, stall: str) -> None:
    rig.begin()
    rig.until("! tone number=4")
    rig.served.board.going.clear()
    if stall == "long":
        rig.until("! board-lost")
    else:
        rig.wait(lambda: " 3 repeated" in rig.operator.ask("*TST?"))
    rig.served.board.going.set()
    rig.until("! session-over")
    assert (rig.errors() != "") == (stall == "long")
    assert_finished_like(undisturbed, rig)


# The process


def test_a_test_that_goes_on_says_so_wherever_somebody_looks(rig: Rig, undisturbed: Path) -> None:
    assert " goes on" not in rig.start().first_line()
    rig.begin()
    for life in (1, 2):
        rig.until("! answer number=3" if life == 1 else "! answer number=6")
        assert rig.process is not None
        assert rig.process.kill()
        tones = replay(read_journal(rig.journal()).records).test.ears["left"].tally.tones
        ready = rig.start(config="[device]\nevents = true\n").first_line()
        assert f"; session 1 goes on, tones so far: {tones}; UNCALIBRATED" in ready
        rig.until(f"! resumed session=1 tones={tones}")
        assert f" resumed={life} " in rig.operator.greet()
    assert_ends_like(undisturbed, rig)
    assert replay(read_journal(rig.journal()).records).resumed == 2

    assert rig.process is not None
    rig.process.kill()
    assert " goes on" not in rig.start().first_line()
    assert " resumed=2 " in rig.operator.greet()
    rig.begin()
    assert " resumed=0 " in rig.operator.ask("SESS:STAT?")


def test_who_asks_later_what_happens_is_told_of_a_test_that_goes_on(slow_rig: Rig) -> None:
    """The events were off when it was taken up."""
    rig = slow_rig
    rig.begin()
    rig.wait(lambda: rig.served.board.played != [])
    assert rig.process is not None
    rig.process.kill()
    rig.start().first_line()
    rig.console.send("SYST:EVEN ON")
    rig.until("! resumed session=1 tones=0")
    rig.console.send("SYST:EVEN ON")
    rig.console.send("SESS:STAT?")
    rig.until("state=")
    assert sum(line.startswith("! resumed") for line in rig.lines) == 1, "and once"


def test_a_test_taken_up_when_its_board_had_been_lost_says_so_too(slow_rig: Rig) -> None:
    """Its journal has the loss, and the return, as it has them without a new start."""
    rig = slow_rig
    process = rig.start(config="[device]\nreconnect_s = 3\n")
    rig.begin()
    rig.wait(lambda: rig.served.board.played != [])
    rig.hang_up()
    assert process.end_of()[0] == 3
    rig.new_board()
    rig.start()
    assert " resumed=1 " in rig.operator.greet()
    rig.wait(lambda: replay(read_journal(rig.journal()).records).resumed == 1)


def test_a_firmware_says_in_one_line_that_it_is_ready(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    if chosen_library() is None:  # as here; of an image: tests/device/image
        monkeypatch.setenv("GP_PTA_KERNELS", "jit")
    process = rig.start()

    assert process.first_line() == (
        f"gp-pta-device: ready; tone generator sim 1 at {rig._cables['t']}, "
        f"console at {rig._cables['c']}; UNCALIBRATED: levels are nominal; {runs_on()}\n"
    )
    rig.operator.greet()
    rig.new_board()
    rig.until("! tone-generator")
    process.terminate()
    assert process.end_of() == (0, ""), "and says no more"
    assert process.rest == ""


def test_a_firmware_whose_output_nobody_reads_goes_on(rig: Rig) -> None:
    process = rig.start(wrapper=["sh", "-c", 'exec "$@" >&-', "sh"])
    assert process.first_line() == ""
    rig.begin()
    rig.until("! session-over")


def test_a_firmware_told_to_end_in_a_tone_is_silent_and_keeps_the_session(slow_rig: Rig) -> None:
    rig = slow_rig
    process = rig.start()
    rig.begin()
    rig.wait(lambda: rig.served.board.played != [])
    process.terminate()

    assert process.end_of() == (0, "")
    assert rig.served.board.played[0].cut
    assert len(rig.served.board.played) == 1
    assert replay_journal(rig.journal()).code == UNFINISHED
    rig.start()
    assert "presentation=1 tones=0" in rig.operator.greet()


def test_a_second_firmware_is_refused_and_the_first_goes_on(rig: Rig, undisturbed: Path) -> None:
    rig.begin()
    first, rig.process = rig.process, None
    assert first is not None
    second = rig.start()
    try:
        assert_refused(second, 2, f"{str(rig.data)!r} is in use by another firmware")
    finally:
        rig.process = first
    assert_ends_like(undisturbed, rig)


def test_time_may_run_a_thousand_times_as_fast(tmp_path: Path) -> None:
    with Rig(tmp_path / "data", speed=1000.0) as rig:
        rig.begin()
        rig.until("! session-over")
        assert replay_journal(rig.journal()).code == IDENTICAL


def test_a_configuration_with_a_typo_is_refused(rig: Rig) -> None:
    process = rig.start(config="[test]\ntones_mx = 30\n")
    words = "[test] 'tones_mx' is not a known key; did you mean 'tones_max'?"
    assert_refused(process, 2, f"{rig.data}.toml: ", words)
    assert not rig.data.exists()


# The button


class Clinging(SimulatedListener):
    """Somebody who does not let go of the button for a long time, once."""

    HELD_US = 10_000_000
    once = True

    def answer(
        self,
        tone_id: str,
        ear: Ear,
        frequency_hz: float,
        level_db_hl: float,
        noise: Noise | None = None,
    ) -> Press | None:
        press = super().answer(tone_id, ear, frequency_hz, level_db_hl)
        if press is None or not self.once:
            return press
        self.once = False
        return replace(press, hold_us=self.HELD_US)


def test_a_button_that_is_held_down_pauses_the_test_before_silence_counts(
    tmp_path: Path, undisturbed: Path
) -> None:
    listener = a_listener("S2")
    listener.__class__ = Clinging
    with Rig(tmp_path / "data", listener, SLOW) as rig:
        rig.begin()
        rig.until("! error number=106")
        assert rig.operator.ask("SESS:STAT?").startswith("state=paused")
        words = '106,"button 1 is held down; the test is paused: let go of it, then SESS:CONT"'
        assert rig.errors() == words

        def goes_on() -> bool:
            rig.operator.ask("SESS:CONT")  # at once paused again until the button is up
            return "presentation=5" in rig.operator.ask("SESS:STAT?")

        rig.wait(goes_on)

        events = [event["what"] for event in records_of(rig.journal(), "input")]
        assert events.index("button-down") < events.index("paused") < events.index("continued")
        found = stimuli_of(rig.journal())
        assert found == stimuli_of(undisturbed)[: len(found)]


def test_no_test_is_begun_with_a_button_that_was_held_down_before(rig: Rig) -> None:
    rig.served.board.hand.fingers[0].intend(0, 10**12)
    rig.start()
    rig.operator.greet()
    words = 'ERROR 106,"button 1 is held down; no test was begun"'
    rig.wait(lambda: rig.operator.ask("SESS:STAR ID=../x,SEED=3") == words)
    assert not [*rig.data.glob("*.journal")]


# The calibration


def test_a_bad_calibration_is_named_everywhere_and_not_used(rig: Rig) -> None:
    words = "[left.sensitivity_db_spl] lacks 3000 Hz; needed are "
    changes = {"left.sensitivity_db_spl.3000": None}
    path = rig.data.with_name("calibration.toml")
    path.write_text(as_toml(replace(calibration(), content=content(changes))))
    process = rig.start("--calibration", str(path))
    assert f"UNCALIBRATED: levels are nominal ({path}: {words}" in process.first_line()
    rig.begin()
    assert rig.errors().startswith(f'104,"UNCALIBRATED: levels are nominal ({path}: {words}')
    header = read_journal(rig.journal()).header["calibration"]
    assert header["state"] == "UNCALIBRATED"
    assert words in header["why"]
    assert rig.operator.ask("THR?").endswith(" calibration=UNCALIBRATED")


# The disk


def test_a_full_disk_ends_the_tone_that_could_not_be_recorded(
    slow_rig: Rig, undisturbed: Path
) -> None:
    """The tone is under way when the record of its beginning finds no room any more."""
    rig = slow_rig
    lines = undisturbed.read_bytes().splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if b'"what": "tone-on"' in line)
    limit = sum(map(len, lines[:first])) + len(lines[first]) // 2
    process = rig.start(wrapper=[sys.executable, "-c", LIMITED, str(limit)])
    rig.begin()

    words = "cannot be written: File too large (EFBIG)", f"records 0 to {first - 1} safe"
    said = assert_refused(process, 4, str(rig.journal()), *words)
    assert f'ERROR -250,"{said}"' in rig.rest()
    assert [tone.cut for tone in rig.served.board.played] == [True]
    assert len(read_journal(rig.journal()).records) == first
    assert replay_journal(rig.journal()).code == UNFINISHED


def test_a_session_goes_on_when_the_disk_has_room_again(rig: Rig, undisturbed: Path) -> None:
    limit = undisturbed.stat().st_size // 2
    process = rig.start(wrapper=[sys.executable, "-c", LIMITED, str(limit)])
    rig.begin()
    assert_refused(process, 4, "cannot be written", "see to the disk, then resume the journal")
    recorded = rig.journal().read_bytes()
    finish(rig)
    assert rig.journal().read_bytes().startswith(recorded)
    assert_finished_like(undisturbed, rig)


def test_no_test_is_begun_on_a_full_disk(rig: Rig) -> None:
    rig.start(wrapper=[sys.executable, "-c", LIMITED, "300"])
    rig.operator.greet()
    answer = rig.operator.ask("SESS:STAR LEFT,SEED=3")
    assert answer.startswith("ERROR -250,")
    assert "File too large (EFBIG)" in answer
    assert "no test was begun" in answer
    assert rig.operator.ask("SESS:STAT?").startswith("state=idle")
    assert rig.served.board.played == []
    assert not [*rig.data.glob("*.journal")]


def test_what_is_no_data_directory_is_named(rig: Rig) -> None:
    rig.data.touch()
    assert_refused(rig.start(), 2, f"data directory {str(rig.data)!r} cannot be written: ")


def test_a_damaged_journal_is_reported_and_left_and_a_new_test_can_begin(
    rig: Rig, undisturbed: Path
) -> None:
    content = bytearray(undisturbed.read_bytes())
    content[len(content) // 2] ^= 4
    rig.data.mkdir()
    rig.journal().write_bytes(content)
    rig.begin()
    errors = rig.errors()
    assert errors.startswith("102,")
    assert "damaged at line" in errors
    assert "it is left as it is" in errors
    assert rig.journal().read_bytes() == content
    assert rig.journal(2).exists()


# The console


def test_a_console_that_is_pulled_and_put_in_again(rig: Rig, undisturbed: Path) -> None:
    rig.begin()
    rig.until("! tone number=4")
    os.write(rig.console._master, b"SESS:ABO")  # half typed
    rig.wait(lambda: len(rig.served.board.played) > 4)
    rig.new_console()
    rig.wait(lambda: is_complete(rig.journal()))

    assert "state=finished" in rig.operator.greet()
    errors = rig.errors()
    assert errors.startswith("-241,")
    assert "is gone" in errors
    assert len(errors.splitlines()) == 1, "the half typed line is forgotten"
    assert_finished_like(undisturbed, rig)


@pytest.mark.parametrize("typed", [b"HELP\n", b"\x00\xff nonsense \x07\r\n"])
def test_a_console_that_nobody_reads_disturbs_no_test(
    rig: Rig, undisturbed: Path, typed: bytes
) -> None:
    """Somebody, or some machine, types without end."""
    rig.begin()
    os.set_blocking(rig.console._master, False)
    lines = itertools.repeat(typed)

    def is_over() -> bool:
        with suppress(BlockingIOError):  # it takes no more
            os.write(rig.console._master, b"".join(itertools.islice(lines, 20)))
        return is_complete(rig.journal())

    rig.wait(is_over)
    assert_finished_like(undisturbed, rig)
    rig.rest()
    assert "state=finished" in rig.operator.greet()
