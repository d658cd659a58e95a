"""A firmware, an emulated board, and a listener at its buttons."""

import time
from pathlib import Path

import numpy as np
import pytest

import tests.device.tone_generator.fakes  # noqa: F401 - before the program is imported
from device.emulator.emulated_board import EmulatedBoard
from device.simulator.head import Head
from device.simulator.serve import serve_in_thread
from device.simulator.world import World
from firmware_py.link import command
from firmware_py.platform.board_time import BoardTime
from firmware_py.terms.settings import Settings
from host_tools.devices.processes import ConsoleLine, FirmwareProcess, Operator
from tests.device.emulator.bench import MS, Bench
from tests.firmware.whole_sessions import a_listener, finish_and_place, result_of, stimuli_of

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("emulator-listener")]


@pytest.mark.parametrize("transducers", [[None], [None, "bone"]])
def test_a_whole_hearing_test(
    bench: Bench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    transducers: list[str | None],
) -> None:
    monkeypatch.setattr(command, "PING_INTERVAL_US", 850 * MS)  # the emulator is slow
    head = Head({"left": 30.0})
    listener = a_listener("N3", head=head)
    world = World(tmp_path, listener)
    board = EmulatedBoard(bench.pico, listener)
    world.board = board  # type: ignore[assignment]  # it has what a world needs
    world.begin(
        Settings(
            ears="left", tones_min=1, tones_max=20, stop_half_width_db=30.0, catch_rate=0.0,
            retest=False, pulses=1, pause_ms_min=500, pause_ms_max=500, response_window_ms=500,
            routes="air, bone" if "bone" in transducers else "air",
        )
    )  # fmt: skip
    finish_and_place(world)
    world.close()

    def truth_db_hl(transducer: str | None, frequency_hz: float) -> float:
        if transducer is None:
            return truths["left"].threshold_db_hl(frequency_hz)
        return head.bone_threshold_db_hl(truths, "left", frequency_hz)

    truths, stimuli = listener._thresholds, stimuli_of(world.journal())
    tested = result_of(world.journal())["ears"]
    assert [ear.get("transducer") for ear in tested] == transducers
    assert {stimulus.get("transducer") for stimulus in stimuli} == {*transducers}
    for ear, transducer in zip(tested, transducers, strict=True):
        errors_db = [
            found["threshold_db_hl"] - truth_db_hl(transducer, found["frequency_hz"])
            for found in ear["thresholds"]
            if found["threshold_db_hl"] is not None and 250 <= found["frequency_hz"] <= 6000
        ]
        print(f"{len(stimuli)} tones, {board.presses} presses, errors {np.round(errors_db, 1)} dB")
        assert np.sqrt(np.mean(np.square(errors_db))) < 12.0
    assert world.client.counters.events_missed == 0
    assert board.presses > 0


def test_a_firmware_waits_for_a_board_that_falls_behind(bench: Bench, tmp_path: Path) -> None:
    """Every 10 ms of it take 0.1 s and more, as where ten others have the processor."""

    def slowly(us: float) -> None:
        told.tell(us)
        time.sleep(0.1)

    path, console = tmp_path / "board-time", ConsoleLine()
    with (
        BoardTime.make(path) as told,
        serve_in_thread(EmulatedBoard(bench.pico, a_listener("N3"), slowly)) as port,
    ):
        firmware = FirmwareProcess(port, console.port, tmp_path / "data", 1.0, path)
        try:
            operator = Operator(console, firmware)
            operator.greet()
            assert "wire ok, 0 garbled, 0 repeated; board ok, pico" in operator.ask("*TST?")
            operator.ask("SYST:EXIT")
            assert firmware.wait() == 0
        finally:
            firmware.end()
            console.close()
