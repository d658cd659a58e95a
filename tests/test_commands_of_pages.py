"""The commands that pages name are ones that there are, and those that can be run are run.

A block of code without a language is what somebody types, and so is a span of code that begins
with a program of ours, and an example in the help of a command. Each is parsed by the parser of
its program. What needs neither hardware nor hours is run (`pytest --all`), beside files of the
names that the pages use; and so is what a page shows of Python.
"""

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from firmware_py import main as firmware
from firmware_py.journal import read_journal
from host_tools.main import COMMANDS, main, parser
from host_tools.parser import Command
from tests.host.journals import GOLDEN, write_again
from tests.host.place_of_pages import write_place
from tests.test_pages import PAGES, ROOT, name

# The commands of `gp-pta` that a page shows are run, or only parsed, for a reason.
RUN: Final = {
    "budget", "completion", "doctor", "export", "prescribe", "replay", "report", "sessions",
}  # fmt: skip
PARSED: Final = {
    "calibrate": "it takes a device and a sound level meter",
    "console": "it takes a device",
    "demo": "tests/host/commands/test_demos_of_pages.py runs its lines",
    "install-board": "it takes a Pico",
    "learn-prior": "tests/host/research/test_studies_of_pages.py runs its lines",
    "listen": "it takes a sound card",
    "nhanes": "it takes files of the CDC; a test of its own writes some like them",
    "page": "it serves until somebody ends it",
    "simulate": "it serves until somebody ends it",
    "study": "tests/host/research/test_studies_of_pages.py runs its lines, with fewer ears",
    "tune": "it takes openMHA, 420 MB",
    "update": "it takes a device with a card",
    "workbench": "it waits for what somebody types",
}
# Programs that are not ours; a page may name no other without being looked at here.
OTHERS: Final = {
    "apt", "cd", "chgrp", "chmod", "curl", "dask", "git", "gp-pta-check", "install", "install.sh",
    "journalctl", "pip", "pipx", "printf", "reboot", "scp", "sha256sum", "socat", "ssh",
    "sudoedit", "systemctl", "tar",
}  # fmt: skip
OURS: Final = ("gp-pta", "gp-pta-device", "make", "python")
SPAN: Final = re.compile(r"`((?:\S*/)?(?:gp-pta(?:-device)?|make|python -m|pip)(?: [^`\n]+))`")
BLOCK: Final = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
# What three dots before other options of the firmware stand for; and options that have it do
# something at once, and end.
PORTS: Final = ("--tone-generator", "URL", "--console", "URL", "--data", "DIR")
ENDS_AT_ONCE: Final = {"--version", "--hash-pin", "--make-key", "--help"}
LEFT_OUT: Final = re.compile(r",?\.\.\.$")  # where a page ends a list, or a whole command, early


class Typed(NamedTuple):
    """A command of a page."""

    words: tuple[str, ...]  # the program without its directory first
    whole: bool  # a line of a block, and no fragment in a sentence

    def __str__(self) -> str:
        return shlex.join(self.words)


def split(line: str) -> Iterator[tuple[str, ...]]:
    """Yield the commands of a line of a shell, without comments and where output goes."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;<>")
    lexer.whitespace_split = True
    lexer.wordchars += "~"
    words: list[str] = []
    gone = False
    for word in [*lexer, "&&"]:
        if word[0] in "&|;":
            words = words[1:] if words[:1] == ["sudo"] else words
            if words:
                yield (Path(words[0]).name, *words[1:])
            words, gone = [], False
        elif word[0] in "<>":
            gone = True
        elif not gone:
            words.append(word)


def commands_of(page: Path) -> list[Typed]:
    """Return every command that a page shows."""
    text = page.read_text("utf-8")
    found: list[Typed] = []
    for language, block in BLOCK.findall(text):
        if language == "":
            lines = block.replace("\\\n", " ").splitlines()
            found += [Typed(words, True) for line in lines for words in split(line)]
    prose = BLOCK.sub("", text)
    found += [Typed(words, False) for span in SPAN.findall(prose) for words in split(span)]
    return found


def examples_of(command: Command) -> list[Typed]:
    """Return the examples that stand, among other words, under the help of a command."""
    lines = re.findall(r"^  .*\bgp-pta(?:-device)? [a-z.-].*", command.module.EXAMPLE, re.M)
    return [Typed(words, True) for line in lines for words in split(line)]


SHOWN: Final = {name(page): commands_of(page) for page in PAGES} | {
    f"gp-pta {command.name} --help": examples_of(command) for command in COMMANDS
}
TYPED: Final = sorted({typed for each in SHOWN.values() for typed in each})
TARGETS: Final = set(re.findall(r"^([\w.$/()-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
VARIABLES: Final = {*re.findall(r"^(\w+) \?=", (ROOT / "Makefile").read_text(), re.MULTILINE)}


def options_of(p: argparse.ArgumentParser) -> set[str]:
    """Return every name of an option."""
    lines = re.findall(r"^ +(-\S.*?)(?: {2,}|$)", p.format_help(), re.MULTILINE)
    # The first screen of gp-pta shows commands alone.
    return {"--help"} | {
        name for line in lines for name in re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", line)
    }


def refuse_unknown(words: tuple[str, ...], known: set[str]) -> None:
    """Fail with the options that there are not."""
    options = [word.partition("=")[0] for word in words if re.match("--?[a-z]", word)]
    assert [option for option in options if option not in known] == []


def parse_whole(p: argparse.ArgumentParser, words: tuple[str, ...]) -> None:
    """Parse a command line that says all that is needed."""
    if "--help" not in words:
        p.parse_args([LEFT_OUT.sub("", word) or word for word in words])


def check_gp_pta(typed: Typed) -> None:
    command, *rest = typed.words[1:]
    if command.startswith("-"):
        return refuse_unknown(typed.words[1:], options_of(parser()))
    if command == "COMMAND":  # which one does not matter there
        return None
    assert command in parser().commands, "there is no such command"
    if typed.whole and rest[-1:] != ["..."]:
        return parse_whole(parser(), typed.words[1:])
    return refuse_unknown((*rest,), options_of(parser().commands[command]))


def check_device(typed: Typed) -> None:
    words = typed.words[1:]
    refuse_unknown(words, options_of(firmware.parser()))
    if typed.whole and not ENDS_AT_ONCE & {*words}:
        firmware.parser().parse_args([*PORTS, *words[1:]] if words[0] == "..." else words)


def check_make(typed: Typed) -> None:
    for word in typed.words[1:]:
        variable, equals, value = word.partition("=")
        if not equals:
            assert word in TARGETS or word.startswith(".venv/"), "there is no such target"
            continue
        assert variable in VARIABLES | {"GP_PTA_KERNELS", "PYTHON"}, "it has no such variable"
        if variable == "DEMO_ARGS":
            parse_whole(parser(), ("demo", *shlex.split(value)))


def check_python(typed: Typed) -> None:
    _, dash_m, module, *_ = typed.words
    assert dash_m == "-m"
    assert find_spec(module) is not None, "there is no such module"


CHECKS: Final[dict[str, Callable[[Typed], None]]] = {
    "gp-pta": check_gp_pta, "gp-pta-device": check_device, "make": check_make,
    "python": check_python,
}  # fmt: skip


@pytest.mark.parametrize("page", SHOWN)
def test_every_command_of_a_page_is_one_that_there_is(
    page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for typed in SHOWN[page]:
        program = typed.words[0]
        if check := CHECKS.get(program):
            try:
                check(typed)
            except (AssertionError, SystemExit) as error:
                pytest.fail(f"{typed}: {error} {capsys.readouterr().err}")
        else:
            assert program in OTHERS, f"{typed}: is it a command? a block of a language names it"


def test_this_looks_at_many_commands_of_each_program() -> None:
    """Where the pattern finds nothing the tests above pass in vain."""
    count = {program: sum(typed.words[0] == program for typed in TYPED) for program in OURS}
    assert count["gp-pta"] > 150
    assert min(count.values()) > 8, count


def test_a_command_that_pages_show_is_run_or_there_is_a_reason() -> None:
    assert RUN | {*PARSED} == {command.name for command in COMMANDS}
    assert RUN & {*PARSED} == set()


def blocks_of_python() -> list[tuple[str, str]]:
    """Return page and code of every block of Python."""
    return [
        (name(page), block)
        for page in PAGES
        for language, block in BLOCK.findall(page.read_text("utf-8"))
        if language == "python"
    ]


def test_there_is_python_on_pages() -> None:
    assert len(blocks_of_python()) >= 5
    assert len({page for page, _ in blocks_of_python()}) >= 3


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("page", "block"), blocks_of_python(), ids=[page for page, _ in blocks_of_python()]
)
def test_the_python_of_a_page_runs(page: str, block: str) -> None:
    """Each block by itself: what it uses it imports."""
    exec(compile(block, page, "exec"), {"__name__": "of_a_page"})


def figures_of_bench() -> dict[str, str]:
    """Return the sections of the page of figures, each with all that stands under its heading."""
    _, *parts = re.split(r"^##+ (.+)$", (ROOT / "bench/README.md").read_text("utf-8"), flags=re.M)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    return {heading: text for heading, text in sections.items() if re.search(r"\d", text)}


@pytest.mark.parametrize(("heading", "text"), figures_of_bench().items(), ids=[*figures_of_bench()])
def test_figures_of_the_bench_have_their_command(heading: str, text: str) -> None:
    assert re.search(r"(^|[`/])(gp-pta \w|make [a-z]|python -m \w|pytest .*tests/)", text, re.M), (
        heading
    )


def modules() -> list[str]:
    """Return the modules of ours that pages start with options."""
    started = [t.words for t in TYPED if t.words[0] == "python" and t.words[2] != "pytest"]
    return sorted({words[2] for words in started if any(w[0] == "-" for w in words[3:])})


@pytest.mark.thorough
@pytest.mark.parametrize("module", modules())
def test_a_module_takes_the_options_that_pages_give_it(module: str) -> None:
    given = [typed.words[3:] for typed in TYPED if typed.words[:3] == ("python", "-m", module)]
    said = subprocess.run(
        [sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=False,
        cwd=ROOT,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    known = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", said.stdout))
    for words in given:
        refuse_unknown(words, known)


def runnable() -> list[str]:
    """Return the commands that are run here: all but those that take what only people have."""
    lines = [str(t) for t in TYPED if t.whole and t.words[0] == "gp-pta" and t.words[1] in RUN]
    return [line for line in lines if "seal.key" not in line and "tuning-" not in line]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the files that pages speak of."""
    place = tmp_path_factory.mktemp("pages")
    for folder in ("sessions", "srv/journals"):
        (place / folder).mkdir(parents=True)
        header, *records = read_journal(GOLDEN / "both-ears-n3.journal").records
        header["person"]["identifier"] = "P-17"
        write_again(place / folder / "session-000001.journal", header, records)
    page = ROOT / "host_tools" / "commands" / "report" / "README.md"
    (heading,) = [block for language, block in BLOCK.findall(page.read_text()) if language]
    (place / "person.toml").write_text(heading)
    write_place(place)
    saved = str(place / "gp-pta-session-1.json")  # by an operator's page
    assert main(["export", str(place / "sessions/session-000001.journal"), "-o", saved]) == 0
    return place


@pytest.mark.thorough
@pytest.mark.parametrize("line", runnable())
def test_what_can_be_run_runs(
    line: str, workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in workplace.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    words = [word.replace("/srv", str(tmp_path / "srv")) for word in shlex.split(line)[1:]]
    spread = [sorted(map(str, Path().glob(w))) if "*.journal" in w else [w] for w in words]
    told = [word for each in spread for word in each]
    assert main(told) == 0
