"""What a report has of a session: its paper, what that is made from, and what is drawn in it."""

from dataclasses import dataclass, replace
from typing import Any, Self

from firmware_py.console.audiogram_text import axis_unit, draw_audiogram
from firmware_py.findings.convention import in_convention
from firmware_py.findings.result_json import result_as_json
from firmware_py.paper.blocks import Paper
from firmware_py.paper.session_paper import paper_of
from firmware_py.paper.source import Source
from firmware_py.terms.results import EarResult
from firmware_py.terms.verdicts import has_thresholds
from host_tools import drawing_js
from host_tools.catalogue import catalogue_of
from host_tools.commands.report.drawn import audiogram_as_json
from host_tools.commands.report.legend import character_of, draw_mark
from host_tools.papers import Shown
from host_tools.recordings.recorded_session import RecordedSession
from host_tools.recordings.source import source_of


@dataclass(frozen=True)
class SessionReport:
    """A session and its paper."""

    session: RecordedSession
    source: Source
    paper: Paper
    shown: Shown  # in which language, and what was typed

    @classmethod
    def of(
        cls, session: RecordedSession, convention: str | None = None, shown: Shown | None = None
    ) -> Self:
        """Take a session; its thresholds in a convention, None: that of its settings."""
        source, shown = source_of(session, convention), shown or Shown()
        return cls(session, source, paper_of(source), shown)

    @property
    def drawing_words(self) -> dict[str, str]:
        catalogue = catalogue_of(self.shown.name)
        return drawing_js.paper_words(catalogue, nominal=self.source.nominal)

    def as_json(self) -> dict[str, Any]:
        """Return the result and the paper, as the device tells them."""
        source, convention = self.source, self.source.convention
        told = in_convention(source.result, convention)
        result = result_as_json(told, source.settings, convention, uncertainty=source.uncertainty)
        return {"result": result, "paper": self.paper}

    def audiogram(self, ear: EarResult) -> dict[str, Any]:
        return audiogram_as_json(ear, self.source, self.session, self.shown)

    def on_paper(self) -> Shown:
        drawings = {
            str(ear.route): drawing_js.svg_for_paper(self.audiogram(ear), self.drawing_words)
            for ear in self.source.drawn
        }
        return replace(self.shown, drawings=drawings, mark=draw_mark)

    def in_characters(self) -> Shown:
        unit = axis_unit(nominal=self.source.nominal)
        drawings = {}
        for ear in self.source.drawn:
            same = [each for each in self.source.ears if each.route.ear == ear.route.ear]
            found = {each.route: each.thresholds for each in same if has_thresholds(each)}
            drawn = draw_audiogram(found, unit=unit) if found else []
            drawings[str(ear.route)] = "\n".join(drawn)
        return replace(self.shown, drawings=drawings, mark=character_of)
