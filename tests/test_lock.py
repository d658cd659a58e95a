"""The lock: every package in one version, by the hashes of its files, from nowhere else."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
HASHES: Final = r"(?: \\\n    --hash=sha256:[0-9a-f]{64})+"
PIN: Final = re.compile(rf"([a-z0-9-]+)==[^\s;]+(?: ; [^\\]+)?{HASHES}")


def entries(lock: str) -> list[str]:
    """Return the requirements of a lock, each with the lines that go on with it."""
    plain = "\n".join(line for line in lock.splitlines() if not line.startswith("#"))
    return [entry.strip() for entry in re.split(r"\n(?=\S)", plain) if entry.strip()]


def wrong(lock: str) -> list[str]:
    """Return the requirements that are not one version with its hashes."""
    return [entry for entry in entries(lock) if not PIN.fullmatch(entry)]


def names(lock: str) -> list[str]:
    return [match[1] for entry in entries(lock) if (match := PIN.fullmatch(entry))]


@pytest.mark.parametrize(
    ("name", "packages_min"),
    [("requirements.lock", 50), ("tools.lock", 20)],
)
def test_every_package_is_in_one_version_with_its_hashes(name: str, packages_min: int) -> None:
    lock = (ROOT / name).read_text(encoding="utf-8")
    assert wrong(lock) == []
    assert len(names(lock)) > packages_min


def test_what_is_installed_without_hashes_stands_on_the_page_of_threats() -> None:
    """Whatever is made from the Makefile's own words is of no hash."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    installs = [line for line in makefile.splitlines() if "-m pip install" in line]
    free = {each for line in installs if "--require-hashes" not in line
            for each in re.findall(r"\$\(([A-Z]+)\)\s*$", line)} - {"LOCKED"}  # fmt: skip
    assert free == {"GPY", "TORCH", "AEPSYCH"}
    assert "`make bench-peers`" in (ROOT / "firmware_py/THREATS.md").read_text(encoding="utf-8")


def test_all_that_the_project_asks_for_is_in_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    asked += [requirement for extra in extras for requirement in extra]
    wanted = {re.split(r"[\[<>=; ]", asked, maxsplit=1)[0].lower() for asked in asked} - {"gp-pta"}
    locked = names((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    assert {re.sub(r"[._]", "-", name) for name in wanted} <= set(locked)


def test_what_makes_the_site_is_installed_for_nothing_else() -> None:
    """A level of the lock goes down to where the next one begins, for each but the last."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    order = re.findall(r"^# level: (\w+)$", lock, re.MULTILINE)
    ends = re.findall(r"^\$\((\w+)\): LEVEL_END := /\^\\# level: (\w+)/", makefile, re.MULTILINE)
    assert order == ["host", "test", "dev", "docs"]
    assert [(level.lower(), next_one) for level, next_one in ends] == [*pairwise(order)]
    before, _, last = lock.partition("\n# level: docs\n")
    assert {"sphinx", "furo", "myst-parser", "pandas"} <= {*names(last)}
    assert {*names(before)} & {*names(last)} == set()


def test_the_alarm_rings() -> None:
    digest = "--hash=sha256:" + "0" * 64
    for entry in (
        "numpy>=2 \\\n    " + digest,
        "numpy==2.0",
        "numpy==2.0 \\\n    --hash=md5:" + "0" * 32,
        "numpy @ https://example.org/numpy.whl \\\n    " + digest,
        "--extra-index-url https://example.org",
    ):
        assert wrong(f"# level: host\n{entry}\n") == [entry]
