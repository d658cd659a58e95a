"""What was found, in words: the same ones on the page and on the picture."""

from typing import Final

from firmware_py.archive import UNFINISHED
from firmware_py.calibration.in_force import CALIBRATED, OVERDUE
from firmware_py.console.words import readable
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.reading import Kind, read
from host_tools.commands.report.findings import (
    BetterEar,
    EarFindings,
    Findings,
    MeanThreshold,
    Threshold,
)
from host_tools.drawing import WIDE_SIGN

OUTCOMES: Final[dict[str, str]] = {
    Outcome.MEASURED: "measured",
    Outcome.NO_RESPONSE: "no response",
    Outcome.HEARS_ALL: "everything heard",
    Outcome.UNRELIABLE: "unreliable answers",
    Outcome.INCOMPLETE: "incomplete",
}
# Before the level.
SIGNS: Final = {
    Kind.MEASURED: "",
    Kind.ABOVE: "> ",
    Kind.AT_MOST: "≤ ",
    Kind.PERHAPS_ABOVE: "? ",
    Kind.INFERRED: "",
}
CONFIRMED: Final[dict[str, str]] = {Outcome.NO_RESPONSE: "none", Outcome.HEARS_ALL: "all"}
SEXES: Final = {"F": "female", "M": "male"}
LEAST_SHARE: Final = 0.005  # of a grade that is named


def ear_outcome(ear: EarFindings) -> str:
    """Return the outcome of an ear, and what it is short of."""
    if ear.short_of_db is None:
        return OUTCOMES[ear.outcome]
    wide = [t.frequency_hz for t in ear.thresholds if t.wide]
    where = f"{wide[0]} Hz" if len(wide) == 1 else f"{len(wide)} frequencies"
    return f"{OUTCOMES[ear.outcome]}, {where} short of ±{ear.short_of_db:g} dB"


def session(findings: Findings) -> str:
    """Say which session this is."""
    when = findings.started.replace("T", " ")[:16]
    return f"session {findings.session}, {when}, {findings.status}"


def person(findings: Findings) -> str:
    """Say who was tested."""
    told = findings.person
    parts = [told.get("identifier") or "no identifier"]
    if told.get("age_years") is not None:
        parts.append(f"{told['age_years']:g} years")
    if told.get("sex") is not None:
        parts.append(SEXES[told["sex"]])
    return ", ".join(parts)


def alarms(findings: Findings) -> list[tuple[str, str]]:
    """Return what must not be overlooked: a headline and what it means."""
    found = []
    if findings.calibration_state != CALIBRATED:
        state, _, why = findings.calibration.partition(": ")
        found.append((state, f"{why[:1].upper()}{why[1:]}. {_meaning(state)}"))
    headline = "UNFINISHED" if findings.status == UNFINISHED else "NOT AS RECORDED"
    if findings.warnings:
        text = "; ".join(findings.warnings)
        found.append((headline, f"{text[:1].upper()}{text[1:]}."))
    return found


def _meaning(state: str) -> str:
    if state == OVERDUE:
        return "The levels in dB HL may have drifted since the device was calibrated."
    return "These levels are not dB HL of any standard; no conclusion about hearing follows."


def threshold(found: Threshold) -> str:
    """Return a threshold in short; what was inferred stands in brackets."""
    reading = read(found)
    if reading.level_db_hl is None:
        return "-"
    level = f"{SIGNS[reading.kind]}{_number(reading.level_db_hl)}"
    if reading.kind == Kind.INFERRED:
        return f"({level})"
    wide = f"{WIDE_SIGN} " if found.wide else ""
    return f"{wide}{level}{masking_sign(found)}"


def masking_sign(found: Threshold) -> str:
    """Return the sign of a threshold that the other ear may have heard."""
    return "*" if read(found).doubtful else ""


def band(found: Threshold) -> str:
    """Return the 95 % band of a threshold; of one that was inferred, in brackets."""
    if found.low_db_hl is None or found.high_db_hl is None:
        return "-"
    words = f"{_number(found.low_db_hl)} to {_number(found.high_db_hl)}"
    return f"({words})" if read(found).kind == Kind.INFERRED else words


def spread(found: Threshold) -> str:
    """Return the posterior SD of a threshold; of one that was inferred, in brackets."""
    if found.sd_db is None:
        return "-"
    return f"({found.sd_db:.1f})" if read(found).kind == Kind.INFERRED else f"{found.sd_db:.1f}"


def confirmed(found: Threshold) -> str:
    """Return what the classical rule found at a frequency."""
    again = found.confirmed
    if again is None:
        return "-"
    if again.threshold_db_hl is not None:
        return _number(again.threshold_db_hl)
    return CONFIRMED.get(again.mark, "?")


def norm(found: Threshold) -> str:
    """Return what is usual: the median, and where the middle eight tenths lie."""
    if found.norm_db_hl is None:
        return "-"
    low, middle, high = ("" if level is None else _number(level) for level in found.norm_db_hl)
    return f"{middle} ({low} to {high})" if low and high else middle


def answer(heard: bool | None, catch: bool) -> str:
    """Return an answer, to a tone or to silence."""
    if heard is None:
        return "unsure"
    if catch:
        return "pressed" if heard else "not pressed"
    return "heard" if heard else "not heard"


def percent(share: float | None) -> str:
    """Return a share in percent, never 0 or 100: nothing measured is certain."""
    if share is None:
        return "-"
    if share < 0.01:
        text = "< 1 %"
    elif share > 0.99:
        text = "> 99 %"
    else:
        text = f"{100.0 * share:.0f} %"
    return text.replace(" ", "\u00a0")  # it stays on one line


def mean_threshold(found: MeanThreshold) -> str:
    """Return PTA4 with its band, or what it is at least."""
    band_words = f"95 % band {_number(found.low_db_hl)} to {_number(found.high_db_hl)}"
    if found.at_least_db_hl is not None:
        at_least = _number(found.at_least_db_hl)
        return f"at least {at_least} dB HL ({band_words}, by what is known of other ears)"
    return f"{_number(found.mean_db_hl, '.1f')} dB HL ({band_words})"


def grade_shares(grades: dict[str, float]) -> str:
    """Return the grades that are possible, the likeliest first."""
    possible = [(share, name) for name, share in grades.items() if share >= LEAST_SHARE]
    return ", ".join(f"{name} {percent(share)}" for share, name in sorted(possible, reverse=True))


def grades(findings: Findings) -> list[str]:
    """Say what PTA4 and grade are."""
    lines = [f"{ear.ear} ear: {_grade_of(ear)}" for ear in findings.ears]
    better = findings.better_ear
    if better is not None:
        lines.append(
            f"person: {grade_shares(better.grades)} (the better ear counts"
            f"{_partly(findings)}){_unilateral(better)}"
            if better.both_ears
            else f"person: only the {better.ear} ear has a mean threshold; the grade needs both"
        )
    return lines


def _partly(findings: Findings) -> str:
    inferred_there = any(ear.pta4 and ear.pta4.inferred_hz for ear in findings.ears)
    return "; partly inferred" if inferred_there else ""


def _unilateral(better: BetterEar) -> str:
    if better.unilateral is None or better.unilateral < LEAST_SHARE:
        return ""
    return f"; unilateral loss {percent(better.unilateral)}"


def _grade_of(ear: EarFindings) -> str:
    if ear.pta4 is None:
        return f"none, {ear.pta4_missing}"
    beyond = ", ".join(map(str, ear.pta4.beyond_hz))
    perhaps = f"; {beyond} Hz surely or perhaps beyond the limit" if beyond else ""
    inferred_hz = ", ".join(map(str, ear.pta4.inferred_hz))
    partly = f"; partly inferred, not measured at {inferred_hz} Hz" if inferred_hz else ""
    return f"{mean_threshold(ear.pta4)}{perhaps}{partly}; {grade_shares(ear.pta4.grades)}"


def remarks(findings: Findings) -> list[str]:
    """Say how the test went, and what makes its result less than sure."""
    strays = findings.stray_presses
    whole = (
        f"{findings.presentations} presentations in {findings.duration_s / 60.0:.1f} minutes, "
        f"{strays} {'press' if strays == 1 else 'presses'} without a tone"
    )
    ends = [f"{ear.ear} ear ended by: {ear.why}" for ear in findings.ears if ear.why]
    ends += [
        f"{ear.ear} ear: {ear.quality.tones_set_aside} answers were set aside, and asked again "
        "with noise, because the other ear may have given them"
        for ear in findings.ears
        if ear.quality.tones_set_aside
    ]
    found = (*findings.remarks, inferred(findings), *findings.asymmetries)
    return [readable(line) for line in (whole, *ends, *filter(None, found))]


def inferred(findings: Findings) -> str:
    """Say where no ear was asked, "" if each was asked everywhere."""
    parts = []
    for ear in findings.ears:
        at_hz = [t.frequency_hz for t in ear.thresholds if read(t).kind == Kind.INFERRED]
        if at_hz:
            parts.append(f"{ear.ear} ear {', '.join(map(str, at_hz))} Hz")
    return f"inferred, not measured (in brackets): {'; '.join(parts)}" if parts else ""


def quality_rows(ear: EarFindings) -> list[tuple[str, str]]:
    """Return what is known of the quality of an ear's test: names and values."""
    q = ear.quality
    unsure = f", {q.tones_unsure} unsure" if q.tones_unsure else ""
    aside = f", {q.tones_set_aside} set aside" if q.tones_set_aside else ""
    return [
        ("tones", f"{q.tones} ({q.tones_heard} heard{unsure}{aside})"),
        ("presses in silence", _silence_words(ear)),
        *_checks(ear),
        ("missed 5 dB or more above threshold", f"{q.clear_missed} of {q.clear_tones}"),
        ("response time", _response_words(ear)),
        ("time per trial", "-" if q.trial_s is None else f"{q.trial_s:.1f} s"),
        ("posterior SD", _sd_words(ear)),
    ]


def _silence_words(ear: EarFindings) -> str:
    """Return what pauses and catch trials told of presses without a tone."""
    q = ear.quality
    said = [f"{q.pauses_pressed} of {q.pauses} in pauses"] if q.pauses else []
    if q.catch_trials:
        unsure = f", {q.unsure_alarms} unsure" if q.unsure_alarms else ""
        said.append(f"{q.false_alarms} of {q.catch_trials} in catch trials{unsure}")
    return "; ".join(said) or "-"


def _checks(ear: EarFindings) -> list[tuple[str, str]]:
    """Return what checked the answers to tones; not what a test of this conduct does not have."""
    q = ear.quality
    rows = []
    if q.checks is not None:
        rows.append(("clear tones, to check, missed", f"{q.checks_missed} of {q.checks}"))
        rows.append(("doubted answers asked again", f"{q.doubted_tones}"))
    if q.retest_wanted or q.retest_verdict:
        rows.append(("1 kHz retest", _retest_words(ear)))
    return rows


def _retest_words(ear: EarFindings) -> str:
    q = ear.quality
    if q.retest_difference_db is None:
        return "none"
    return f"{_number(q.retest_difference_db, '+.1f')} dB ({q.retest_verdict})"


def _response_words(ear: EarFindings) -> str:
    times = ear.quality.response_times
    if times.median_ms is None:
        return "-"
    words = f"{times.median_ms:.0f} ms"
    if times.first_quartile_ms is None or times.third_quartile_ms is None:
        return words
    return f"{words} ({times.first_quartile_ms:.0f} to {times.third_quartile_ms:.0f})"


def _sd_words(ear: EarFindings) -> str:
    q = ear.quality
    if q.posterior_sd_db is None or q.posterior_sd_max_db is None:
        return "-"
    return f"{q.posterior_sd_db:.1f} dB (at most {q.posterior_sd_max_db:.1f})"


def _number(value: float, form: str = ".0f") -> str:
    """Return a number with a minus that is as wide as a plus; there is no -0."""
    text = format(value, form)
    return (text[1:] if text.strip("-0.") == "" and text[0] == "-" else text).replace("-", "−")


def footer(version: str) -> str:
    """Return what stands at the end of every report."""
    return (
        f"gp-pta {version}. Not a medical device, and no diagnosis. Grades: World Report on "
        "Hearing, WHO 2021, by the better ear's PTA4; their probabilities are the posterior's. "
        "Response times: median, and the middle half. The age norm is ISO 7029:2017."
    )
