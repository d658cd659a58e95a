"""The one command: its help, its page, its completion, and how it ends."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from firmware_py.journal import FORMAT_VERSION
from firmware_py.platform.version import full_version
from host_tools import extras
from host_tools.commands.completion import SHELLS
from host_tools.commands.replay import command as replay
from host_tools.errors import HostError
from host_tools.extras import need, remedy
from host_tools.main import COMMANDS, main, parser
from host_tools.parser import Command
from tests.host.journals import LEFT_S2, GpPta

PAGE: Final = Path(extras.__file__).parent / "README.md"
PAGE_WORDS: Final = PAGE.read_text("utf-8")
NAMES: Final = [command.name for command in COMMANDS]
RULES: Final = "allowed are nal-r, nal-rp, camfit, half-gain"


def examples(name: str) -> list[str]:
    """Return the lines that a command's help shows of itself, without what a shell does to them."""
    (command,) = (c for c in COMMANDS if name == c.name)
    lines = re.findall(rf"gp-pta {name}\b[^\n]*", command.module.EXAMPLE)
    return [re.split(r" [|>] ", line)[0] for line in lines]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_shows_an_example_that_it_takes(name: str) -> None:
    assert examples(name)
    for example in examples(name):
        arguments = parser().parse_args(shlex.split(example)[1:])
        assert name == arguments.command.name


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_a_module_offers_a_command_and_is_that_of_no_other(command: Command) -> None:
    module = command.module
    assert isinstance(module, ModuleType)
    assert {"EXAMPLE", "NEEDS", "add_arguments", "run"} <= set(vars(module))
    assert [each.name for each in COMMANDS if each.path == command.path] == [command.name]


def modules_imported_by(*words: str) -> set[str]:
    """Run gp-pta in a new process, whatever it ends with, and return what it imported of ours."""
    script = f"""
import sys
from host_tools.main import main
try:
    main({[*words]})
except SystemExit:
    pass
print(*sys.modules, file=sys.__stderr__)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("typed", ["--version", "--help", "", "reprot x", "--verison"])
def test_what_is_of_no_command_imports_none(typed: str) -> None:
    imported = modules_imported_by(*typed.split())
    assert "host_tools.parser" in imported, "this looks at what was imported"
    assert not imported & {command.path for command in COMMANDS}
    assert not imported & {"numpy", "rich", "serial", "numba", "device.simulator"}


@pytest.mark.parametrize("typed", ["replay --help", "replay --froce", "completion ksh"])
def test_a_command_imports_no_other(typed: str) -> None:
    name, *_ = typed.split()
    commands = {command.path: command.name for command in COMMANDS}
    imported = modules_imported_by(*typed.split())
    assert [commands[path] for path in imported & {*commands}] == [name]


@pytest.mark.parametrize(("typed", "code"), [([], 2), (["--help"], 0), (["-h"], 0)])
def test_all_commands_are_on_one_screen(
    typed: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a command it is no success: a script whose variable is empty has done nothing."""
    with pytest.raises(SystemExit) as ended:
        main(typed)
    assert ended.value.code == code
    said = capsys.readouterr()
    lines = (said.err if code else said.out).splitlines()
    assert (said.out if code else said.err) == ""
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    words = " ".join(lines)
    assert [c.name for c in COMMANDS if not re.search(rf"(?<![\w-]){c.name}\b", words)] == []
    assert [c.name for c in COMMANDS if c.group and f" {c.name} " not in words] == []


def test_it_says_which_program_it_is_and_which_journals_it_reads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr() == (
        f"gp-pta {full_version()}, journals of format {FORMAT_VERSION} written, "
        f"1 to {FORMAT_VERSION} read\n",
        "",
    )


def test_the_commands_of_a_group_stand_together() -> None:
    groups = [command.group for command in COMMANDS if command.group]
    begun = [group for above, group in pairwise(["", *groups]) if group != above]
    assert len(begun) == len({*groups}) > 4


def test_the_page_has_every_command() -> None:
    named = re.findall(r"^\| [^|]*\| `gp-pta ([\w-]+)` [^|]+ \|", PAGE_WORDS, re.M)
    assert named == NAMES


def test_the_page_has_every_extra_with_what_needs_it() -> None:
    shown = dict(re.findall(r"^\| `gp-pta\[(\w+)\]` \| (.+) \|$", PAGE_WORDS, re.M))
    assert shown == {
        extra: ", ".join(f"`{use}`" for use, its in extras.EXTRA_FOR.items() if its == extra)
        for extra in extras.EXTRA_FOR.values()
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_has_words(name: str) -> None:
    assert [a.dest for a in parser().commands[name].arguments if not a.help] == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    script = tmp_path / "gp-pta"
    script.write_bytes(
        subprocess.run(
            [sys.executable, "-m", "host_tools.main", "completion", "bash"],
            check=True, capture_output=True,
        ).stdout
    )  # fmt: skip

    (tmp_path / "sessions").mkdir()
    (tmp_path / "session.journal").touch()

    def complete(*words: str) -> set[str]:
        ask = f"""
            cd {shlex.quote(str(tmp_path))}
            source {shlex.quote(str(script))}
            COMP_WORDS=(gp-pta {shlex.join(words)})
            COMP_CWORD={len(words)}
            function=$(complete -p gp-pta)
            function=${{function##*-F }}
            ${{function%% *}} gp-pta
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        out = subprocess.run(["bash", "-c", ask], check=True, capture_output=True, text=True)
        return set(out.stdout.split())

    assert complete("pre") == {"prescribe"}
    assert {"--rule", "--ear", "--json"} <= complete("prescribe", "--")
    assert complete("prescribe", "--rule", "nal") == {"nal-r", "nal-rp"}
    assert complete("completion", "") == set(SHELLS)
    for words in (["prescribe", "--rule"], ["completion"]):
        assert complete(*words, "ses") == set(), "no file is meant there"
    for words in (
        ["report"], ["report", "x", "-o"], ["export"], ["sessions"], ["install-board"],
        ["replay", "--prior"], ["demo", "--audiogram"], ["study", "--audiograms"],
    ):  # fmt: skip
        found = {word.rstrip("/") for word in complete(*words, "ses")}
        assert {"sessions", "session.journal"} <= found, words


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    ("words", "unbuffered"),
    [
        pytest.param(["replay", str(LEFT_S2)], "", marks=pytest.mark.thorough),
        pytest.param(["replay", str(LEFT_S2)], "1", marks=pytest.mark.thorough),
        (["export", "--schema"], ""),
        (["export", "--schema"], "1"),
    ],
)
def test_an_output_that_is_full_is_named_and_is_no_verdict(
    words: list[str], unbuffered: str
) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "host_tools.main", *words],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "gp-pta: the output cannot be written: No space left on device\n"


def test_an_error_of_the_system_that_nobody_expected_is_shown_whole(
    monkeypatch: pytest.MonkeyPatch, gp_pta: GpPta
) -> None:
    """With a code of its own: 1 says something of a journal."""

    def lose(_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(replay, "run", lose)
    code, out, err = gp_pta("replay", LEFT_S2)
    assert (code, out) == (70, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith("OSError: [Errno 5] Input/output error\n")


def test_a_directory_that_may_not_be_entered_is_named(
    monkeypatch: pytest.MonkeyPatch, gp_pta: GpPta
) -> None:
    def close(_: object) -> int:
        raise PermissionError(13, "Permission denied", "closed/x")

    monkeypatch.setattr(replay, "run", close)
    assert gp_pta("replay", LEFT_S2) == (2, "", "gp-pta: closed/x: Permission denied\n")


def test_what_is_missing_is_named_with_the_smallest_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert capsys.readouterr().err == (
        f"gp-pta: gp-pta completion needs shtab, not installed: {remedy(['shtab'])}\n"
    )
    pip = [sys.executable, "-m", "pip", "install"]
    checkout = PAGE.parents[1]
    assert shlex.split(remedy(["shtab"])) == [*pip, "--editable", f"{checkout}[host]"]
    assert remedy(["pyarrow"]).endswith("[export]'")
    assert remedy(["prompt_toolkit", "distributed"]).endswith("[dask]'")
    assert shlex.split(remedy(["nobody_has_it"])) == [*pip, "nobody_has_it"]
    monkeypatch.setattr(extras, "CHECKOUT", tmp_path)
    assert shlex.split(remedy(["shtab"])) == [*pip, "gp-pta[host]"], "installed from a wheel"
    with pytest.raises(HostError, match="--what needs no_such_module, not installed"):
        need("--what", "os", "no_such_module")


@pytest.mark.parametrize("command", [c for c in COMMANDS if "" in c.module.NEEDS])
def test_a_command_names_the_same_extra_whichever_package_is_missing(command: Any) -> None:
    extra = extras.EXTRA_FOR[command.name]
    for module in command.module.NEEDS[""]:
        named = re.findall(r"\[(.*)\]", remedy([module], command.name))[0].split(",")
        assert named[0] == extra, module
        assert set(named[1:]) <= {"host"}, "the sound card alone has no terminal"


def test_a_page_names_the_extra_that_errors_name() -> None:
    for page in ("README.md", "device/sound_card/README.md"):
        words = (PAGE.parents[1] / page).read_text(encoding="utf-8")
        line = re.search(r"--editable '\.\[(\w+)\]'[^\n]*\n\S*gp-pta listen --test", words)
        assert line is not None
        assert line[1] == extras.EXTRA_FOR["listen"]


def test_every_extra_that_a_page_or_an_error_names_is_one() -> None:
    root = PAGE.parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    there = set(project["optional-dependencies"])
    assert set(extras.EXTRA_FOR.values()) <= there
    rooms = ("bench", "device", "firmware_py", "host_tools", "tests")
    for page in [root / "README.md", *(p for room in rooms for p in (root / room).rglob("*.md"))]:
        named = re.findall(r"(?:gp-pta|'\.)\[([\w,]+)\]", page.read_text(encoding="utf-8"))
        assert {extra for names in named for extra in names.split(",")} <= there, page


def test_the_help_needs_no_extra_and_what_needs_one_says_so() -> None:
    blocked = [
        name for command in COMMANDS for some in command.module.NEEDS.values() for name in some
    ]
    for command, words in {
        "--help": "usage: gp-pta ",
        "completion bash": "gp-pta completion needs shtab, not installed: ",
    }.items():
        script = f"import sys; sys.modules.update(dict.fromkeys({blocked})); "
        script += "from host_tools.main import main; sys.exit(main())"
        words_of = [sys.executable, "-c", script, *command.split()]
        done = subprocess.run(words_of, capture_output=True, text=True, check=False)
        assert words in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("typed", "command", "words"),
    [
        ("reprot x", "", "reprot is no command; did you mean report?"),
        ("--verison", "", "--verison is no option; did you mean --version?"),
        ("demo --auidogram N3", " demo", "--auidogram is no option; did you mean --audiogram?"),
        ("demo --sede=3", " demo", "--sede is no option; did you mean --seed?"),
        # Neither the journal nor FILE.toml is what is wrong first.
        ("report --ojt x", " report", "--ojt is no option; did you mean --out?"),
        ("calibrate /dev/x --ot c.toml", " calibrate", "--ot is no option; did you mean --out?"),
        ("prescribe x --rule nal_r", " prescribe",
         f"--rule is 'nal_r'; {RULES}; did you mean nal-r?"),
        ("prescribe x --rule=loud", " prescribe", f"--rule is 'loud'; {RULES}"),
        ("demo --routes bone", " demo",
         "--routes is 'bone'; allowed are air, 'air,bone'; did you mean air,bone?"),
        ("replay x --no-such", " replay", "unrecognized arguments: --no-such"),
        ("report x --convention 75", " report",
         "argument --convention: convention is '75'; allowed are 50 and clinical"),
        ("demo --age old", " demo", "--age is 'old'; allowed is a number"),
        ("demo --kill 1.5", " demo", "--kill is '1.5'; allowed is a whole number"),
        ("xyzzy", "", f"xyzzy is no command; commands are {', '.join(NAMES)}"),
    ],
)  # fmt: skip
def test_a_typo_is_answered_with_what_may_be_meant(
    typed: str, command: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(typed.split())
    assert ended.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith(f"usage: gp-pta{command} [-h]")
    assert err.splitlines()[-1] == f"gp-pta{command}: error: {words}"


def test_what_only_looks_like_an_option_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    """The options of a command are no business of those who come before it, nor what follows --."""
    assert main(["replay", "--", "--foce"]) == 2
    assert "--foce" in capsys.readouterr().err
    assert parser().parse_args(["demo", "--audio", "S2"]).audiogram == "S2", "abbreviated"


@pytest.mark.parametrize("command", ["demo", "replay none.journal"])
def test_kernels_that_cannot_be_used_are_named_whichever_command_needs_them(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "host_tools.main", *command.split()],
        cwd=PAGE.parents[1], env={**os.environ, "GP_PTA_KERNELS": "numba"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("gp-pta: GP_PTA_KERNELS: numba cannot be read"), line
    assert line.endswith("allowed are jit, for Numba, and the path of a library")
