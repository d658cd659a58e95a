"""The firmware's end of the line to a hearing aid."""

import pytest

from firmware_py.link.aid import (
    ANSWER_US_MAX,
    LINE_BYTES_MAX,
    SPEECH_US_MAX,
    AidClient,
    AidGone,
    AidGreeted,
    AidNotice,
    AidRefused,
    SpeechBegan,
    SpeechPlayed,
)

SETTING = (1.0, -2.5, 0.0, 12.0)
WORDS = "overall_db=1 tilt_db=-2.5 mid_db=0 soft_db=12"
GREETING = (
    b"ok aid=openmha version=4.18 fit=0123456789ab overall_db=-12,12 tilt_db=-6,12 mid_db=0,0 "
    b"soft_db=-12,3.5 overall_sd_db=5.1 tilt_sd_db=5.2 mid_sd_db=5.3 soft_sd_db=5\n"
)


def hear(greeting: bytes) -> tuple[AidClient, AidNotice]:
    client = AidClient()
    client.connect()
    assert client.transmit(0) == b"hello\n"
    (notice,) = client.receive(greeting, 0)
    return client, notice


def greet() -> AidClient:
    return hear(GREETING)[0]


def test_the_greeting_says_what_the_aid_may_be_set_to() -> None:
    client, notice = hear(GREETING)
    assert notice == AidGreeted(
        "openmha 4.18", "0123456789ab",
        ((-12.0, 12.0), (-6.0, 12.0), (0.0, 0.0), (-12.0, 3.5)), (5.1, 5.2, 5.3, 5.0),
    )  # fmt: skip
    assert client.connected
    assert not client.busy


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        *(
            (name + b"=", b"x=", f"its greeting lacks '{name.decode()}'")
            for name in (b"version", b"fit", b"tilt_db", b"mid_sd_db")
        ),
        (b"openmha", b"open\x1b[2Jmha", r"it says b'ok aid=open\x1b[2Jmha "),
        (b"openmha", b"a" * 65, "its greeting: aid is 'aaaa"),
        (b"fit=0123456789ab", b"fit=", "its greeting: fit is ''; allowed are 1 to 64"),
        (b"5.1", b"9" * 500, "its greeting: overall_sd_db: number of 500 characters; allowed"),
        (b"5.1", b"nan", "its greeting: overall_sd_db: number 'nan': 'n' is not a digit"),
        (b"-12,12", b"-12", "its greeting: overall_db is '-12'; allowed is LOW,HIGH"),
        (b"-12,12", b"-1e9,12", "its greeting: overall_db: number '-1e9'"),
        (b"-12,12", b"-999,12", "its greeting: overall_db: number -999; allowed is -80 to 80"),
        (b"soft_sd_db=5", b"soft_sd_db=5 person=%1B", "its greeting: identifier is "),
    ],
)
def test_a_greeting_that_nobody_could_record_is_refused_with_the_reason(
    old: bytes, new: bytes, why: str
) -> None:
    client, gone = hear(GREETING.replace(old, new, 1))
    assert isinstance(gone, AidGone)
    assert gone.why.startswith(why)
    assert gone.why.isprintable()
    assert not client.connected


def test_one_command_waits_for_the_answer_to_the_other() -> None:
    client = greet()
    client.play(7, SETTING)
    client.use(SETTING)
    assert client.transmit(1) == f"play number=7 {WORDS}\n".encode()
    assert client.transmit(2) == b""
    assert client.receive(b"ok\n", 3) == []
    assert client.transmit(4) == f"set {WORDS}\n".encode()
    assert client.receive(b"played number=7\nok\n", 5) == [SpeechPlayed(7)]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (b"overall_db=1 tilt_db=-1.75 mid_db=0 soft_db=3", SpeechBegan(7, (1.0, -1.75, 0.0, 3.0))),
        (b"overall_db=1 mid_db=0 soft_db=3", AidGone("what it plays lacks 'tilt_db'")),
        (
            b"overall_db=1 tilt_db=99 mid_db=0 soft_db=3",
            AidGone("what it plays: tilt_db: number 99; allowed is -80 to 80"),
        ),
    ],
)
def test_an_aid_says_what_comes_out_of_a_setting(words: bytes, told: AidNotice) -> None:
    client = greet()
    client.play(7, SETTING)
    client.transmit(0)
    assert client.receive(b"ok " + words + b"\n", 1) == [told]


def test_what_was_stopped_is_not_played_and_not_told() -> None:
    client = greet()
    client.play(1, SETTING)
    client.transmit(0)
    client.receive(b"ok\n", 0)
    client.play(2, SETTING)
    client.stop()
    assert client.transmit(1) == b"stop\n"
    assert client.receive(b"played number=1\nok\n", 2) == []
    assert client.transmit(3) == b""


def test_a_refusal_is_told_in_the_words_of_the_aid() -> None:
    client = greet()
    client.use(SETTING)
    client.transmit(0)
    told = client.receive(b"error what=tilt_db value=-2.5 allowed=0,12\n", 0)
    assert told == [AidRefused("set", "what tilt_db value -2.5 allowed 0,12")]


def test_what_does_not_come_in_time_is_missed() -> None:
    client = greet()
    client.play(1, SETTING)
    client.transmit(0)
    assert client.receive(b"", ANSWER_US_MAX) == []
    assert client.receive(b"", ANSWER_US_MAX + 1) == [AidGone("no answer to 'play' in time")]
    client = greet()
    client.play(1, SETTING)
    client.transmit(0)
    client.receive(b"ok\n", 10)
    assert client.next_deadline_us() == 10 + SPEECH_US_MAX
    assert client.receive(b"", 11 + SPEECH_US_MAX) == [AidGone("speech not over in time")]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"lost why='no sound card'\n", "no sound card"),
        (b"ok\n", "it says 'ok', which nothing asked for"),
        (b"\xff\n", r"it says b'\xff', which is no line of an aid"),
        (b"played number=7\n", ""),
        (b"played\n", "it says that a sound is over: number '' has no digits"),
        (b"played number=-1\n", "it says that a sound is over: number -1; allowed is 0 to 1e+09"),
        (
            b"played number=" + b"7" * 900 + b"\n",
            "it says that a sound is over: number of 900 characters; allowed are 24",
        ),
        (b"played number=" + b"7" * 5000, "it sends a line of more than 1024 bytes"),
        (b"x" * LINE_BYTES_MAX, "it sends a line of more than 1024 bytes"),
    ],
)
def test_other_lines(line: bytes, why: str) -> None:
    told = greet().receive(line, 0)
    assert told == ([AidGone(why)] if why else [])
