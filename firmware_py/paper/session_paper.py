"""The paper of a session: one page for a clinic to file, two with bone conduction, and details."""

from collections.abc import Iterator

from firmware_py.findings.rows import Row, row
from firmware_py.paper import asymmetries, conventions, gaps, grades, quality, thresholds
from firmware_py.paper.blocks import (
    Paper,
    Section,
    audiograms,
    comments,
    facts,
    legend,
    paper,
    rows,
    section,
    sign,
    tables,
)
from firmware_py.paper.head import (
    alarms,
    facts_of,
    more_facts,
    signature,
    standing,
    verdict_blocks,
)
from firmware_py.paper.source import Source
from firmware_py.platform.version import full_version


def paper_of(source: Source) -> Paper:
    """Return the paper of a session; who was tested is in its title by what the device knows."""
    told, final = standing(source)
    person = source.person.identifier or row("unknown" if source.locked else "no-identifier")
    return paper(
        title=row("audiogram-of", person=person, begun_at=source.header.started),
        headline=row("audiogram"),
        standing=told,
        final=final,
        footer=row("footer", version=full_version()),
        sections=_sections(source),
        details=_details(source),
    )


def _sections(source: Source) -> Iterator[Section]:
    judged = verdict_blocks(source.result.ears) if source.result.outcome else []  # when it is over
    yield section("verdict", None, *judged)
    yield section("facts", None, facts(facts_of(source)))
    yield section("alarms", None, *alarms(source))
    yield section(
        "thresholds",
        row("thresholds"),
        audiograms(
            (
                str(ear.route),
                row("the-ear", ear=str(ear.route)),
                row("audiogram-of-ear", ear=str(ear.route)),
                [thresholds.ear_sentence(source, each) for each in (ear, *source.besides(ear))],
            )
            for ear in source.drawn
        ),
        legend(thresholds.legend_of(source)),
        tables(thresholds.threshold_tables(source), turned=True),
        rows(filter(None, [conventions.convention_row(source)]), small=True),
    )
    yield section("grade", row("pta4-and-grade"), rows(grades.mean_rows(source)))
    told = [each.to_record() for each in source.gaps]
    if losses := rows((*gaps.loss_rows(told), *gaps.missing_rows(source))):
        yield section("gaps", row("gaps"), losses)
    yield section("remarks", row("remarks"), rows(remarks_of(source)))
    yield section("signature", None, comments(row("comments")), sign(signature()))


def remarks_of(source: Source) -> Iterator[Row]:
    """Say how the test went, and what makes its result less than sure."""
    yield from quality.course_rows(source)
    yield from quality.reliability_rows(source)
    yield from (row("remark", of=reason) for reason in source.result.remarks)
    yield from (row("remark", of=asymmetries.asymmetry_row(each)) for each in source.asymmetries)
    yield from gaps.gap_remarks(each.to_record() for each in source.gaps)


def _details(source: Source) -> Iterator[Section]:
    yield section("made", row("how-made"), facts(more_facts(source)))
    table = grades.grade_table(source)
    yield section("grades", None, tables([table] if table else []))
    yield section(
        "gap-details",
        row("gaps"),
        tables(gaps.gap_tables(source), turned=True),
        rows(filter(None, [gaps.gap_rule(source)]), small=True),
    )
    yield section(
        "norm",
        row("age-norm"),
        rows(conventions.norm_rows(source)),
        tables(conventions.norm_tables(source), turned=True),
    )
    yield section("confirmed", row("confirmations"), rows(conventions.confirmed_rows(source)))
    met = rows(asymmetries.criteria_rows(source.asymmetries))
    yield section("criteria", row("criteria-met"), met)
    yield section(
        "quality",
        None,
        tables([quality.quality_table(source)]),
        rows(quality.ending_rows(source)),
    )
