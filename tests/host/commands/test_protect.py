"""Journals encrypted with age: for the key's owner and nobody else, and never half of one."""

import shutil
import stat
from pathlib import Path

import pytest
from pyrage import x25519

from tests.host.journals import LEFT_S2, GpPta, Refused


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return Path(shutil.copy(LEFT_S2, tmp_path / "session-000001.journal"))


@pytest.fixture
def identity(tmp_path: Path, gp_pta: GpPta) -> tuple[Path, str]:
    """Return the file of a secret key, and its recipient."""
    code, recipient, _ = gp_pta("protect", "--make-identity", tmp_path / "clinic.agekey")
    assert code == 0
    return tmp_path / "clinic.agekey", recipient.strip()


def test_what_is_protected_comes_back_byte_for_byte(
    journal: Path, identity: tuple[Path, str], gp_pta: GpPta
) -> None:
    key, recipient = identity
    other = journal.with_name("session-000002.journal")
    shutil.copy(journal, other)
    said = gp_pta("protect", journal, other, "-r", recipient)
    assert said == (0, f"{journal}.age\n{other}.age\n", "")
    protected = journal.with_name(f"{journal.name}.age")
    assert protected.read_bytes().startswith(b"age-encryption.org/v1\n")
    assert b'"kind"' not in protected.read_bytes()
    assert journal.read_bytes() == LEFT_S2.read_bytes(), "it stays"

    journal.unlink()
    assert gp_pta("unprotect", protected, "-i", key)[0] == 0
    assert journal.read_bytes() == LEFT_S2.read_bytes()
    assert stat.S_IMODE(journal.stat().st_mode) == stat.S_IMODE(key.stat().st_mode) == 0o600


def test_for_another_key_or_changed_it_is_refused_and_nothing_is_written(
    journal: Path, identity: tuple[Path, str], tmp_path: Path, gp_pta: GpPta, refusal_of: Refused
) -> None:
    key, recipient = identity
    gp_pta("protect", journal, "-r", recipient)
    journal.unlink()
    protected = journal.with_name(f"{journal.name}.age")
    other = tmp_path / "other.agekey"
    other.write_text(f"{x25519.Identity.generate()}\n")
    said = refusal_of("unprotect", protected, "-i", other)
    assert f"{protected}: cannot be decrypted: No matching keys found" in said

    content = bytearray(protected.read_bytes())
    content[-100] ^= 1
    protected.write_bytes(content)
    assert "cannot be decrypted" in refusal_of("unprotect", protected, "-i", key)
    assert not journal.exists()


def test_nothing_is_overwritten(
    journal: Path, identity: tuple[Path, str], gp_pta: GpPta, refusal_of: Refused
) -> None:
    key, recipient = identity
    gp_pta("protect", journal, "-r", recipient)
    protected = journal.with_name(f"{journal.name}.age")
    content = protected.read_bytes()

    assert "is there already" in refusal_of("protect", journal, "-r", recipient)
    assert "is there already" in refusal_of("unprotect", protected, "-i", key)
    assert "is there already" in refusal_of("protect", "--make-identity", key)
    assert protected.read_bytes() == content


def test_a_key_that_cannot_be_written_is_named(tmp_path: Path, refusal_of: Refused) -> None:
    said = refusal_of("protect", "--make-identity", tmp_path / ("long" * 100))
    assert said.endswith("cannot be written: File name too long\n")


def test_what_is_wrong_is_named(
    journal: Path, identity: tuple[Path, str], refusal_of: Refused
) -> None:
    key, recipient = identity
    said = refusal_of("protect", journal, "-r", recipient[:-1])
    assert "allowed is a public key of age" in said
    assert "needs journals and a recipient" in refusal_of("protect", journal)
    none = journal.with_name("none")
    assert "cannot be read: No such file" in refusal_of("protect", none, "-r", recipient)
    said = refusal_of("unprotect", f"{journal}.age", "-i", journal)
    assert said == f"gp-pta: {journal}: is not a file with one secret key of age\n"
    assert "is not a name in .age" in refusal_of("unprotect", journal, "-i", key)


def test_a_write_that_failed_blocks_no_other(
    journal: Path, identity: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    gp_pta: GpPta, refusal_of: Refused,
) -> None:  # fmt: skip
    key, recipient = identity
    write_bytes = Path.write_bytes

    def half(path: Path, content: bytes) -> int:
        write_bytes(path, content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    protect = ("protect", journal, "-r", recipient)
    with monkeypatch.context() as full:
        full.setattr(Path, "write_bytes", half)
        said = refusal_of(*protect)
    assert said == f"gp-pta: {journal}.age cannot be written: No space left on device\n"
    assert set(tmp_path.iterdir()) == {journal, key}
    assert gp_pta(*protect)[0] == 0


def test_what_a_killed_process_has_left_blocks_nothing_and_opens_nothing(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    key, left = tmp_path / "clinic.agekey", tmp_path / "clinic.agekey.part"
    left.touch(0o644)
    assert gp_pta("protect", "--make-identity", key)[0] == 0
    assert list(tmp_path.iterdir()) == [key]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
