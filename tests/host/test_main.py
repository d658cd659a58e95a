"""The one command: its help, its manual, its completion, and how it ends."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from host_tools import extras, manual, replay
from host_tools.errors import HostError
from host_tools.extras import need, remedy
from host_tools.main import COMMANDS, main, parser

GOLDEN: Final = Path(__file__).parents[1] / "golden" / "left-ear-s2.journal"
PAGE: Final = Path(manual.__file__).parent / "README.md"
NAMES: Final = [command.NAME for command in COMMANDS]


def examples(name: str) -> list[str]:
    """Return the lines that a command's help shows of itself, without what a shell does to them."""
    (command,) = (c for c in COMMANDS if name == c.NAME)
    lines = re.findall(rf"gp-pta {name}\b[^\n]*", command.EXAMPLE)
    return [re.split(r" [|>] ", line)[0] for line in lines]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_shows_an_example_that_it_takes(name: str) -> None:
    assert examples(name)
    for example in examples(name):
        arguments = parser().parse_args(shlex.split(example)[1:])
        assert arguments.command == name


def test_the_manual_is_what_the_parsers_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == manual.manual(), (
        "make it again: python -m host_tools.manual > host_tools/README.md"
    )


def test_every_row_of_a_table_has_the_cells_of_its_header() -> None:
    tables = re.findall(r"(?m)(?:^\|.*\n)+", manual.manual())
    assert len(tables) == 1 + len(NAMES)
    for table in tables:
        header, *rows = (re.split(r"(?<!\\)\|", row)[1:-1] for row in table.splitlines())
        assert [row for row in rows if len(row) != len(header)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_has_words(name: str) -> None:
    section = manual.manual().split(f"\n## {name}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert [row for row in rows if row.endswith("|  |")] == []


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

    def completed(*words: str) -> set[str]:
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

    assert completed("pre") == {"prescribe"}
    assert {"--rule", "--ear", "--json"} <= completed("prescribe", "--")
    assert completed("prescribe", "--rule", "nal") == {"nal-r", "nal-rp"}
    for words in (
        ["report"], ["report", "x", "-o"], ["export"], ["sessions"], ["watch"], ["install-board"],
        ["replay", "--prior"], ["demo", "--audiogram"], ["study", "--audiograms"],
    ):  # fmt: skip
        found = {word.rstrip("/") for word in completed(*words, "ses")}
        assert {"sessions", "session.journal"} <= found, words


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{shlex.quote(sys.executable)} -m host_tools.main replay --json {GOLDEN} | true"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode in (0, 141)  # it may have been quicker than the reader


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", [["replay", str(GOLDEN)], ["export", "--schema"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
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
    assert done.stderr == ("gp-pta: the output cannot be written: No space left on device\n")


def test_an_error_of_the_system_that_nobody_expected_is_shown_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lost(_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(replay, "run", lost)
    with pytest.raises(OSError, match="Input/output error"):
        main(["replay", str(GOLDEN)])


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


def test_without_any_extra_the_commands_are_there_and_name_what_they_need() -> None:
    program = """
import sys
for name in ("matplotlib", "mpremote", "prompt_toolkit", "pyrage", "rich", "shtab", "sounddevice"):
    sys.modules[name] = None
from host_tools.main import main
sys.exit(main(sys.argv[1:]))
"""
    for command in ("demo", "watch sessions", "listen --test"):
        done = subprocess.run(
            [sys.executable, "-c", program, *command.split()],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert re.fullmatch(
            r"gp-pta: .* needs rich, not installed: .* -m pip install .*\n", done.stderr
        )


def test_an_unknown_option_shows_the_usage_of_its_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(GOLDEN), "--no-such"])
    assert ended.value.code == 2
    err = capsys.readouterr().err
    assert "usage: gp-pta replay" in err
    assert "unrecognized arguments: --no-such" in err
