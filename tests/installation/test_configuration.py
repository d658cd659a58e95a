"""A configuration is taken whole or refused by name, value and what is allowed."""

import hmac
from pathlib import Path

import pytest

from firmware_py.console.pin import SALT_BYTES, PinHash
from firmware_py.installation.configuration import (
    Configuration,
    ConfigurationError,
    read_configuration,
)
from firmware_py.journal import SealKey
from firmware_py.platform.keys import make_key_file, read_key_file
from firmware_py.terms.person import UNKNOWN, Person
from firmware_py.terms.room import room_of
from firmware_py.terms.settings import CONDUCTS, Settings


def configuration_of(place: Path, text: str) -> Configuration:
    path = place / "device.toml"
    path.write_text(text)
    return read_configuration(path)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", Configuration()),  # every table and key may be left out
        # What the system of a card reads is let pass.
        ('[card]\nconsole = "usb"\nclock = 2026-12-24T10:30:00\nboard_report = true\n',
         Configuration()),
        ("[room]\ndba = 35\nspectrum = 'speech'\n", Configuration(room=room_of(35.0, "speech"))),
        ("[room]\ndba = 35\nuncertainty_db = 1\n",
         Configuration(room=room_of(35.0, uncertainty_db=1.0))),
        (
            "[device]\nreconnect_s = 5\nmemory_reserve_mb = 0\nevents = true\n"
            '[test]\nears = "left"\nseed = 9\n',
            Configuration(
                Settings(ears="left", seed=9), 5.0, True, memory_reserve_mb=0, seed=9
            ),
        ),
    ],
)  # fmt: skip
def test_what_is_said_is_taken(tmp_path: Path, text: str, wanted: Configuration) -> None:
    assert configuration_of(tmp_path, text) == wanted


@pytest.mark.parametrize("conduct", CONDUCTS)
def test_a_conduct_brings_its_values_and_what_is_said_besides_stays(
    tmp_path: Path, conduct: str
) -> None:
    text = f'[test]\nconduct = "{conduct}"\ntones_max = 50\n'
    test = configuration_of(tmp_path, text).test
    found = {name: getattr(test, name) for name in CONDUCTS[conduct]}

    assert test.conduct == conduct
    assert found == {**CONDUCTS[conduct], "tones_max": 50}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[room]\ndba = 90\n", "[room] room dba is 90.0; allowed are numbers from 10 to 80 dBA"),
        ("[room]\nspectrum = 'office'\n", "[room] room is 'None'; allowed are dBA such as 40"),
        ("[room]\ndba = 40\nthird_octaves = '500:22'\n", "[room] dba is 40; allowed is none"),
        ("[room]\nnoise = 40\n", "[room] 'noise' is not a known key"),
        ("[tset]\n", "'tset' is not a known table; did you mean 'test'?"),
        (
            "tones_max = 30\n",
            "'tones_max' is not a known table; known are card, console, device, journal, room, "
            "test",
        ),
        ("test = 3\n", "'test' is 3; it has to be a table, [test]"),
        ("[[test]]\n", "'test' is [{}]; it has to be a table, [test]"),
        ("[test]\ntones_mx = 30\n", "[test] 'tones_mx' is not a known key; did you mean 'tones_m"),
        ("[device]\nreconnect = 3\n", "[device] 'reconnect' is not a known key; did you mean 're"),
        ('[test]\ntones_max = "30"\n', "[test] tones_max is '30'; allowed are whole numbers from"),
        ("[test]\ntones_max = 30.0\n", "[test] tones_max is 30.0; allowed are whole numbers from"),
        ("[test]\ntones_max = 5\n", "[test] tones_max is 5; allowed are whole numbers from 20 to"),
        ("[test]\nretest = 1\n", "[test] retest is 1; allowed are true and false"),
        ('[test]\nears = ["left"]\n', "[test] ears is ['left']; allowed are both, left, right"),
        ("[test]\nlevel_step_db = inf\n", "[test] level_step_db is inf; allowed are numbers from"),
        ("[test]\nlevel_max_db_hl = nan\n", "[test] level_max_db_hl is nan; allowed are numbers"),
        ("[test]\nlevel_max_db_hl = 110\n", "loud_confirmed has to be true as well"),
        ("[test]\npause_ms_min = 2500\n", "pause_ms_max is 1700 ms; allowed is 2500 ms (pause_ms_"),
        (
            '[test]\nconduct = "clinical"\npause_ms_max = 1000\n',
            "[test] pause_ms_max is 1000 ms; allowed is 1200 ms (pause_ms_min) and more",
        ),
        ('[test]\nconduct = "hasty"\n', "[test] conduct is 'hasty'; allowed are brisk, clinical"),
        (
            "[device]\nmemory_reserve_mb = 1.5\n",
            "[device] memory_reserve_mb is 1.5; allowed are whole numbers from 0 to 4096 MB",
        ),
        ("[device]\nreconnect_s = 0\n", "[device] reconnect_s is 0; allowed are numbers from 3 to"),
        ("[device]\nreconnect_s = " + 5000 * "1" + "\n", "is not TOML: "),
        ("[device]\nreconnect_s = nan\n", "[device] reconnect_s is nan; allowed are numbers from"),
        ('[device]\nevents = "on"\n', "[device] events is 'on'; allowed are true and false"),
        ("[console]\npni = 3\n", "[console] 'pni' is not a known key; did you mean 'pin'?"),
        (
            '[card]\nconsole = "gadget"\n',
            '[card] console is \'gadget\'; allowed are "uart" and "usb"',
        ),
        (
            '[card]\nclock = "noon"\n',
            "[card] clock is 'noon'; allowed is a date with a time of day",
        ),
        (
            '[card]\nboard_report = "yes"\n',
            "[card] board_report is 'yes'; allowed are true and false",
        ),
        (
            '[console]\nnew_pin = "4711"\n',
            "new_pin: only the system of a card takes a PIN in plain",
        ),
        ("[console]\npin = 4711\n", "[console] pin is not the hash of a PIN, which is not repeat"),
        ("console = 4711\n", "'console' is no table; it has to be a table, [console]"),
        ('[console]\npin = "4711"\n', "allowed is what gp-pta-device --hash-pin prints"),
        ("[test]\nears =\n", "is not TOML: "),
        ('[test]\nears = "left"\nears = "left"\n', "is not TOML: "),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        configuration_of(tmp_path, text)
    named, _, said = str(refusal.value).partition(": ")
    assert (named, words in said) == (f"{tmp_path}/device.toml", True), said
    assert "4711" not in said, "a PIN is not repeated"


def test_the_hash_of_a_pin_is_taken(tmp_path: Path) -> None:
    stored = PinHash.of("4711", b"s" * SALT_BYTES)
    assert configuration_of(tmp_path, f'[console]\npin = "{stored}"\n').pin == stored


def test_keys_are_read_from_where_the_configuration_is(tmp_path: Path) -> None:
    for name in ("seal.key", "p.key"):
        make_key_file(tmp_path / name)
    text = '[journal]\nseal_key = "seal.key"\npseudonym_key = "p.key"\n'
    configuration = configuration_of(tmp_path, text)

    assert configuration.seal_key == SealKey(read_key_file(tmp_path / "seal.key"))
    assert configuration.pseudonym_key == read_key_file(tmp_path / "p.key")
    for secret in (read_key_file(tmp_path / "seal.key"), read_key_file(tmp_path / "p.key")):
        assert repr(secret) not in repr(configuration)
        assert secret.hex() not in repr(configuration)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('seal_key = "none.key"', "[journal] seal_key: {}/none.key: cannot be read: No such file"),
        (
            'pseudonym_key = "device.toml"',
            "[journal] pseudonym_key: {}/device.toml: is no key",
        ),
        ("seal_key = 7", "[journal] seal_key is 7; allowed is the path of a key file"),
        ('seal-key = ""', "[journal] 'seal-key' is not a known key; did you mean 'seal_key'?"),
    ],
)
def test_without_the_key_it_was_told_nothing_begins(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        configuration_of(tmp_path, f"[journal]\n{line}\n")
    wanted = f"{tmp_path}/device.toml: {words.format(tmp_path)}"
    assert str(refusal.value).startswith(wanted)


def test_a_pseudonym_stands_for_an_identifier_and_for_no_other() -> None:
    plain, first, second = (
        Configuration(pseudonym_key=key) for key in (None, b"1" * 32, b"2" * 32)
    )
    person = Person(67.0, "F", "P-17")

    assert plain.pseudonymise(person) == person
    assert first.pseudonymise(UNKNOWN) == UNKNOWN
    found = first.pseudonymise(person)
    assert (found.age_years, found.sex) == (67.0, "F")
    message = b"gp-pta pseudonym\nP-17"
    assert found.identifier == hmac.new(b"1" * 32, message, "sha256").hexdigest()[:16]
    others = (second.pseudonymise(person), first.pseudonymise(Person(identifier="P-18")))
    assert found.identifier not in [other.identifier for other in others]
