"""Lead a technician through the checks of a device, one after the other; none is passed over."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from device.calibration.before_wearing import AT_HZ
from device.calibration.check_bench import Check, Setup, Tone
from device.calibration.readings import ImplausibleError, MissedError
from firmware_py.calibration.checked import NOT_MEASURED, REMARK, UNITS
from firmware_py.calibration.fields import CalibrationError, check_text
from firmware_py.operator.meter_tone import DBFS_LIMITS
from firmware_py.terms.route import LEFT, RIGHT
from host_tools.commands.calibrate.asking import Ask, QuitError, Say
from host_tools.commands.calibrate.instrument import Sounds

SKIP: Final = "skip"
HOW: Final = (
    'Type each reading. Return plays its tone again; "skip" and a reason writes the check as not '
    'measured; "quit" ends.'
)

BEGIN: Final = "return, or skip and why: "
REFUSED: Final = "refused; "  # in front of why a check was given up
WHY: Final = "why is it not measured: "

T = TypeVar("T")


class SkipError(Exception):
    """The technician passes a check over, and says why."""


@dataclass
class Checking:
    """The bench of the checks."""

    sounds: Sounds
    ask: Ask
    say: Say
    setup: Setup
    kept: dict[str, dict[str, Any]]  # by name of the check, as the file will have it
    keep: Callable[[], None]  # called after every check
    refused: bool = False  # the check that is under way, once

    def go_through(self, checks: Iterable[Check], *, coupler: bool) -> None:
        """Make every check that was not made yet; without a coupler, those that need none."""
        due = [check for check in checks if coupler or not check.by_coupler]
        if any(check.name not in self.kept for check in due):
            self.say(HOW)
        for number, check in enumerate(due, 1):
            if check.name not in self.kept:
                self.say("")
                self.say(f"{number} of {len(due)}: {check.title}. {check.do}")
                self.say(f"Limit: {check.limit} ({check.source}).")
                self.kept[check.name] = self._outcome_of(check)
                self.say(f"{check.title}: {_words_of(self.kept[check.name])}")
                self.keep()
            self._note_levels(check)

    def _outcome_of(self, check: Check) -> dict[str, Any]:
        self.refused = False
        try:
            while True:
                while words := self._words(BEGIN):
                    self.say(f"{words!r}; allowed are return, skip and why, and quit")
                self.sounds.instrument.nobody_listens()
                try:
                    return check.figures(self)
                except ImplausibleError as error:
                    self.refused = True
                    self.say(f"refused: {error}; then again")
        except SkipError as why:
            return {NOT_MEASURED: str(why)}

    def _note_levels(self, check: Check) -> None:
        """Play nothing louder than a limit that was found, or what was not distorted any more."""
        limits_dbfs = self.sounds.limits_dbfs
        for ear in (LEFT, RIGHT):
            found_dbfs = self.kept[check.name].get(f"{ear}_dbfs")
            if found_dbfs is not None:
                route = f"{ear}{check.via}"
                limits_dbfs[route] = min(found_dbfs, limits_dbfs.get(route, found_dbfs))

    # What a check asks for

    def limit_dbfs(self, ear: str, from_dbfs: float) -> float:
        limits_dbfs = self.sounds.limits_dbfs
        before_dbfs = limits_dbfs.pop(ear, self.setup.safe_dbfs)
        found_dbfs = self.sounds.play(ear, AT_HZ, from_dbfs, DBFS_LIMITS[0])
        self.sounds.instrument.stop()
        limits_dbfs[ear] = min(found_dbfs, before_dbfs)
        return found_dbfs

    def answer(self, tone: Tone, question: str, read: Callable[[str], T]) -> tuple[T, float]:
        lowest_dbfs = min(tone.level_dbfs, self.setup.soft_dbfs)
        while True:
            level_dbfs = self.sounds.play(
                tone.route, tone.frequency_hz, tone.level_dbfs, lowest_dbfs, pulsed=tone.pulsed
            )
            where = f"{tone.route} {tone.frequency_hz} Hz at {level_dbfs:g} dBFS"
            words = self._words(f"{where}, {question}: ")
            self.sounds.instrument.stop()
            try:
                if words:
                    return read(words.lower()), level_dbfs
            except ImplausibleError as error:
                self.refused |= isinstance(error, MissedError)
                self.say(f"cannot be right: {error}; again")

    def _words(self, question: str) -> str:
        """Return what is answered; `SkipError` with a reason, or `QuitError`, if it is that."""
        words = self._asked(question)
        first, *rest = words.split(maxsplit=1) or [""]
        why = "".join(rest)
        while first.lower() == SKIP:
            why = why or self._asked(WHY)
            told = f"{REFUSED}{why}" if self.refused else why
            try:
                check_text("the reason", told if why else why)
            except CalibrationError as error:
                self.say(str(error))
                why = ""
            else:
                raise SkipError(told)
        return words

    def _asked(self, question: str) -> str:
        try:
            words = self.ask(question).strip()
        except EOFError:
            raise QuitError from None
        if words.lower().split()[:1] == ["quit"]:
            raise QuitError
        return words


def _words_of(outcome: dict[str, Any]) -> str:
    if why := outcome.get(NOT_MEASURED):
        return f"not measured, {why}"
    figures = []
    for key, value in outcome.items():
        name, _, unit = key.rpartition("_")
        if unit in UNITS:
            figures.append(f"{name.replace('_', ' ')} {value:g} {UNITS[unit]}")
    told = ", ".join(figures) or "as it should be"
    return f"{told}; remark: {outcome[REMARK]}" if REMARK in outcome else told
