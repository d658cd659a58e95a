"""A prescription on the screen, as figures, and in files: the same one whatever it is made from."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from device.hearing_aid.fit import Fit, FitError
from device.hearing_aid.fit_file import read_fit
from firmware_py.findings.rows import Row, row
from firmware_py.paper.blocks import rows, section
from firmware_py.sessions.identity import Meeting, Rule, differences
from host_tools.catalogue import ENGLISH, language_of
from host_tools.commands.prescribe.ear_prescription import (
    EarPrescription,
    fit_of_ears,
    prescribe_ears,
)
from host_tools.commands.prescribe.exports import target_of
from host_tools.commands.prescribe.figures import as_json, both
from host_tools.commands.prescribe.paper import Sheet, settings_of
from host_tools.commands.prescribe.remarks import from_row, remark_rows
from host_tools.commands.prescribe.source import Source
from host_tools.commands.prescribe.tuned import Tuned, tuning_of
from host_tools.drawings.drawing import PICTURE_ENDINGS
from host_tools.errors import HostError
from host_tools.files import write_text
from host_tools.papers import Shown
from host_tools.papers.characters import show_sections
from host_tools.recordings.heading import Heading
from host_tools.recordings.recorded_session import RecordedSession
from host_tools.terminal import say, say_aside


@dataclass(frozen=True)
class Prescription:
    """The prescriptions for the ears of a source, and the fit of them."""

    source: Source
    ears: Sequence[EarPrescription]
    fit: Fit
    against: Fit | None = None  # another fit that it is compared with

    @classmethod
    def of(cls, source: Source, rule: str, coupling: str, ear: str | None) -> Self:
        ears = prescribe_ears(source, rule, coupling, ear)
        return cls(source, ears, fit_of_ears(ears))

    @cached_property
    def remarks(self) -> list[Row]:
        return remark_rows(self.ears, self.fit)

    @cached_property
    def remarks_in_english(self) -> list[str]:
        return [*map(language_of(ENGLISH).say, self.remarks)]

    @cached_property
    def figures(self) -> dict[str, Any]:
        known = as_json(self.ears, self.fit, self.against)
        return {**known, "remarks": self.remarks_in_english}

    def print(self, asked: Sequence[str]) -> None:
        """Print it; of the ears that were asked for, those without a prescription are named."""
        from rich.console import Console

        without = sorted({*asked} - {ear.ear for ear in self.ears})
        told = [*(row("nothing-prescribed", ear=ear) for ear in without), *self.remarks]
        if self.source.headline:
            say(self.source.headline)
        settings = settings_of(self.ears, self.fit, self.against)
        show_sections(
            Console(highlight=False), [*settings, section("remarks", None, rows(told))], Shown()
        )

    def write(self, path: Path, heading: Heading, language: str) -> list[str]:
        """Write what the ending of the name says, and return what has to be said with it.

        Paper has a heading and a language.
        """
        if path.suffix in PICTURE_ENDINGS:
            sheet = Sheet(self._session, self.ears, self.fit, self.against)
            sheet.write(path, heading, language)
            return []
        said = [language_of(ENGLISH).say(from_row(self.fit)), *self.remarks_in_english]
        text = json.dumps(self.figures, indent=2) + "\n"
        also: list[str] = []
        if (target := target_of(path)) is not None:
            try:
                text, also = target.write(self.fit, self.ears, said)
            except FitError as error:
                raise HostError(f"-o {path}: {error}") from None
        write_text(path, text)
        return also

    def write_tuned(self, arguments: argparse.Namespace, heading: Heading) -> None:
        header, result = tuning_of(arguments.tuning, self.fit, arguments.unfinished)
        tuned = Tuned(self.fit, header, result)
        sheet = Sheet(self._session, self.ears, self.fit, tuned=tuned)
        for path in arguments.out:
            sheet.write(path, heading, arguments.language)
            say_aside(f"{path} written")

    @property
    def _session(self) -> RecordedSession:
        assert self.source.session is not None, "there is paper of sessions alone"
        return self.source.session


def fit_to_compare(path: Path, fit: Fit) -> Fit:
    """Return another fit of the same person; `HostError` if it cannot be compared."""
    try:
        other = read_fit(path)
    except FitError as error:
        raise HostError(str(error)) from None
    for each in differences(Meeting.FIT, other.of.identity(), fit.of.identity()):
        if each.rule == Rule.REFUSED:
            raise HostError(f"{path}: {each.words}: only fits of one person are compared")
        say_aside(f"{path}: {each.words}")
    if not both(fit, other):
        raise HostError(f"{path}: has the {other.ears[0].ear} ear only, and nothing else is fitted")
    return other
