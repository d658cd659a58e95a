"""What ends a release before a card is made, and what is said of its keys."""

from pathlib import Path

import pytest

from device.card.bundle import KEY
from device.release import build
from device.release.contents import Release, ReleaseError

RELEASE = Release("1.2.0", "2026-11-30", "## 1.2.0\n", 0)


@pytest.fixture
def until_the_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*targets: str) -> None:
        raise ReleaseError(f"make {' '.join(targets)}")

    monkeypatch.setattr(build, "CARD", tmp_path)
    monkeypatch.setattr(build, "_make", stop)


@pytest.mark.usefixtures("until_the_card")
def test_new_keys_of_updates_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "run", lambda *_: None)
    for has_keys in (False, True):
        with pytest.raises(ReleaseError, match="make card docs"):
            build.make(RELEASE, tmp_path, tmp_path)
        assert ("has no keys of updates" in capsys.readouterr().out) != has_keys
        (tmp_path / "keys").mkdir(exist_ok=True)
        (tmp_path / "keys" / KEY).touch()


@pytest.mark.usefixtures("until_the_card")
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("target_of_this_machine", lambda: None, "no wheel is for this machine"),
        ("LAST_OF_0_1", "0" * 40, "cat-file"),
    ],
)
def test_what_cannot_be_tried_is_known_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: object, words: str
) -> None:
    monkeypatch.setattr(build, name, value)
    with pytest.raises(ReleaseError, match=words):
        build.make(RELEASE, tmp_path, tmp_path)


def test_a_tool_that_is_not_there_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "release_of", lambda: RELEASE)
    monkeypatch.setattr(build, "run", lambda *_: (tmp_path / "git").read_text())
    assert build.main(["--tools", str(tmp_path), "--out", str(tmp_path)]) == 1
    assert "device.release.build: [Errno 2]" in capsys.readouterr().err
