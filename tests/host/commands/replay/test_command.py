"""`gp-pta replay` says what is right and wrong with a journal, in words and by its exit code."""

import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from firmware_py.journal import SECRET_BYTES, SealKey, read_journal
from firmware_py.journal.records import TAIL_BYTES, chained_crc, encode_line
from firmware_py.journal.seal import seal_of
from firmware_py.platform.keys import make_key_file, read_key_file
from tests.formats import journals_of
from tests.host.journals import LEFT_S2, GpPta, rewrite, write_again


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return Path(shutil.copy(LEFT_S2, tmp_path / "session-000001.journal"))


def test_a_whole_journal_comes_out_bit_for_bit(journal: Path, gp_pta: GpPta) -> None:
    code, out, _ = gp_pta("replay", journal)
    assert code == 0
    assert "every stimulus and the result came out bit for bit" in out
    code, out, _ = gp_pta("replay", "--json", journal)
    assert code == 0
    verdict = json.loads(out)
    assert verdict["replay_identical"] is True
    assert verdict["result"]["outcome"] == "complete"


def test_unsure_answers_are_counted(gp_pta: GpPta) -> None:
    two_buttons = LEFT_S2.with_name("two-buttons.journal")
    records = read_journal(two_buttons).records
    pressed = sum(record.get("event", {}).get("button") == 2 for record in records)
    (ear,) = records[-2]["action"]["result"]["ears"]
    unsure = ear["tones_unsure"]
    code, out, _ = gp_pta("replay", two_buttons)

    assert code == 0
    assert pressed == 2 * (unsure + ear["unsure_alarms"]) > 6, "down and up"
    assert f" tones ({unsure} answered unsure) from " in out
    code, out, _ = gp_pta("replay", "--json", two_buttons)
    assert code == 0
    assert json.loads(out)["unsure"] == unsure


# Of many

AT_LINE: Final = LEFT_S2.read_bytes()[:20_000].count(b"\n") + 1
SAID: Final = {
    0: ["bit for bit"],
    1: ["1 outputs DIFFER", "recorded {'what': 'play'", "'frequency_hz': 1000.0000000000001"],
    3: ["the same so far; the session is not finished", "bytes after the last good record"],
    4: ["the same up to where the journal is damaged", f"damaged at line {AT_LINE}"],
}


@pytest.fixture
def many(tmp_path: Path) -> dict[int, Path]:
    """Return journals of which each comes to something else, by what that is."""
    named = {code: tmp_path / "many" / f"session-{code:06d}.journal" for code in (0, 1, 2, 3, 4, 6)}
    named[0].parent.mkdir()
    whole = LEFT_S2.read_bytes()
    for code in (0, 1):
        named[code].write_bytes(whole)
    rewrite(named[1], {"frequency_hz": 1000.0000000000001})
    named[2].write_bytes(b"Dear sirs,\n")
    named[3].write_bytes(whole[:20_000])
    named[4].write_bytes(whole[:20_000] + b"?" + whole[20_001:])
    header, *records = read_journal(LEFT_S2).records
    write_again(named[6], header | {"person": 7}, records)
    return named


def test_of_many_each_says_what_it_says_alone_and_one_that_cannot_be_stops_none(
    many: dict[int, Path], gp_pta: GpPta
) -> None:
    alone = {code: gp_pta("replay", path) for code, path in many.items()}
    code, out, err = gp_pta("replay", *many.values())

    assert {code: found for code, (found, _, _) in alone.items()} == {code: code for code in many}
    for of, words in SAID.items():
        assert [each for each in words if each not in alone[of][1]] == []
    assert code == 1, "the worst of all"
    *each, counted = out.splitlines(keepends=True)
    assert "".join(each) == "".join(said for _, said, _ in alone.values())
    assert counted == (
        "6 journals: 1 different, 1 of nonsense, 1 damaged, 1 refused, 1 not finished, "
        "1 bit for bit\n"
    )
    assert err == "".join(why for _, _, why in alone.values())
    assert [str(many[code]) in line for code, line in zip((2, 6), err.splitlines(), strict=True)]


def test_a_directory_stands_for_the_journals_in_it(many: dict[int, Path], gp_pta: GpPta) -> None:
    directory = many[0].parent
    (directory / "notes.txt").write_text("no journal")
    assert gp_pta("replay", directory) == gp_pta("replay", *many.values())
    for path in [*many.values()][1:]:
        path.unlink()
    assert gp_pta("replay", directory) == gp_pta("replay", many[0])


@pytest.mark.parametrize(
    ("codes", "worst"), [((6, 4, 2), 6), ((4, 2, 3), 4), ((3, 2), 2), ((0, 3), 3), ((0, 0), 0)]
)
def test_the_exit_code_of_many_is_that_of_the_worst(
    codes: tuple[int, ...], worst: int, many: dict[int, Path], gp_pta: GpPta
) -> None:
    code, _, _ = gp_pta("replay", *(many[code] for code in codes))
    assert code == worst


def test_many_as_json_are_an_object_a_line(many: dict[int, Path], gp_pta: GpPta) -> None:
    code, out, err = gp_pta("replay", "--json", *many.values())
    verdicts = [json.loads(line) for line in out.splitlines()]
    replayed = [many[code] for code in (0, 1, 3, 4)]

    assert code == 1
    assert [verdict["journal"] for verdict in verdicts] == [*map(str, replayed)]
    assert [verdict["replay_identical"] for verdict in verdicts] == [True, False, False, False]
    assert len(err.splitlines()) == 2


def test_another_model_is_asked_of_each_of_many_and_a_tuning_has_none(
    journal: Path, gp_pta: GpPta
) -> None:
    tuning = LEFT_S2.parents[1] / "tuning" / "golden-tuning.journal"
    code, out, err = gp_pta("replay", journal, tuning, journal, "--noise", "4")
    _, alone, _ = gp_pta("replay", journal, "--noise", "4")

    assert code == 2
    assert out == f"{alone}{alone}3 journals: 1 refused, 2 bit for bit\n"
    assert err == (
        f"gp-pta: --profile, --prior, --noise are of hearing tests; {tuning} is of a tuning\n"
    )


def test_what_another_model_cannot_say_of_one_of_many_names_it(
    journal: Path, gp_pta: GpPta
) -> None:
    code, out, err = gp_pta("replay", journal, LEFT_S2, "--noise", "99")
    assert (code, out) == (2, "2 journals: 2 refused\n")
    why = "response_noise_db is 99.0; allowed is 0.1 to 30"
    assert err.splitlines() == [f"gp-pta: {path}: {why}" for path in (journal, LEFT_S2)]


# Seals


@pytest.fixture
def key(tmp_path: Path) -> Path:
    make_key_file(tmp_path / "seal.key")
    return tmp_path / "seal.key"


@pytest.fixture
def sealed_journal(tmp_path: Path, key: Path) -> Path:
    """Return the golden journal as a device with a key would have recorded it."""
    path = tmp_path / "session-000002.journal"
    header, *records = read_journal(LEFT_S2).records
    write_again(path, header, records, SealKey(read_key_file(key)))
    return path


def test_a_sealed_journal_is_true_under_its_key(
    sealed_journal: Path, key: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    make_key_file(tmp_path / "older.key")
    name = SealKey(read_key_file(key)).name
    count = len(read_journal(LEFT_S2).records)
    keys = ["--key", tmp_path / "older.key", "--key", key]

    code, out, _ = gp_pta("replay", sealed_journal)
    assert (code, f"sealed with key {name}; not checked" in out) == (0, True)
    code, out, _ = gp_pta("replay", sealed_journal, *keys)
    assert (code, f"sealed with key {name}, and true: {count} records" in out) == (0, True)
    code, out, _ = gp_pta("replay", sealed_journal, *keys, "--json")
    assert code == 0
    assert json.loads(out)["seals"]["true"] is True
    code, out, _ = gp_pta("replay", sealed_journal, *keys[:2])
    assert (code, "which is not given; not checked" in out) == (5, True)


def test_a_journal_that_was_changed_and_its_crcs_mended_is_broken_at_a_record(
    sealed_journal: Path, key: Path, gp_pta: GpPta
) -> None:
    crc, mended = "", []
    for number, line in enumerate(sealed_journal.read_bytes().splitlines(keepends=True)):
        body = line[:-TAIL_BYTES]
        if number == 2:
            body = re.sub(rb'"at_us": (\d+)', rb'"at_us": \g<1>0', body, count=1)
            assert body != line[:-TAIL_BYTES]
        crc = chained_crc(crc, body)
        mended.append(body + f', "crc": "{crc}"}}\n'.encode())
    sealed_journal.write_bytes(b"".join(mended))

    code, out, _ = gp_pta("replay", sealed_journal, "--key", key)
    assert (code, ", and BROKEN at record 2\n" in out) == (5, True)


@pytest.mark.parametrize(("genuine", "code", "words"), [(True, 2, "true"), (False, 5, "BROKEN")])
def test_the_seals_of_an_earlier_format_are_checked_though_it_is_not_replayed(
    genuine: bool, code: int, words: str, key: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    path, own = tmp_path / "session-000001.journal", SealKey(read_key_file(key))
    seal_key = own if genuine else SealKey(bytes(SECRET_BYTES))
    header, *records = read_journal(journals_of(1, "session")[1]).records
    lines: list[bytes] = []
    crc, seal = "", ""
    for number, record in enumerate([{**header, "seal_key": own.name}, *records]):
        line, crc = encode_line(number, number, record, crc, partial(seal_key.seal, seal))
        lines, seal = [*lines, line], seal_of(line)
    path.write_bytes(b"".join(lines))
    ended, _, err = gp_pta("replay", path, "--key", key)
    assert ended == code
    assert f"sealed with key {own.name}, and {words}" in err
    assert "; it was recorded by 0.1.0 (format 1), and replays with commit" in err


def test_a_sealed_journal_cut_short_at_a_record_is_true_and_unfinished(
    sealed_journal: Path, key: Path, gp_pta: GpPta
) -> None:
    lines = sealed_journal.read_bytes().splitlines(keepends=True)
    sealed_journal.write_bytes(b"".join(lines[:50]))
    code, out, _ = gp_pta("replay", sealed_journal, "--key", key)
    assert code == 3
    assert "the session is not finished" in out
    assert ", and true: 50 records" in out


def test_with_a_key_what_is_not_sealed_is_not_accepted(
    journal: Path, key: Path, gp_pta: GpPta
) -> None:
    code, out, _ = gp_pta("replay", journal, "--key", key)
    assert (code, "\nnot sealed\n" in out) == (5, True)


def test_a_key_that_others_may_read_is_refused(
    sealed_journal: Path, key: Path, gp_pta: GpPta
) -> None:
    key.chmod(0o644)
    code, _, err = gp_pta("replay", sealed_journal, "--key", key)
    assert (code, f"gp-pta: {key}: has mode 644; allowed are 600, " in err) == (2, True)
