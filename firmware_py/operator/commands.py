"""The table of commands of the operator's console: a new command is a row here."""

import sys
from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import Final

from firmware_py.console.arguments import Argument, Choice, Number, Word
from firmware_py.console.command_row import Answer, Command, Pin, When, page_lines
from firmware_py.console.console import OWN_COMMANDS
from firmware_py.operator.discomfort_desk import DiscomfortDesk
from firmware_py.operator.instrument import NOT_BEGUN, NOT_PLAYED, Instrument
from firmware_py.operator.manual_tone import ManualTone
from firmware_py.operator.meter_tone import DBFS_LIMITS, MeterTone
from firmware_py.operator.result_desk import EARLIER, LAST_RESULT, RESULTS, ResultDesk
from firmware_py.operator.setting_desk import SettingDesk
from firmware_py.platform.program import run_program
from firmware_py.terms.events import NOBODY, OPERATOR, OTHER_EAR
from firmware_py.terms.outcomes import UNSURE
from firmware_py.terms.person import AGE_YEARS_MAX, FEMALE, MALE
from firmware_py.terms.route import BY_AIR, LEFT, RIGHT, ROUTES
from firmware_py.terms.settings import BOTH, SEED_MAX

SESSIONS_LISTED_MAX: Final = 50  # some milliseconds each, while nothing else is done

ROUTE: Final = Choice({str(route).upper(): route for route in sorted(ROUTES, key=str)})
HEARER: Final = Choice({"OPERATOR": OPERATOR, "OTHER": OTHER_EAR, "NOBODY": NOBODY})
NAMED: Final = Choice({"LEFT": LEFT, "RIGHT": RIGHT, "UNSURE": UNSURE})
SWITCH: Final = Choice({"ON": True, "OFF": False, "1": True, "0": False})
COUNT: Final = Argument(
    "count", Number("COUNT", limits=(1, SESSIONS_LISTED_MAX), whole=True), optional=True
)
START: Final = (
    Argument("EAR", Choice({"BOTH": BOTH, "LEFT": LEFT, "RIGHT": RIGHT}), optional=True, bare=True),
    Argument("AGE", Number("YEARS", "years", (0.0, AGE_YEARS_MAX)), optional=True),
    Argument("SEX", Choice({"F": FEMALE, "M": MALE}), optional=True),
    Argument("ID", Word("WORD"), optional=True, any_script=True),
    Argument("SEED", Number("NUMBER", limits=(0, SEED_MAX), whole=True), optional=True),
)
DISCOMFORT: Final = (
    Argument("RIGHT", Word("HZ:DB"), optional=True),
    Argument("LEFT", Word("HZ:DB"), optional=True),
    Argument("SOURCE", Word("WORD"), optional=True, any_script=True),
    Argument("DAY", Word("DATE"), optional=True),
)
# The limits of a tone by hand depend on settings, calibration and the tone before: `ManualTone`.
TONE: Final = (
    Argument("ear", ROUTE),
    Argument("frequency", Number("HZ", "Hz")),
    Argument("level", Number("DBHL", "dB HL")),
    Argument("noise", Number("NOISE", "dB"), optional=True),
)
CALIBRATION_TONE: Final = (
    Argument("ear", ROUTE),
    Argument(
        "frequency",
        Number("HZ", "Hz", (BY_AIR.calibrated_hz[0], BY_AIR.calibrated_hz[-1])),
    ),
    Argument("level", Number("DBFS", "dBFS", DBFS_LIMITS)),
    Argument("shape", Choice({"STEADY": False, "PULSED": True}), optional=True),
)

ALWAYS: Final = Pin(always=True)
ABOUT_PEOPLE: Final = Pin(arguments=("AGE", "SEX", "ID"))


def _of(place: str, handler: Callable[..., Answer]) -> Callable[..., Answer]:
    """Have a command done by a desk of the instrument, or by one of its tones."""

    @wraps(handler)
    def do(instrument: Instrument, *values: object) -> Answer:
        return handler(attrgetter(place)(instrument), *values)

    return do


COMMANDS: Final = (
    Command("*IDN?", Instrument.identify, "maker, model, serial number, version"),
    Command("*TST?", Instrument.self_test, "self-test: 0 and what was found, or what fails"),
    Command("SYSTem:TEST?", Instrument.self_test_parts, "what the self-test found, as JSON"),
    Command("*RST", Instrument.reset, "abort a running session, settings as configured"),
    Command("SYSTem:VERSion?", Instrument.version, "versions of firmware and wire"),
    Command("SYSTem:TIME?", Instrument.time, "date and time of day, ISO 8601"),
    Command(
        "SYSTem:EVENts", Instrument.set_events, "report events, in lines that begin with !",
        (Argument("events", SWITCH),),
    ),
    Command("SYSTem:EVENts?", Instrument.events, "ON or OFF"),
    Command("SYSTem:EXIT", Instrument.shut_down, "end the firmware within 2 s; a session is kept"),
    Command(
        "SESSion:STARt", Instrument.start, "start a test", START,
        named=True, when=When.NOT_IN_TEST, pin=ABOUT_PEOPLE, undone=NOT_BEGUN,
        refused=Instrument.start_refused,
    ),
    Command("SESSion:PAUSe", Instrument.pause, "pause the test", when=When.IN_TEST),
    Command(
        "SESSion:CONTinue", Instrument.go_on, "go on after a pause", when=When.IN_TEST,
        pin=Pin(waits=attrgetter("waits")),
    ),
    Command(
        "SESSion:HEARd", Instrument.equipment_heard, "who hears tones of an ear that heard nothing",
        (Argument("by", HEARER),), when=When.IN_TEST,
    ),
    Command(
        "SESSion:EAR", Instrument.ear_named, "in which ear the listener hears the clear tone",
        (Argument("named", NAMED),), when=When.IN_TEST,
    ),
    Command(
        "SESSion:DISComfort", _of("discomfort_desk", DiscomfortDesk.tell),
        "levels of discomfort", DISCOMFORT,
        named=True,
    ),
    Command(
        "SESSion:DISComfort?", _of("discomfort_desk", DiscomfortDesk.told),
        "the levels of discomfort told, as JSON", pin=LAST_RESULT,
    ),
    Command(
        "SESSion:ABORt", Instrument.abort, "end the test; what was measured is kept",
        when=When.IN_TEST,
    ),
    Command("SESSion:STATe?", Instrument.state, "state of the test"),
    Command(
        "SESSion:LIST?", _of("results", ResultDesk.sessions),
        "number,outcome,start,ears,ID;...;10 of 312", (COUNT,), pin=ALWAYS,
    ),
    Command(
        "SESSion:RESult?", _of("results", ResultDesk.result), "the result as JSON, so far or final",
        (EARLIER,), pin=RESULTS,
    ),
    Command(
        "SESSion:MEAN?", _of("results", ResultDesk.means),
        "mean at 0.5, 1, 2 and 4 kHz and grade, as JSON", pin=LAST_RESULT,
    ),
    Command(
        "THReshold?", _of("results", ResultDesk.threshold), "for each ear: Hz,dB HL,SD dB,mark;...",
        (Argument("ear", ROUTE, optional=True), EARLIER), pin=RESULTS,
    ),
    Command(
        "AUDiogram", _of("results", ResultDesk.audiogram), "draw the audiogram", (EARLIER,),
        pin=RESULTS,
    ),
    Command(
        "TONE", Instrument.play_tone, "a tone outside a test; noise in the other ear", TONE,
        when=When.NOT_IN_TEST, undone=NOT_PLAYED,
    ),
    Command("TONE:LIMits?", Instrument.tone_limits, "lowest level, and Hz,highest level;... now"),
    Command("TONE:STOP", _of("manual_tone", ManualTone.stop), "end that tone"),
    Command("CALibration?", Instrument.calibration, "calibration of the next test, as JSON"),
    Command(
        "CALibration:LIMits?", Instrument.calibration_limits, "Hz,dB HL;...",
        (Argument("ear", ROUTE, optional=True),),
    ),
    Command(
        "CALibration:NOBody", _of("manual_tone", ManualTone.nobody_listens),
        "say that no ears wear the earphones",
        when=When.NOT_IN_TEST, pin=ALWAYS,
    ),
    Command(
        "CALibration:TONE", Instrument.play_calibration_tone, "5 s, for a meter", CALIBRATION_TONE,
        when=When.NOT_IN_TEST, pin=ALWAYS, undone=NOT_PLAYED,
    ),
    Command("CALibration:TONE?", Instrument.calibration_tone, "state of that tone"),
    Command(
        "CALibration:MICrophone?", _of("manual_tone.for_meter", MeterTone.heard),
        "Hz,dB SPL;... before the board's microphone, tones as well",
        when=When.NOT_IN_TEST,
    ),
    Command("CALibration:STOP", _of("manual_tone.for_meter", MeterTone.stop), "end the tone"),
    Command(
        "SETTing", Instrument.set_setting, "change a setting of the next test",
        (Argument("name", Word("NAME")), Argument("value", Word("VALUE"))), pin=ALWAYS,
    ),
    Command(
        "SETTing?", _of("setting_desk", SettingDesk.tell), "one setting, or all as JSON",
        (Argument("name", Word("NAME"), optional=True),),
    ),
)  # fmt: skip


def every_command() -> tuple[Command, ...]:
    """Return all there are, also those that only some devices have."""
    from firmware_py.operator import result_desk, room_desk, setting_desk, tuning_desk, update_desk

    desks = (result_desk, room_desk, setting_desk, tuning_desk, update_desk)
    return (*OWN_COMMANDS, *COMMANDS, *(row for desk in desks for row in desk.COMMANDS))


if __name__ == "__main__":
    sys.exit(run_program(lambda: print(*page_lines(every_command()), sep="\n")))
