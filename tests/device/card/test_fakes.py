"""Cards that keep less than they say: what the first system finds out, and leaves as it was."""

import random
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from device.card.kernel import INIT

START: Final = 10_000  # where the data partition is to begin, in sectors
# `dd` for a card that WRAPS at a number of sectors, KEEPS so many of them, may have a CACHE of its
# last write, and may FAIL to write. Each write is of one sector, but for that of zeros.
CARD: Final = r"""
card_sectors() { echo "$SAYS"; }
blockdev() { :; }
dd() {
    of='' count=1
    for each; do case $each in
        if=*) from=${each#if=} ;; of=*) of=${each#of=} ;; bs=*) unit=${each#bs=} ;;
        count=*) count=${each#count=} ;; skip=* | seek=*) sector=${each#s*=} ;;
    esac; done
    at=$sector
    [ "$WRAPS" = 0 ] || at=$((sector % WRAPS))
    case $of in
        /dev/card)
            [ ! "$FAIL" ] || return 1
            echo "$sector" > last
            if [ "$unit" = 1M ]; then
                command dd if=/dev/zero of=card.img bs=1M seek=$sector count=8 conv=notrunc
                return
            fi
            case $* in *if=*) cat "$from" > cache ;; *) cat > cache ;; esac
            [ $at -ge "$KEEPS" ] ||
                command dd if=cache of=card.img bs=512 seek=$at conv=notrunc,sync 2> /dev/null ;;
        '') read_card ;;
        *) read_card > "$of" ;;
    esac
}
read_card() {
    if [ "$CACHE" ] && [ "$(cat last)" = "$sector" ]; then
        cat cache
    elif [ $at -lt "$KEEPS" ]; then
        command dd if=card.img bs=512 skip=$at count=1 2> /dev/null
    fi
}
"""


@dataclass
class Kind:
    says: int  # sectors
    keeps: int
    wraps: int = 0
    cache: str = ""
    fail: str = ""


GB: Final = 1_953_125  # sectors
KINDS: Final = {
    "honest": Kind(16 * GB, 16 * GB),
    "honest with a cache": Kind(16 * GB, 16 * GB, cache="yes"),
    "honest of 128 GB": Kind(124_735_488 * 2, 124_735_488 * 2),
    "small": Kind(START + 500, START + 500),
    "of which a little is kept": Kind(64 * GB, START + 40_000),
    "of which the slots are kept": Kind(64 * GB, START),
    "forgets": Kind(64 * GB, 7 * GB),
    "forgets, with a cache": Kind(64 * GB, 7 * GB, cache="yes"),
    "begins anew": Kind(64 * GB, 1 << 24, wraps=1 << 24),
    "begins anew soon": Kind(2 * GB, 1 << 20, wraps=1 << 20),
    "forgets and begins anew": Kind(64 * GB, 7 * GB, wraps=1 << 24),
    "only reads": Kind(16 * GB, 16 * GB, fail="yes"),
}
# At no power of two: three marks come to lie on what is on the card, two of them at the same place.
ODD: Final = (1 << 21) + START // 2
STRANGE: Final = Kind(8 + (1 << 21) + START + 8 * ODD, ODD, wraps=ODD)


def probe(kind: Kind, place: Path) -> int:
    """Return the sectors that a card is said to keep; all that was on it must still be there."""
    init = INIT.read_text()
    functions = init[init.index("mark() {") : init.index("# From the end of the last partition")]
    (place / "run").mkdir()
    (place / "last").touch()
    before = random.Random(1).randbytes(512 * START)
    (place / "card.img").write_bytes(before)
    script = functions.replace("/dev/$card", "/dev/card").replace("/run/gp-pta", "run")
    told = {name.upper(): str(value) for name, value in vars(kind).items()}
    done = subprocess.run(
        ["sh", "-u"], cwd=place, text=True, capture_output=True, check=True,
        env={"PATH": "/usr/bin:/bin", **told},
        input=f"{CARD}\n{script}\nstart={START} room=32768\nkept_sectors\nput_back\necho $kept\n",
    )  # fmt: skip
    with (place / "card.img").open("rb") as file:
        assert file.read(len(before)) == before
    return int(done.stdout)


@pytest.mark.parametrize("name", KINDS)
def test_what_a_card_keeps_is_found_out(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    found = probe(kind, tmp_path)
    assert kind.keeps - 8192 <= found <= kind.keeps
    assert kind.keeps < kind.says or found == kind.says, "nobody is accused who is honest"


def test_on_a_card_of_no_known_kind_all_is_left_as_it_was(tmp_path: Path) -> None:
    probe(STRANGE, tmp_path)
