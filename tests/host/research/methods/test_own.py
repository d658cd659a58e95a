"""A method, an objective and a listener of one's own: the page's examples run, the rest is told."""

import json
import re
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from runpy import run_path

import pytest

from device import simulator
from device.simulator import own_code
from device.simulator.kinds import KindError, kind_named
from firmware_py.platform.own_prior import OwnPrior
from host_tools.errors import HostError
from host_tools.main import main
from host_tools.research.methods.interface import Task
from host_tools.research.methods.registry import NOTHING_LEARNED, make_method, objective_named
from host_tools.research.study.options import Options
from host_tools.research.study.plan import plan_study
from host_tools.research.study.robustness_cases import CASES
from host_tools.research.study.robustness_sessions import answering_of
from host_tools.research.study.session import run_session
from tests.host.journals import Refused
from tests.host.research.study.ears import write_two_routes
from tests.own_priors import small_prior, write_prior

SMALL = ("--seeds", "1", "--trials", "3", "--workers", "0")


@pytest.fixture
def here(place_of_pages: Path) -> Path:
    """Stand in a directory with the examples of the page."""
    return place_of_pages


def session_of(method: str, **options: object) -> list[float]:
    """Return the errors of the first session of a study, tone by tone."""
    planned = plan_study(
        Options("bisgaard", (method,), seeds=1, trials=8, **options)  # type: ignore[arg-type]
    )
    return run_session(planned.job(0), planned.setting, NOTHING_LEARNED).metrics[:, 0].tolist()


def test_a_session_runs_in_a_script(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kind_named("my_listeners:Dozing")  # which puts the directory on the path
    run_path(str(here / "my_session.py"))
    said = capsys.readouterr().out.splitlines()

    assert len(said) == 21
    assert said[0].startswith("N1 after 0 tones: ")


def test_a_method_learns_from_people_whom_it_is_not_tried_on(here: Path) -> None:
    options = Options("ears.csv", ("my_learners:Informed", "gp-pta"), ears_per_stratum=1, seeds=1)
    study = plan_study(options)
    assert study.plan["part"] == "held-out"
    first, again = (study.ready_in(here).learned for _ in range(2))
    assert first.own == again.own
    assert [*again.own] == ["my_learners:Informed"]
    informed = run_session(study.job(0), study.setting, again)
    alone = run_session(study.job(0), study.setting, NOTHING_LEARNED)
    assert informed.metrics[0, 0] != alone.metrics[0, 0]


def test_a_whole_test_runs_in_a_script(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What such a script imports stays where it is."""
    run_path(str(here / "my_test.py"))
    said = capsys.readouterr().out

    assert "right: valid after" in said
    assert "left: valid after" in said
    assert sum(line.split()[1:2] == ["measured"] for line in said.splitlines()) >= 12


@pytest.mark.parametrize("name", [*simulator.__all__])
def test_what_simulates_can_be_imported_from_one_place(name: str) -> None:
    assert getattr(simulator, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        _ = simulator.Nobody


def test_the_method_of_the_page_halves_its_brackets(here: Path) -> None:
    kind_named("my_listeners:Dozing")  # which puts the directory on the path
    method = make_method("my_methods:Bracket", Task(audiogram_frequencies_hz=(1000.0,)))
    tones = []
    while (tone := method.next_stimulus()) is not None:
        tones.append(tone.level_db_hl)
        method.observe(tone.frequency_hz, tone.level_db_hl, tone.level_db_hl >= 40.0)

    mean, sd = method.threshold([1000.0])
    assert tones[:3] == [55.0, 22.5, 38.75]
    assert mean[0] == pytest.approx(40.0, abs=1.0)
    assert sd[0] < 1.0


def test_a_listener_and_an_objective_change_what_a_study_finds(here: Path) -> None:
    usual = session_of("gp-pta")
    assert session_of("gp-pta", listener="my_listeners:Dozing") != usual
    assert session_of("gp-pta", objective="my_objectives:AtThreshold") != usual
    assert session_of("gp-pta") == usual


def test_of_a_listener_that_may_say_otherwise_no_rate_is_said_to_be_in_force(here: Path) -> None:
    who = Options("bisgaard", listener="my_listeners:Dozing").answering
    assert who.words.startswith(
        "listeners: my_listeners:Dozing; where it says nothing else, noise "
    )


def test_a_prior_changes_what_a_study_finds_and_is_of_its_plan(here: Path) -> None:
    own = write_prior(here / "prior.json", small_prior(45.0))
    usual, found = session_of("gp-pta"), session_of("gp-pta", prior=here / "prior.json")
    assert found != usual
    told = plan_study(Options("bisgaard", ("gp-pta",), prior=here / "prior.json")).plan
    assert told["prior"] == own.digest == OwnPrior.read(here / "prior.json").digest
    assert "prior" not in plan_study(Options("bisgaard", ("gp-pta",))).plan


@pytest.mark.parametrize(
    "words",
    [
        "--as-published --audiograms ear.csv --ears 1",
        "--robustness --ears 1 --seeds 1 --cases tent",
        "--robustness --ears 1 --seeds 1 --cases valid-noise-2-test",
        "--robustness --ears 1 --seeds 1 --cases exact",
        "--bone --audiograms both.csv --ears 1",
    ],
)
def test_a_prior_changes_what_a_table_has(
    here: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "ear.csv").write_text("t500,t1000,t2000,t4000\n20,25,40,55\n", encoding="utf-8")
    write_two_routes(here / "both.csv")
    write_prior(here / "prior.json")
    found = []
    for more in ([], ["--prior", "prior.json"]):
        assert main(["study", *words.split(), *more, "--workers", "0", "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["rows"])
    assert found[0] != found[1]


def test_a_study_goes_on_only_with_the_same_code(here: Path) -> None:
    options = Options(
        "bisgaard", ("my_methods:Bracket", "gp-pta"), objective="my_objectives:AtThreshold",
        listener="my_listeners:Dozing",
    )  # fmt: skip
    helper, method = here / "my_helpers" / "steps.py", here / "my_methods.py"
    helper.parent.mkdir()
    helper.write_text("STEP_DB = 5\n")
    method.write_text(f"from my_helpers.steps import STEP_DB\n{method.read_text()}")
    before = plan_study(options).plan
    for name in ("my_methods.py", "my_objectives.py", "my_listeners.py", "my_helpers/steps.py"):
        path = here / name
        content = path.read_text()
        path.write_text(content + "\n")
        assert plan_study(options).plan != before, name
        path.write_text(content)
    assert plan_study(options).plan == before


WRONG = """\
from dataclasses import replace
import numpy as np
from device.simulator.courses import Moment
from firmware_py.ear.objective import Objective
from host_tools.research.methods.interface import Stimulus

class Nothing: pass

class NoTask:
    def __init__(self): pass
    def next_stimulus(self): pass
    def observe(self, *_): pass
    def threshold(self, *_): pass

class NoTone(NoTask):
    def __init__(self, task): pass
    def next_stimulus(self): return 1000.0

class Usual(NoTask):
    def __init__(self, task): self.asked = 0
    def threshold(self, f): return np.zeros(len(f)), np.ones(len(f))
    def next_stimulus(self):
        self.asked += 1
        return Stimulus(1000.0, 40.0)

class RaisesAtOnce(Usual):
    def threshold(self, f): raise KeyError("a key")

class DividesByNothing(Usual):
    def __init__(self, task): 1 / 0

class OneMean(Usual):
    def threshold(self, f): return [0.0], [1.0]

class NoMean(Usual):
    def threshold(self, f): return np.full(len(f), np.nan), np.ones(len(f))

class NegativeSd(Usual):
    def threshold(self, f): return np.zeros(len(f)), -np.ones(len(f))

class UpsideDown(Usual):
    def threshold_band(self, f, probability): return np.ones(len(f)), np.zeros(len(f))

class NoLevel(Usual):
    def next_stimulus(self): return Stimulus(1000.0, float("nan"))

class TooLoud(Usual):
    def next_stimulus(self):
        tone = super().next_stimulus()
        return tone if self.asked < 3 else Stimulus(1000.0, 200.0)

class NanLater(Usual):
    def threshold(self, f):
        mean, sd = super().threshold(f)
        return (mean if self.asked < 2 else mean * np.nan), sd

class RaisesLater(Usual):
    def observe(self, *_): raise IndexError("no such place")

class Fails(Usual):
    def observe(self, *_): raise ArithmeticError("no posterior")

class LearnsNoJson(Usual):
    learn = lambda people: people

class LearnsNothing(Usual):
    def learn(people): raise KeyError("nobody")

class NoMoment:
    def __init__(self, start): pass
    def __call__(self, asked): return 3

class NoObjective:
    choose = lambda *_: None

class Sleeper:
    def __init__(self, start): pass
    def __call__(self, asked):
        if asked.number == 9: raise KeyError("asleep")
        return Moment()

class NoNumber(Sleeper):
    def __call__(self, asked): return Moment(criterion_db=float("nan"))

class NoIdea(Objective):
    def choose(self, *_, **__): raise ValueError("none")

class NoChoice(Objective):
    def choose(self, *_, **__): return None

class LaterNoChoice(Objective):
    def choose(self, estimator, *a, **k):
        return super().choose(estimator, *a, **k) if len(estimator.answers) < 2 else 40.0

class NoTarget(Objective):
    def choose(self, *a, **k): return replace(super().choose(*a, **k), level_db_hl=float("nan"))
"""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "--methods wrong:Noth",
            "'wrong:Noth': wrong has no class 'Noth'; its classes are",
        ),
        ("--methods wrong:Nothing", "Nothing lacks next_stimulus, observe, threshold; wanted are"),
        ("--methods wrong:NoTask", "'wrong:NoTask': making it of a Task raised TypeError: "),
        ("--methods wrong:RaisesAtOnce", "threshold raised KeyError: 'a key' (wrong.py, line 27)"),
        ("--methods wrong:DividesByNothing", "fails before the first tone: ZeroDivisionError"),
        ("--methods wrong:OneMean", "returned arrays of (1,) and (1,) for 10 frequencies"),
        ("--methods wrong:NoMean", "threshold returned the means [nan nan"),
        ("--methods wrong:NegativeSd", "threshold returned the SDs [-1 -1"),
        ("--methods wrong:NoLevel", "a tone whose level_db_hl is nan; allowed is -10 to 120"),
        ("--methods wrong:NoTone", "next_stimulus returned 1000.0; allowed are a Stimulus and"),
        (
            "--methods wrong:LearnsNoJson",
            "has 'wrong:LearnsNoJson', which learns from people, and bisgaard are none",
        ),
        ("--methods not_there:X", "there is no module 'not_there', neither installed nor in"),
        ("--methods wrong_import:X", "wrong_import imports numpyy, which is missing"),
        ("--methods wrong_name:X", "wrong_name cannot be imported: NameError"),
        ("--methods bracket", "--methods has 'bracket'; allowed are gp-pta, "),
        ("--methods gp-pta --objective wrong:NoObjective", "is no class made of Objective"),
        (
            "--methods gp-pta --objective wrong:Nothing",
            "--objective 'wrong:Nothing': Nothing",
        ),
        (
            "--methods quest --objective my_objectives:AtThreshold",
            "--objective: none of the",
        ),
        (
            "--methods quest --prior prior.json",
            "--prior: none of the methods quest makes",
        ),
        ("--methods gp-pta --prior wrong.py", "--prior wrong.py: is not JSON"),
        ("--methods gp-pta --listener wrong:NoMoment", "returns 3; allowed is a Moment"),
        ("--methods gp-pta --listener wrong:Nothing", "Nothing lacks __call__"),
        ("--methods gp-pta --listener wrong:Sleeper", "raised KeyError: 'asleep' (wrong.py, line"),
        ("--methods gp-pta --listener wrong:NoNumber", "allowed are finite numbers"),
        ("--methods gp-pta --objective wrong:NoIdea", "NoIdea' raised ValueError: none (wrong.py"),
        (
            "--methods gp-pta --objective wrong:NoChoice",
            "--objective 'wrong:NoChoice': choose returned None; allowed is a Stimulus",
        ),
        ("--seconds --objective wrong:NoChoice", "choose returned None; allowed is a Stimulus"),
        ("--seconds --objective wrong:LaterNoChoice", "choose returned 40.0; allowed is a Stim"),
        ("--methods gp-pta --objective wrong:NoTarget", "level_db_hl is nan; allowed is -10 to"),
        (
            "--robustness --objective my_objectives:AtThreshold",
            "--objective does not go with",
        ),
        ("--time-to-go --prior prior.json", "a table; it goes with methods, --as-published, --rob"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(
    here: Path, refusal_of: Refused, words: str, told: str
) -> None:
    write_prior(here / "prior.json")
    (here / "wrong.py").write_text(WRONG)
    (here / "wrong_import.py").write_text("import numpyy\n")
    (here / "wrong_name.py").write_text("numpyy\n")
    mode = words.split(maxsplit=1)[0] in ("--robustness", "--time-to-go", "--seconds")
    out = [] if mode else ["-o", here / "study"]

    assert told in refusal_of("study", "--audiograms", "bisgaard", *out, *SMALL[:2], *words.split())
    assert not (here / "study").exists()


def test_what_an_objective_does_wrong_later_ends_the_study(here: Path) -> None:
    (here / "wrong.py").write_text(WRONG)
    told = "--objective 'wrong:LaterNoChoice': choose returned 40.0; allowed is a Stimulus"
    with pytest.raises(HostError, match=re.escape(told)):
        session_of("gp-pta", objective="wrong:LaterNoChoice")


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("TooLoud", "next_stimulus returned a tone whose level_db_hl is 200.0; allowed is -10 to"),
        ("NanLater", "threshold returned the means [nan nan"),
        ("RaisesLater", "observe raised IndexError: no such place (wrong.py, line "),
        ("UpsideDown", "threshold_band returned [1 1"),
    ],
)
def test_what_a_method_does_wrong_later_ends_the_study(here: Path, method: str, told: str) -> None:
    (here / "wrong.py").write_text(WRONG)
    with pytest.raises(HostError, match=re.escape(f"'wrong:{method}': {told}")):
        session_of(f"wrong:{method}")


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("LearnsNoJson", "learn returned no JSON values: Object of type Population"),
        ("LearnsNothing", "learn raised KeyError: 'nobody' (wrong.py, line "),
    ],
)
def test_what_a_method_learns_wrong_ends_the_study(here: Path, method: str, told: str) -> None:
    (here / "wrong.py").write_text(WRONG)
    study = plan_study(Options("bisgaard", (f"wrong:{method}",), train=Path("ears.csv")))
    with pytest.raises(HostError, match=re.escape(f"'wrong:{method}': {told}")):
        study.ready_in(here)
    assert not (here / "learned.json").exists()


def test_a_method_that_cannot_go_on_has_failed_and_keeps_what_it_knew(here: Path) -> None:
    (here / "wrong.py").write_text(WRONG)
    usual, failed = session_of("wrong:Usual"), session_of("wrong:Fails")
    assert failed == usual == [usual[0]] * 9
    planned = plan_study(Options("bisgaard", ("wrong:Fails",), seeds=1, trials=8))
    session = run_session(planned.job(0), planned.setting, NOTHING_LEARNED)
    assert (session.failed, session.ended_after) == (True, 0)


def install(monkeypatch: pytest.MonkeyPatch, *points: tuple[str, str, str]) -> None:
    found = EntryPoints(EntryPoint(name, value, group) for name, value, group in points)
    monkeypatch.setattr(own_code, "entry_points", found.select)


def test_an_installed_package_gives_them_names(
    here: Path, monkeypatch: pytest.MonkeyPatch, refusal_of: Refused
) -> None:
    install(
        monkeypatch,
        ("bracket", "my_methods:Bracket", "gp_pta.methods"),
        ("quest", "my_methods:Bracket", "gp_pta.methods"),
        ("twice", "my_methods:Bracket", "gp_pta.methods"),
        ("twice", "other:Bracket", "gp_pta.methods"),
        ("at-threshold", "my_objectives:AtThreshold", "gp_pta.objectives"),
        ("dozing", "my_listeners:Dozing", "gp_pta.listeners"),
        ("human", "my_listeners:Dozing", "gp_pta.listeners"),
        ("bursts", "my_listeners:Dozing", "gp_pta.listeners"),
    )
    options = Options("bisgaard", ("bracket",), listener="dozing")
    assert plan_study(options).methods == ("bracket",)
    assert objective_named("at-threshold").__name__ == "AtThreshold"
    words = ("study", "--audiograms", "bisgaard", "-o", here / "study", "--methods")
    assert "'quest', and an installed package has it" in refusal_of(*words, "quest")
    assert "is an entry point of gp_pta.methods twice" in refusal_of(*words, "twice")
    assert "schlittenlacher-gp, bracket, quest, twice, package" in refusal_of(*words, "none")
    for name, told in (
        (
            "bracket",
            "no kind of listener is called 'bracket', allowed are honest, .*rising, bursts, d",
        ),
        ("human", "'human': an installed package has 'human' in gp_pta.listeners, too: the name"),
        ("human=answers.csv", "'human=answers.csv': an installed package has 'human' in gp_pta"),
    ):
        with pytest.raises(KindError, match=told):
            kind_named(name)
    bursts = next(case for case in CASES if case.listener == "bursts")
    assert answering_of(bursts).kind.name == "bursts", "ours is meant where nobody names one"
