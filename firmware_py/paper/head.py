"""What stands above every result that a clinic files: whether it is one, who, when, with what."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from firmware_py.calibration.calibration import Calibration
from firmware_py.calibration.checked import Checks
from firmware_py.calibration.stated import COVERAGE_FACTOR, is_standard
from firmware_py.findings.rows import (
    Cell,
    Row,
    count_row,
    row,
    rows_by_ear,
    verdict_row,
    verdicts_row,
)
from firmware_py.paper.blocks import Block, alarm, to_type
from firmware_py.platform.own_prior import shorten
from firmware_py.sessions.broken_off import BrokenOff
from firmware_py.terms.calibration_states import HOLDING, SIMULATED
from firmware_py.terms.outcomes import UNFINISHED, SessionOutcome
from firmware_py.terms.route import BY_BONE, Route
from firmware_py.terms.settings import BOTH, DEFAULT_PROFILE, NONE, OFF, PAPER_PROFILE
from firmware_py.terms.verdicts import Explained, may_conclude

if TYPE_CHECKING:
    from firmware_py.paper.source import Source

Facts = Iterator[tuple[Row, Cell]]
SEXES: Final = {"F": "female", "M": "male"}


class JudgedEar(Explained, Protocol):
    """An ear, the verdict on its test, and why."""

    @property
    def route(self) -> Route: ...


def short_verdict(ears: Sequence[JudgedEar]) -> Row:
    """Return the verdicts in short: one word if they are the same."""
    return verdicts_row({str(ear.route): ear.verdict for ear in ears})


def why_nothing_follows(ear: JudgedEar) -> Row | None:
    """Return why nothing follows from the thresholds of an ear; None: it may."""
    return None if may_conclude(ear) else row(f"test-{ear.verdict}-why")


def verdict_blocks(ears: Sequence[JudgedEar]) -> list[Block]:
    """Return the verdict on each ear with its reasons, or one that is true of all."""
    if len({(ear.verdict, ear.reasons) for ear in ears}) == 1:
        return [_verdict(ears[0], "verdict")]
    return [_verdict(ear, "verdict-ear", ear=str(ear.route)) for ear in ears]


def _verdict(judged: JudgedEar, code: str, **of: str) -> Block:
    valid, verdict = may_conclude(judged), verdict_row(judged.verdict)
    headline = row(code if valid else f"{code}-not", **of, verdict=verdict)
    told = [row("sentence", of=reason) for reason in judged.reasons]
    if not valid:
        told.append(row(f"test-{judged.verdict}-means"))
    return alarm(headline, told, calm=valid)


def standing(source: "Source") -> tuple[Row, bool]:
    """Return whether it is final, in a row, and so: a valid test of a person came to its end."""
    why = _why_not_final(source)
    return (row("final"), True) if why is None else (row("not-final", why=why), False)


def _why_not_final(source: "Source") -> Row | None:
    outcome, ears = source.result.outcome or UNFINISHED, source.result.ears
    if outcome != SessionOutcome.COMPLETE:
        return row(f"status-{outcome}")
    if source.damage or source.differences:
        return row("not-as-recorded")
    if not source.complete:  # its end was not recorded any more
        return row(f"status-{UNFINISHED}")
    if not all(map(may_conclude, ears)):
        return short_verdict(ears)
    if source.nominal:
        return row("state-uncalibrated")
    return row("simulated-mark") if source.simulated else None


def alarms(source: "Source") -> list[Block]:
    """Return what must not be overlooked: who was not tested, and levels that are none."""
    found = [*_of_simulation(source.simulated, source.header.speed)]
    judged = source.calibration
    if judged.state not in HOLDING:
        state = judged.state.lower()
        meaning = [row("sentence", of=judged.about), row(f"state-{state}-means")]
        found.append(alarm(row(f"state-{state}"), meaning))
    if wrong := [*_of_record(source)]:
        unfinished = not source.result.outcome
        headline = row("unfinished" if unfinished else "not-as-recorded")
        found.append(alarm(headline, [row("sentence", of=each) for each in wrong]))
    return found


def _of_simulation(simulated: bool | None, speed: float | None) -> Iterator[Block]:
    clock = row("clock-of-board") if speed is None else row("clock-ran", speed=speed)
    real = speed == 1.0
    if simulated:
        yield alarm(row("simulated-mark"), [row("simulated-means"), *([] if real else [clock])])
    elif not real:
        yield alarm(row("clock-mark"), [clock])


def _of_record(source: "Source") -> Iterator[Row]:
    """Return what keeps the record from being whole, and the same when it is replayed."""
    if source.damage:
        yield row("damaged", why=source.damage)
    if source.differences:
        yield count_row("differences", source.differences)
    if not source.result.outcome:
        yield row("not-finished")


def facts_of(source: "Source") -> Facts:
    """Return what a clinic files of a session; of what is not known there is no row."""
    header, course, person = source.header, source.course, source.person
    status = row(f"status-{source.result.outcome or UNFINISHED}")
    yield row("fact-name"), to_type("name")
    yield row("fact-tested"), row("begun", begun_at=course.begun)
    yield row("fact-birth-date"), to_type("birth_date")
    own: Cell = person.identifier or row("no-identifier")
    yield row("fact-identifier"), to_type("identifier") if source.locked else own
    if age_and_sex := [*_age_and_sex(source)]:
        yield row("fact-age-sex"), row("listed", of=age_and_sex)
    yield row("fact-session"), row("session", number=header.session, status=status)
    yield row("fact-tester"), to_type("tester")
    yield row("fact-place"), to_type("place")
    if course.breaks:
        yield row("fact-broken-off"), row("joined", parts=map(_break, course.breaks))
    if course.waits:
        waits = [reason for each in course.waits for reason in each.why]
        yield row("fact-waited"), row("joined", parts=waits)
    yield from _what(source)


def _age_and_sex(source: "Source") -> Iterator[Row]:
    person = source.person
    if person.age_years is not None:
        yield row("age-one") if person.age_years == 1 else row("age", age=person.age_years)
    if person.sex is not None:
        yield row(SEXES[person.sex])


def _break(found: BrokenOff) -> Row:
    if not found.left:
        return row("left-unknown", resumed_at=found.resumed)
    if not found.resumed:
        return row("left-since", left_at=found.left)
    return row("left-and-resumed", left_at=found.left, resumed_at=found.resumed)


def _what(source: "Source") -> Facts:
    settings, header = source.settings, source.header
    version = {"version": header.firmware}
    yield (
        row("fact-device"),
        row("device", **version, serial=header.device)
        if header.device
        else row("gp-pta", **version),
    )
    yield from _transducers(source)
    yield row("fact-calibration"), _calibration(source)
    yield from _checks(source)
    timing = row(f"timing-{settings.conduct}")
    again = settings.confirm != NONE
    yield row("fact-settings"), row("and-confirmed", settings=timing) if again else timing
    masking = "masking-automatic" if source.masked else "masking-none"
    yield row("fact-masking"), row("masking-off" if settings.masking == OFF else masking)
    if settings.ears == BOTH:
        yield row("fact-which-ear"), row(f"which-ear-{source.result.which_ear}")


def _transducers(source: "Source") -> Facts:
    judged = source.calibration
    made = judged.calibration
    if made is None or judged.state == SIMULATED:
        known = "transducer-unknown" if made is None else "transducer-simulated"
        yield row("fact-transducer"), row(known)
        return
    told = made.content["transducer"]
    yield (
        row("fact-transducer"),
        row(
            "transducer", name=told["name"], kind=row(f"kind-{made.kind}"),
            left=told["serial_left"], right=told["serial_right"],
        ),
    )  # fmt: skip
    if (vibrator := made.content.get("vibrator")) and _has_bone(source):
        of = {name: vibrator[name] for name in ("name", "serial", "coupler")}
        yield row("fact-vibrator"), row("vibrator", **of)


def _has_bone(source: "Source") -> bool:
    return any(ear.route.kind is BY_BONE for ear in source.result.ears)


def state_row(state: str) -> Row:
    return row(f"state-{state.lower()}")


def _calibration(source: "Source") -> Row:
    judged = source.calibration
    made = judged.calibration
    if judged.state == SIMULATED:
        return state_row(SIMULATED)
    if made is None:
        return row("state-and-why", state=state_row(judged.state), why=judged.about)
    return row(
        "calibration", state=state_row(judged.state), date=made.date.isoformat(),
        due=made.due.isoformat(), technician=made.content["calibration"]["technician"],
    )  # fmt: skip


def _checks(source: "Source") -> Facts:
    """Say what was checked before a person wore it, of a calibration that somebody made."""
    made = source.calibration.calibration
    if made is None or source.calibration.state == SIMULATED:
        return
    yield row("fact-checks"), row("joined", parts=_checked(made.checks))


def _checked(checks: Checks | None) -> Iterator[Row]:
    if checks is None:
        yield row("checks-not-recorded")
        return
    if checks.lacking:
        yield row("checks-lacking", lacking=checks.lacking)
    if checks.remarked:
        yield row("checks-remarked", lacking=checks.remarked)
    if not (checks.lacking or checks.remarked):
        yield row("checks-good")


def more_facts(source: "Source") -> Facts:
    """Return what else is known of how a session was made: for the details."""
    settings = source.settings
    if boards := _boards(source):
        yield row("fact-board"), boards
    made = source.calibration.calibration
    if made is not None and source.calibration.state != SIMULATED:
        about = made.content["calibration"]
        yield (
            row("fact-meter"),
            row(
                "meter", meter=about["meter"], serial=about["meter_serial"],
                coupler=made.content["transducer"]["coupler"],
            ),
        )  # fmt: skip
        yield from _measured(made)
    profile: Cell = settings.profile
    if settings.profile == DEFAULT_PROFILE:
        prior = source.header.prior
        profile = row("profile-own", prior=shorten(prior)) if prior else row("profile-standard")
    elif settings.profile == PAPER_PROFILE:
        profile = row("profile-paper")
    method = "method-both" if _has_bone(source) else "method-air"
    yield row("fact-method"), row(method, profile=profile)
    yield row("fact-conduct"), row(f"conduct-{settings.conduct}")


def _measured(made: Calibration) -> Facts:
    """Return how well a calibration was made, and in what air, as far as its file states it."""
    if (expanded_db := made.expanded_uncertainty_db) is not None:
        stated = row("uncertainty", expanded_db=expanded_db, factor=COVERAGE_FACTOR)
        yield row("fact-uncertainty"), stated
    if (conditions := made.conditions) is not None:
        code = "conditions" if is_standard(conditions) else "conditions-outside"
        yield row("fact-conditions"), row(code, **conditions)


def _boards(source: "Source") -> Row | None:
    """Return which tone generators there were."""
    boards = {str(ear.route): [*ear.boards] for ear in source.ears}
    if not any(boards.values()):
        return None
    of = {ear: row("listed", of=each) if each else row("unknown") for ear, each in boards.items()}
    return rows_by_ear(of)


def signature() -> list[tuple[Row, Row | None]]:
    return [
        (row("sign-name"), to_type("tester")),
        (row("sign-date"), None),
        (row("sign-signature"), None),
    ]
