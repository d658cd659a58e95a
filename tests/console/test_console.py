"""The console: every command reachable, every line answered once, nothing ever raised."""

import itertools
import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py.console import grammar
from firmware_py.console.arguments import Argument, Number
from firmware_py.console.command_row import Command, UnderWay, When, page_lines
from firmware_py.console.console import OWN_COMMANDS, Console
from firmware_py.console.grammar import LINE_CHARACTERS_MAX, SETTINGS_CONFLICT, ConsoleError
from firmware_py.operator import commands
from firmware_py.operator.commands import COMMANDS, every_command
from firmware_py.terms.route import Route
from tests.budget import examples
from tests.console.instrument import PICTURE, Call, connect

NONE = (None,)
TABLE = (*OWN_COMMANDS, *COMMANDS)
PAGE = Path(__file__).parents[2] / "firmware_py" / "console" / "README.md"
PRINTABLE = "a line is made of printable characters"
# What the instrument is asked, with the values of the arguments.
CALLS: dict[str, Call] = {
    "SYST:EVEN ON": ("set_events", True),
    "SYST:EVEN off": ("set_events", False),
    "SYST:EVEN 1": ("set_events", True),
    "SESS:STAR": ("start", *NONE * 5),
    "SESS:STAR LEFT": ("start", "left", *NONE * 4),
    "SESS:STAR both": ("start", "both", *NONE * 4),
    "SESS:STAR EAR=LEFT": ("start", "left", *NONE * 4),
    "SESS:STAR seed=7": ("start", *NONE * 4, 7),
    "SESS:STAR  Right , Sex = f": ("start", "right", None, "F", None, None),
    "SESS:STAR ID=Zoë": ("start", *NONE * 3, "Zoë", None),
    "SESS:STAR SEED=7,ID=P-17,SEX=M,AGE=67.5,EAR=BOTH": ("start", "both", 67.5, "M", "P-17", 7),
    "SESS:HEAR operator": ("equipment_heard", "operator"),
    "SESS:HEAR OTHER": ("equipment_heard", "other-ear"),
    "SESS:EAR Right": ("ear_named", "right"),
    "SESS:EAR UNSURE": ("ear_named", "unsure"),
    "SESS:RES?": ("result", None),
    "SESS:RES? 3": ("result", 3),
    "SESS:LIST? 50": ("sessions", 50),
    "THR?": ("threshold", None, None),
    "THR? RIGHT": ("threshold", Route("right"), None),
    "THR? ,3": ("threshold", None, 3),
    "THR? LEFT,3": ("threshold", Route("left"), 3),
    "AUD 12": ("audiogram", 12),
    "TONE LEFT,1000,40": ("play_tone", Route("left"), 1000.0, 40.0, None),
    "TONE LEFT,1e3,40,-5.5": ("play_tone", Route("left"), 1000.0, 40.0, -5.5),
    "CAL:LIM? LEFT": ("calibration_limits", Route("left")),
    "CAL:TONE LEFT,125,-6": ("play_calibration_tone", Route("left"), 125.0, -6.0, None),
    "CAL:TONE LEFT,125,-6,PULSED": ("play_calibration_tone", Route("left"), 125.0, -6.0, True),
    "SETT pulses,2": ("set_setting", "pulses", "2"),
    "SETT? pulses": ("tell", "pulses"),
}


def numbers(console: Console) -> list[int]:
    answers = iter(console.errors.next, '0,"No error"')
    return [int(answer.split(",")[0]) for answer in answers]


# --- The table -----------------------------------------------------------------------------------


@pytest.mark.parametrize("line", CALLS)
def test_the_instrument_is_given_the_values_of_the_arguments(line: str) -> None:
    for typed in (line, f"  {line}  ", f":{line}"):
        instrument, console = connect()

        assert not console.execute(typed)[0].startswith("ERROR")
        assert instrument.calls == [CALLS[line]]


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.header)
def test_a_command_in_any_form_does_one_thing_and_is_answered_once(row: Command) -> None:
    arguments = next(
        (line.partition(" ")[1:] for line in CALLS if line.split()[0] == row.short), ()
    )
    for form in (row.header, row.short):
        for header in (form, form.upper(), form.lower(), form.title(), f":{form}"):
            instrument, console = connect()
            *_, last = console.execute(header + "".join(arguments))

            ((name, *_),) = instrument.calls
            assert name == row.handler.__name__
            assert last == (name if row.header.endswith("?") else "OK")
            assert numbers(console) == []


def test_no_two_rows_answer_to_the_same_header() -> None:
    for row in TABLE:
        for form in (row.header, row.header.upper(), row.short):
            assert [other.header for other in TABLE if other.pattern.fullmatch(form)] == [
                row.header
            ]


@pytest.mark.parametrize(
    ("in_test", "answers"),
    [
        (False, ["any", 'ERROR -221,"no test is under way: SESS:STAR starts one"', "OK"]),
        (True, ["any", "OK", 'ERROR -221,"a test is under way: SESS:ABOR ends it"']),
    ],
)
def test_a_row_says_whether_a_test_may_be_under_way(in_test: bool, answers: list[str]) -> None:
    level = (Argument("level", Number("DBHL", "dB HL", (0.0, 40.0))),)
    console = Console(
        [
            Command("ANY?", lambda _: "any", "at any time"),
            Command("END", lambda _: None, "in a test", when=When.IN_TEST),
            Command("PLAY", lambda *_: None, "in none", level, when=When.NOT_IN_TEST),
        ],
        None,
        under_way=lambda: UnderWay.TEST if in_test else UnderWay.NOTHING,
    )

    assert [console.execute(line)[0] for line in ("ANY?", "END", "PLAY 40")] == answers


# --- Help and page -------------------------------------------------------------------------------


def test_help_has_a_line_for_every_row_in_ascii_that_fits_a_terminal() -> None:
    _, console = connect()
    *lines, names, note, ok = console.execute("help")

    assert ok == "OK"
    assert names.startswith("NAME=VALUE in any order: SESS:STAR EAR=LEFT,AGE=67,SEX=F")
    assert "Capitals are the short form" in note
    for line, row in zip(lines, TABLE, strict=True):
        assert line.startswith(f"{row.usage} ")
        assert line.endswith(f"  {row.help}")
        assert len(row.help) >= 7
    for line in (*lines, names, note):
        assert line.isascii()
        assert len(line) <= 100


def test_the_printed_table_has_every_command_of_every_module() -> None:
    _, _, *rows = page_lines(every_command())
    printed = {re.split(r"[ `]", row, maxsplit=3)[2] for row in rows}
    sources = Path(commands.__file__).parents[1].rglob("*.py")
    declared = re.compile(r'\bCommand\(\s*"(\S+)",')
    assert printed == {h for path in sources for h in declared.findall(path.read_text("utf-8"))}


def test_every_command_that_the_page_names_is_one() -> None:
    named = {
        word
        for span in re.findall(r"`([^`\n]+)`", PAGE.read_text("utf-8"))
        for word in re.findall(r"^(?:\*[A-Z]+\??|[A-Z]+(?::[A-Z]+)+\??|[A-Z]+\?)", span)
    }
    assert len(named) > 30
    patterns = [row.pattern for row in every_command()]
    assert [word for word in sorted(named) if not any(p.fullmatch(word) for p in patterns)] == []


def test_the_page_has_every_error_number() -> None:
    told = re.findall(r"^\| (-?\d+(?:, -?\d+)*) \|", PAGE.read_text(), re.MULTILINE)
    known = {
        value for name, value in vars(grammar).items()
        if name.isupper() and isinstance(value, int) and not name.endswith("_MAX")
    } - {grammar.NO_ERROR}  # fmt: skip

    assert {int(number) for numbers in told for number in numbers.split(", ")} == known


# --- Wrong lines ---------------------------------------------------------------------------------


def what_is_right(line: str, number: int) -> str:
    """Return how the command is typed, or what was not done; "": nothing is said of that."""
    if number in (grammar.UNDEFINED_HEADER, grammar.TOO_MUCH_DATA):
        return "nothing was done"
    (row,) = (row for row in TABLE if row.pattern.fullmatch(line.split(maxsplit=1)[0]))
    values_are_wrong = number == grammar.ILLEGAL_PARAMETER and line.isascii()
    return row.undone if values_are_wrong else row.usage


@pytest.mark.parametrize(
    ("line", "number", "words"),
    [
        ("NONSENSE", -113, "'NONSENSE' is no command; HELP lists them"),
        ("xyzzy:2468", -113, "'xyzzy:####' is no command; HELP lists them"),
        (
            "SESS:STRA LEFT",
            -113,
            "'SESS:STRA' is no command; the nearest is SESS:STAR, and HELP lists all",
        ),
        (
            "sesion:start",
            -113,
            "'sesion:start' is no command; the nearest is SESS:STAR, and HELP lists all",
        ),
        ("it's 1", -113, '"it\'s" is no command; HELP lists them'),
        (":", -113, "'' is no command; HELP lists them"),
        ("SETT pulses", -109, "something is missing"),
        ("SETT pulses,", -109, "something is missing"),
        ("SETT ,2", -109, "something is missing"),
        ("SETT pulses,2,3", -108, "'3' is too much"),
        ("HELP ME,PLEASE", -108, "'ME,PLEASE' is too much"),
        ("THR? LEFT,1,RIGHT", -108, "'RIGHT' is too much"),
        ("SESS:STAR LEFT,7", -108, "'7' needs its name, such as AGE=7 or SEED=7"),
        ("SESS:STAR 67.5", -108, "'67.5' needs its name, such as AGE=67.5 or SEED=67.5"),
        ("SESS:STAR f", -108, "'f' needs its name, such as SEX=f"),
        ("SESS:STAR Zoë", -108, "'Zoë' needs its name"),
        ("SESS:STAR LEFT,AGES=7", -108, "there is no 'AGES'"),
        ("SESS:STAR ſEED=7", -108, "there is no 'ſEED'"),
        ("SESS:STAR =7", -108, "there is no ''"),
        ("SESS:STAR AGE=7,age=8", -108, "AGE is told twice"),
        ("SESS:STAR LEFT,RIGHT", -108, "EAR is told twice"),
        ("SESS:STAR AGE=", -109, "AGE has no value"),
        ("SESS:STAR LEFT,", -109, "something is missing between commas"),
        ("SESS:STAR ,,67", -109, "something is missing between commas"),
        ("SESS:STAR SEED=٣", -224, "SEED is '٣', and has to be ASCII"),
        ("SESS:STAR EAR=ＬＥＦＴ", -224, "EAR is 'ＬＥＦＴ', and has to be ASCII"),
        ("TONE LEFT,١٠٠٠,40", -224, "'LEFT,١٠٠٠,40' has to be ASCII"),
        ("SYST:PIN ٣٣٣٣", -224, "an argument has to be ASCII"),
        ("THR? UP", -224, "ear is 'UP'; allowed are LEFT, LEFT-BONE, RIGHT and RIGHT-BONE"),
        ("SESS:RES? 0", -224, "number is '0'; allowed are whole numbers from 1 to 999999999"),
        ("SESS:STAR EAR=UP", -224, "EAR is 'UP'; allowed are BOTH, LEFT and RIGHT"),
        ("SESS:STAR AGE=130", -224, "AGE is '130'; allowed are numbers from 0 to 120 years"),
        ("SESS:STAR AGE=6_7", -224, "AGE is '6_7'; allowed are numbers from 0 to 120 years"),
        ("TONE LEFT,1000,loud", -224, "level is 'loud'; allowed are numbers in dB HL"),
        ("CAL:TONE LEFT,1000,0.1", -224, "level is '0.1'; allowed are numbers from -120 to 0 dBFS"),
        (
            "CAL:TONE LEFT,nan,-30",
            -224,
            "frequency is 'nan'; allowed are numbers from 125 to 8000 Hz",
        ),
        (
            "ſESS:STAR",
            -113,
            "'ſESS:STAR' is no command; the nearest is SESS:STAR, and HELP lists all",
        ),
        ("SESS:STAR\tLEFT", -113, "U+0009 is none"),
        ("SESS:STAR ID=a\u202eb", -113, "U+202E is none"),
        ("SESS:STAR ID=a\u2028b", -113, "U+2028 is none"),
        ("SESS:STAR ID=a\xa0b", -113, "U+00A0 is none"),
        ("X" * 201, -223, "a line has at most 200 characters"),
    ],
)
def test_a_wrong_line_does_nothing_and_is_answered_with_what_is_right(
    line: str, number: int, words: str
) -> None:
    instrument, console = connect()
    (answer,) = console.execute(line)
    told = answer.removeprefix("ERROR ")

    assert told.startswith(f'{number},"')
    assert words in told.replace('""', '"')
    assert told.count('"') % 2 == 0
    assert told.endswith(f'{what_is_right(line, number) or words}"')
    assert instrument.calls == []
    assert console.errors.next() == told
    assert console.errors.next() == '0,"No error"'


@pytest.mark.parametrize("line", ["SESS:PAUS", "SESS:STAT?", "AUD", "SETT pulses,2"])
def test_what_the_instrument_refuses_is_answered_and_kept_until_it_is_read(line: str) -> None:
    instrument, console = connect()
    instrument.refusal = ConsoleError(SETTINGS_CONFLICT, "not now")

    assert console.execute(line) == ['ERROR -221,"not now"']
    console.execute("NONSENSE")
    assert console.execute("SYST:ERR?") == ['-221,"not now"']
    assert console.execute("*cls") == ["OK"]
    assert console.execute("SYSTEM:ERROR?") == ['0,"No error"']


# --- Bytes ---------------------------------------------------------------------------------------

ID = "SESS:STAR ID="


def start_calls(*identifiers: str) -> list[Call]:
    return [("start", *NONE * 3, identifier, None) for identifier in identifiers]


IDENTITY: list[Call] = [("identify",)]
NAMES = ("Zoë", "Иванов-3", "患者7", "𠮷野家", "محمد")
ERASED: list[tuple[bytes, list[Call]]] = [  # backspace is <
    (b"*IDX<N?X<\r", IDENTITY), (b"<<<<<*IDN?\r", IDENTITY), (b"ab<<\r", []),
    *((f"{ID}a{last}<b\r".encode(), start_calls("ab")) for last in ("e", "ë", "患", "𠮷")),
    (f"{ID}ë".encode()[:-1] + b"<b\r", start_calls("b")),
]  # fmt: skip
BYTES: list[tuple[bytes, list[Call]]] = [
    *((b"*IDN?" + end + b"*IDN?" + end, IDENTITY * 2)
      for end in (b"\r", b"\n", b"\r\n", b"\n\r", b"\r\n\r\n")),
    *((line, []) for line in (b"SESS:ABOR", b"\r", b" \r", b"   \n")),
    *((f"{ID}{name}\r".encode(), start_calls(name)) for name in NAMES),
    *((typed.replace(b"<", erase), calls) for typed, calls in ERASED for erase in (b"\b", b"\x7f")),
    *((begun + anew + b"*IDN?\r", IDENTITY)
      for begun in (b"SESS:ABOR", b"X" * 500, b"ID=\xc3") for anew in (b"\x15", b"\x03")),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "calls"), BYTES)
def test_bytes_are_taken_in_one_by_one_and_done_when_their_line_ends(
    typed: bytes, calls: list[Call]
) -> None:
    instrument, console = connect()
    answers = [answer for byte in typed for answer in console.receive(bytes([byte]))]

    assert instrument.calls == calls
    assert answers == ["identify" if call in IDENTITY else "OK" for call in calls]


def test_a_line_that_is_too_long_is_refused_and_counted_in_characters() -> None:
    """What was beyond the limit is lost: to do the rest of it would be to do something else."""
    name = "患" * (LINE_CHARACTERS_MAX - len(ID))
    instrument, console = connect()
    for more in ("患", "患" * 5000, "患" * 300 + "\b" * 250):
        assert console.receive(f"{ID}{name}{more}\r".encode()) == [
            'ERROR -223,"a line has at most 200 characters; nothing was done"'
        ]
    assert console.receive(f"{ID}{name}\r".encode()) == ["OK"]
    assert instrument.calls == start_calls(name)


@pytest.mark.parametrize(
    ("garbled", "words"),
    [
        *((bytes([byte]), f"{PRINTABLE}; U+{byte:04X} is none") for byte in (0, 1, 7, 9, 0x1B)),
        *(
            (garbled, f"a line is UTF-8; the byte 0x{byte:02X} is none here")
            for garbled, byte in (
                (b"\x80", 0x80), (b"\xff", 0xFF), (b"\xc3", 0xC3), (b"\xc0\x80", 0xC0),
                (b"\xed\xa0\x80", 0xED), (b"\xf4\x90\x80\x80", 0xF4), (b"\xe6\x82", 0xE6),
                ("ë".encode()[::-1], 0xAB),
            )
        ),
    ],
)  # fmt: skip
def test_what_is_no_text_spoils_its_line_and_no_other(garbled: bytes, words: str) -> None:
    for before, after in ((b"SESS:", b"ABOR\r"), (b"SESS:STAR ID=", b"\r")):
        instrument, console = connect()

        assert console.receive(b"*IDN?\r" + before + garbled + after + b"*IDN?\r") == [
            "identify", f'ERROR -113,"{words}; nothing was done"', "identify",
        ]  # fmt: skip
        assert instrument.calls == IDENTITY * 2


def test_of_a_line_that_was_cut_off_nothing_is_left() -> None:
    _, console = connect()
    console.receive("*IDN?ë".encode()[:-1])
    console.forget_line()

    assert console.receive(b"*IDN?\r") == ["identify"]


def test_however_much_comes_without_an_end_little_is_kept() -> None:
    _, console = connect()
    tracemalloc.start()
    for _ in range(100):
        console.receive(b"y\x80\xff" * 500)
    kept_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert kept_bytes < 100_000, "a character takes eight of them at least"
    assert console.receive(b"\r*IDN?\r")[1:] == ["identify"]


SCRIPT = (
    b"*IDN?\r\nsess:starX\x08t left,id=Zo\xc3\xab\n\r:SESS:STAT?\rGARBAGE\x15THR? RIGHT\r"
    b"\xff\xfe\rNONSENSE\rSETT pulses , 2\r" + b"L" * 260 + b"\rAUD\r\x03\rSYST:ERR?\r"
)


def whole_script() -> tuple[list[str], list[Call]]:
    instrument, console = connect()
    return console.receive(SCRIPT), instrument.calls


def test_a_script_is_answered_line_by_line() -> None:
    answers, calls = whole_script()

    assert [answer.split(",")[0] for answer in answers] == [
        "identify", "OK", "state", "threshold", "ERROR -113", "ERROR -113", "OK",
        "ERROR -223", *PICTURE, "OK", "-113",
    ]  # fmt: skip
    assert calls == [
        ("identify",), ("start", "left", None, None, "Zoë", None), ("state",),
        ("threshold", Route("right"), None), ("set_setting", "pulses", "2"), ("audiogram", None),
    ]  # fmt: skip


@given(st.lists(st.integers(0, len(SCRIPT)), max_size=12))
def test_a_script_may_come_in_any_pieces(cuts: list[int]) -> None:
    instrument, console = connect()
    edges = [0, *sorted(cuts), len(SCRIPT)]
    answers = []
    for start, end in itertools.pairwise(edges):
        answers += console.receive(SCRIPT[start:end])

    assert (answers, instrument.calls) == whole_script()


# --- Garbage -------------------------------------------------------------------------------------

words = st.sampled_from([row.header for row in TABLE]) | st.text("SESTAR:*?,x ", max_size=12)
almost_lines = st.lists(words | st.text(max_size=6), max_size=6).map(" ".join)


def check_answers(answers: list[str]) -> None:
    for answer in answers:
        assert answer
        assert answer.isprintable()


@settings(max_examples=examples(300))
@given(almost_lines)
def test_every_line_is_answered_exactly_once(line: str) -> None:
    """With one line; what is for people comes before its OK."""
    _, console = connect()
    answers = console.execute(line)
    check_answers(answers)

    assert all(answer.isascii() for answer in answers) or not line.isascii()
    assert (answers == []) == (not line.strip())
    if len(answers) > 1:
        assert answers[-1] == "OK"
        assert line.strip(": ").upper().split()[0] in ("HELP", "AUD", "AUDIOGRAM")
    assert len(numbers(console)) in (0, sum(answer.startswith("ERROR ") for answer in answers))
