"""LibrePods gets the audiogram in its own names and bytes."""

import json
import struct
from typing import Final

import numpy as np
import pytest

from host_tools.commands.prescribe.librepods import payload, settings
from host_tools.errors import HostError

FREQUENCIES_HZ: Final = (250, 500, 1000, 1500, 2000, 3000, 4000, 6000, 8000)
LEFT_DB_HL: Final = np.array((-5.0, 10.0, 20.0, 25.0, 30.0, 45.0, 60.0, 80.0, 110.0))
RIGHT_DB_HL: Final = LEFT_DB_HL[::-1]
BOTH: Final = {"left": LEFT_DB_HL, "right": RIGHT_DB_HL}
# Where `parseHearingAidSettingsResponse` of LibrePods reads what, in bytes.
PLACES: Final = {
    "leftEQ": 4, "leftAmplification": 36, "leftTone": 40, "leftConversationBoost": 44,
    "leftAmbientNoiseReduction": 48, "rightEQ": 52, "rightAmplification": 84, "rightTone": 88,
    "rightConversationBoost": 92, "rightAmbientNoiseReduction": 96, "ownVoiceAmplification": 100,
}  # fmt: skip


def test_the_audiogram_is_at_the_frequencies_of_librepods() -> None:
    found = json.loads(settings(FREQUENCIES_HZ, BOTH, ["remark"]))
    assert found["frequencies_hz"] == [250, 500, 1000, 2000, 3000, 4000, 6000, 8000]
    assert found["leftEQ"] == [0.0, 10.0, 20.0, 30.0, 45.0, 60.0, 80.0, 100.0]
    assert found["rightEQ"] == [100.0, 80.0, 60.0, 30.0, 25.0, 20.0, 10.0, 0.0]
    assert found["remarks"] == ["remark"]


def test_what_lies_between_is_on_a_line_over_log_frequency() -> None:
    without = {ear: levels[[0, 1, 2, 4, 6, 7, 8]] for ear, levels in BOTH.items()}
    found = json.loads(settings((250, 500, 1000, 2000, 4000, 6000, 8000), without, []))
    assert found["leftEQ"][4] == pytest.approx(30.0 + 30.0 * np.log2(1.5), abs=0.06)


def test_what_is_not_known_is_null_and_no_bytes_are_made_of_it() -> None:
    without = {ear: levels[[0, 1, 2, 4, 8]] for ear, levels in BOTH.items()}
    known = (250, 500, 1000, 2000, 8000)
    found = json.loads(settings(known, without, []))
    assert found["leftEQ"] == [0.0, 10.0, 20.0, 30.0, None, None, None, 100.0]
    assert found["payload"] is None


def test_the_bytes_have_each_setting_where_librepods_reads_it() -> None:
    found = json.loads(settings(FREQUENCIES_HZ, BOTH, []))
    content = bytes.fromhex(found["payload"])
    assert len(content) == 104
    assert content[:4] == b"\x02\x02\x64\x00"
    for name, place in PLACES.items():
        wanted = found[name] if isinstance(found[name], list) else [float(found[name])]
        values = struct.unpack_from(f"<{len(wanted)}f", content, place)
        assert values == pytest.approx(wanted, rel=1e-6), name


def test_the_bytes_of_a_known_audiogram() -> None:
    content = payload([20.0] * 8, [40.0] * 8)
    assert content.hex() == (
        "02026400" + "0000a041" * 8 + "00000000" * 4 + "00002042" * 8 + "00000000" * 4 + "0000003f"
    )


def test_what_librepods_cannot_take_is_named() -> None:
    with pytest.raises(HostError, match="audiograms of both ears, and the right has none"):
        settings(FREQUENCIES_HZ, {"left": LEFT_DB_HL}, [])
    half = {ear: levels[:-1] for ear, levels in BOTH.items()}
    with pytest.raises(HostError, match="from 250 to 8000 Hz, and these go from 250 to 6000 Hz"):
        settings(FREQUENCIES_HZ[:-1], half, [])
