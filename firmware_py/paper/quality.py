"""How good the test was, and how it went, in rows.

What checks the answers depends on how the test was conducted: the pauses as silent trials and clear
tones in any, catch trials and a retest at 1 kHz in a clinical one. Each is counted, and none stands
for another.
"""

import math
from collections.abc import Iterator

from firmware_py.findings.checks import Checks
from firmware_py.findings.rows import Cell, Row, count_row, no_value, row
from firmware_py.paper.blocks import Table, table
from firmware_py.paper.source import Source
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.reasons import Reason
from firmware_py.terms.results import EarResult
from firmware_py.terms.verdicts import has_thresholds

Rows = Iterator[tuple[str, Cell]]


def reliability_rows(source: Source) -> Iterator[Row]:
    """Return what a clinic files of it: presses in silence, of all ears, and the retest of each."""
    ears = source.ears
    checks = [*source.checks.values()]
    pauses = [*_pauses(sum(c.pauses_pressed for c in checks), sum(c.pauses for c in checks))]
    catches = [*_catches(*(sum(each) for each in zip(*map(_alarms, ears), strict=True)))]
    if pauses or catches:
        yield row("reliability" if pauses else "reliability-catches", parts=[*pauses, *catches])
    for ear in ears:
        if ear.retest_difference_db is not None:
            yield row(
                "retest-at", ear=str(ear.route), of=_retest(ear, source.checks.get(ear.route))
            )


def quality_table(source: Source) -> Table:
    by_ear = [dict(_quality(source, ear)) for ear in source.ears]
    codes = max(by_ear, key=len)  # what is asked by one route alone is no value by the other
    rows = [(row(code), [each.get(code, no_value()) for each in by_ear]) for code in codes]
    columns = [row("the-ear", ear=str(ear.route)) for ear in source.ears]
    return table(row("quality"), [row("by-ear"), *columns], rows)


def _quality(source: Source, ear: EarResult) -> Rows:
    checks = source.checks.get(ear.route)
    yield "row-tones", _tones(ear, checks)
    silence = [*_silence(ear, checks)]
    yield "row-silence", row("joined", parts=silence) if silence else no_value()
    if checks is not None and checks.checks is not None:
        yield "row-checks", row("some-of", some=checks.checks_missed, of=checks.checks)
    if source.settings.retest or (checks is not None and checks.retest):
        none = ear.retest_difference_db is None
        yield "row-retest", row("retest-none") if none else _retest(ear, checks)
    yield "row-masked", ear.tones_masked
    if checks is not None and source.given is not None:
        yield "row-clear", row("some-of", some=checks.clear_missed, of=checks.clear_tones)
        yield "row-response", _response(source, ear)
        yield (
            "row-trial",
            no_value() if checks.trial_s is None else row("seconds", trial_s=checks.trial_s),
        )
    yield "row-sd", _sd(ear)


def _tones(ear: EarResult, checks: Checks | None) -> Row:
    of = [row("tones-heard", count=ear.tones_heard)]
    if ear.tones_unsure:
        of.append(row("tones-unsure", count=ear.tones_unsure))
    if checks is not None and checks.set_aside:
        of.append(row("tones-not-used", count=checks.set_aside))
    return row("tones", count=ear.tones, of=of)


def _silence(ear: EarResult, checks: Checks | None) -> Iterator[Row]:
    if checks is not None:
        yield from _pauses(checks.pauses_pressed, checks.pauses)
    yield from _catches(*_alarms(ear))


def _alarms(ear: EarResult) -> tuple[int, int, int]:
    return ear.false_alarms, ear.catch_trials, ear.unsure_alarms


def _pauses(pressed: int, pauses: int) -> Iterator[Row]:
    if pauses:
        yield row("silence-pauses", some=pressed, of=pauses)


def _catches(alarms: int, catches: int, unsure: int) -> Iterator[Row]:
    if catches and unsure:
        yield row("silence-catches-unsure", some=alarms, of=catches, unsure=unsure)
    elif catches:
        yield row("silence-catches", some=alarms, of=catches)


def _retest(ear: EarResult, checks: Checks | None) -> Row:
    difference = {"retest_db": ear.retest_difference_db}
    if checks is None or not checks.retest:  # it is told as recorded
        return row("retest-difference", **difference)
    return row("retest-value", **difference, verdict=row(f"retest-{checks.retest}"))


def _response(source: Source, ear: EarResult) -> Row:
    times = None if source.given is None else source.given.response_times(ear.route)
    if times is None or times.median_ms is None:
        return no_value()
    median = row("whole", ms=times.median_ms)
    if times.first_quartile_ms is None or times.third_quartile_ms is None:
        return row("milliseconds", median=median)
    ends = {"low": times.first_quartile_ms, "high": times.third_quartile_ms}
    return row("milliseconds-middle", median=median, **ends)


def _sd(ear: EarResult) -> Row:
    sds = [t.sd_db for t in ear.thresholds if t.mark == Outcome.MEASURED and t.sd_db is not None]
    return row("sd", sd_db=math.fsum(sds) / len(sds), most_db=max(sds)) if sds else no_value()


# How it went.


def course_rows(source: Source) -> Iterator[Row]:
    """Say how long the test was, why its ears ended, and what was asked again."""
    presses = count_row("presses-alone", source.result.stray_presses)
    minutes = source.course.seconds / 60.0
    yield row("course", presentations=source.result.presentations, minutes=minutes, presses=presses)
    if source.given is None:
        code = "as-recorded-differs" if source.differences else "as-recorded"
        yield row(code, version=source.header.firmware, format=source.header.journal)
    for ear in source.ears:
        if ear.outcome != Outcome.MEASURED and ear.why:
            yield row("ended-by", ear=str(ear.route), why=row("joined", parts=ear.why))
    for ear in source.ears:
        checks = source.checks.get(ear.route)
        if checks is not None and checks.set_aside:
            yield count_row("set-aside", checks.set_aside, ear=str(ear.route))


def ending_rows(source: Source) -> Iterator[Row]:
    for ear in source.ears:
        if ear.outcome == Outcome.MEASURED and has_thresholds(ear) and (end := _end(ear)):
            yield row("ended-by", ear=str(ear.route), why=end)


def _end(ear: EarResult) -> Reason | None:
    end, *bands = ear.why or (None,)
    return end if bands else None
