"""From a session to a tuned hearing aid, with a simulated wearer: the second half of a demo."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from device.hearing_aid.chain import SAMPLE_RATE_HZ
from device.hearing_aid.fit_file import write_fit
from device.hearing_aid.openmha import Installation, OpenMhaError
from device.hearing_aid.sound import write_wav
from device.simulator.preferences import PEOPLE, SimulatedWearer, drawn_wish_db
from device.simulator.talker import synthetic_speech
from firmware_py.comparisons.result import TuningResult
from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.comparisons.tells import SpeechTold
from firmware_py.terms.route import LEFT, RIGHT
from firmware_py.terms.tells import Tell
from host_tools.catalogue import ENGLISH
from host_tools.commands.prescribe.ear_prescription import fit_of_ears, prescribe_session
from host_tools.commands.prescribe.from_session import Waived
from host_tools.commands.prescribe.paper import Sheet
from host_tools.commands.prescribe.tuned import Tuned
from host_tools.commands.replay.tuning import TuningVerdict, replay_tuning_journal
from host_tools.commands.replay.tuning_picture import draw_tuning
from host_tools.devices.live import show_verdict, teller
from host_tools.devices.processes import HearingAidProcess, Operator
from host_tools.devices.simulation import start_devices
from host_tools.devices.tuning import Person, finding_words, setting_of, show_result, tune
from host_tools.errors import HostError
from host_tools.recordings.heading import Heading
from host_tools.recordings.newest import TUNINGS, newest_in
from host_tools.recordings.recorded_session import read_true_session
from host_tools.terminal import show

if TYPE_CHECKING:
    from rich.console import Console

SPEECH_S: Final = 1.5
RULE: Final = "nal-r"
COUPLING: Final = "closed"
SIMULATED: Final = Heading(comments="A simulated listener, and a simulated wearer.")


def why_not_played() -> str:
    """Return why nothing can be played, and so nothing tuned, with what to do; "" if it can."""
    try:
        Installation()
    except OpenMhaError as error:
        return str(error)
    return ""


@dataclass(frozen=True)
class Fitting:
    """What came of the tuning."""

    result: TuningResult
    verdict: TuningVerdict
    wish_db: Sequence[float]


def fit_and_tune(
    arguments: argparse.Namespace,
    journal: Path,
    data: Path,
    screen: "Console",
) -> Fitting | None:
    """Prescribe from a session, and have a simulated person tune what was prescribed.

    Without openMHA the prescription is all there is, and None is returned. Fits, the journal of the
    tuning and the pictures go to `data`.
    """
    session = read_true_session(journal)
    # Nobody wears this aid; without a calibration all that is made of it says so.
    ears = prescribe_session(session, RULE, COUPLING, None, waived=Waived(uncalibrated=True))
    if {LEFT, RIGHT} - {ear.ear for ear in ears}:
        raise HostError("--fit: an aid has two ears, and one of them has no thresholds to fit")
    fit = fit_of_ears(ears)
    write_fit(data / "aid.fit", fit)
    Sheet(session, ears, fit).write(data / "fit.svg", SIMULATED, ENGLISH)
    screen.print()
    if why := why_not_played():
        words = f"{RULE.upper()} prescribes; in {data}: aid.fit, fit.svg; nobody tunes it: {why}"
        show(screen, words, soft_wrap=not screen.record)
        return None
    who = PEOPLE[arguments.person].words
    show(screen, f"{RULE.upper()} prescribes; {who}: the wearer, who is simulated")
    write_wav(
        data / "speech.wav",
        synthetic_speech(SPEECH_S, SAMPLE_RATE_HZ, arguments.seed),
        SAMPLE_RATE_HZ,
    )
    result, wish_db = _tune(arguments, data, screen)
    verdict = replay_tuning_journal(newest_in(data, TUNINGS))
    show_result(screen, result, wish_db)
    show_verdict(screen, verdict)
    tuned = Tuned(fit, verdict.header, result)
    write_fit(data / "tuned.fit", tuned.fit)
    Sheet(session, ears, fit, tuned=tuned).write(data / "tuned.svg", SIMULATED, ENGLISH)
    title = f"a simulated wearer tunes: {finding_words(result)}"
    draw_tuning(verdict.steps, data / "tuning.svg", title, wish_db)
    show(
        screen,
        f"in {data}: aid.fit, tuned.fit, fit.svg, tuned.svg, tuning.svg",
        soft_wrap=not screen.record,
    )
    return Fitting(result, verdict, wish_db)


def _tune(
    arguments: argparse.Namespace,
    data: Path,
    screen: "Console",
) -> tuple[TuningResult, Sequence[float]]:
    wish_db = drawn_wish_db([d.wish_sd_db for d in DIMENSIONS], arguments.seed)
    wearer = SimulatedWearer(wish_db, arguments.person, seed=arguments.seed)
    tell = teller(screen)
    aid = HearingAidProcess(
        data / "aid.fit", data / "speech.wav", ["--pace", str(arguments.speed)], tell
    )
    try:
        with start_devices(arguments, data, tell, aid.port) as bench:
            operator, start = Operator(bench.console, bench.firmware), {"SEED": arguments.seed}
            result = tune(operator, start, screen, aid, answering(wearer))
    finally:
        aid.end()
    return result, wearer.wish_db


def answering(wearer: SimulatedWearer) -> Person:
    """Return a person who answers at the console as soon as both sounds were begun."""
    heard: dict[str, list[float]] = {}

    def answer(what: str, told: Tell | None) -> str:
        if not isinstance(told, SpeechTold):
            return ""
        heard[told.place] = setting_of(told)
        if told.place != "second":
            return ""
        return f"TUNE:ANSW {wearer.answer(heard['first'], heard['second'])}"

    return answer
