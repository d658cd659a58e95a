"""The command: what it refuses, what it loads, and what its help says."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from host_tools.extras import remedy
from host_tools.main import main
from host_tools.research.methods.names import METHODS
from tests.host.journals import Refused
from tests.host.refusals import Named, refusals

# The beginning of a command; how it may go on, and what is said of that.
REFUSED: Final = """\
study -o out
    => --audiograms is missing; allowed are a table of ears, bisgaard, island,
study -o out --audiograms bisgaard
    --listener deaf => --listener: no kind of listener is called 'deaf', allowed are
    --cases tent => --cases is of --robustness, --bone, which is not there
    --methods quest,kalman => --methods has 'kalman'; allowed are gp-pta
    --methods , => --methods is empty
    --workers -1 => --workers is -1; allowed are whole numbers 0 to 512
    --workers 2 --dask tcp://x:1 => --workers is for this machine; with --dask
    --dask nonsense => --dask is 'nonsense'; allowed is tcp://HOST:PORT, as 'dask scheduler' prints
    --methods quest,cast => --methods has 'cast', which learns from people, and bisgaard are none
    --methods de-vries => give it some with --train FILE
    --train nothing.csv => --train 'nothing.csv': No such file or directory
    --tested both => --tested is of --seconds, which is not there
    --unsure-half-width 3 => --unsure-half-width is of --seconds, which is not there
    --conduct brisk,clinical => --conduct is 'brisk,clinical'; allowed are brisk, clin
    --seconds --robustness => --seconds does not go with --robustness
    --people 3 => --people is of --time-to-go, --rooms, --changed, --rules, --whole, --tuning
    --noise nan => --noise is nan; allowed is 0.1 to 30 dB
    --trials 0 => --trials is 0; allowed are whole numbers 1 to 1000
    --seeds -1 => --seeds is -1; allowed are whole numbers 1 to 1000000
    --part half => --part is 'half'; allowed are auto, all, train, held-out
    --lapse-rate 1 => --lapse-rate is 1; allowed is 0 to less than 1
    --false-alarm-rate nan => --false-alarm-rate is nan; allowed is 0 to less
    --lapse-rate .5 --false-alarm-rate .5 => are together 1 or more
    --listener lapses=.99 => --lapse-rate and --false-alarm-rate are together 1 or more
    --listener noisy=99 => --listener: listener 'noisy=99': allowed are numbers from 0.1
    --ears 5 => --ears is for a table of ears; of bisgaard all ten
    --part all => --part is for a table of ears
    --no-jitter => --no-jitter is for a table of ears
study -o out --audiograms tent
    --ears 0 => --ears is 0; allowed are whole numbers 1 to 1000000
    --part all => --part is for a table of ears, not for tent
    --no-jitter => --no-jitter is for a table of ears, not for tent
study --audiograms bisgaard
    => -o is missing
study --as-published
    => --audiograms is missing
    --audiograms tent => allowed are a table of ears, bisgaard
    --seconds => --seconds does not go with --as-published
    --audiograms x --conduct clinical => it runs each conduct
    --audiograms bisgaard --listener late=3 => its listeners are human
    --audiograms bisgaard --retest-drift x => such as 2.3/1
    --audiograms bisgaard --retest-drift 1/2/3 => such as 2.3/1
study --bone
    => --audiograms is missing
    --audiograms none.csv => No such file
    --audiograms none.csv --noise 3 => --noise does not go with --bone
    --audiograms none.csv --ears -1 => --ears is -1
study --robustness
    --cases tent,hat => --cases has 'hat'; allowed are island, narrow-notch,
    --ears 0 => --ears is 0; allowed are whole numbers 1 to 1000000
    --seeds -1 => --seeds is -1; allowed are whole numbers 1 to 10000
    --noise 4 => --noise does not go with --robustness: its rows say what is run
    --conduct clinical => --conduct does not go with --robustness
    --response-time 0.6 => --response-time does not go with --robustness
    --audiograms bisgaard => --audiograms is bisgaard; with --robustness allowed
    --audiograms no.csv --cases steep => --audiograms 'no.csv': No such file
    --tested both => --tested is of --seconds
study --tuning
    --people 0 => --people is 0; allowed are whole numbers 1 to 1000000
    --seeds 2 => --seeds does not go with --tuning: it tunes for simulated people
    --columns t500=Hm => --columns does not go with --tuning: its people are simulated
    --audiograms bisgaard => --audiograms does not go with --tuning: its people are simulated
    --changed => --tuning does not go with --changed
study --time-to-go --audiograms
    no-such.csv => --audiograms 'no-such.csv': No such file
    tent => --audiograms is tent; with --time-to-go allowed are
    bisgaard --ears 3 => --ears does not go with --time-to-go: --people says
study --seconds
    => --audiograms is missing
    --audiograms no.csv --columns t500=Hm => --audiograms 'no.csv': No such file
study --seconds --audiograms tent
    --conduct brisk,hasty => --conduct has 'hasty'; allowed are brisk, clinical
    --tested all => --tested has 'all'; allowed are one, both
    --tested both => nobody there has two ears that can be scored; allowed is 'one'
    --ears 0 => --ears is 0; allowed are whole numbers 1 to
    --response-time 6 => --response-time is 6; allowed is 0.15 to 5 s
    --unsure-half-width -1 => unsure_half_width_db is -1.0, allowed is 0 and more
    --methods quest => --methods does not go with --seconds: it runs whole tests
    --trials 20 => --trials does not go with --seconds: a whole test ends by itself
    --profile default --seed 2 => --seed is of --time-to-go, --rooms, --tuning, --figure, which
    --retest-drift 1 => --retest-drift is of --as-published
    --robustness => --seconds does not go with --robustness
study --profile gp-pta-2015 -o figure.svg --figure
    fig2 => --figure is 'fig2'; allowed are posterior-evolution, mean-bald
    mean-bald --profile new => --profile is 'new'; allowed are default
    mean-bald --seed -1 => --seed is -1; allowed are whole numbers
    mean-bald --trials 0 => --trials is 0; allowed are whole numbers
    mean-bald --audiogram N9 => --audiogram: no audiogram is called
    mean-bald --audiograms bisgaard => --audiogram, not --audiograms
    mean-bald --listener bursts => --listener does not go with --figure: it draws one
    mean-bald --response-time 1 => --response-time does not go with --figure: it tells no seconds
    mean-bald -o there.svg => is there already; it is not overwritten
    mean-bald -o figure.jpg => allowed is a name in .svg, .pdf, .png, in a directory
    mean-bald -o no/figure.svg => in a directory that is there
"""


@pytest.mark.parametrize(("command", "words"), refusals(REFUSED))
def test_what_is_not_allowed_is_refused_by_name(
    command: str, words: str, refuse_by_name: Named
) -> None:
    refuse_by_name(command, words)


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal_of: Refused
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    study = ("study", "-o", tmp_path / "out", "--audiograms")

    said = f"gp-pta study needs pyarrow, not installed: {remedy(['pyarrow'], 'study')}"
    assert said in refusal_of(*study, "bisgaard")
    for wrong in (["nofile.csv"], ["bisgaard", "--methods", "foo"]):
        err = refusal_of(*study, *wrong)
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
