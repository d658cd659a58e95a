"""The command: what it refuses, what it loads, and what its help says."""

import subprocess
import sys
from pathlib import Path

import pytest

from host_tools.extras import remedy
from host_tools.main import main
from host_tools.research.methods.names import METHODS
from tests.host.journals import Refused


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([], "--audiograms is missing; allowed are a table of ears, bisgaard, island, "),
        (["--listener", "deaf"], "--listener: no kind of listener is called 'deaf', allowed are"),
        (["--cases", "tent"], "--cases are rows of --robustness, which is not there"),
        (["--methods", "quest,kalman"], "--methods has 'kalman'; allowed are gp-pta"),
        (["--methods", ","], "--methods is empty"),
        (["--workers", "-1"], "--workers is -1; allowed are whole numbers 0 to 512"),
        (["--workers", "2", "--dask", "tcp://x"], "--workers is for this machine; with --dask"),
        (["--methods", "de-vries"], "give it some with --train FILE"),
        (["--train", "nothing.csv"], "--train 'nothing.csv': No such file or directory"),
        (["--tested", "both"], "--tested is of --seconds, which is not there"),
        (["--unsure-half-width", "3"], "--unsure-half-width is of --seconds, which is not there"),
        (["--conduct", "brisk,clinical"], "--conduct is 'brisk,clinical'; allowed are brisk, clin"),
        (["--seconds", "--robustness"], "--out does not go with --robustness"),
        (["--noise", "nan"], "--noise is nan; allowed is 0.1 to 30 dB"),
    ],
)
def test_what_is_not_allowed_is_refused_by_name(
    more: list[str], words: str, tmp_path: Path, refused: Refused
) -> None:
    ears = ["--audiograms", "bisgaard"] if more else []
    assert words in refused("study", "-o", tmp_path / "out", *ears, *more)
    assert not list(tmp_path.iterdir())


def test_a_study_and_a_figure_need_a_place_and_a_figure_an_honest_listener(
    tmp_path: Path, refused: Refused
) -> None:
    assert "-o is missing" in refused("study", "--audiograms", "bisgaard")
    figure = ("study", "--figure", "mean-bald", "-o", tmp_path / "bald.svg")
    said = refused(*figure, "--listener", "bursts")
    assert "--listener is 'bursts'; of --figure allowed is honest" in said
    said = refused(*figure, "--response-time", "1")
    assert "--response-time does not go with --figure: it tells no seconds" in said


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    study = ("study", "-o", tmp_path / "out", "--audiograms")

    said = f"gp-pta study needs pyarrow, not installed: {remedy(['pyarrow'], 'study')}"
    assert said in refused(*study, "bisgaard")
    for wrong in (["nofile.csv"], ["bisgaard", "--methods", "foo"]):
        err = refused(*study, *wrong)
        assert wrong[-1] in err
        assert "pyarrow" not in err, "what is wrong with the arguments comes first"


def test_the_other_commands_and_the_device_load_nothing_of_it() -> None:
    """Nor prompt_toolkit, which is for the console's terminal alone."""
    code = (
        "import sys, host_tools.main as m; m.parser(); loaded = {*sys.modules}; "
        "import firmware_py.firmware; print(*({'prompt_toolkit'} & {*sys.modules}), "
        "*({'numba', 'matplotlib', 'pyarrow', 'distributed'} & loaded))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert out.stdout.strip() == ""


def test_help_names_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["study", "--help"])

    said = capsys.readouterr().out
    assert [name for name in METHODS if name not in said] == []
    assert "gp-pta study --audiograms bisgaard" in said
