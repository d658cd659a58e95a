"""The demonstration, from the command line: in this process, and once with all of its own."""

import fcntl
import html
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import pytest

from device.hearing_aid.fit_file import read_fit
from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from firmware_py.console.wording import readable
from firmware_py.journal import read_journal
from firmware_py.sessions.archive import recorded_result
from firmware_py.terms.outcomes import MaskingMark, Outcome
from firmware_py.terms.results import SessionResult, ThresholdResult
from firmware_py.terms.route import BONE, Route
from host_tools.commands import demo as demo_module
from host_tools.commands.replay.what_if import BONE_LEFT_OUT, Comparison, Supposition
from host_tools.commands.replay.what_if_picture import comparison_sheet
from host_tools.devices import live
from host_tools.devices.board_program import installed_pico
from host_tools.errors import HostError
from host_tools.main import main, parser
from host_tools.recordings.recorded_session import Trial, replay_session
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.firmware.whole_sessions import asked_again_though_answered, result_of
from tests.host.bench import Benches
from tests.host.journals import BOTH, GpPta
from tests.said import reason_words

REPO: Final = Path(__file__).parents[3]
WAIT_S_MAX: Final = 120.0  # on a very busy machine


class Said(NamedTuple):
    stdout: str
    stderr: str


Demo = Callable[..., Said]
JOURNAL: Final = "session-000001.journal"
ANSWER: Final = re.compile(r"^ +\d+  (left|right) ", re.MULTILINE)


def command(*arguments: str | Path) -> list[str]:
    words = [sys.executable, "-m", "host_tools.main", "demo", "--speed", "100", "--json"]
    return [*words, *map(str, arguments)]


def in_processes(*arguments: str | Path, code: int = 0) -> Said:
    done = subprocess.run(
        command(*arguments), cwd=REPO, capture_output=True, text=True, timeout=WAIT_S_MAX,
        check=False,
    )  # fmt: skip
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return Said(done.stdout, done.stderr)


@pytest.fixture
def demo(benches: Benches, gp_pta: GpPta) -> Demo:
    def run(*arguments: str | Path, code: int = 0) -> Said:
        found, *said = gp_pta("demo", "--json", *arguments)
        assert found == code, said
        return Said(*said)

    return run


def summary_of(done: Said) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    told = {"journal", "trials", "rmse_db", "replay_identical", "seconds"}
    assert set(summary) - {"routes"} == told
    return summary


def test_both_ears_are_measured_well_with_few_tones_and_replayed_and_it_is_said_why_they_ended(
    demo: Demo, tmp_path: Path
) -> None:
    done = demo("--audiogram", "S2", "--seed", "3", "--out", tmp_path)
    summary = summary_of(done)

    assert summary["replay_identical"] is True
    assert summary["rmse_db"] < 4.0
    journal = Path(summary["journal"])
    assert journal == tmp_path / JOURNAL
    ears = result_of(journal)["ears"]
    assert {ear["ear"] for ear in ears} == {"left", "right"}
    assert max(ear["tones"] for ear in ears) <= 48
    assert summary["trials"] == sum(ear["tones"] for ear in ears)
    assert len(ANSWER.findall(done.stdout)) >= summary["trials"], "every answer was shown"
    assert "every stimulus and the result came out bit for bit" in done.stdout
    assert done.stderr == ""
    check_ends(done, ears)


def test_a_listener_with_two_buttons_is_measured_and_shown(demo: Demo, tmp_path: Path) -> None:
    done = demo(
        "--audiogram", "N4", "--ear", "left", "--unsure-half-width", "3", "--seed", "2",
        "--out", tmp_path,
    )  # fmt: skip
    summary = summary_of(done)
    journal = Path(summary["journal"])
    (ear,) = result_of(journal)["ears"]
    shown = re.findall(r"^ +\d+  left .* unsure ", done.stdout, re.MULTILINE)

    assert read_journal(journal).header["settings"]["unsure_button"] is True
    assert summary["replay_identical"] is True
    assert summary["rmse_db"] < 5.0
    assert len(shown) == ear["tones_unsure"] + ear["unsure_alarms"] > 5
    assert f"left ear, {ear['tones']} tones ({ear['tones_unsure']} unsure), measured" in done.stdout
    assert f"{ear['tones']} tones ({ear['tones_unsure']} answered unsure) from" in done.stdout


def test_both_routes_are_measured_and_bone_is_told_apart(demo: Demo, tmp_path: Path) -> None:
    """A right ear with a conductive loss: its bone needs noise, and is not taken for air."""
    done = demo(
        "--audiogram", "N3,N1", "--routes", "air,bone", "--air-bone-gap", "right=35",
        "--out", tmp_path,
    )  # fmt: skip
    summary = summary_of(done)
    (bone,) = summary["routes"].values()
    ears = {ear.route: ear for ear in recorded_result(Path(summary["journal"])).result.ears}
    by_bone = [ear for route, ear in ears.items() if route.by_bone]

    assert [*summary["routes"]] == ["bone"]
    assert summary["replay_identical"] is True
    assert summary["rmse_db"] < 4.0
    assert len(by_bone) == 2
    right = ears[Route("right", BONE)]
    measured = [found for found in right.thresholds if found.mark == Outcome.MEASURED]
    assert len(measured) == 4
    assert all(found.masking == MaskingMark.MASKED for found in measured)
    assert right.tones_masked >= 4, "each frequency rests on a tone with noise"
    assert bone["tones"] == sum(ear.tones for ear in by_bone) > 15
    assert bone["rmse_db"] < 8.0, "by more than 30 dB where the gap is forgotten"
    # A tone takes .8 s and more; the operator takes none of this time, which is the devices'.
    assert 0.8 * bone["tones"] < bone["seconds"] < 4.0 * bone["tones"]
    # The left ear with both open, the right one with noise; and whatever is asked anew for it.
    placed = done.stdout.count("the test goes on")
    assert placed == done.stdout.count("the test is paused") >= 2
    said = " ".join(done.stdout.split())
    assert f"Bone conduction took {bone['tones']} tones" in said
    assert re.search(r"Right ear: (conductive|mixed) loss; mean air-bone gap", said)
    check_that_another_model_is_given_air_alone(Path(summary["journal"]))


def check_that_another_model_is_given_air_alone(journal: Path) -> None:
    """Answers by bone belong to what air told of the ear, which another model tells otherwise."""
    same = Comparison.of(replay_session(journal), Supposition(profile="default"))
    told = json.dumps(comparison_sheet(same, ""))

    assert [ear.route for ear in same.ears] == [Route("right"), Route("left")]
    assert same.rms_db == 0.0
    assert [*same.remarks] == [BONE_LEFT_OUT]
    assert BONE_LEFT_OUT in same.lines()
    assert BONE_LEFT_OUT in told
    assert BONE_LEFT_OUT in same.as_json()["remarks"]


@pytest.mark.parametrize(("tones_masked", "wanted"), [(4, (35.0, 45.0)), (0, (25.0, 25.0))])
def test_by_bone_there_is_the_better_cochlea_to_find_unless_noise_is_in_the_other(
    tones_masked: int, wanted: tuple[float, float]
) -> None:
    by_air = {
        "right": Audiogram((500.0, 4000.0), (60.0, 70.0)), "left": Audiogram((1000.0,), (20.0,)),
    }  # fmt: skip
    head = Head({"right": 25.0}, skull_attenuation_db=5.0)
    found = [
        ThresholdResult(hz, Outcome.MEASURED, 30.0, 1.0, 28.0, 32.0, None)
        for hz in (250, 500, 4000)
    ]
    (ear, *_) = recorded_result(BOTH).result.ears
    ear = replace(ear, route=Route("right", BONE), thresholds=(*found,), tones_masked=tones_masked)
    truth = demo_module.truth_of(ear, by_air, head)
    assert (truth.frequencies_hz, truth.thresholds_db_hl) == ((500.0, 4000.0), wanted)


def answer(route: Route, at_s: float) -> Trial:
    return Trial(1, route, "measure", 1000.0, 30.0, True, int(1e6 * at_s), None)


def test_a_machine_that_is_too_slow_for_the_speed_is_named_before_the_listener_is() -> None:
    def words(seconds: float, speed: float) -> str:
        answers = [answer(Route("right"), n * seconds) for n in range(1, 20)]
        return demo_module.lag_words(answers, speed)

    assert "too slow for speed 200: a tone took 9 s" in words(8.8, 200.0)
    assert words(8.8, 40.0) == "", "a listener may take so long"
    assert words(2.3, 200.0) == demo_module.lag_words([], 200.0) == ""


def test_what_passes_before_an_answer_is_of_its_route() -> None:
    air, bone = Route("right"), Route("right", BONE)
    answers = [answer(air, 2.0), answer(bone, 14.5), answer(air, 16.0)]
    assert demo_module.seconds_by(answers) == {"air": 3.5, "bone": 12.5}
    assert demo_module.seconds_by([]) == {}


ENDS = ("low", "high")


def check_ends(done: Said, ears: list[dict[str, Any]]) -> None:
    for ear in ears:
        # As the device tells it: within the limits of the test.
        ends = [
            [min(max(t[f"{end}_db_hl"], t["floor_db_hl"]), t["ceiling_db_hl"]) for end in ENDS]
            for t in ear["thresholds"]
        ]
        widths = [f"{(high - low) / 2:5.1f}" for low, high in ends]
        why = f"{ear['ear']} ear measured: {readable(reason_words(ear['why']))}"
        assert why in " ".join(done.stdout.split())
        assert "     ±" + "".join(widths) in done.stdout
    assert re.search(r"  ± ?\d+\.\d dB", done.stdout)
    assert re.search(r"\+- *\d", done.stdout) is None
    assert "+ the simulated listener's true threshold\n" in done.stdout
    assert "\x1b" not in done.stdout, "there are no colours in a pipe"


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """Return what has a recorded session, of which so many bytes are there, be measured."""

    def have(size: int | None) -> None:
        def measure(arguments: object, data: Path, screen: object) -> tuple[SessionResult, bool]:
            (data / JOURNAL).write_bytes(BOTH.read_bytes()[:size])
            return recorded_result(BOTH).result, True

        monkeypatch.setattr(demo_module, "_measure", measure)

    return have


def test_without_openmha_an_aid_is_fitted_and_it_is_said_first_that_nobody_tunes_it(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorded: Callable[..., None]
) -> None:
    recorded(None)
    monkeypatch.setenv("GP_PTA_OPENMHA", str(tmp_path / "none"))
    monkeypatch.setenv("COLUMNS", "500")
    done = demo("--fit", "--out", tmp_path)
    first, *_, last, summary = done.stdout.splitlines()
    why = f"there is no openMHA in '{tmp_path / 'none'}'; in a checkout: make aid (420 MB); or"

    assert first.startswith(f"--fit prescribes and does not tune: {why}")
    assert last.startswith(f"NAL-R prescribes; in {tmp_path}: aid.fit, fit.svg; nobody tunes it: ")
    assert "tuning" not in json.loads(summary)
    assert {ear.ear for ear in read_fit(tmp_path / "aid.fit").ears} == {"left", "right"}
    assert (tmp_path / "fit.svg").read_text("utf-8").startswith("<svg ")
    assert not [*tmp_path.glob("tun*")]


def test_a_picture_that_cannot_be_written_in_the_end_is_named(
    demo: Demo, own_temporary: Path, recorded: Callable[..., None]
) -> None:
    recorded(None)
    done = demo("--picture", "/proc/x.svg", code=2)
    assert done.stderr == "gp-pta: /proc/x.svg cannot be written: No such file or directory\n"


@pytest.mark.parametrize(("terminal", "columns"), [(True, 60), (True, 200), (False, 60)])
def test_a_picture_is_as_wide_as_the_screen_and_a_pipe_has_no_colours(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool, columns: int
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    of_screen = {"COLUMNS": columns, "TTY_COMPATIBLE": int(terminal), "TERM": "xterm"}
    for name, value in of_screen.items():
        monkeypatch.setenv(name, str(value))
    picture = tmp_path / "screen.svg"
    said = demo("--ear", "left", "--lapse-rate", "1", "--out", tmp_path, "--picture", picture)
    lines = re.sub(r"\x1b\[[\d;]*m", "", said.stdout).splitlines()[:-1]  # the last is JSON
    wide = min(columns, demo_module.PICTURE_COLUMNS) if terminal else demo_module.PICTURE_COLUMNS
    assert 40 < max(map(len, lines)) <= wide
    assert ("\x1b" in said.stdout) == terminal
    assert ("\x1b[1;34mleft ear no-response" in said.stdout) == terminal
    shown = html.unescape(re.sub("<[^>]*>", "", picture.read_text("utf-8"))).split()
    assert set("".join(lines).split()[:20]) <= {*shown}


@pytest.fixture
def own_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_without_a_place_for_it_the_journal_stays_where_the_summary_says(
    demo: Demo, own_temporary: Path
) -> None:
    done = demo("--ear", "left", "--lapse-rate", "1")
    journal = Path(summary_of(done)["journal"])

    assert journal.is_relative_to(own_temporary)
    assert replay_journal(journal).code == IDENTICAL
    assert summary_of(done)["rmse_db"] is None, "nobody answered"
    assert "no tone was ever answered: check earphones and button" in done.stdout
    assert "no-response" in done.stdout


def test_a_journal_that_does_not_come_out_again_stays_to_be_looked_at(
    demo: Demo, own_temporary: Path, recorded: Callable[..., None]
) -> None:
    recorded(9000)
    summary = summary_of(demo(code=3))
    (kept,) = own_temporary.glob(f"*/{JOURNAL}")
    assert summary["journal"] == str(kept)


def test_what_the_emulated_board_lacks_is_named(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MICROPYTHON_UF2", "/none.uf2")
    done = demo("--board", "emulated", "--speed", "1", "--out", tmp_path, code=2)
    assert done.stderr == (
        "gp-pta: the emulated board needs MicroPython: MICROPYTHON_UF2 is '/none.uf2', and there "
        "is no such file\n"
    )
    assert main(["simulate", "--board", "emulated", "--clock", str(tmp_path / "time")]) == 2
    assert not (tmp_path / "time").exists(), "a time is gone with its board"


def test_an_emulator_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rp2040py", None)
    with pytest.raises(HostError, match=r"needs rp2040py, not installed: .*\[emulator\]'"):
        installed_pico()


def begin(*options: str, refused: str = "") -> list[str]:
    """Return what is typed to begin a test; one line is refused."""
    typed: list[str] = []

    def ask(line: str) -> str:
        typed.append(line)
        return 'ERROR -224,"no"' if line == refused else "OK"

    operator: Any = SimpleNamespace(greet=lambda: "state=idle", ask=ask)
    arguments = parser().parse_args(["demo", *options])
    settings, screen = demo_module._settings(arguments), demo_module._screen(None)
    live.begin(operator, arguments, settings, screen)
    return typed


@pytest.mark.parametrize(
    ("options", "typed"),
    [
        ([], ["SESS:STAR EAR=BOTH,SEED=1"]),
        (["--age", "67.5", "--sex", "F"], ["SESS:STAR EAR=BOTH,AGE=67.5,SEX=F,SEED=1"]),
        (["--age", "0"], ["SESS:STAR EAR=BOTH,AGE=0,SEED=1"]),
        (["--sex", "m", "--ear", "left", "--seed", "7"], ["SESS:STAR EAR=LEFT,SEX=M,SEED=7"]),
        (
            ["--unsure-half-width", "2.5"],
            ["SETT unsure_button,true", "SESS:STAR EAR=BOTH,SEED=1"],
        ),
        (["--masking", "off"], ["SETT masking,off", "SESS:STAR EAR=BOTH,SEED=1"]),
        (["--routes", "air,bone"], ["SETT routes,air;bone", "SESS:STAR EAR=BOTH,SEED=1"]),
    ],
)
def test_a_test_is_begun_as_an_operator_would(options: list[str], typed: list[str]) -> None:
    assert begin(*options) == typed


@pytest.mark.parametrize("refused", ["SETT unsure_button,true", "SESS:STAR EAR=BOTH,SEX=F,SEED=1"])
def test_what_the_firmware_refuses_at_the_beginning_is_passed_on(refused: str) -> None:
    with pytest.raises(HostError, match='the firmware did not start a test: ERROR -224,"no"'):
        begin("--unsure-half-width", "2", "--sex", "F", refused=refused)


def check_kills(done: Said, two_buttons: bool) -> None:
    journal = Path(summary_of(done)["journal"])

    assert done.stdout.count("started again") == 3
    goes_on = re.findall(r"the session goes on: left ear, tones so far: (\d+)", done.stdout)
    assert len(goes_on) >= 2, "unless it was over by then"
    assert replay_journal(journal).code == IDENTICAL
    assert result_of(journal)["outcome"] == "complete"
    assert (result_of(journal)["ears"][0]["tones_unsure"] > 3) == two_buttons
    assert asked_again_though_answered(journal) == []


KILLED: Final = ("--audiogram", "N4", "--ear", "left", "--kill", "3")


@pytest.mark.thorough
def test_a_firmware_that_is_killed_now_and_then(tmp_path: Path) -> None:
    """The whole demonstration, as its three processes."""
    check_kills(in_processes(*KILLED, "--out", tmp_path), two_buttons=False)


def test_a_firmware_with_two_buttons_that_is_killed_now_and_then(
    demo: Demo, tmp_path: Path
) -> None:
    done = demo(*KILLED, "--out", tmp_path, "--unsure-half-width", "4")
    check_kills(done, two_buttons=True)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("routes", "until"), [("air", ANSWER), ("air,bone", re.compile("put the bone vibrator"))]
)
def test_a_demonstration_that_is_killed_leaves_nobody_and_is_gone_on_with(
    routes: str, until: re.Pattern[str], demo: Demo, tmp_path: Path
) -> None:
    asked = ("--audiogram", "N4", "--ear", "left", "--routes", routes, "--out", tmp_path)
    with subprocess.Popen(
        command(*asked), cwd=REPO, stdout=subprocess.PIPE, text=True
    ) as killed:  # fmt: skip
        assert killed.stdout is not None
        while not until.match(killed.stdout.readline()):
            assert killed.poll() is None
        children = children_of(killed.pid)
        killed.kill()
    assert len(children) == 2, "simulator and firmware"
    wait_for_the_end_of(children)
    journal = tmp_path / JOURNAL
    recorded = read_journal(journal).records
    assert len(recorded) > 5

    done = demo(*asked)

    assert re.search(
        r"going on with the unfinished session in this directory: left ear, tones so far: \d+",
        done.stdout,
    )
    assert summary_of(done)["journal"] == str(journal)
    assert read_journal(journal).records[: len(recorded)] == recorded
    assert replay_journal(journal).code == IDENTICAL
    assert asked_again_though_answered(journal) == []


def children_of(parent: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            pid, _, rest = status.read_text().partition(" ")
            if int(rest.rpartition(")")[2].split()[1]) == parent:
                found.append(int(pid))
    return found


def wait_for_the_end_of(processes: Iterable[int]) -> None:
    """They are told by the kernel that their parent is no more."""
    until_s = time.monotonic() + WAIT_S_MAX
    for process in processes:
        while is_running(process):
            assert time.monotonic() < until_s, f"process {process} was left behind"
            time.sleep(0.02)


def is_running(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.thorough
def test_what_the_firmware_says_when_it_ends_is_passed_on(tmp_path: Path) -> None:
    lock = os.open(tmp_path / "firmware.lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        done = in_processes("--out", tmp_path, code=2)
    finally:
        os.close(lock)
    assert done.stderr == (
        "gp-pta: the firmware ended with exit code 2: gp-pta-device: "
        f"data directory '{tmp_path}' is in use by another firmware\n"
    )


@pytest.mark.thorough
def test_an_interrupted_demonstration_ends_with_the_code_for_that(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("--ear", "left", "--out", tmp_path), cwd=REPO, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        # What started the tests may have told them to ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as interrupted:  # fmt: skip
        assert interrupted.stdout is not None
        while not ANSWER.match(interrupted.stdout.readline()):
            assert interrupted.poll() is None
        os.killpg(interrupted.pid, signal.SIGINT)  # as a terminal does
        _, words = interrupted.communicate(timeout=WAIT_S_MAX)
    assert (interrupted.returncode, words) == (130, "")
    assert replay_journal(tmp_path / JOURNAL).differences == []
