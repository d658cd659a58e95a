"""Sound through the aid to the judges, and a file of what was judged, so that a run can go on."""

import hashlib
import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from bench.benefit.conditions import Aided
from bench.benefit.material import KINDS, Scene
from device.hearing_aid.chain import FULL_SCALE_DB_SPL, configuration
from device.hearing_aid.openmha import Installation
from device.hearing_aid.processing import file_aid
from device.hearing_aid.sound import write_wav
from host_tools.research.study.listener import Ear

JUDGE: Final = Path(__file__).with_name("judge.py")
HASPI: Final = "haspi"
HASQI: Final = "hasqi"
EAR_FREQUENCIES_HZ: Final = (250.0, 500.0, 1000.0, 2000.0, 4000.0, 6000.0)  # of both models
NICER: Final = 5  # than other processes


class JudgeError(RuntimeError):
    """A judge could not judge; the message says why."""


@dataclass(frozen=True)
class Judged:
    """What was said of a sound."""

    ear: int  # its number
    stratum: str
    condition: str
    tones: int
    tuned: bool
    seconds: float
    scene: str
    haspi: float
    hasqi: float | None  # None: not asked


class Judge:
    """A process that judges.

    Parameters
    ----------
    python : str
        The interpreter of the environment that `requirements.txt` is installed in.
    """

    def __init__(self, python: str) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="gp-pta-judge-")
        one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        try:
            self._process = subprocess.Popen(
                ["nice", "-n", str(NICER), os.path.abspath(python), "-W", "ignore", str(JUDGE)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                cwd=self._place.name, env={**os.environ, **one_thread}, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise JudgeError(f"{python} cannot be started: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # its input ends, and so does it
        self._place.cleanup()

    def scores(
        self, scene: Scene, processed: Any, ear: Ear, measures: Sequence[str]
    ) -> dict[str, float]:
        """Return the scores of a processed scene, (lead + n + tail,), by measure."""
        reference, sound = (Path(self._place.name) / f"{n}.wav" for n in ("reference", "processed"))
        write_wav(reference, scene.reference[:, np.newaxis])
        write_wav(sound, scene.of_sentence(processed)[:, np.newaxis])
        question = {
            "reference": str(reference),
            "processed": str(sound),
            "full_scale_db_spl": FULL_SCALE_DB_SPL,
            "frequencies_hz": EAR_FREQUENCIES_HZ,
            "thresholds_db_hl": thresholds_of(ear),
            "measures": list(measures),
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise JudgeError("the judge has ended; what it said is above") from None
        line = self._process.stdout.readline()
        if not line:
            raise JudgeError("the judge has ended; what it said is above")
        found: dict[str, float] = json.loads(line)
        return found


class Store:
    """Scores by what they are of, in a file to which each is added as soon as it is known."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._known: dict[str, dict[str, float]] = {}
        if path.exists():
            text = path.read_text("utf-8")
            if text and not text.endswith("\n"):
                path.write_text(text + "\n", "utf-8")
            for line in text.splitlines():
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # the last line of a run that was killed
                self._known.setdefault(record["key"], {}).update(record["scores"])

    def get(self, key: str) -> dict[str, float]:
        """Return the scores by measure; of those that are known."""
        with self._lock:
            return dict(self._known.get(key, {}))

    def add(self, key: str, scores: dict[str, float]) -> None:
        with self._lock:
            self._known.setdefault(key, {}).update(scores)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "scores": scores}) + "\n")


@dataclass(frozen=True, eq=False)
class Case:
    """An ear in a condition, who hears some scenes."""

    number: int
    ear: Ear
    aided: Aided
    scenes: Sequence[Scene]
    quality: (
        bool  # whether HASQI is asked too, of scenes in quiet: in noise it is low, whatever is done
    )

    def measures(self, scene: Scene) -> tuple[str, ...]:
        """Return what is asked of a scene."""
        in_quiet = KINDS[scene.kind].above_background_db is None
        return (HASPI, HASQI) if self.quality and in_quiet else (HASPI,)

    def key(self, scene: Scene) -> str:
        """Return what tells the sound and its listener from all others."""
        fit = self.aided.fit
        aid = "none" if fit is None else configuration(fit)
        text = json.dumps([aid, thresholds_of(self.ear), scene.digest])
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def is_known(self, store: Store) -> bool:
        """Return whether nothing is to be asked any more."""
        return all(set(self.measures(s)) <= set(store.get(self.key(s))) for s in self.scenes)

    def entries(self, store: Store) -> list[Judged]:
        """Return what the store has of each scene, all of which is known."""
        return [self._entry(scene, store.get(self.key(scene))) for scene in self.scenes]

    def judge(self, store: Store, judge: Judge, installation: Installation) -> list[Judged]:
        """Return what is said of each scene; only what is not in the store is asked."""
        known = [store.get(self.key(scene)) for scene in self.scenes]
        missing = [
            [m for m in self.measures(scene) if m not in scores]
            for scene, scores in zip(self.scenes, known, strict=True)
        ]
        wanted = [scene for scene, open_ in zip(self.scenes, missing, strict=True) if open_]
        outputs = dict(zip(map(id, wanted), self._outputs(wanted, installation), strict=True))
        for scene, scores, open_ in zip(self.scenes, known, missing, strict=True):
            if open_:
                new = judge.scores(scene, outputs[id(scene)], self.ear, open_)
                store.add(self.key(scene), new)
                scores.update(new)
        return [self._entry(s, scores) for s, scores in zip(self.scenes, known, strict=True)]

    def _outputs(self, scenes: Sequence[Scene], installation: Installation) -> list[Any]:
        fit = self.aided.fit
        if fit is None or not scenes:
            return [scene.heard for scene in scenes]
        with file_aid(fit, installation) as aid:
            return [aid.process(np.stack([s.heard, s.heard], axis=1))[:, 0] for s in scenes]

    def _entry(self, scene: Scene, scores: dict[str, float]) -> Judged:
        condition = self.aided.condition
        return Judged(
            self.number, self.ear.stratum, condition.name, condition.tones, condition.tuned,
            round(self.aided.seconds, 3), scene.kind, scores[HASPI],
            scores[HASQI] if HASQI in self.measures(scene) else None,
        )  # fmt: skip


def thresholds_of(ear: Ear) -> list[float]:
    """Return what the models are told of an ear, dB HL at `EAR_FREQUENCIES_HZ`."""
    return [round(ear.audiogram.threshold_db_hl(f), 3) for f in EAR_FREQUENCIES_HZ]


def write_entries(path: Path, entries: Sequence[Judged]) -> None:
    """Write what was judged, an entry a line."""
    path.write_text("".join(json.dumps(asdict(e)) + "\n" for e in entries), "utf-8")
