"""What stands above every result that a clinic files: who, when, where, with what, and how."""

from dataclasses import dataclass
from typing import Final

from firmware_py.calibration.in_force import SIMULATED, CalibrationInForce
from firmware_py.platform.own_prior import shorten
from firmware_py.procedure.route import BY_BONE, ROUTES
from firmware_py.procedure.settings import BOTH, DEFAULT_PROFILE, NONE, OFF
from firmware_py.procedure.verdicts import may_conclude
from firmware_py.sessions.archive import COMPLETE, UNFINISHED
from firmware_py.sessions.broken_off import BrokenOff, Course
from host_tools.catalogue import Catalogue
from host_tools.catalogue.remarks import say_reasons
from host_tools.recordings.heading import Heading
from host_tools.recordings.recorded_session import RecordedSession
from host_tools.recordings.verdicts import short_verdict

SEXES: Final = {"F": "female", "M": "male"}


def calibration_words(calibration: CalibrationInForce, catalogue: Catalogue) -> str:
    """Return the state of a calibration, and why it is that."""
    about = say_reasons(calibration.about, catalogue)
    if calibration.state == SIMULATED:
        return about
    state = catalogue.say("report", calibration.state.lower())
    return f"{state}: {about}"


def simulated_words(
    simulated: bool | None, speed: float | None, catalogue: Catalogue
) -> list[tuple[str, str]]:
    """Return headline and text of a test of nobody, or one that was not in real time, if it is one.

    Parameters
    ----------
    simulated : bool or None
        None: nobody knows.
    speed : float or None
        Of its clock, as its header says.
    catalogue : Catalogue
    """
    key = "clock_of_board" if speed is None else "clock_ran"
    ran = "" if speed is None else catalogue.number(speed, "g")
    clock = [] if speed == 1.0 else [catalogue.say("report", key, speed=ran)]
    if not simulated and not clock:
        return []
    said = [catalogue.say("report", "simulated_means"), *clock] if simulated else clock
    mark = catalogue.say("report", "simulated_mark" if simulated else "clock_mark")
    return [(mark, " ".join(said))]


@dataclass(frozen=True)
class Particulars:
    """A session as its paper begins, in a language."""

    session: RecordedSession
    heading: Heading
    catalogue: Catalogue

    def say(self, key: str, /, **parts: str) -> str:
        """Return a sentence of the record."""
        return self.catalogue.say("record", key, **parts)

    @property
    def final(self) -> bool:
        """Return whether a valid test of a person came to its own end, and its record is true."""
        return not self._why_not_final()

    @property
    def standing(self) -> str:
        """Return whether it is final, in words."""
        why = self._why_not_final()
        return self.say("not_final", why=why) if why else self.say("final")

    def _why_not_final(self) -> str:
        outcome = self.session.result.outcome or UNFINISHED
        if outcome != COMPLETE:
            return self.catalogue.say("report", f"status_{outcome}")
        if not self.session.complete or self.session.differences:
            return self.catalogue.say("report", "not_as_recorded")
        ears = self.session.result.ears
        if not all(map(may_conclude, ears)):
            return short_verdict({str(ear.route): ear.verdict for ear in ears}, self.catalogue)
        if self.session.calibration.nominal:
            return self.catalogue.say("report", "uncalibrated")
        return self.catalogue.say("report", "simulated_mark") if self.session.simulated else ""

    def level_of(self, ear: str) -> str:
        """Return the name of a row with the levels of an ear, which is named in words."""
        nominal = self.session.calibration.nominal
        return self.say("level_of_nominal" if nominal else "level_of", ear=ear)

    @property
    def person(self) -> str:
        """Return who was tested, in short."""
        told = self.heading.name or self.session.person.identifier
        return told or self.catalogue.say("report", "no_identifier")

    @property
    def day(self) -> str:
        """Return when the test was: every day on which it was begun or gone on with."""
        begun = map(self.catalogue.clock_date, self.session.course.begun)
        return self.catalogue.join([*dict.fromkeys(begun)])

    def facts(self) -> list[tuple[str, str]]:
        """Return everything that is known, name and value; what is not is said to be not told."""
        return [(self.say(key), value) for key, value in (*self._who(), *self._what())]

    def _who(self) -> list[tuple[str, str]]:
        heading, person, header = self.heading, self.session.person, self.session.header
        course = self.session.course
        missing = self.say("not_told")
        born = heading.birth_date
        status = self.catalogue.say("report", f"status_{self.session.result.outcome or UNFINISHED}")
        session = self.say("session_value", session=str(header.session), status=status)
        return [
            ("name", heading.name or missing),
            ("tested", self.catalogue.join([*map(self.catalogue.clock_time, course.begun)])),
            ("identifier", person.identifier or missing),
            ("session", session),
            ("birth_date", self.catalogue.date(born.isoformat()) if born else missing),
            ("tester", heading.tester or missing),
            ("age_sex", self._age_and_sex() or missing),
            ("place", heading.place or missing),
            *self._facts_of_break(course),
        ]

    def _facts_of_break(self, course: Course) -> list[tuple[str, str]]:
        """Return when it was broken off, and why it waited for the operator; nothing of others."""
        breaks = [
            self.say(_break_key(each), **{
                name: self.catalogue.clock_time(when) for name, when in vars(each).items() if when
            })
            for each in course.breaks
        ]  # fmt: skip
        waits = [say_reasons(each.why, self.catalogue) for each in course.waits]
        facts = (("broken_off", breaks), ("waited", waits))
        return [(key, "; ".join(said)) for key, said in facts if said]

    def _age_and_sex(self) -> str:
        person, said = self.session.person, []
        age_years = person.age_years
        if age_years is None:
            age_years = self.heading.age_years(self.session.header.started)
        if age_years is not None:
            key = "age_one" if age_years == 1 else "age"
            age = self.catalogue.number(age_years, "g")
            said.append(self.catalogue.say("report", key, age=age))
        if person.sex is not None:
            said.append(self.catalogue.say("report", SEXES[person.sex]))
        return ", ".join(said)

    def _what(self) -> list[tuple[str, str]]:
        settings, header = self.session.settings, self.session.header
        device = self.say("device_alone", version=header.firmware)
        if header.device:
            device = self.say("device_value", version=header.firmware, serial=header.device)
        conduct = self.say(f"conduct_{settings.conduct}")
        if settings.confirm != NONE:
            conduct = self.say("conduct_confirmed", conduct=conduct)
        masking = "masking_automatic" if self.session.masked else "masking_not_needed"
        masking = "masking_off" if settings.masking == OFF else masking
        usual = settings.profile == DEFAULT_PROFILE
        profile = self.say("profile_default") if usual else settings.profile
        if usual and header.prior:
            profile = self.say("profile_own", prior=shorten(header.prior))
        by_bone = any(ear.route.kind is BY_BONE for ear in self.session.result.ears)
        method = "method_both" if by_bone else "method_value"
        transducer, *vibrator, calibration, meter = self._calibration(by_bone=by_bone)
        return [
            ("device", device),
            ("board", self._boards() or self.say("not_told")),
            calibration,
            transducer,
            *vibrator,
            meter,
            ("method", self.say(method, profile=profile)),
            ("conduct", conduct),
            ("masking", self.say(masking)),
            *self._which_ear(),
        ]

    def _boards(self) -> str:
        """Return which tone generators there were, ear by ear if they are not the same."""
        ears = sorted(self.session.result.ears, key=lambda found: ROUTES.index(found.route))
        by_ear = {str(ear.route): ", ".join(ear.boards) for ear in ears}
        if len({*by_ear.values()}) == 1:
            return next(iter(by_ear.values()))
        missing = self.say("not_told")
        return "; ".join(
            self.say("of_ear", ear=self.catalogue.say("report", ear), value=boards or missing)
            for ear, boards in by_ear.items()
        )

    def _which_ear(self) -> list[tuple[str, str]]:
        """Return whether the listener confirmed which ear is which; nothing of one ear."""
        if self.session.settings.ears != BOTH:
            return []
        found = self.session.result.which_ear.replace("-", "_")
        return [("which_ear", self.say(f"which_ear_{found}"))]

    def _calibration(self, *, by_bone: bool) -> list[tuple[str, str]]:
        """Return transducer, vibrator of a test by bone, calibration and meter, as in force."""
        judged = self.session.calibration
        state = self.catalogue.say("report", judged.state.lower())
        made = judged.calibration
        if made is None or judged.state == SIMULATED:
            known = "transducer_unknown" if made is None else "transducer_simulated"
            return [
                ("transducer", self.say(known)),
                ("calibration", calibration_words(judged, self.catalogue)),
                ("meter", self.say("not_told")),
            ]
        about, transducer = made.content["calibration"], made.content["transducer"]
        kind = self.say(f"kind_{made.kind.replace('-', '_')}")
        of_bone = made.content.get("vibrator") if by_bone else None
        return [
            ("transducer", self.say(
                "transducer_value", name=transducer["name"], kind=kind,
                left=transducer["serial_left"], right=transducer["serial_right"],
            )),
            *([] if of_bone is None else [("vibrator", self.say(
                "vibrator_value", name=of_bone["name"], serial=of_bone["serial"],
                coupler=of_bone["coupler"],
            ))]),
            ("calibration", self.say(
                "calibration_value", state=state, technician=about["technician"],
                date=self.catalogue.date(made.date.isoformat()),
                due=self.catalogue.date(made.due.isoformat()),
            )),
            ("meter", self.say(
                "meter_value", meter=about["meter"], serial=about["meter_serial"],
                coupler=transducer["coupler"],
            )),
        ]  # fmt: skip

    def signature(self) -> list[tuple[str, str]]:
        """Return the lines to sign on."""
        lines = (("signed_name", self.heading.tester), ("signed_on", ""), ("signed", ""))
        return [(self.say(key), value) for key, value in lines]


def _break_key(found: BrokenOff) -> str:
    if not found.left:
        return "broken_off_unknown"
    return "broken_off_value" if found.resumed else "broken_off_since"
