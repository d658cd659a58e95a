"""A session under a prior that somebody brought: named by its hash, kept, never lost."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from device.simulator.world import World
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.inference.mixture import bone_prior
from firmware_py.installation.configuration import (
    Configuration,
    ConfigurationError,
    configuration_of,
)
from firmware_py.journal import JournalWriteError, read_journal
from firmware_py.platform.own_prior import (
    COMPONENTS_MAX,
    OwnPrior,
    OwnPriorError,
    find_beside,
    path_of,
)
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions.replay import ReplayError, replay
from firmware_py.sessions.session_record import SessionHeader, SessionRecordError
from firmware_py.terms.person import UNKNOWN
from firmware_py.terms.route import BONE, Route
from firmware_py.terms.settings import SettingError, Settings
from tests.firmware.whole_sessions import (
    ONE_EAR,
    a_listener,
    finish_and_place,
    result_of,
    stimuli_of,
)
from tests.journal.simulated_disk import Fault, PowerLoss, PowerLostError, SimulatedDisk
from tests.own_priors import small_prior, write_prior

pytestmark = pytest.mark.usefixtures("quick_disk")

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def own(tmp_path: Path) -> OwnPrior:
    return write_prior(tmp_path / "prior.json")


def world_of(directory: Path, prior: OwnPrior | None, boot: int = 0xB007) -> World:
    return World(directory, a_listener("N4"), boot=boot, configuration=Configuration(prior=prior))


def ends(journal: Path) -> list[int]:
    lines = journal.read_bytes().splitlines(keepends=True)
    return [sum(map(len, lines[: n + 1])) for n in range(len(lines))]


def test_the_journal_names_it_and_it_is_kept_beside(tmp_path: Path, own: OwnPrior) -> None:
    journal = world_of(tmp_path / "own", own).live(ONE_EAR)
    usual = world_of(tmp_path / "usual", None).live(ONE_EAR)

    header = read_journal(journal).header
    content = (tmp_path / "prior.json").read_bytes()
    assert header["prior"] == hashlib.sha256(content).hexdigest()
    assert path_of(header["prior"], journal.parent).read_bytes() == content
    assert stimuli_of(journal) != stimuli_of(usual), "it changes what is asked"
    assert "prior" not in read_journal(usual).header
    assert not (usual.parent / "priors").exists()
    after = world_of(journal.parent, None, boot=0xB008)
    after.until(lambda: after.client.connected)
    assert json.loads(after.ask("SESS:PAP?")[0])["prior"] == header["prior"]
    assert f" prior={own.digest[:8]} session=1" in after.ask("SESS:STAT?")[0]
    after.close()
    state = replay(read_journal(journal).records, None, find_beside(journal.parent))
    assert state.differences == []
    assert state.test.ears[Route("left")].estimator.knots_hz == (1000.0, 1500.0, 2000.0)


def test_a_replay_with_another_prior_is_noticed(tmp_path: Path, own: OwnPrior) -> None:
    """Else the test above would say nothing."""
    journal = world_of(tmp_path / "own", own).live(ONE_EAR)
    records = read_journal(journal).records
    other = small_prior(30.0)

    assert replay(records, None, lambda _digest: other).differences != []
    del records[0]["prior"]
    assert replay(records).differences != []


@pytest.mark.parametrize("now", ["the same", "none", "another"])
def test_after_a_power_cut_it_goes_on_with_the_one_it_began_with(
    tmp_path: Path, own: OwnPrior, now: str
) -> None:
    journal = world_of(tmp_path / "uncut", own).live(ONE_EAR)
    cut = ends(journal)[len(ends(journal)) // 2]
    other = write_prior(tmp_path / "other.json", small_prior(30.0))
    configured = {"the same": own, "none": None, "another": other}[now]
    directory = tmp_path / "cut"
    directory.mkdir()
    own.keep(directory, world_of(tmp_path / "some", None).data.disk)
    (directory / journal.name).write_bytes(journal.read_bytes()[:cut])

    world = world_of(directory, configured, boot=0xB008)
    world.end()

    assert world.wrong == []
    assert result_of(world.journal()) == result_of(journal)
    assert stimuli_of(world.journal()) == stimuli_of(journal)
    words = f"it was begun with prior {own.digest[:8]}, and goes on with that"
    assert (words in world.ready) == (now != "the same")
    # The next one has what is configured now.
    following = world_of(directory, configured, boot=0xB009).live(ONE_EAR)
    assert read_journal(following).header.get("prior") == (configured and configured.digest)


def test_without_it_nothing_goes_on_in_silence(tmp_path: Path, own: OwnPrior) -> None:
    journal = world_of(tmp_path / "own", own).live(ONE_EAR)
    content = journal.read_bytes()
    cut = content[: ends(journal)[10]]
    journal.write_bytes(cut)
    kept = path_of(own.digest, journal.parent)
    for spoil, told in (
        (kept.unlink, "cannot be read: No such file or directory; put that file there"),
        (lambda: kept.write_text(small_prior(1.0).to_json()), "is not that file any more"),
    ):
        spoil()
        world = world_of(journal.parent, own, boot=0xB008)

        (words,) = world.wrong
        assert own.digest in words
        assert str(kept) in words
        assert told in words
        assert journal.read_bytes() == cut
        assert world.runner.session is None
        world.close()
        with pytest.raises(ReplayError, match=own.digest):
            replay(read_journal(journal).records, None, find_beside(journal.parent))

    kept.write_bytes(own.content)
    world = world_of(journal.parent, None, boot=0xB009)
    world.end()
    assert world.wrong == []
    assert (journal.read_bytes()[: len(cut)], world.runner.session) == (cut, None)


def test_a_power_cut_while_it_is_kept_leaves_no_journal_without_it(own: OwnPrior) -> None:
    """Whenever the power goes: where a journal has a name, its prior is whole."""
    directory, journal = Path("data"), Path("data/session-000001.journal")
    met = 0
    for at in range(1, 40):
        disk = SimulatedDisk(Fault(at))
        try:
            own.keep(directory, disk)
            disk.close(disk.create(journal))
            disk.fsync_directory(directory)
        except PowerLostError:
            met += 1
        for loss in PowerLoss:
            found = disk.after_power_loss(loss, seed=at)
            if found.content(journal) is not None:
                assert found.content(path_of(own.digest, directory)) == own.content, (at, loss)
        if not disk.fault_met:
            break
    assert met > 3


def test_a_disk_that_fails_begins_no_test(own: OwnPrior) -> None:
    disk = SimulatedDisk(Fault(1, error=28, for_ever=True, only=frozenset({"create"})))
    with pytest.raises(JournalWriteError, match=r"priors.*the prior of this test cannot be kept"):
        own.keep(Path("data"), disk)


def test_what_stands_there_already_is_written_anew_only_if_it_is_not_that_file(
    own: OwnPrior,
) -> None:
    disk, path = SimulatedDisk(), path_of(own.digest, Path("data"))
    own.keep(Path("data"), disk)
    before = disk.calls.count("rename")
    own.keep(Path("data"), disk)
    assert disk.calls.count("rename") == before
    disk.put(path, b"torn")
    own.keep(Path("data"), disk)
    assert disk.content(path) == own.content


def twice_as_many(prior: dict[str, Any]) -> None:
    (one,) = prior["components"]
    prior["components"] = tuple(
        replace(one, weight=1.0 / (COMPONENTS_MAX + 1)) for _ in range(COMPONENTS_MAX + 1)
    )


def without_750(prior: dict[str, Any]) -> None:
    (one,) = prior["components"]
    keep = [0, 1, 2, *range(4, 11)]
    prior["knots_hz"] = tuple(prior["knots_hz"][i] for i in keep)
    prior["between_knots_sd_db"] = prior["between_knots_sd_db"][1:]
    prior["components"] = (
        replace(
            one,
            mean_db_hl=tuple(one.mean_db_hl[i] for i in keep),
            covariance_db2=tuple(tuple(one.covariance_db2[i][j] for j in keep) for i in keep),
            age_covariance=(0.0,) * 10,
        ),
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (twice_as_many, r"has 33 components; a hearing test takes 32 at most"),
        (without_750, r"knots_hz from 125 to 8000 are 125, 250, 500, 1000, .*allows exactly 125"),
    ],
)
def test_what_no_test_can_have_is_refused_at_the_start(
    tmp_path: Path, change: Change, told: str
) -> None:
    parts = {**vars(small_prior())}
    change(parts)
    path = tmp_path / "mine.json"
    path.write_text(small_prior(**parts).to_json())
    config = tmp_path / "gp-pta.toml"
    config.write_text('[device]\nprior = "mine.json"\n')

    with pytest.raises(OwnPriorError, match=rf"^{path}: {told}"):
        OwnPrior.read(path)
    with pytest.raises(ConfigurationError, match=rf"gp-pta.toml: \[device\] prior: {path}: {told}"):
        configuration_of(config)
    with pytest.raises(ConfigurationError, match=rf"--prior {path}: {told}"):
        configuration_of(None, path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"{", r"is not JSON"),
        (b"\xff\xfe", "is not text in UTF-8"),
        (b'{"format": "gp-pta gap prior 1"}', "format is 'gp-pta gap prior 1'; allowed is"),
        (b" " * 600_000, "is longer than 524288 bytes"),
    ],
)
def test_what_is_no_prior_is_refused(tmp_path: Path, content: bytes | None, told: str) -> None:
    path = tmp_path / "mine.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(OwnPriorError, match=rf"^{path}: .*{told}"):
        OwnPrior.read(path)


def test_the_configuration_names_it_from_where_it_stands(tmp_path: Path, own: OwnPrior) -> None:
    config = tmp_path / "gp-pta.toml"
    config.write_text('[device]\nprior = "prior.json"\n')
    other = write_prior(tmp_path / "other.json", small_prior(30.0))

    assert configuration_of(config).prior == own
    assert configuration_of(config, tmp_path / "other.json").prior == other
    assert configuration_of(None).prior is None


def test_a_profile_that_makes_no_use_of_it_is_refused(tmp_path: Path, own: OwnPrior) -> None:
    world = world_of(tmp_path / "own", own)
    world.until(lambda: world.client.connected)
    with pytest.raises(SettingError, match=r"'gp-pta-2015', which makes no use of a prior"):
        world.runner.begin(Settings(profile="gp-pta-2015"))
    world.close()
    assert world.data.journals() == []


def test_a_header_has_a_hash_or_nothing(own: OwnPrior) -> None:
    began, none = "2026-01-02T03:04:05+00:00", CalibrationInForce()
    header = SessionHeader(1, began, Settings(), UNKNOWN, none, prior=own.digest).to_record()
    for wrong in ("", "../../etc/passwd", own.digest.upper(), own.digest[:8], 7, None):
        with pytest.raises(SessionRecordError, match="prior"):
            SessionHeader.from_record(header | {"prior": wrong})
    assert SessionHeader.from_record(header).to_record()["prior"] == own.digest


def test_bone_begins_with_it_where_air_tells_nothing() -> None:
    """The gaps are those that ship: what differs by bone is what differs by air."""
    route = Route("left", BONE)
    settings = Settings(routes="air, bone")
    levels = [
        HearingTest(settings, prior=prior).cross_hearing.bone.by_either(route).moments()[0]
        for prior in (small_prior(60.0), small_prior(70.0), None)
    ]
    knots_hz = HearingTest(settings, prior=small_prior()).ears[route].estimator.knots_hz

    assert np.allclose(levels[1] - levels[0], 10.0, atol=0.5)
    people = bone_prior.people(None, None, knots_hz, small_prior(60.0)).moments()[0]
    assert np.allclose(people, [60.0 + 5.0 * np.log2(f / 125.0) for f in knots_hz])
    assert np.all(levels[0] - levels[2] > 10.0)


def test_a_test_by_air_and_bone_replays(tmp_path: Path, own: OwnPrior) -> None:
    world = world_of(tmp_path / "own", own)
    world.begin(Settings.from_record({**ONE_EAR, "routes": "air, bone"}))
    finish_and_place(world)
    journal = world.end()
    state = replay(read_journal(journal).records, None, find_beside(journal.parent))
    assert state.differences == []
    assert state.test.ears[Route("left", BONE)].observations
