"""`gp-pta replay`: feed a journal through the procedure again and compare, bit for bit.

Or ask what another model would have said to the same answers.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from firmware_py.journal import SealKey
from host_tools.commands.replay.codes import (
    DAMAGED,
    DIFFERENT,
    IDENTICAL,
    NOT_SEALED,
    UNFINISHED,
    difference_lines,
)
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.files import check_name
from host_tools.recordings.newest import add_journal_argument, journal_or_newest
from host_tools.recordings.seals import NO_SEALS, Seals, read_keys, seals_of
from host_tools.terminal import say

if TYPE_CHECKING:  # a session brings Numba with it, which the other commands can do without
    from firmware_py.procedure.results import SessionResult
    from firmware_py.sessions.session import Difference
    from host_tools.commands.replay.what_if.comparison import Comparison
    from host_tools.recordings.recorded import RecordedSession

NAME = "replay"
SUMMARY = "check that a journal's every stimulus and its result come out again, bit for bit"
EXAMPLE = """\
examples:
  gp-pta replay
  gp-pta replay sessions/session-000001.journal
  gp-pta replay sessions/session-000001.journal --key seal.key
  gp-pta replay sessions/session-000001.journal --profile gp-pta-2015
  gp-pta replay sessions/session-000001.journal --noise 4 --picture what-if.svg
  gp-pta replay sessions/tuning-000001.journal --picture tuning.svg

--profile, --prior and --noise ask what another model would have said to the same answers.

exit codes, with and without another model: 0 all came out the same, 1 something differs, 2 not a
journal that can be replayed or an option that is not allowed, 3 the same so far but the session is
not finished, 4 the journal is damaged, 5 with --key: its seal is broken, or it is not sealed with
such a key, 6 its lines are intact, but a record of it says what no session can have recorded
"""

NEEDS: Final = {"--picture": ("matplotlib",)}


@dataclass
class Verdict:
    """What a replay showed."""

    journal: Path
    code: int
    tones: int
    inputs: int
    torn_bytes: int
    unsure: int = 0
    differences: "list[Difference]" = field(default_factory=list)
    damage: str = ""
    result: "SessionResult | None" = None
    calibration: str = ""
    seals: Seals = NO_SEALS

    @property
    def identical(self) -> bool:
        """Return whether the session is finished and everything came out the same."""
        return self.code == IDENTICAL

    @property
    def exit_code(self) -> int:
        """Return what the command ends with: what is forged is nothing else."""
        return NOT_SEALED if self.seals.true is False else self.code


def replay_journal(path: Path) -> Verdict:
    """Replay a journal; `HostError` if the file cannot be replayed at all."""
    from host_tools.recordings.recorded import read_session

    return verdict_of(read_session(path))


def verdict_of(session: "RecordedSession", keys: Sequence[SealKey] = ()) -> Verdict:
    """Return what the replay of a session showed, and its seals under these keys."""
    state = session.state
    return Verdict(
        journal=session.path,
        code=_code(session),
        tones=state.tones,
        inputs=state.inputs,
        torn_bytes=session.recovered.torn_bytes,
        unsure=sum(ear.tally.unsure for ear in session.test.ears.values()),
        differences=state.differences,
        damage=session.damage,
        result=session.result if state.result else None,
        calibration=session.calibration.headline,
        seals=seals_of(session.recovered, keys),
    )


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_journal_argument(p)
    p.add_argument(
        "--key", type=Path, action="append", default=[], metavar="FILE",
        help="check the seals with this key of the device; may be given more than once",
    )  # fmt: skip
    p.add_argument("--profile", metavar="NAME", help="replay with this profile of the estimator")
    p.add_argument(
        "--prior", type=Path, metavar="FILE",
        help="replay with this prior, made by gp-pta learn-prior",
    )  # fmt: skip
    p.add_argument("--noise", type=float, metavar="DB", help="replay with this response noise")
    p.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="draw both models, or how a tuning went: .svg, .png, .pdf",
    )
    p.add_argument("--force", action="store_true", help="replace the picture if it is there")
    p.add_argument("--json", action="store_true", help="print the verdict as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Replay, and say what came out, or what would have come out."""
    from host_tools.commands.replay.tuning import is_of_tuning
    from host_tools.recordings.recorded import read_session

    path, keys = journal_or_newest(arguments.journal), read_keys(arguments.key)
    if is_of_tuning(path):
        return _replay_tuning(path, keys, arguments)
    _check_picture(arguments)
    session = read_session(path)
    verdict = verdict_of(session, keys)
    comparison = _comparison(session, arguments)
    if comparison is not None and arguments.picture is not None:
        from host_tools.commands.replay.what_if.picture import draw_comparison

        draw_comparison(comparison, verdict.calibration, arguments.picture)
    if arguments.json:
        supposed = {} if comparison is None else {"what_if": comparison.as_json()}
        say(json.dumps(as_json(verdict) | supposed))
        return verdict.exit_code
    say(*(comparison.lines() if comparison else []), *words(verdict))
    return verdict.exit_code


def _replay_tuning(path: Path, keys: Sequence[SealKey], asked: argparse.Namespace) -> int:
    from host_tools.commands.replay.tuning import replay_tuning_journal, verdict_words

    if _supposes(asked):
        raise HostError(f"--profile, --prior, --noise are of hearing tests; {path} is of a tuning")
    if asked.picture is not None:
        _check_name_of_picture(asked)
    verdict = replay_tuning_journal(path, keys)
    if asked.picture is not None:
        from host_tools.commands.replay.tuning_picture import draw_tuning

        draw_tuning(verdict.steps, asked.picture, f"tuning of {verdict.state.header.started[:10]}")
    say(*([json.dumps(verdict.as_json())] if asked.json else verdict_words(verdict)))
    return verdict.exit_code


def _comparison(session: "RecordedSession", asked: argparse.Namespace) -> "Comparison | None":
    """Return what another model says, None if none was asked for."""
    if not _supposes(asked):
        return None
    from host_tools.commands.replay.what_if.comparison import Comparison
    from host_tools.commands.replay.what_if.supposition import Supposition

    return Comparison.of(session, Supposition.of(asked.profile, asked.prior, asked.noise))


def _supposes(asked: argparse.Namespace) -> bool:
    return any(option is not None for option in (asked.profile, asked.prior, asked.noise))


def _check_picture(asked: argparse.Namespace) -> None:
    if asked.picture is None:
        return
    if not _supposes(asked):
        raise HostError(
            "--picture draws two models; name the other with --profile, --prior, --noise"
        )
    _check_name_of_picture(asked)


def _check_name_of_picture(asked: argparse.Namespace) -> None:
    need("--picture", *NEEDS["--picture"], use=f"{NAME} --picture")
    from host_tools.drawings.drawing import PICTURE_ENDINGS

    check_name(asked.picture, "--picture", PICTURE_ENDINGS, asked.force)


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as JSON values."""
    return {
        "journal": str(verdict.journal),
        "replay_identical": verdict.identical,
        "trials": verdict.tones,
        "inputs": verdict.inputs,
        "unsure": verdict.unsure,
        "torn_bytes": verdict.torn_bytes,
        "damage": verdict.damage,
        "differences": [vars(difference) for difference in verdict.differences],
        "result": verdict.result.to_record() if verdict.result else None,
        "calibration": verdict.calibration,
        "seals": vars(verdict.seals),
    }


def words(verdict: Verdict) -> list[str]:
    """Return the verdict in words, the short first."""
    lines = [_summary(verdict), *filter(None, [verdict.seals.words]), verdict.calibration]
    if verdict.torn_bytes:
        lines.append(f"torn end: {verdict.torn_bytes} bytes after the last good record")
    if verdict.damage:
        lines.append(f"DAMAGED: {verdict.damage}")
    return [*lines, *difference_lines(verdict.differences)]


def _summary(verdict: Verdict) -> str:
    unsure = f" ({verdict.unsure} answered unsure)" if verdict.unsure else ""
    amount = f"{verdict.journal}: {verdict.tones} tones{unsure} from {verdict.inputs} inputs"
    endings = {
        IDENTICAL: "every stimulus and the result came out bit for bit",
        DIFFERENT: f"{len(verdict.differences)} outputs DIFFER",
        UNFINISHED: "the same so far; the session is not finished",
        DAMAGED: "the same up to where the journal is damaged",
    }
    return f"{amount}; {endings[verdict.code]}"


def _code(session: "RecordedSession") -> int:
    if session.state.differences:
        return DIFFERENT
    if session.damage:
        return DAMAGED
    return IDENTICAL if session.complete else UNFINISHED
