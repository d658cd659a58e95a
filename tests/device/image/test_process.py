"""The real firmware process of an image: no compiler, little memory, the same sessions."""

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firmware_py.installation.configuration import Configuration
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.device.image.image import Image
from tests.firmware.rig import Process, Rig
from tests.firmware.whole_sessions import a_listener, result_of, run_session, stimuli_of

NOTING = Path(__file__).parent / "noting"
PEAK_RSS_BYTES_MAX = 41_000_000  # 40.4 MB on Debian 12
# In place of `python -m firmware_py.main ...`, which the rig starts.
START = """
export NOTED_IN="$1" PYTHONPATH="$2"; program="$3" python="$4"; shift 6
exec "$python" "$program" "$@"
"""


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with Rig(tmp_path / "data") as rig:
        yield rig


def start(rig: Rig, image: Image) -> Process:
    notes, program = rig.data.with_name("notes"), image.directory / "gp-pta-device"
    wrapper = ["sh", "-c", START, "sh", str(notes), str(NOTING), str(program)]
    return rig.start(wrapper=wrapper)


@pytest.mark.thorough
def test_sessions_with_an_image(rig: Rig, image: Image, tmp_path: Path) -> None:
    """Neither Numba nor LLVM is loaded; memory stays within its limit; the bits are the JIT's."""
    undisturbed = run_session(tmp_path / "other", a_listener("S2"), {"ears": "left", "seed": 3})
    # As `install.sh` and a card do: who compiles its modules at every start takes a megabyte more.
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(image.directory)], check=True)
    process = start(rig, image)
    manifest = json.loads((image.directory / "manifest.json").read_text())
    assert process.first_line().endswith(
        f"; ready-made kernels for {manifest['target']}, commit {manifest['commit']}\n"
    )
    for number in (1, 2):
        rig.begin()
        rig.until("! session-over")
        assert replay_journal(rig.journal(number)).code == IDENTICAL
    assert stimuli_of(rig.journal(1)) == stimuli_of(undisturbed)
    assert result_of(rig.journal(1))["ears"] == result_of(undisturbed)["ears"]
    limit_bytes, _ = resource.prlimit(process.pid, resource.RLIMIT_AS)
    size_bytes = resource.getpagesize() * int(
        Path(f"/proc/{process.pid}/statm").read_text("ascii").split()[0]
    )
    assert 0 < limit_bytes - size_bytes <= 1_000_000 * Configuration.memory_reserve_mb
    assert rig.operator.ask("SYST:EXIT") == "OK"
    assert process.end_of() == (0, "")

    notes: dict[str, Any] = json.loads(rig.data.with_name("notes").read_text())
    loaded = {name.split(".")[0] for name in notes["modules"]}
    assert not loaded & {"numba", "llvmlite", "scipy"}
    assert not loaded & {"hashlib", "socket", "unicodedata"}  # 4.4 MB: no prior, no name was given
    assert notes["modules"]["firmware_py.firmware"].startswith(str(image.directory))
    assert notes["peak_rss_bytes"] <= PEAK_RSS_BYTES_MAX
