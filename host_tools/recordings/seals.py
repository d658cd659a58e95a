"""The seals of a journal under the keys of whoever asks."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware_py.journal import Recovered, SealKey, first_broken
from firmware_py.platform.keys import KeyFileError, read_key_file
from firmware_py.platform.named_file import open_named
from host_tools.errors import HostError

NOT_SEALED: Final = 5  # the exit code: what is forged is nothing else


class NotSealedError(HostError):
    """A journal that cannot be replayed here, and is not as the owner of the key sealed it."""

    exit_code = NOT_SEALED


@dataclass(frozen=True)
class Seals:
    """What is known of the seals of a journal."""

    words: str  # for people; "" if there is nothing to say
    # whether every record is as the owner of the key sealed it; None: it was not checked
    true: bool | None


NO_SEALS: Final = Seals("", None)  # and no key was given


def read_keys(paths: Iterable[Path]) -> list[SealKey]:
    """Read key files; `HostError` if one is none, or others may read it."""
    try:
        return [SealKey(read_key_file(path)) for path in paths]
    except KeyFileError as error:
        raise HostError(str(error)) from None


def seals_of(recovered: Recovered, keys: Sequence[SealKey]) -> Seals:
    """Check the seals of the good records; the header says with which key."""
    name = recovered.header.get("seal_key")
    if name is None:
        return Seals("not sealed", False) if keys else NO_SEALS
    if not keys:
        return Seals(f"sealed with key {name}; not checked: --key checks it", None)
    key = next((key for key in keys if key.name == name), None)
    if key is None:
        return Seals(f"sealed with key {name}, which is not given; not checked", False)
    with open_named(recovered.path) as file:
        broken = first_broken(key, io.BytesIO(file.read(recovered.good_bytes)))
    if broken is not None:
        return Seals(f"sealed with key {name}, and BROKEN at record {broken}", False)
    return Seals(f"sealed with key {name}, and true: {len(recovered.records)} records", True)
