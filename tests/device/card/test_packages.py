"""The list of Debian's packages, and getting them."""

import hashlib
import re
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from device.card import packages
from device.card.errors import CardError
from device.card.packages import Package, fetch, read_packages, wanted_and_unwanted

CONTENT = b"a package"


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Serve a directory as a mirror of Debian, and as the archive of snapshots."""
    place = tmp_path / "mirror"
    place.mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=str(place))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_address[1]}"
        monkeypatch.setenv("DEBIAN_MIRROR", here)
        monkeypatch.setattr(packages, "SNAPSHOT", f"{here}/snapshot")
        monkeypatch.setattr(packages, "PAUSE_S", 0.0)
        yield place
        server.shutdown()


def put(place: Path, path: str, content: bytes) -> None:
    (place / path).parent.mkdir(parents=True, exist_ok=True)
    (place / path).write_bytes(content)


def package() -> Package:
    digest = hashlib.sha256(CONTENT).hexdigest()
    return Package(digest, "debian", "20261123T000000Z", "pool/main/a/a/a_1%2b2_arm64.deb")


def test_every_package_of_the_list_is_whole_and_named_once() -> None:
    names = [each.name for each in read_packages()]
    assert len(set(names)) == len(names) > 50
    for each in read_packages():
        assert re.fullmatch(r"[0-9a-f]{64}", each.sha256)
        assert each.archive in ("debian", "debian-security")
        assert re.fullmatch(r"20\d{6}T\d{6}Z", each.day)
        assert each.path.startswith("pool/")


def test_what_is_wanted_is_there_and_nothing_else_that_was_refused() -> None:
    wanted, unwanted = wanted_and_unwanted()
    names = {each.name for each in read_packages()}
    assert {*wanted} - {"linux-image-arm64"} <= names, "which only names the kernel's own package"
    assert any(re.fullmatch(r"linux-image-[0-9.-]+-arm64", name) for name in names)
    assert not unwanted & names


def test_a_version_is_as_debian_writes_it() -> None:
    assert (package().name, package().version) == ("a", "1+2")


@pytest.mark.parametrize("place", ["debian", "snapshot/debian/20261123T000000Z"])
def test_a_package_comes_from_a_mirror_or_from_the_snapshot(
    mirror: Path, tmp_path: Path, place: str
) -> None:
    put(mirror, f"{place}/pool/main/a/a/a_1+2_arm64.deb", CONTENT)
    for _ in range(2):
        found = fetch([package()], tmp_path / "got")
        assert found["a"].read_bytes() == CONTENT
        (mirror / f"{place}/pool/main/a/a/a_1+2_arm64.deb").unlink(missing_ok=True)


def test_a_package_that_cannot_be_had_for_a_moment_is_asked_for_again(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = package()
    path = f"debian/{wanted.path.replace('%2b', '+')}"
    monkeypatch.setattr(packages, "sleep", lambda _: put(mirror, path, CONTENT))
    assert fetch([wanted], tmp_path)[wanted.name].read_bytes() == CONTENT


def test_a_package_that_has_changed_is_refused_and_one_that_is_damaged_is_got_again(
    mirror: Path, tmp_path: Path
) -> None:
    path = "debian/pool/main/a/a/a_1+2_arm64.deb"
    put(mirror, path, b"something else")
    with pytest.raises(CardError, match=r"package a 1\+2 cannot be had: .*its SHA-256 is"):
        fetch([package()], tmp_path / "got")
    put(mirror, path, CONTENT)
    file = fetch([package()], tmp_path / "got")["a"]
    file.write_bytes(b"half")
    assert fetch([package()], tmp_path / "got")["a"].read_bytes() == CONTENT
