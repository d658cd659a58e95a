"""The study of what fitted ears understand: its sounds, its conditions, and its tables."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from bench.benefit.conditions import COUNTS, OWN, TRUE, UNAIDED, UNTESTED, Condition, own_conditions
from bench.benefit.judging import Case, Judged, Store, thresholds_of, write_entries
from bench.benefit.material import KINDS, NOISE, SOFT, at_level, scene
from bench.benefit.tables import Scores, tables
from device.hearing_aid.electroacoustics import level_db_spl
from host_tools.research.study.ears import standard_ears

speaks = pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="there is no espeak-ng")


def entries(haspi_of: dict[Condition, list[float]]) -> list[Judged]:
    return [
        Judged(ear, "mild", c.name, c.tones, c.tuned, 1.5 * c.tones, "noise", haspi, 0.5)
        for c, each in haspi_of.items()
        for ear, haspi in enumerate(each)
    ]


def test_an_ear_counts_as_close_within_two_hundredths_either_way() -> None:
    tested = {Condition(OWN, count): [0.79, 0.815, 0.86] for count in COUNTS}
    scores = Scores(entries({Condition(TRUE): [0.8, 0.8, 0.8], **tested}))

    assert scores.close(Condition(OWN, COUNTS[0]), [0, 1, 2]) == 2
    assert scores.differences(Condition(OWN, COUNTS[0]), [2]) == pytest.approx([0.06])
    assert scores.median_haspi(Condition(TRUE), [0, 1, 2]) == 0.8


def test_methods_are_compared_on_the_ears_that_all_have_tested() -> None:
    both = {Condition(n): [0.2, 0.9, 0.9] for n in (UNAIDED, UNTESTED, TRUE)}
    tuned = {Condition(n, t, True): [0.9] * 3 for n, t in ((TRUE, 0), (OWN, COUNTS[-1]))}
    own = {Condition(OWN, count): [0.9, 0.9, 0.9] for count in COUNTS}
    other = {Condition("quest", count): [0.5] for count in COUNTS}
    found = entries(both | tuned | own | other)

    assert Scores(found).compared_ears() == [0]
    lines = list(tables(found))
    assert any(line.startswith("| 3 ears |") for line in lines)
    assert any(line.startswith("| HASPI in noise, 1 ears |") for line in lines)
    assert "| `quest` | 0.500 | 0.300 | 0% |" in "\n".join(lines)


def test_every_condition_of_an_ear_is_there_once() -> None:
    aided = list(own_conditions(standard_ears()[2], 0))

    assert len({each.condition for each in aided}) == len(aided) == 5 + len(COUNTS)
    assert [each.condition for each in aided if each.fit is None] == [Condition(UNAIDED)]
    fits = {each.condition: each.fit for each in aided if each.fit is not None}
    true, tuned = fits[Condition(TRUE)], fits[Condition(TRUE, tuned=True)]
    assert tuned.rule.startswith(f"{true.rule}; tuned:")
    seconds = [each.seconds for each in aided if each.condition.tones and not each.condition.tuned]
    assert seconds == sorted(seconds)
    assert seconds[0] > 5.0


@speaks
def test_speech_has_the_level_it_is_said_to_have() -> None:
    soft, noisy = scene(SOFT, 0), scene(NOISE, 0)

    assert level_db_spl(soft.reference) == pytest.approx(65.0, abs=0.01)
    whole = soft.of_sentence(soft.heard)
    assert level_db_spl(whole[: len(soft.reference)]) == pytest.approx(50.0, abs=0.01)
    speech = np.zeros_like(noisy.heard)
    begin = len(speech) - len(noisy.of_sentence(noisy.heard))
    speech[begin : begin + len(noisy.reference)] = noisy.reference
    background = noisy.of_sentence(noisy.heard - speech)
    assert level_db_spl(background) == pytest.approx(60.0, abs=0.6)
    assert scene(NOISE, 0).digest == noisy.digest != scene(NOISE, 1).digest


@speaks
def test_what_was_judged_is_not_asked_again(tmp_path: Path) -> None:
    ear = standard_ears()[0]
    scenes = [scene(kind, 0) for kind in KINDS]
    unaided = next(own_conditions(ear, 0))
    case = Case(0, ear, unaided, scenes, quality=True)
    store = Store(tmp_path / "scores.jsonl")
    for each in scenes:
        store.add(case.key(each), dict.fromkeys(case.measures(each), 0.25))

    # There is neither a judge nor an aid to ask.
    again = Store(tmp_path / "scores.jsonl")
    found = case.judge(again, None, None)  # type: ignore[arg-type]

    assert [each.haspi for each in found] == [0.25] * len(scenes)
    write_entries(tmp_path / "entries.jsonl", found)
    lines = (tmp_path / "entries.jsonl").read_text("utf-8").splitlines()
    assert [Judged(**json.loads(line)) for line in lines] == found


def test_a_run_that_was_killed_while_it_wrote_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    Store(path).add("a", {"haspi": 0.5})
    path.write_text(path.read_text("utf-8") + '{"key": "b", "sco', "utf-8")

    store = Store(path)
    store.add("c", {"haspi": 0.75})

    assert store.get("a") == {"haspi": 0.5}
    assert store.get("b") == {}
    assert Store(path).get("c") == {"haspi": 0.75}


def test_the_models_are_told_the_truth_of_an_ear() -> None:
    ear = standard_ears()[0]

    assert thresholds_of(ear)[1] == ear.audiogram.threshold_db_hl(500.0)
    assert float(np.sqrt(np.mean(at_level(np.ones(8), 118.0) ** 2))) == pytest.approx(1.0)
