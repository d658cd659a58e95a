"""Masking from end to end: a listener whose ears hear for each other, over the wire, and replayed.

The listener of the simulator hears with the better ear: N1 on the right, N6 on the left, 50 dB
between them.
"""

from pathlib import Path
from typing import Any

import pytest

from device.simulator.audiograms import audiogram_named
from device.simulator.simulated_board import PlayedTone, SimulatedBoard
from device.simulator.virtual_clock import S
from device.simulator.world import World
from device.tone_generator.server import ToneGenerator
from device.tone_generator.sounding import RefusedError
from firmware_py.calibration.calibration import NOISE_CORRECTION
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.presenting.presenter import PAUSE_BEFORE
from firmware_py.session.masking import INSERT, KINDS
from firmware_py.session.plateau import CHECKS_MAX
from firmware_py.terms.outcomes import MaskingMark, Outcome
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import AIR, AUDIOGRAM_FREQUENCIES_HZ, LEFT, RIGHT, Route
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.calibration.calibrations import CalibratedBoard, calibration, on_file
from tests.firmware.whole_sessions import (
    a_listener,
    asked_again_though_answered,
    records_of,
    result_of,
    run_session,
    stimuli_of,
)
from tests.said import each_said, reason_words

# They ask the same sessions, which are run once.
pytestmark = [pytest.mark.usefixtures("quick_disk"), pytest.mark.xdist_group("masked device")]

EARS = "N1,N6"
TRUTH = {str(ear): audiogram for ear, audiogram in audiogram_named(EARS).items()}


@pytest.fixture(scope="module")
def masked_session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_session(tmp_path_factory.mktemp("masked"), a_listener(EARS))


@pytest.fixture(scope="module")
def shadow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = {"masking": "off", "first_ear": RIGHT}
    return run_session(tmp_path_factory.mktemp("off"), a_listener(EARS), settings)


def ear_of(journal: Path, ear: str) -> dict[str, Any]:
    (found,) = (each for each in result_of(journal)["ears"] if each["ear"] == ear)
    return dict(found)


def errors_db(journal: Path, ear: str) -> list[float]:
    """Return found minus true, where a threshold was found."""
    return [
        each["threshold_db_hl"] - TRUTH[ear].threshold_db_hl(each["frequency_hz"])
        for each in ear_of(journal, ear)["thresholds"]
        if each["threshold_db_hl"] is not None
    ]


def marks(journal: Path, ear: str) -> set[str]:
    """The marks of masking, but of what is said to be explained by a gap; inferred has none."""
    explained = "".join(
        each for each in each_said(result_of(journal)["remarks"]) if "air-bone gap" in each
    )
    return {
        each["masking"]
        for each in ear_of(journal, ear)["thresholds"]
        if each["mark"] != Outcome.INFERRED
        and (each["masking"] != MaskingMark.UNCERTAIN or str(each["frequency_hz"]) not in explained)
    }


def masks_of(journal: Path) -> list[dict[str, Any]]:
    return [action for action in records_of(journal, "output") if action["what"] == "mask"]


def test_a_poor_ear_is_found_with_masking_and_hidden_without(
    masked_session: Path, shadow: Path
) -> None:
    """The table of bench/README.md (`pytest -s` prints it)."""
    for name, journal in (("automatic", masked_session), ("off", shadow)):
        found = (each["threshold_db_hl"] for each in ear_of(journal, LEFT)["thresholds"])
        print(name, ["none" if level is None else round(level) for level in found])

    assert max(map(abs, errors_db(masked_session, LEFT))) < 6.0
    assert max(map(abs, errors_db(masked_session, RIGHT))) < 6.0
    assert max(errors_db(shadow, LEFT)) < -7.5, "the right ear heard it all"
    assert marks(masked_session, LEFT) == {MaskingMark.MASKED}
    assert marks(masked_session, RIGHT) == {MaskingMark.NOT_MASKED}
    assert masks_of(shadow) == []


def test_every_masked_tone_is_in_the_journal_and_comes_out_again(masked_session: Path) -> None:
    masks = {action["number"]: action for action in masks_of(masked_session)}
    left = [
        tone
        for tone in stimuli_of(masked_session)
        if tone["ear"] == LEFT and tone["number"] in masks
    ]

    crossing = 0
    for tone in left:
        mask = masks[tone["number"]]
        assert (mask["ear"], mask["frequency_hz"]) == (RIGHT, tone["frequency_hz"])
        level = f"{tone['level_db_hl']:g} dB HL"
        crossing += reason_words(mask["why"]).startswith(f"{level} reaches the right ear at")
    assert crossing == ear_of(masked_session, LEFT)["tones_masked"] > 20
    assert len(left) - crossing <= CHECKS_MAX, "the others look whether it is the right ear"
    assert replay_journal(masked_session).code == IDENTICAL
    assert asked_again_though_answered(masked_session) == []


@pytest.mark.parametrize("at_number", [pytest.param(50, marks=pytest.mark.thorough), 58])
def test_a_killed_firmware_goes_on_with_the_noise(
    tmp_path: Path, masked_session: Path, at_number: int
) -> None:
    world = World(tmp_path / "data", a_listener(EARS))
    world.begin()
    world.until(lambda: world.runner.session is not None
                and world.runner.session.test.number == at_number
                and world.board.noise is not None)  # fmt: skip
    other = world.fork(tmp_path / "again")
    world.close()
    other.end()

    assert stimuli_of(other.journal()) == stimuli_of(masked_session)
    assert result_of(other.journal())["ears"] == result_of(masked_session)["ears"]
    assert other.board.noise is None
    assert replay_journal(other.journal()).code == IDENTICAL


def number_of(tone: PlayedTone) -> int:
    return int(tone.tone_id.partition("-")[2])


def test_no_tone_goes_without_its_noise_when_the_host_stands_still_between_them(
    tmp_path: Path, masked_session: Path
) -> None:
    """A slow card is enough: the board ends the noise after a second, and nobody is told."""
    world = World(tmp_path / "data", a_listener(EARS))
    world.begin()
    stood_still: set[int] = set()
    while (session := world.runner.session) is not None:
        test = session.test
        if test.state == PAUSE_BEFORE and world.board.noise and test.number not in stood_still:
            stood_still.add(test.number)
            world.clock.us += 3 * S // 2
        world.step()
    world.close()

    masks = {mask["number"] for mask in masks_of(world.journal())}
    with_noise = {number_of(tone) for tone in world.board.played if tone.noise}
    assert with_noise == masks & {number_of(tone) for tone in world.board.played}
    assert len(stood_still) > 10
    assert stimuli_of(world.journal()) == stimuli_of(masked_session)
    assert result_of(world.journal())["ears"] == result_of(masked_session)["ears"]
    assert replay_journal(world.journal()).code == IDENTICAL


class ServerWithoutEnd(ToneGenerator):
    """Always says that its noise has ended."""

    def _play(self, values: dict[str, Any]) -> dict[str, Any]:
        self.sounds.noise_lost = self.sounds.noise_ear >= 0
        return super()._play(values)


def test_a_board_that_always_says_that_its_noise_has_ended_is_not_asked_for_ever(
    tmp_path: Path,
) -> None:
    world = with_program(tmp_path / "data", ServerWithoutEnd)
    assert result_of(world.journal())["outcome"] == "failed"
    number = result_of(world.journal())["presentations"]
    why = reason(Code.NOT_PLAYED_BUT, number=number, why=reason(Code.NOISE_ENDED))
    assert ("finished", {"outcome": "failed", "why": (why,)}) in world.told
    assert replay_journal(world.journal()).code == IDENTICAL


def test_a_board_without_noise_is_known_by_its_answer_and_marked(tmp_path: Path) -> None:
    board = SimulatedBoard(a_listener(EARS), boot=0xB007, has_noise=False)
    world = World(tmp_path / "data", a_listener(EARS), board=board)
    world.live()
    remarks = result_of(world.journal())["remarks"]

    assert world.client.counters.garbled == world.client.counters.repeats == 0
    assert masks_of(world.journal()) == []
    assert marks(world.journal(), LEFT) == {MaskingMark.UNCERTAIN}
    assert any(each.get("why") == {"code": "no-noise"} for each in remarks)


class ModestServer(ToneGenerator):
    """Allows some of the noise that it is asked for, and less than its calibration says."""

    NOISE_LIMIT_DBFS = -52.0

    def _mask(self, values: dict[str, Any]) -> dict[str, Any]:
        if values["dbfs"] > self.NOISE_LIMIT_DBFS:
            raise RefusedError("limit")
        return super()._mask(values)


def with_program(directory: Path, program: type[ToneGenerator]) -> World:
    """Run a whole session with a board that runs this program."""

    class Board(SimulatedBoard):
        server_type = program

    listener = a_listener(EARS)
    world = World(directory, listener, board=Board(listener, boot=0xB007))
    world.live()
    return world


def test_a_tone_whose_noise_is_refused_is_marked_and_has_not_that_of_the_tone_before(
    tmp_path: Path,
) -> None:
    world = with_program(tmp_path / "data", ModestServer)
    refused = [event for event in records_of(world.journal(), "input") if "why" in event]
    unmasked = {about["number"] for what, about in world.told if what == "unmasked"}
    with_noise = {
        number_of(tone) for tone in world.board.played if tone.noise and tone.noise.ear != tone.ear
    }

    assert {(event["what"], reason_words(event["why"])) for event in refused} == {
        ("noise-refused", "the tone generator refused the noise: limit")
    }
    assert MaskingMark.UNCERTAIN in marks(world.journal(), LEFT)
    assert "refused the noise: limit" in reason_words(result_of(world.journal())["remarks"])
    assert len(unmasked & {number_of(tone) for tone in world.board.played}) > 5
    assert len(with_noise) == ear_of(world.journal(), LEFT)["tones_masked"] > 5
    assert unmasked.isdisjoint(with_noise)
    assert result_of(world.journal())["outcome"] == "complete"
    assert replay_journal(world.journal()).code == IDENTICAL


def test_calibrated_noise_is_as_loud_as_it_has_to_be_and_within_what_was_measured(
    tmp_path: Path,
) -> None:
    truth = calibration()
    board = CalibratedBoard(a_listener(EARS), truth)
    world = World(tmp_path / "data", a_listener(EARS), calibration=on_file(), board=board)
    world.live()
    masks = {action["number"]: action for action in masks_of(world.journal())}
    tones = [tone for tone in board.played if tone.noise is not None]

    assert len(tones) > 20
    for tone in tones:
        assert tone.noise is not None
        assert tone.noise.ear == "right"
        level_db_spl = board.level_db_spl(tone.noise)
        frequency_hz = tone.frequency_hz
        wanted_db_hl = masks[number_of(tone)]["level_db_hl"]
        wanted_db_spl = truth.retspl_db_spl[AIR].at(frequency_hz) + NOISE_CORRECTION.at(
            frequency_hz
        )
        assert level_db_spl == pytest.approx(wanted_db_hl + wanted_db_spl, abs=0.02)
        assert level_db_spl <= truth.level_max_db_spl[Route("right")].at(frequency_hz) + 1e-6


@pytest.mark.parametrize("ear", [LEFT, RIGHT])
@pytest.mark.parametrize("frequency_hz", AUDIOGRAM_FREQUENCIES_HZ)
def test_the_highest_noise_is_within_limit_and_wire(ear: str, frequency_hz: float) -> None:
    for in_force in (CalibrationInForce(), on_file().judge(calibration().date)):
        highest_db_hl = in_force.highest_noise_db_hl(Route(ear), frequency_hz)
        level_dbfs = in_force.noise_dbfs(Route(ear), frequency_hz, highest_db_hl)

        assert -12.0 < level_dbfs <= -10.0


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_earphones_is_that_of_the_calibration(kind: str) -> None:
    in_force = on_file({"transducer.kind": kind}).judge(calibration().date)
    earphones = CalibrationInForce.from_record(in_force.as_record()).earphones

    assert earphones.attenuation_db(500.0) == (55.0 if kind == INSERT else 40.0)
    assert earphones.attenuation_db(4000.0) == (50.0 if kind == INSERT else 40.0)
