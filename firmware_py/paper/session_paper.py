"""The paper of a session: one page for a clinic to file, two with bone conduction, and details."""

from collections.abc import Iterator

from firmware_py.findings.rows import Row, row
from firmware_py.paper import blocks, conventions, gaps, grades, head, quality, thresholds
from firmware_py.paper.blocks import Paper, Section
from firmware_py.paper.source import Source
from firmware_py.paper.told_discomfort import told_rows
from firmware_py.paper.whole import whole_rows
from firmware_py.platform.version import full_version


def paper_of(source: Source) -> Paper:
    """Return the paper of a session; who was tested is in its title by what the device knows."""
    told, final = head.standing(source)
    person = source.person.identifier or row("unknown" if source.locked else "no-identifier")
    return blocks.paper(
        title=row("audiogram-of", person=person, begun_at=source.header.started),
        headline=row("audiogram"),
        standing=told,
        final=final,
        footer=row("footer", version=full_version()),
        sections=_sections(source),
        details=_details(source),
    )


def _sections(source: Source) -> Iterator[Section]:
    judged = (
        head.verdict_blocks(source.result.ears) if source.result.outcome else []
    )  # when it is over
    yield blocks.section("verdict", None, *judged)
    yield blocks.section("facts", None, blocks.facts(head.facts_of(source)))
    yield blocks.section("alarms", None, *head.alarms(source))
    yield blocks.section(
        "thresholds",
        row("thresholds"),
        blocks.audiograms(
            (
                str(ear.route),
                row("the-ear", ear=str(ear.route)),
                row("audiogram-of-ear", ear=str(ear.route)),
                [thresholds.ear_sentence(source, each) for each in (ear, *source.besides(ear))],
            )
            for ear in source.drawn
        ),
        blocks.legend(thresholds.legend_of(source)),
        blocks.tables(thresholds.threshold_tables(source), turned=True),
        blocks.rows(
            (*filter(None, [conventions.convention_row(source)]), *whole_rows(source)), small=True
        ),
    )
    yield blocks.section("grade", row("pta4-and-grade"), blocks.rows(grades.mean_rows(source)))
    told = [each.to_record() for each in source.gaps]
    if losses := blocks.rows((*gaps.loss_rows(told), *gaps.missing_rows(source))):
        yield blocks.section("gaps", row("gaps"), losses)
    yield blocks.section("remarks", row("remarks"), blocks.rows(remarks_of(source)))
    yield blocks.section(
        "signature", None, blocks.comments(row("comments")), blocks.sign(head.signature())
    )


def remarks_of(source: Source) -> Iterator[Row]:
    yield from quality.course_rows(source)
    yield from quality.reliability_rows(source)
    yield from (row("remark", of=reason) for reason in source.result.remarks)
    yield from told_rows(source.course.discomfort.values())
    yield from (row("remark", of=gaps.asymmetry_row(each)) for each in source.asymmetries)
    yield from gaps.gap_remarks(each.to_record() for each in source.gaps)


def _details(source: Source) -> Iterator[Section]:
    yield blocks.section("made", row("how-made"), blocks.facts(head.more_facts(source)))
    table = grades.grade_table(source)
    yield blocks.section("grades", None, blocks.tables([table] if table else []))
    yield blocks.section(
        "gap-details",
        row("gaps"),
        blocks.tables(gaps.gap_tables(source), turned=True),
        blocks.rows(filter(None, [gaps.gap_rule(source)]), small=True),
    )
    yield blocks.section(
        "norm",
        row("age-norm"),
        blocks.rows(conventions.norm_rows(source)),
        blocks.tables(conventions.norm_tables(source), turned=True),
    )
    yield blocks.section(
        "confirmed", row("confirmations"), blocks.rows(conventions.confirmed_rows(source))
    )
    met = blocks.rows(gaps.criteria_rows(source.asymmetries))
    yield blocks.section("criteria", row("criteria-met"), met)
    yield blocks.section(
        "quality",
        None,
        blocks.tables([quality.quality_table(source)]),
        blocks.rows(quality.ending_rows(source)),
    )
