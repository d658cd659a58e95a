"""Journals with words that are gone: commands tell what they recorded, and none is replayed."""

import json
from pathlib import Path

import pytest

from device.simulator.world import World
from firmware_py.journal import read_journal
from firmware_py.platform.data_directory import SESSION
from firmware_py.sessions.archive import UnfinishedError, read_whole, recorded_result
from firmware_py.sessions.earlier_formats import GONE_PROFILES
from firmware_py.terms.settings import SettingError, Settings
from host_tools.devices.unfinished import find_unfinished
from tests.firmware.whole_sessions import a_listener
from tests.host.journals import LEFT_S2, GpPta, write_again

COMMIT = "0123456789ab"


def recorded_with(profile: str, directory: Path, *, cut: int | None = None) -> Path:
    """Return a journal as a version that had the profile left it, or broken off."""
    header, *records = read_journal(LEFT_S2).records
    settings = {**header["settings"], "profile": profile}
    path = directory / "session-000001.journal"
    header = {**header, "settings": settings, "firmware": f"0.2.0.dev0+g{COMMIT}"}
    write_again(path, header, records[:cut])
    return path


@pytest.mark.parametrize("profile", GONE_PROFILES)
def test_no_test_is_begun_with_it(profile: str) -> None:
    with pytest.raises(SettingError, match=r"profile is .*allowed are default, gp-pta-2015"):
        Settings(profile=profile)


@pytest.mark.parametrize("profile", GONE_PROFILES)
def test_it_is_told_as_it_was_recorded(profile: str, tmp_path: Path, gp_pta: GpPta) -> None:
    path, paper = recorded_with(profile, tmp_path), tmp_path / "paper.html"
    assert read_whole(path).result == read_whole(LEFT_S2).result
    assert read_whole(path).header.settings.as_record()["profile"] == profile

    listed = gp_pta("sessions", tmp_path, "--no-index", "--json")
    exported = gp_pta("export", path, "--format", "json")
    reported = gp_pta("report", path, "-o", paper)
    assert [listed[0], exported[0], reported[0]] == [0, 0, 0], reported
    (entry,) = json.loads(listed[1])["sessions"]
    assert entry["outcome"] == "complete"
    assert COMMIT in entry["recorded_by"]
    (told,) = json.loads(exported[1])["sessions"]
    assert told["settings"]["profile"] == profile
    assert profile in paper.read_text("utf-8")


@pytest.mark.parametrize("profile", GONE_PROFILES)
def test_it_is_not_replayed_and_says_why_and_who_does(
    profile: str, tmp_path: Path, gp_pta: GpPta
) -> None:
    code, _, error = gp_pta("replay", recorded_with(profile, tmp_path))
    assert code == 2
    assert "is read here, not replayed" in error
    assert f"profile {profile} is no more" in error
    assert f"replays with commit {COMMIT}" in error


def test_what_is_unfinished_is_left_as_it_is(tmp_path: Path) -> None:
    path = recorded_with("response-times", tmp_path, cut=40)
    before = path.read_bytes()
    assert find_unfinished(tmp_path, SESSION) is None
    with pytest.raises(UnfinishedError, match="only the version that began it") as caught:
        recorded_result(path)
    assert not caught.value.goes_on
    world = World(tmp_path, a_listener("N3"))
    (words,) = world.wrong
    assert "only the version that began it can go on with it" in words
    assert words.endswith("it is left as it is")
    assert path.read_bytes() == before
