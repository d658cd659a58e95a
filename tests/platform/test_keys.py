"""Key files: keys are random, few may read them, and an error does not tell a secret."""

import stat
from pathlib import Path

import pytest

from firmware_py.journal import SealKey
from firmware_py.main import main
from firmware_py.platform.keys import KeyFileError, make_key_file, read_key_file


def test_a_new_key_is_for_its_owner_alone_and_no_other_is_like_it(tmp_path: Path) -> None:
    paths = [tmp_path / "a.key", tmp_path / "b.key"]
    for path in paths:
        make_key_file(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    first, second = map(read_key_file, paths)
    assert len(first) == len(second) == 32
    assert first != second


def test_a_key_is_never_overwritten_nor_made_through_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "a.key", tmp_path / "link.key"
    make_key_file(path)
    key = read_key_file(path)
    link.symlink_to(tmp_path / "nowhere")
    for there in (path, link):
        with pytest.raises(KeyFileError, match=f"{there}: cannot be made: File exists"):
            make_key_file(there)
    assert read_key_file(path) == key
    assert not (tmp_path / "nowhere").exists()


ALLOWED = (0o600, 0o400, 0o640, 0o440)


@pytest.mark.parametrize("mode", [*ALLOWED, 0o644, 0o604, 0o602, 0o660, 0o620])
def test_its_group_may_read_it_and_nobody_else(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a.key"
    make_key_file(path)
    path.chmod(mode)
    if mode in ALLOWED:
        assert len(read_key_file(path)) == 32
    else:
        words = f"has mode {mode:o}; allowed are 600, 400, 640 and 440"
        with pytest.raises(KeyFileError, match=words):
            read_key_file(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"c0ffee" * 20, b"gp-pta-key-1 c0ffee\n", b"gp-pta-key-1 " + b"C" * 64 + b"\n",
     b"gp-pta-key-2 " + b"c" * 64 + b"\n", b"gp-pta-key-1 " + b"c" * 64 + b"\n\n"],
)  # fmt: skip
def test_what_is_no_key_is_refused_and_not_repeated(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(KeyFileError) as refusal:
        read_key_file(path)
    assert str(refusal.value) == (
        f"{path}: is no key file; gp-pta-device --make-key FILE makes one"
    )


def test_the_device_makes_one_and_says_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "seal.key"
    with pytest.raises(SystemExit) as end:
        main(["--make-key", str(path)])
    assert end.value.code == 0
    name = SealKey(read_key_file(path)).name
    assert capsys.readouterr().out == f"{path}: key {name}; keep a copy where the device is not\n"
    with pytest.raises(SystemExit) as end:
        main(["--make-key", str(path)])
    assert end.value.code == 2
    assert "cannot be made: File exists" in capsys.readouterr().err
