"""The XML of OtoAccess: three forms of it, each written here, and XML that is refused unread."""

from collections.abc import Iterable
from typing import Final
from xml.parsers import expat

import pytest

from device.audiogram_tables.ears import AudiogramError, Readings, TableEar
from device.audiogram_tables.table import Table

BLANK: Final = -2147483648


def read(text: str | bytes) -> Table:
    return Table.read("a.xml", text.encode() if isinstance(text, str) else text)


def ears_of(text: str) -> list[TableEar]:
    return [*read(text).all_ears()]


def told(readings: Readings) -> dict[float, float | str]:
    """Return levels by frequency; of no response `>` and its limit."""
    return {f: r.level_db_hl if r.heard else f">{r.limit_db_hl:g}" for f, r in readings.items()}


def point(hz: int, ut: int = BLANK, status: str = "Heard", mt: int = BLANK) -> str:
    return (
        f"<TonePoint><Frequency>{hz}</Frequency><IntensityUT>{ut}</IntensityUT>"
        f"<StatusUT>{status}</StatusUT><IntensityMT>{mt}</IntensityMT><StatusMT>Heard</StatusMT>"
        "<IntensityMTMasked>60</IntensityMTMasked><Transducer>DD45</Transducer></TonePoint>"
    )


def tone(side: str, conduction: str, *points: str) -> str:
    return (
        f"<Measured><Tone><Earside>{side}</Earside>"
        f"<ConductionTypes>{conduction}</ConductionTypes>{''.join(points)}</Tone></Measured>"
    )


def a_test(*tones: str, name: str = "Tone") -> str:
    data = f"<Data><RecordedData>{''.join(tones)}</RecordedData></Data>"
    return f"<Test><TestName>{name}</TestName>{data}</Test>"


def suite(*tests: str, person: str = "") -> str:
    """Return a document of the Diagnostic Suite."""
    namespace = "xmlns='http://example.org/suite'"
    session = f"<Session><Date>2026-01-05</Date>{''.join(tests)}</Session>"
    return f"<?xml version='1.0'?><SaData {namespace}>{person}{session}</SaData>"


def test_the_suite_has_air_bone_masking_and_no_response() -> None:
    text = suite(
        a_test(
            tone("Right", "AC", point(1000, 30), point(2000, 110, "NoResponse"), point(0, 10)),
            tone("Left", "IP", point(1000, 70, mt=85), point(500), point(250, 20, "Not Tested")),
            tone("Left", "BC", point(1000, mt=40)),
            tone("Left", "FF", point(1000, 25)),
        ),
        a_test(name="QuickSIN"),
        person="<Patient><PatientId>P-1</PatientId><Gender>Female</Gender></Patient>",
    )
    right, left = ears_of(text)
    assert (right.person, right.sex, right.side) == ("P-1", "F", "right")
    assert told(right.by_air) == {1000.0: 30.0, 2000.0: ">110"}
    assert (told(left.by_air), told(left.by_bone)) == ({1000.0: 85.0}, {1000.0: 40.0})
    where = "session 2026-01-05 Tone Left"
    assert [remark.partition("passed over: ")[2] for remark in read(text).remarks] == [
        f"{where} IP, 1000 Hz: without masking 70, for it was masked",
        f"{where} FF, 1000 Hz is no threshold of an ear by air or bone",
        "session 2026-01-05 QuickSIN has no tones",
    ]


def test_the_suite_has_levels_of_discomfort_and_points_that_were_not_tried() -> None:
    kind = "<MeasurementType>UCL</MeasurementType>"
    points = point(500, 100), point(1000, 90, "None")
    curves = tone("Left", "AC", kind, *points), tone("Left", "AC", point(500, 20))
    (ear,) = ears_of(suite(a_test(*curves)))
    assert (told(ear.by_air), told(ear.discomfort)) == ({500.0: 20.0}, {500.0: 100.0})


def test_tests_of_a_session_are_one_unless_something_comes_twice() -> None:
    air, bone, again = (
        a_test(tone("Right", how, point(1000, level)))
        for how, level in (("AC", 30), ("BC", 25), ("AC", 40))
    )
    (ear,) = ears_of(suite(air, bone))
    assert (told(ear.by_air), told(ear.by_bone)) == ({1000.0: 30.0}, {1000.0: 25.0})
    assert [told(ear.by_air) for ear in ears_of(suite(air, again))] == [
        {1000.0: 30.0}, {1000.0: 40.0},
    ]  # fmt: skip
    twice = a_test(*(tone("Right", "AC", point(1000, level)) for level in (30, 40)))
    with pytest.raises(AudiogramError, match="1000 Hz of the right ear comes twice"):
        ears_of(suite(twice))


def local(sessions: Iterable[str], name: str = "Anna") -> str:
    person = f"<Patient><FirstName>{name}</FirstName><LastName>Muster</LastName></Patient>"
    return f"<LocalSession>{person}<Sessions>{''.join(sessions)}</Sessions></LocalSession>"


def curve(kind: str, output: str, *levels: tuple[int, float]) -> str:
    points = "".join(
        f"<TonePoint><Intensity1>{db:g}</Intensity1><Freq1>{hz}</Freq1></TonePoint>"
        for hz, db in levels
    )
    conditions = f"<MeasurementConditions><SignalOutput1>{output}</SignalOutput1>"
    return (
        "<Session><Actions><Action><ActionType>Audiogram</ActionType><PublicData>"
        f"<Tone{kind}Audiogram><AudiogramOfTonePoint>{conditions}</MeasurementConditions>"
        f"<Points>{points}</Points></AudiogramOfTonePoint></Tone{kind}Audiogram>"
        "</PublicData></Action></Actions></Session>"
    )


def test_a_local_session_has_thresholds_and_levels_of_discomfort() -> None:
    curves = [
        curve("THR", "ACL", (250, 50), (500, 10)), curve("THR", "BCL", (500, 5)),
        curve("UCL", "ACL", (500, 100)), curve("MCL", "ACL", (500, 60)),
    ]  # fmt: skip
    table = read(local(curves))
    (ear,) = table.all_ears()
    assert (ear.person, ear.side) == ("Anna Muster", "left")
    assert told(ear.by_air) == {250.0: 50.0, 500.0: 10.0}
    assert (told(ear.by_bone), told(ear.discomfort)) == ({500.0: 5.0}, {500.0: 100.0})
    assert "ACL, 500 Hz is no threshold of an ear by air or bone" in " ".join(table.remarks)


def test_a_file_of_two_people_has_two() -> None:
    people = "".join(
        local([curve("THR", "ACR", (500, level))], name)
        for name, level in (("Anna", 10), ("Bert", 60))
    )
    table = read(f"<Export>{people}</Export>")
    assert [told(ear.by_air) for ear in table.all_ears()] == [{500.0: 10.0}, {500.0: 60.0}]
    (ear,) = table.ears("Bert Muster")
    assert told(ear.by_air) == {500.0: 60.0}


def test_of_two_people_beside_one_another_nobody_knows_whose_a_session_is() -> None:
    session = curve("THR", "ACR", (500, 10))
    both = "".join(f"<Patient><Id>{name}</Id></Patient>{session}" for name in ("P-1", "P-2"))
    with pytest.raises(AudiogramError, match="'P-1' and 'P-2' stand beside one another"):
        read(f"<LocalSession>{both}</LocalSession>")


def noah(status: str = "") -> str:
    points = "".join(
        f"<TTonePoint Freq1='{hz}' Intensity1='{tenths}' {status}/>"
        for hz, tenths in ((500, 150), (1000, -50))
    )
    curves = "".join(
        f"<TToneTHRAudiogram><MeasCond SignalOutput1='so_{output}'/><Curve>{points}</Curve>"
        "</TToneTHRAudiogram>"
        for output in ("ACR", "ACL")
    )
    audio = f"<TAudioSession><ToneTHRAudiogram>{curves}</ToneTHRAudiogram></TAudioSession>"
    return (
        "<Session Date='2026-01-05T10:00:00'><Actors><Client Id='4711'/></Actors>"
        f"<Action><Public>{audio}</Public></Action></Session>"
    )


def test_a_session_of_noah_counts_tenths_of_a_decibel() -> None:
    right, left = ears_of(noah())
    assert (right.person, left.person) == ("4711", "4711")
    assert told(right.by_air) == told(left.by_air) == {500.0: 15.0, 1000.0: -5.0}
    (silent, _) = ears_of(noah("Status1='ps_NoResponse'"))
    assert told(silent.by_air) == {500.0: ">15", 1000.0: ">-5"}


def test_wide_characters_are_read() -> None:
    text = "<?xml version='1.0' encoding='utf-16'?>" + noah()
    assert len([*read(text.encode("utf-16")).all_ears()]) == 2


LAUGHS: Final = (
    "<!DOCTYPE a [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;'>]>"
    "<SaData>&c;</SaData>"
)
OUTSIDE: Final = "<!DOCTYPE a [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><SaData>&a;</SaData>"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LAUGHS, r"it has a document type \(<!DOCTYPE>\), which may have entities"),
        (OUTSIDE, r"it has a document type \(<!DOCTYPE>\), which may have entities"),
        ("<!DOCTYPE html><html></html>", "it has a document type"),
        ("<a>" * 65 + "</a>" * 65, "it is nested deeper than 64 elements"),
        ("<SaData>&a;</SaData>", "undefined entity"),
        ("<SaData><Session>", "no element found"),
        ("<?xml version='1.0' encoding='klingon'?><SaData/>", "unknown encoding"),
        ("<?xml version='1.0' encoding='shift_jis'?><SaData/>", "multi-byte encodings"),
        (noah("Status1='Odd'"), "Status1 is 'Odd'; allowed are Heard, Normal"),
        (noah().replace("'150'", "'15 dB'"), "Intensity1 is '15 dB'; allowed is a number"),
        (noah().replace("'150'", "'15000'"), "1500 dB HL, allowed are -30 to 140"),
        ("<html><p>1000</p></html>", "no threshold in it; XML of OtoAccess that is read"),
    ],
)
def test_what_is_no_such_file_is_refused(text: str, words: str) -> None:
    with pytest.raises(AudiogramError, match=words):
        ears_of(text)


def test_long_xml_is_refused_before_anything_of_it_is_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(expat, "ParserCreate")
    with pytest.raises(AudiogramError, match="it has 50,000,009 bytes; allowed are 8,388,608"):
        read(b"<SaData>" + b" " * 50_000_001)
