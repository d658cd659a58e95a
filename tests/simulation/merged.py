"""All that two sites recorded, in one tree: listed, told by person and exported by `gp-pta`."""

import io
import json
import os
import shutil
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest import mock

from host_tools.commands.sessions.entry import Entry
from host_tools.commands.sessions.people import people_of
from host_tools.main import main
from host_tools.recordings.doubles import without_doubles
from tests.simulation.day import ENDING
from tests.simulation.register import Key
from tests.simulation.violation import Violation


class Merged:
    """A tree of directories with journals; the index of `gp-pta` lies beside it."""

    def __init__(self, root: Path) -> None:
        self._root, self._cache = root, root.with_name(f"{root.name}-cache")
        found = {path.parent for path in root.rglob(f"*{ENDING}")}
        self.directories = sorted(found)

    def forget_index(self) -> None:
        """Have everything read anew."""
        shutil.rmtree(self._cache, ignore_errors=True)

    def listed(self) -> list[dict[str, Any]]:
        return [asdict(entry) for entry in self._entries()]

    def people(self) -> dict[str, list[Key]]:
        """Return the sessions of everybody, in the order in which they are told."""
        people, aside = people_of(self._root, self._entries(), _unwatched)
        if aside.left_out:
            raise Violation(f"of no person, though it is of one: {aside.left_out}")
        return {
            person.identifier: [(v.entry.device, v.entry.session or 0) for v in person.visits]
            for person in people
        }

    def exported(self) -> list[dict[str, Any]]:
        out = self._cache / "all.json"
        self._run("export", *self.directories, "-o", out, "--force")
        sessions: list[dict[str, Any]] = json.loads(out.read_text())["sessions"]
        return sessions

    def _entries(self) -> list[Entry]:
        """Return what is listed of all directories, by its place in the tree; each session once."""
        entries = []
        for directory in self.directories:
            first, again = (self._run("sessions", directory, "--json") for _ in range(2))
            if first != again:
                raise Violation(f"{directory}: the index tells {again}, and the journals {first}")
            place = directory.relative_to(self._root)
            told = (Entry(**each) for each in json.loads(first)["sessions"])
            entries += [replace(each, name=str(place / each.name)) for each in told]
        sessions = [each for each in entries if not each.broken]
        return without_doubles(sessions, lambda each: each.about).kept

    def _run(self, *words: str | Path) -> str:
        self._cache.mkdir(exist_ok=True)
        out = io.StringIO()
        with (
            mock.patch.dict(os.environ, XDG_CACHE_HOME=str(self._cache)),
            redirect_stdout(out), redirect_stderr(io.StringIO()),
        ):  # fmt: skip
            main([*map(str, words)])
        return out.getvalue()


def _unwatched(entries: Iterable[Entry], _count: int, _what: str) -> Iterable[Entry]:
    return entries
