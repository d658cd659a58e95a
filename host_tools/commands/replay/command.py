"""`gp-pta replay`: feed journals through the procedure again and compare, bit for bit.

Or ask what another model would have said to the same answers.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_py.journal import SealKey
from host_tools.errors import NONSENSE, REFUSED, HostError
from host_tools.extras import need
from host_tools.files import check_name
from host_tools.recordings.newest import add_journals_argument, journals_or_newest
from host_tools.recordings.replayed import (
    DAMAGED,
    DIFFERENT,
    IDENTICAL,
    UNFINISHED,
    as_json,
    verdict_of,
    words,
)
from host_tools.recordings.seals import NOT_SEALED, read_keys
from host_tools.terminal import say, say_aside

if TYPE_CHECKING:  # a session brings Numba with it, which the other commands can do without
    from host_tools.commands.replay.what_if import Supposition

EXAMPLE = """\
examples:
  gp-pta replay
  gp-pta replay sessions/session-000001.journal
  gp-pta replay sessions
  gp-pta replay sessions/*.journal --json
  gp-pta replay sessions/session-000001.journal --key seal.key
  gp-pta replay sessions/session-000001.journal --profile gp-pta-2015
  gp-pta replay sessions/session-000001.journal --noise 4 --picture what-if.svg
  gp-pta replay sessions/session-000001.journal --prior prior.json
  gp-pta replay sessions/tuning-000001.journal --picture tuning.svg

--profile, --prior and --noise ask what another model would have said to the same answers by
air; those by bone conduction are left out, which is said. Below that stands, as without them,
whether the session comes out again with the model that it was recorded with.

Of several journals each is replayed: one that cannot be is named, and the others go on. At the end
they are counted; --json prints an object a line instead. --picture is of one.

exit codes, whatever another model would have said: 0 all came out as recorded, 1 something differs
from the record, 2 not a journal that can be replayed or an option that is not allowed, 3 the same
so far but the session is not finished, 4 the journal is damaged, 5 with --key: its seal is broken,
or it is not sealed with such a key, 6 its lines are intact, but a record of it says what no session
can have recorded; of several journals that of the worst: 5, 1, 6, 4, 2, 3, 0
"""

# What journals may come to, the worst first, and how those are counted.
WORST_FIRST: Final = {
    NOT_SEALED: "not as sealed",
    DIFFERENT: "different",
    NONSENSE: "of nonsense",
    DAMAGED: "damaged",
    REFUSED: "refused",
    UNFINISHED: "not finished",
    IDENTICAL: "bit for bit",
}
# Stands between what another model says and the replay, which is not of that model.
OWN_MODEL: Final = "Replayed with the model that it was recorded with:"
NEEDS: Final = {"--picture": ("matplotlib", "quickjs", "typst")}


def add_arguments(p: argparse.ArgumentParser) -> None:
    add_journals_argument(p)
    p.add_argument(
        "--key", type=Path, action="append", default=[], metavar="FILE",
        help="check the seals with this key of the device; may be given more than once",
    )  # fmt: skip
    p.add_argument("--profile", metavar="NAME", help="replay with this profile of the estimator")
    p.add_argument(
        "--prior", type=Path, metavar="FILE",
        help="replay with this prior, made by gp-pta learn-prior; or the one that a journal was "
        "begun with, where it is not kept beside it",
    )  # fmt: skip
    p.add_argument("--noise", type=float, metavar="DB", help="replay with this response noise")
    p.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="draw both models, or how a tuning went: .svg, .png, .pdf",
    )
    p.add_argument("--force", action="store_true", help="replace the picture if it is there")
    p.add_argument(
        "--json", action="store_true",
        help="print the verdict as one JSON object, of several journals one a line",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    paths, keys = journals_or_newest(arguments.journals), read_keys(arguments.key)
    supposed = _supposition(arguments)
    if len(paths) == 1:
        return _replay(paths[0], keys, supposed, arguments)
    if arguments.picture is not None:
        raise HostError(f"--picture is of one journal; there are {len(paths)}")
    codes = Counter(
        _code_of(path, lambda each: _replay(each, keys, supposed, arguments)) for path in paths
    )
    if not arguments.json:
        counts = [f"{codes[code]} {what}" for code, what in WORST_FIRST.items() if codes[code]]
        say(f"{len(paths)} journals: {', '.join(counts)}")
    return next(code for code in WORST_FIRST if codes[code])


def _code_of(path: Path, replay: Callable[[Path], int]) -> int:
    """Replay one of several; if it cannot be, say which and why, and return what that comes to."""
    try:
        return replay(path)
    except HostError as error:
        named = str(path) in str(error)
        say_aside(f"gp-pta: {error}" if named else f"gp-pta: {path}: {error}")
        return error.exit_code


def _replay(
    path: Path,
    keys: Sequence[SealKey],
    supposed: "Supposition | None",
    asked: argparse.Namespace,
) -> int:
    from host_tools.commands.replay.tuning import is_of_tuning

    if is_of_tuning(path):
        return _replay_tuning(path, keys, asked)
    return _replay_session(path, keys, supposed, asked)


def _replay_session(
    path: Path,
    keys: Sequence[SealKey],
    supposed: "Supposition | None",
    asked: argparse.Namespace,
) -> int:
    from host_tools.commands.replay.what_if import Comparison
    from host_tools.recordings.recorded_session import replay_session

    if supposed is None and asked.picture is not None:
        raise HostError(
            "--picture draws two models; name the other with --profile, --prior, --noise"
        )
    _check_picture(asked)
    own = supposed.own if supposed is not None else None
    session = replay_session(path, brought=() if own is None else [own], keys=keys)
    verdict = verdict_of(session, keys)
    comparison = None
    if supposed is not None and not supposed.is_of(session):
        comparison = Comparison.of(session, supposed)
    elif asked.picture is not None:
        raise HostError(f"--picture draws two models; {path} was begun with --prior {asked.prior}")
    if comparison is not None and asked.picture is not None:
        from host_tools.commands.replay.what_if_picture import draw_comparison

        draw_comparison(comparison, verdict.calibration, asked.picture)
    if asked.json:
        what_if = {} if comparison is None else {"what_if": comparison.as_json()}
        say(json.dumps(as_json(verdict) | what_if))
        return verdict.exit_code
    say(*([*comparison.lines(), "", OWN_MODEL] if comparison else []), *words(verdict))
    return verdict.exit_code


def _replay_tuning(path: Path, keys: Sequence[SealKey], asked: argparse.Namespace) -> int:
    from host_tools.commands.replay.tuning import replay_tuning_journal

    if _supposes(asked):
        raise HostError(f"--profile, --prior, --noise are of hearing tests; {path} is of a tuning")
    _check_picture(asked)
    verdict = replay_tuning_journal(path, keys)
    if asked.picture is not None:
        from host_tools.commands.replay.tuning_picture import draw_tuning

        draw_tuning(verdict.steps, asked.picture, f"tuning of {verdict.header.started[:10]}")
    say(*([json.dumps(as_json(verdict))] if asked.json else words(verdict)))
    return verdict.exit_code


def _supposition(asked: argparse.Namespace) -> "Supposition | None":
    if not _supposes(asked):
        return None
    from host_tools.commands.replay.what_if import Supposition

    return Supposition.of(asked.profile, asked.prior, asked.noise)


def _supposes(asked: argparse.Namespace) -> bool:
    return any(option is not None for option in (asked.profile, asked.prior, asked.noise))


def _check_picture(asked: argparse.Namespace) -> None:
    if asked.picture is None:
        return
    need("--picture", *NEEDS["--picture"], use="replay --picture")
    from host_tools.drawings.drawing import PICTURE_ENDINGS

    check_name(asked.picture, "--picture", PICTURE_ENDINGS, asked.force)
