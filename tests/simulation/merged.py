"""All that two sites recorded, in one tree: listed, told by person and exported by `gp-pta`."""

import io
import json
import os
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from host_tools.main import main
from host_tools.recordings.entry import BROKEN
from tests.simulation.register import Key
from tests.simulation.violation import Violation


class Merged:
    """A tree of directories with journals; the index of `gp-pta` lies beside it."""

    def __init__(self, root: Path) -> None:
        self._cache = root.with_name(f"{root.name}-cache")
        self.places = sorted(root.iterdir())

    def forget_index(self) -> None:
        """Have everything read anew."""
        shutil.rmtree(self._cache, ignore_errors=True)

    def listed(self) -> list[dict[str, Any]]:
        listed = self._told_twice("--json")["sessions"]
        return [each for each in listed if each["outcome"] not in BROKEN]

    def people(self) -> dict[str, list[Key]]:
        """Return the sessions of everybody, in the order in which they are told."""
        return {
            person["identifier"]: [(v["device"], v["session"]) for v in person["sessions"]]
            for person in self._told_twice("--people", "--json")["people"]
        }

    def exported(self) -> list[dict[str, Any]]:
        out = self._cache / "all.json"
        self._run("export", *self.places, "-o", out, "--force")
        sessions: list[dict[str, Any]] = json.loads(out.read_text())["sessions"]
        return sessions

    def _told_twice(self, *how: str) -> dict[str, Any]:
        """Return what is told of all places, at once and from the index."""
        first, again = (self._run("sessions", *self.places, *how) for _ in range(2))
        if first != again:
            raise Violation(f"the index tells {again}, and the journals {first}")
        told: dict[str, Any] = json.loads(first)
        return told

    def _run(self, *words: str | Path) -> str:
        self._cache.mkdir(exist_ok=True)
        out = io.StringIO()
        with (
            mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self._cache)),
            redirect_stdout(out), redirect_stderr(io.StringIO()),
        ):  # fmt: skip
            main([*map(str, words)])
        return out.getvalue()
