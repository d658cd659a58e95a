"""The report as a clinic files it: a document of paper with all that was found."""

from pathlib import Path
from typing import Final

from firmware_py.platform.version import full_version
from firmware_py.procedure.route import BY_AIR
from firmware_py.procedure.verdicts import has_thresholds
from host_tools import document, drawing_js
from host_tools.commands.report.drawn import audiogram_as_json
from host_tools.commands.report.ear_sentence import ear_sentence
from host_tools.commands.report.findings import EarFindings, Findings
from host_tools.commands.report.legend import legend_of
from host_tools.commands.report.notes import notes_of
from host_tools.commands.report.quality_words import masking_levels, noise_level, quality_rows
from host_tools.commands.report.words import Words
from host_tools.document import Block, Document, write_document
from host_tools.drawings.drawing import EAR_COLOURS
from host_tools.recordings.heading import Heading
from host_tools.recordings.particulars import Particulars
from host_tools.recordings.recorded_session import RecordedSession

PEERS: Final = "column_peers"


def write_paper(findings: Findings, session: RecordedSession, heading: Heading, path: Path) -> None:
    """Write the report, in the format of the name's ending."""
    write_document(paper_of(findings, session, heading), path)


def paper_of(findings: Findings, session: RecordedSession, heading: Heading) -> Document:
    words = Words.of(findings)
    particulars = Particulars(session, heading, words.catalogue)
    return Document(
        language=findings.language,
        title=particulars.say("audiogram_of", person=particulars.person, when=particulars.day),
        headline=particulars.say("audiogram"),
        standing=particulars.standing,
        final=particulars.final,
        footer=words.footer(full_version()),
        blocks=[
            *(document.verdict(each) for each in words.verdicts(findings)),
            document.facts(particulars.facts()),
            *(document.alarm(*each) for each in words.alarms(findings)),
            document.figures([_figure(ear, findings, session, words) for ear in findings.drawn]),
            document.legend(legend_of(findings)),
            *_thresholds(findings, session, particulars, words),
            document.section(words.say("pta4_and_grade"), words.grades(findings)),
            *_gaps(findings, words),
            document.section(words.say("notes"), notes_of(findings, words)),
            document.section(words.say("remarks"), words.remarks(findings)),
            document.comments(particulars.say("comments"), heading.comments),
            document.sign(particulars.signature()),
            _quality(findings, words),
        ],
    )


def _figure(ear: EarFindings, findings: Findings, session: RecordedSession, words: Words) -> Block:
    return document.figure(
        drawing_js.svg_for_paper(
            audiogram_as_json(ear, findings, session),
            drawing_js.paper_words(words.catalogue, nominal=findings.nominal),
        ),
        words.say("audiogram_of", ear=words.ear(ear.route)),
        words.ear(ear.route),
        EAR_COLOURS[ear.route.ear],
        " ".join(ear_sentence(each, words) for each in (ear, *findings.besides(ear))),
    )


def _gaps(findings: Findings, words: Words) -> list[Block]:
    """Return the types of loss, and the gaps with a column a frequency; nothing without bone."""
    losses = words.losses(findings)
    if not losses:
        return []
    at_hz = sorted({gap.frequencies_hz[0] for ear in findings.gaps for gap in ear.gaps})
    rows = []
    for ear in (each for each in findings.gaps if each.gaps):
        at = {gap.frequencies_hz[0]: gap for gap in ear.gaps}
        cells = [words.gap(at.get(hz)) for hz in at_hz]
        rows.append(document.row([words.ear(ear.ear), *cells], EAR_COLOURS[ear.ear], bold=True))
        bands = [words.gap_band(at.get(hz)) for hz in at_hz]
        rows.append(document.row([words.say("column_band"), *bands], small=True))
    section = document.section(words.say("gaps"), losses)
    if not rows:
        return [section]
    return [section, document.numbers([words.say("column_gap"), *map(str, at_hz)], rows)]


def _thresholds(
    findings: Findings, session: RecordedSession, particulars: Particulars, words: Words
) -> list[Block]:
    """Return a column a frequency, and one ear below the other; nothing without any thresholds."""
    ears = [ear for ear in findings.ears if has_thresholds(ear)]
    if not ears:
        return []
    frequencies_hz = sorted({t.frequency_hz for ear in ears for t in ear.thresholds})
    rows = []
    for ear in ears:
        colour, name = EAR_COLOURS[ear.route.ear], words.ear(ear.route)
        by_hz = {t.frequency_hz: t for t in ear.thresholds}
        found = [by_hz.get(hz) for hz in frequencies_hz]
        cells = [words.threshold(t) for t in found]
        rows.append(document.row([particulars.level_of(name), *cells], colour, bold=True))
        noise = masking_levels(session, ear.route)
        small = {words.say("column_band"): [words.band(t) for t in found]}
        if noise:
            levels = [noise_level(noise.get(hz), words.catalogue) for hz in frequencies_hz]
            small[particulars.say("noise_of")] = levels
        if any(t.confirmed is not None for t in ear.thresholds):
            small[words.say("column_confirmed")] = [words.confirmation(t) for t in found]
        if findings.norm_title and ear.route.kind is BY_AIR:
            shares = [words.percent(None if t is None else t.norm_share_better) for t in found]
            small[words.say(PEERS)] = shares
        rows += [document.row([name, *cells], small=True) for name, cells in small.items()]
    return [document.numbers([particulars.say("frequency"), *map(str, frequencies_hz)], rows)]


def _quality(findings: Findings, words: Words) -> Block:
    """Return a row for each thing that is known of the test, a column an ear."""
    ears = [quality_rows(ear, words) for ear in findings.ears]
    columns = [words.say("quality"), *(words.ear(ear.route) for ear in findings.ears)]
    rows = [
        document.row([each[0][0], *(value for _, value in each)], small=True)
        for each in zip(*ears, strict=True)
    ]
    return document.numbers(columns, rows)
