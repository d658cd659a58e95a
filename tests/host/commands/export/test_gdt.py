"""GDT 2.1: results go out, an order is answered by the test of its person, and bad files say why.

Files are read back by the parser of `promises.py`, which shares nothing with the product.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest

from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.gdt import GdtRecord, records_of
from device.audiogram_tables.table import Table
from firmware_py.sessions.broken_off import Course
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.person import Person, Sex
from host_tools.commands.export.examination import Examination, read_examination
from host_tools.commands.export.gdt import Order, as_gdt
from host_tools.errors import HostError
from host_tools.main import main
from tests.host.commands.export.promises import records_of_gdt
from tests.host.commands.export.sessions import (
    as_json,
    inferred_and_confirmed,
    session_with_bone,
    session_with_marks,
    with_vibrator,
    write,
)
from tests.host.journals import BOTH, MASKED
from tests.host.judged import DIFFERENT, judge

UNSET: Final = "1970-01-01T00:00:30+00:00"  # as a device without a clock counts
TODAY: Final = date(2026, 11, 30)
ORDERED: Final = (
    ("8000", "6302"), ("8100", ""), ("8315", "AUDIO_1"), ("8316", "PRAXIS"), ("9206", "3"),
    ("9218", "02.10"), ("3000", "4711"), ("3101", "Müßig"), ("3102", "Jürgen"),
    ("3103", "24121950"), ("3110", "1"), ("8402", "AUDI00"),
)  # fmt: skip


def file_of(fields: Iterable[tuple[str, str]], encoding: str = "latin-1") -> bytes:
    """Return a record of these fields, with the right lengths."""
    lines = [(number, text.encode(encoding)) for number, text in fields]
    total = sum(9 + len(text) for _, text in lines) + 5
    return b"".join(
        b"%03d%s%s\r\n" % (9 + len(text), number.encode(), text)
        for number, text in (
            (number, b"%05d" % total if (number, text) == ("8100", b"") else text)
            for number, text in lines
        )
    )


def changed(**fields: str | None) -> list[tuple[str, str]]:
    """Return the fields of an order with others in their place; None: it is not there."""
    wanted = {name.removeprefix("f"): text for name, text in fields.items()}
    found = [(number, wanted.get(number, text)) for number, text in ORDERED]
    return [(number, text) for number, text in found if text is not None]


def order_of(tmp_path: Path, content: bytes) -> Order:
    path = tmp_path / "order.gdt"
    path.write_bytes(content)
    return Order.read(path, TODAY)


def of(
    identifier: str | None, examination: Examination | None = None, sex: Sex = "M",
    age_years: float = 75.0,
) -> Examination:  # fmt: skip
    examination = examination or read_examination(BOTH)
    header = replace(examination.header, person=Person(age_years, sex, identifier))
    return replace(examination, header=header)


def told_of(examination: Examination) -> dict[str, Any]:
    (record,) = records_of_gdt(write(as_gdt, [examination]))
    return record


@pytest.mark.parametrize(
    ("number", "encoding", "name"),
    [
        ("3", "latin-1", "Müßig"),
        ("2", "cp437", "Müßig"),
        (None, "cp437", "Müßig"),
        ("1", "ascii", "M}~ig"),
    ],
)
def test_an_order_is_answered_in_its_own_characters(
    tmp_path: Path, number: str | None, encoding: str, name: str
) -> None:
    first = "J}rgen" if number == "1" else "Jürgen"
    content = file_of(changed(f9206=number, f3101=name, f3102=first), encoding)
    order = order_of(tmp_path, content)
    assert order.person == Person(75.0, "M", "4711")
    assert order.on_the_page() == {
        "identifier": "4711", "birth_year": 1950, "sex": "M", "name": "Jürgen Müßig",
    }  # fmt: skip
    answer = write(lambda sessions: as_gdt(sessions, order), [of("4711")])
    (record,) = records_of_gdt(answer)
    assert (record["receiver"], record["sender"]) == ("PRAXIS", "AUDIO_1")
    assert (record["patient"], record["born"], record["sex"]) == ("4711", "24121950", "1")
    assert record["procedure"] == "AUDI00"
    assert b"3101" + name.encode(encoding) + b"\r\n" in answer
    assert [r.one("3101") for r in records_of(answer)] == ["Müßig"]


def test_an_answer_is_of_the_person_of_the_order(tmp_path: Path) -> None:
    order = order_of(tmp_path, file_of(ORDERED))
    for whose, words in (
        (of("P-17"), "is of 'P-17'"),
        (of(None), "has no identifier"),
        (of("4711", sex="F"), "cannot be theirs: sex 'M', not 'F'"),
        (of("4711", age_years=60.0), "cannot be theirs: year of birth 1951, not"),
    ):
        with pytest.raises(HostError, match=f"asks for patient '4711', and session 1 {words}"):
            write(lambda sessions: as_gdt(sessions, order), [whose])


def test_where_nobody_was_tested_that_is_said_first() -> None:
    (record,) = records_of(write(as_gdt, [read_examination(BOTH)]))
    assert record.all("6228")[0] == "SIMULATED: no person was tested"


def test_a_file_has_one_person(tmp_path: Path) -> None:
    content = write(as_gdt, [of("4711"), of("4711")])
    assert [record["patient"] for record in records_of_gdt(content)] == ["4711", "4711"]
    for other in (of("4712"), of(None), of("4711", sex="F")):
        with pytest.raises(HostError, match=r"several people: '4711' \(session 1\)"):
            write(as_gdt, [of("4711"), other])
    with pytest.raises(HostError, match=r"nobody named \(session 1\), nobody named"):
        write(as_gdt, [of(None), of(None)])


def test_an_answer_brings_back_what_the_order_had_of_the_patient(tmp_path: Path) -> None:
    had = [(number, f"x{number}") for number in ("3100", "3104", "3105", "3106", "3107", "8310")]
    order = order_of(tmp_path, file_of([*ORDERED, *had, ("4109", "other")]))
    (record,) = records_of(write(lambda sessions: as_gdt(sessions, order), [of("4711")]))
    assert {field for field in record.fields if field[1].startswith("x")} == {*had}
    assert not record.all("4109")


def test_of_a_clock_that_was_never_set_there_is_no_day(tmp_path: Path) -> None:
    """And nobody's birth follows from it."""
    examination = of("4711", age_years=60.0)
    header = replace(examination.header, started=UNSET)
    never = replace(examination, header=header, course=Course(UNSET, UNSET))
    order = order_of(tmp_path, file_of(ORDERED))
    (record,) = records_of_gdt(write(lambda sessions: as_gdt(sessions, order), [never]))
    assert "day" not in record
    assert "time" not in record


@pytest.mark.parametrize(("born", "age_years"), [("30111950", 76.0), ("01121950", 75.0)])
def test_somebody_is_a_year_older_from_the_birthday_on(
    tmp_path: Path, born: str, age_years: float
) -> None:
    order = order_of(tmp_path, file_of(changed(f3103=born)) + b"\x1a")  # as DOS ended files
    assert order.person.age_years == age_years


def test_a_doubtful_ear_is_doubtful_when_it_is_read() -> None:
    examination = read_examination(BOTH)
    judged = replace(examination, result=judge(examination.result, DIFFERENT))
    (ear,) = Table.read("a.gdt", write(as_gdt, [judged])).all_ears()
    assert ear.remarks == ("its test is not valid: doubtful",)
    assert ear.convention == "50 %"


def test_an_answer_has_no_receiver_that_the_order_did_not_name(tmp_path: Path) -> None:
    order = order_of(tmp_path, file_of(changed(f8316=None)))
    (record,) = records_of_gdt(write(lambda sessions: as_gdt(sessions, order), [of("4711")]))
    assert "receiver" not in record
    assert record["sender"] == "AUDIO_1"


def test_seven_bits_have_no_brackets() -> None:
    written = GdtRecord((("8000", "6310"), ("9206", "1"), ("6228", "[Ä] @§")), "1").to_bytes()
    (record,) = records_of(written)
    assert record.one("6228") == "?Ä? ?§"


@pytest.mark.parametrize("identifier", [None, "患者7", "12345678901"])
def test_what_cannot_be_a_patients_number_is_none(identifier: str | None) -> None:
    record = told_of(of(identifier))
    assert "patient" not in record
    assert record["comment"][0].startswith("no patient number")
    assert record["sex"] == "1"
    assert told_of(of("1234567890"))["patient"] == "1234567890"


def test_a_record_says_what_was_measured_and_in_words_what_was_not() -> None:
    record = told_of(of("4711", session_with_marks()))
    tests = {test["test"]: test for test in record["tests"]}
    assert (record["procedure"], record["version"], record["characters"]) == (
        "AUDI01",
        "02.10",
        "3",
    )
    assert (record["day"], record["time"]) == ("02012026", "030405")
    assert len(tests) == len(record["tests"]) == 20
    assert tests["LL-R-3000"]["unit"] == "dB HL"
    assert tests["LL-R-3000"]["title"] == "Luftleitung rechts 3000 Hz"
    assert tests["LL-R-3000"]["note"][0].startswith("95 % ")
    words = {number: tests[f"LL-R-{number}"].get("result") for number in (250, 3000, 6000, 8000)}
    assert words == {250: "<=-10 dB HL", 3000: None, 6000: "incomplete", 8000: ">90 dB HL"}
    assert not any("value" in test and "result" in test for test in tests.values())
    assert "masking: uncertain" in tests["LL-R-4000"]["note"]
    assert tests["LL-R-6000"]["note"][1:] == [
        "perhaps beyond the limit of 90 dB HL",
        "95 % band at most +-5.0 dB (4000 Hz)",
    ]
    assert all(len(line) <= 60 for line in record["text"])


def test_what_was_inferred_is_no_test_and_what_was_confirmed_a_note() -> None:
    examination = inferred_and_confirmed()
    record = told_of(examination)
    tests = {test["test"]: test for test in record["tests"]}
    asked = [t for ear in examination.result.ears for t in ear.thresholds]
    assert len(tests) == sum(t.mark != Outcome.INFERRED for t in asked) == 18
    assert "LL-R-2000" not in tests
    assert any(line.startswith("2000 Hz right: inferred, not measured") for line in record["text"])
    confirmed = "confirmed by the Hughson-Westlake procedure: 35.0"
    assert any(confirmed in note for note in tests["LL-R-1000"]["note"])


def test_a_band_that_goes_on_beyond_the_levels_of_the_test_says_so() -> None:
    tests = {test["test"]: test for test in told_of(read_examination(MASKED))["tests"]}
    assert any(note.endswith("to >=100.0 dB HL") for note in tests["LL-L-3000"]["note"])
    assert not any(">=" in note for note in tests["LL-R-1000"]["note"])


def test_bone_has_its_gaps_in_notes() -> None:
    record = told_of(with_vibrator(session_with_bone()))
    notes = {test["test"]: " ".join(test.get("note", [])) for test in record["tests"]}
    assert "air-bone gap 30 dB (95 % band" in notes["KL-R-1000"]
    assert "masking: masked" in notes["KL-R-1000"]
    assert "gap" not in notes["LL-R-1000"]
    assert any("conductive" in line for line in record["text"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty; allowed is a record, which begins with 8000"),
        (file_of(ORDERED[2:]), "line 1: the field is 8315; allowed is 8000"),
        (file_of(ORDERED).replace(b"0133000", b"0143000"), "3000: is 13 bytes long with its end"),
        (file_of(ORDERED)[:-20], "line 11: begins with '01031'; allowed are three digits"),
        (file_of(ORDERED)[:-15], "8100 says '00166' bytes, and the record has 151"),
        (b"8000 6302\r\n", "line 1: begins with '8000 63'; allowed are three digits"),
        (file_of(changed(f8000="6301")), "8000 is '6301'; allowed is 6302"),
        (file_of(changed(f8000="6310")), "8000 is '6310'; allowed is 6302"),
        (file_of(changed(f9206="4")), "9206 is '4'; allowed are 1 .7 bits."),
        (file_of(changed(f9206="1")), "3101 has byte 0xfc, and 9206 says ascii"),
        (file_of(changed(f9218="03.00")), "9218 is '03.00'; allowed is 02.10"),
        (file_of(changed(f3000=None)), "3000, the patient's number, is missing"),
        (file_of(changed(f3000="47 11")), "3000 is '47 11': identifier is '47 11'; allowed are"),
        (file_of(changed(f3103="24121850")), "3103 is '24121850': age_years is 175.0; allowed are"),
        (file_of([*ORDERED, ("3000", "4712")]), "3000 is '4711' and '4712'; allowed is one"),
        (file_of([*ORDERED, ("3101", "Mai")]), "3101 is 'Mai' and 'Müßig'; allowed is one"),
        (file_of(ORDERED) * 2, "it has 2 records; allowed is one order"),
        (file_of(changed(f3103="31021950")), "3103 is '31021950'; allowed is a day of birth"),
        (file_of(changed(f3103="24122950")), "3103 is '24122950'; allowed is a day of birth"),
        (file_of(changed(f3110="3")), "3110 is '3'; allowed are 1 .male., 2 .female., and none"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_order_says_why(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(HostError, match=f"is no order of GDT 2.1: .*{words}"):
        order_of(tmp_path, content)


def test_an_order_that_is_not_there_or_is_long_is_named(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="cannot be read: No such file"):
        Order.read(tmp_path / "none.gdt", TODAY)
    with pytest.raises(HostError, match=r"order\.gdt: cannot be read: "):
        order_of(tmp_path, b"0" * (2 << 20))


def test_the_command_answers_an_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order, answer = tmp_path / "order.gdt", tmp_path / "answer.gdt"
    order.write_bytes(file_of(ORDERED))
    export = ["export", str(BOTH)]
    assert main([*export, "--order", str(order), "-o", str(answer)]) == 2
    assert "asks for patient '4711'" in capsys.readouterr().err
    assert not answer.exists()
    assert main([*export, "--order", str(order), "-o", str(tmp_path / "a.csv")]) == 2
    assert "--order is of gdt; the format is csv" in capsys.readouterr().err
    assert main([*export, "--format", "gdt"]) == 2
    assert "gdt is no text for standard output" in capsys.readouterr().err
    assert main([*export, "-o", str(answer)]) == 0
    (record,) = records_of_gdt(answer.read_bytes())
    assert record["sender"] == "GP-PTA"
    of_practice = tmp_path / "PRAXAUDI.001"
    assert main([*export, "--format", "gdt", "-o", str(of_practice)]) == 0
    assert of_practice.read_bytes() == answer.read_bytes()
    saved = tmp_path / "saved.json"
    saved.write_bytes(as_json([of("4711")]))
    assert main(["export", str(saved), "--order", str(order), "-o", str(answer), "--force"]) == 0
    (record,) = records_of_gdt(answer.read_bytes())
    assert (record["patient"], record["surname"], record["receiver"]) == ("4711", "Müßig", "PRAXIS")


def test_a_table_of_gdt_is_read_or_says_why() -> None:
    with pytest.raises(AudiogramError, match=r"line 2, field 8100: is 14 bytes long"):
        Table.read("a.gdt", b"01380006310\r\n015810000027\r\n")
    with pytest.raises(AudiogramError, match="no threshold in it: passed over record 1: '6302'"):
        Table.read("a.gdt", file_of(ORDERED))
    test = [("8410", "LL-R-1000"), ("8420", "35.0"), ("8421", "dB HL"), ("8410", "RR")]
    table = Table.read("a.gdt", file_of([("8000", "6310"), ("3000", "4711"), *test]))
    (ear,) = table.all_ears()
    assert (ear.person, ear.side, ear.by_air[1000.0].level_db_hl) == ("4711", "right", 35.0)
    assert table.remarks[0] == "a.gdt: passed over: record 1: 'RR' is no threshold"
    both = [*test[:3], ("8480", ">90 dB HL")]
    with pytest.raises(AudiogramError, match=r"8420 is '35\.0', and 8480 '>90 dB HL'"):
        Table.read("a.gdt", file_of([("8000", "6310"), *both]))
