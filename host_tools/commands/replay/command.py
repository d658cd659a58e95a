"""`gp-pta replay`: feed a journal through the procedure again and compare, bit for bit.

Or ask what another model would have said to the same answers.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_py.journal import SealKey
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.files import check_name
from host_tools.recordings.newest import add_journal_argument, journal_or_newest
from host_tools.recordings.replayed import as_json, read_keys, verdict_of, words
from host_tools.terminal import say

if TYPE_CHECKING:  # a session brings Numba with it, which the other commands can do without
    from host_tools.commands.replay.what_if.comparison import Comparison
    from host_tools.recordings.recorded_session import RecordedSession

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

NEEDS: Final = {"--picture": ("matplotlib", "quickjs", "typst")}


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
    from host_tools.recordings.recorded_session import read_session

    path, keys = journal_or_newest(arguments.journal), read_keys(arguments.key)
    if is_of_tuning(path):
        return _replay_tuning(path, keys, arguments)
    _check_picture(arguments)
    session = read_session(path)
    verdict = verdict_of(session, keys)
    comparison = _comparison(session, arguments)
    if comparison is not None and arguments.picture is not None:
        from host_tools.commands.replay.what_if.audiogram_pair import draw_comparison

        draw_comparison(comparison, verdict.calibration, arguments.picture)
    if arguments.json:
        supposed = {} if comparison is None else {"what_if": comparison.as_json()}
        say(json.dumps(as_json(verdict) | supposed))
        return verdict.exit_code
    say(*(comparison.lines() if comparison else []), *words(verdict))
    return verdict.exit_code


def _replay_tuning(path: Path, keys: Sequence[SealKey], asked: argparse.Namespace) -> int:
    from host_tools.commands.replay.tuning import replay_tuning_journal

    if _supposes(asked):
        raise HostError(f"--profile, --prior, --noise are of hearing tests; {path} is of a tuning")
    if asked.picture is not None:
        _check_name_of_picture(asked)
    verdict = replay_tuning_journal(path, keys)
    if asked.picture is not None:
        from host_tools.commands.replay.tuning_picture import draw_tuning

        draw_tuning(verdict.steps, asked.picture, f"tuning of {verdict.header.started[:10]}")
    say(*([json.dumps(as_json(verdict))] if asked.json else words(verdict)))
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
    need("--picture", *NEEDS["--picture"], use="replay --picture")
    from host_tools.drawings.drawing import PICTURE_ENDINGS

    check_name(asked.picture, "--picture", PICTURE_ENDINGS, asked.force)
