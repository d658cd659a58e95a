"""Each query of the page gives what plain Python computes from the same sessions."""

import math
import re
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest

from firmware_py.journal import read_journal
from firmware_py.sessions import session_record
from host_tools.commands.export.answer_rows import ANSWERS
from host_tools.commands.export.by_month import month_of, write_by_month
from host_tools.commands.export.document_session import DocumentSession, Sessions
from host_tools.commands.export.threshold_rows import THRESHOLDS
from host_tools.recordings.answers import Answer
from tests.host.commands.export.answered import fleet
from tests.host.commands.export.sessions import SILENT
from tests.host.journals import GpPta, write_again
from tests.test_pages import ROOT

PAGE: Final = ROOT / "host_tools/commands/export/QUERIES.md"
QUERIES: Final = 10
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Query:
    """A section of the page."""

    title: str
    sql: str
    words: str  # that stand around it


@cache
def of_page() -> tuple[str, list[Query]]:
    """Return what is pasted first, and the queries."""
    first, *sections = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    (views,) = re.findall(r"```sql\n(.*?)```", first, re.DOTALL)
    found = []
    for section in sections:
        before, sql, after = re.split(r"```(?:sql)?\n", section)
        title, _, what_for = before.partition("\n")
        found.append(Query(title, sql, what_for + after))
    return views, found


def ask(place: Path, number: int) -> tuple[list[str], Rows]:
    """Return names and rows of what a query finds in the files of a directory."""
    views, queries = of_page()
    with duckdb.connect() as connection:
        connection.execute(f"SET file_search_path = '{place}'")
        connection.execute(views)
        found = connection.execute(queries[number - 1].sql)
        return [each[0] for each in found.description or ()], found.fetchall()


def test_the_page_has_ten_numbered_queries_each_with_its_purpose_and_its_columns(
    tables: Path,
) -> None:
    _, queries = of_page()
    assert [each.title.partition(".")[0] for each in queries] == [*map(str, range(1, QUERIES + 1))]
    for number, query in enumerate(queries, 1):
        names, rows = ask(tables, number)
        assert rows, "the sessions have something of everything"
        assert re.match(r"\n[A-Z].*[.:]", query.words), f"{query.title}: what is it for?"
        told = {
            "conduct",
            "conduction",
            "device",
            "ear",
            "frequency_hz",
            "identifier",
        }  # of every table
        missing = [name for name in names if f"`{name}`" not in query.words and name not in told]
        assert missing == [], query.title


def test_they_take_what_the_commands_of_the_page_write(
    tmp_path: Path, gp_pta: GpPta, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a simulated board: of persons there is nothing to say."""
    monkeypatch.setattr(session_record, "BOARD_NAME", "no board is called so")
    (tmp_path / "journals").mkdir()
    header, *records = read_journal(SILENT).records
    for number in range(1, 4):
        path = tmp_path / "journals" / f"session-{number:06d}.journal"
        write_again(path, {**header, "device": f"box-{number}"}, records)
    monkeypatch.chdir(tmp_path)
    typed = re.findall(r"^gp-pta (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    for line in typed:
        assert gp_pta(*line.replace("/srv/journals", "journals").split()) == (0, "", "")
    assert len(typed) == 2
    found = {number: len(ask(tmp_path, number)[1]) for number in range(1, QUERIES + 1)}
    assert {number for number, rows in found.items() if rows} == {1, 4, 8, 9, 10}


# What plain Python makes of them


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    sessions = [*fleet()]
    content = THRESHOLDS.as_parquet(sessions)
    (place / "thresholds.parquet").write_bytes(b"".join(content))
    sessions.sort(key=lambda each: month_of(each.record["started"]))
    write_by_month(Sessions(sessions, ()), ANSWERS.as_parquet, place / "answers")
    return place


@dataclass(frozen=True)
class Of:
    """A session, and what is asked of it often."""

    session: DocumentSession

    @property
    def device(self) -> str:
        return self.session.record["device"] or ""

    @property
    def begun(self) -> datetime | None:
        told = datetime.fromisoformat(self.session.record["started"]).replace(tzinfo=None)
        return told if told.year >= 2026 else None

    @property
    def day(self) -> date:
        assert self.begun is not None
        return self.begun.date()

    @property
    def answers(self) -> Sequence[Answer]:
        return self.session.answers.each

    def thresholds(self) -> Iterator[tuple[Any, Any]]:
        """Yield ear and threshold of what may be said of a person."""
        record = self.session.record
        wanted = record["outcome"] == "complete" and not record["simulated"]
        for ear in self.session.ears:
            if wanted and record["calibration"]["state"] == "CALIBRATED" and ear.verdict == "valid":
                for found in ear.thresholds:
                    if found["mark"] != "inferred" and found["masking"] != "uncertain":
                        yield ear, found


def sessions(*, simulated: bool = False) -> list[Of]:
    return [Of(each) for each in fleet() if simulated or not each.record["simulated"]]


def grouped(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    found = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return dict(found)


def wilson_percent(k: int, n: int) -> tuple[float, float]:
    """Return the ends of the 95 % band of a share: where a test of it would just be refused."""
    z = statistics.NormalDist().inv_cdf(0.975)
    middle, half = (k + z * z / 2) / (n + z * z), z * math.sqrt(k * (n - k) / n + z * z / 4)
    return 100 * (middle - half / (n + z * z)), 100 * (middle + half / (n + z * z))


def quantile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def doubtful() -> Rows:
    told = grouped(
        (each.device, ear.verdict)
        for each in sessions()
        if each.session.is_finished
        for ear in each.session.ears
    )
    rows = []
    for device, verdicts in told.items():
        counts = verdicts.count("doubtful"), verdicts.count("could-not-be-tested")
        rows.append((device, len(verdicts), *counts, *wilson_percent(sum(counts), len(verdicts))))
    return rows


def drift() -> Rows:
    levels = grouped(
        ((each.device, each.session.record["calibration"]["digest"][:8], quarter(each),
          found["frequency_hz"]), level)
        for each in sessions()
        if 18 <= (each.session.record["person"]["age_years"] or 0) <= 30
        for ear, found in each.thresholds()
        if not ear.route.by_bone and ear.record["pta4"]["level_db_hl"] <= 20
        for level in [level_or_floor(found)] if level is not None
    )  # fmt: skip
    return [
        (*key, len(of), statistics.median(of), quantile(of, 0.25), quantile(of, 0.75))
        for key, of in levels.items()
    ]


def quarter(each: Of) -> date | None:
    return each.begun and date(each.day.year, 1 + 3 * ((each.day.month - 1) // 3), 1)


def level_or_floor(found: Any) -> float | None:
    kind = found["reading"]["kind"]
    level: float | None = found["threshold_db_hl"] if kind == "measured" else None
    return found["limit_db_hl"] if kind == "at-most" else level


def of_people() -> dict[Any, list[tuple[Of, Any]]]:
    """Return the measured thresholds of each person, ear and frequency, in order."""
    told = sorted((each for each in sessions() if each.begun), key=lambda each: str(each.begun))
    return grouped(
        ((each.session.record["person"]["identifier"], str(ear.route), found["frequency_hz"],
          each.session.record["calibration"]["transducer"] if not ear.route.by_bone else None),
         (each, found))
        for each in told
        if each.session.record["person"]["identifier"]
        for ear, found in each.thresholds()
        if found["reading"]["kind"] == "measured"
    )  # fmt: skip


def retest() -> Rows:
    differences = defaultdict(list)
    for (identifier, ear, hz, _), found in of_people().items():
        for (one, before), (other, after) in pairwise(found):
            assert one.begun is not None
            assert other.begun is not None
            if other.begun - one.begun <= timedelta(days=30):
                difference = after["threshold_db_hl"] - before["threshold_db_hl"]
                differences["bone" if "bone" in ear else "air", hz].append((identifier, difference))
    return [
        (*key, len(of), len({who for who, _ in of}), statistics.fmean(d for _, d in of),
         statistics.stdev(d for _, d in of) if len(of) > 1 else None)
        for key, of in differences.items()
    ]  # fmt: skip


def load() -> Rows:
    told = [each for each in sessions() if each.begun]
    days = {d: {e.day for e in told if e.device == d} for d in {e.device for e in told}}
    by_hour = grouped(((each.device, each.begun.hour), each) for each in told if each.begun)
    return [
        (device, hour, len(of), len(of) / len(days[device]),
         statistics.median(sum(a.purpose != "catch" for a in each.answers) for each in of),
         statistics.median(each.answers[-1].at_us / 60e6 for each in of))
        for (device, hour), of in by_hour.items()
    ]  # fmt: skip


def changed() -> Rows:
    rows = []
    for key, found in of_people().items():
        (one, first), (other, last) = found[0], found[-1]
        levels = first["threshold_db_hl"], last["threshold_db_hl"]
        change_db = levels[1] - levels[0]
        band_db = 1.96 * math.hypot(*(each["reading"]["whole_sd_db"] for each in (first, last)))
        if abs(change_db) > band_db:
            rows.append((*key[:3], one.day, other.day, *levels, change_db, band_db))
    return rows


def false_alarms() -> Rows:
    silences = grouped(
        ((each.session.record["settings"]["conduct"], each.device),
         (each.session.record["session"], answer.heard))
        for each in sessions() for answer in each.answers if answer.purpose == "catch"
    )  # fmt: skip
    rows = []
    for key, of in silences.items():
        pressed = sum(heard is True for _, heard in of)
        band = wilson_percent(pressed, len(of))
        rows.append((*key, len({number for number, _ in of}), len(of), pressed, *band))
    return rows


def response_times() -> Rows:
    steps = defaultdict(list)
    for each in sessions():
        levels = {
            (str(ear.route), float(found["frequency_hz"])): found["threshold_db_hl"]
            for ear, found in each.thresholds()
            if found["reading"]["kind"] == "measured"
        }
        for answer in each.answers:
            level = levels.get((answer.ear, answer.frequency_hz or 0.0))
            if level is not None and answer.purpose in ("measure", "retest"):
                steps[5 * math.floor(((answer.level_db_hl or 0) - level) / 5)].append(answer)
    return [
        (step, len(of),
         100 * statistics.fmean(a.heard for a in of if a.heard is not None),
         *((statistics.median(ms), quantile(ms, 0.9)) if ms else (None, None)))
        for step, of in steps.items()
        for ms in [[a.response_ms for a in of if a.response_ms is not None]]
    ]  # fmt: skip


def unsure_and_masked() -> Rows:
    tones = grouped(
        (each.device, answer)
        for each in sessions() for answer in each.answers if answer.frequency_hz
    )  # fmt: skip
    return [
        (device, "air", len(of),
         100 * sum(answer.heard is None for answer in of) / len(of),
         100 * sum(answer.noise_db_hl is not None for answer in of) / len(of))
        for device, of in tones.items()
    ]  # fmt: skip


def interrupted() -> Rows:
    told = grouped((each.device, each.session) for each in sessions())
    return [
        (device, len(of), sum(bool(each.waits) for each in of),
         sum(bool(each.record["breaks"]) for each in of),
         sum(each.room == "the room is not known" for each in of))
        for device, of in told.items()
    ]  # fmt: skip


def in_the_field() -> Rows:
    rows = []
    for device, of in grouped((e.device, e) for e in sessions() if e.begun).items():
        last = max(of, key=lambda each: str(each.begun))
        record = last.session.record
        told = record["firmware"], record["prior"] or "as shipped", record["calibration"]["state"]
        _, _, due = record["calibration"]["words"].partition("due ")
        rows.append((device, len(of), last.day, *told, due or None))
    return rows


EXPECTED: Final[Sequence[Callable[[], Rows]]] = (
    doubtful, drift, retest, load, changed, false_alarms, response_times, unsure_and_masked,
    interrupted, in_the_field,
)  # fmt: skip


@pytest.mark.parametrize("number", range(1, QUERIES + 1), ids=lambda n: EXPECTED[n - 1].__name__)
def test_a_query_gives_what_python_computes(number: int, tables: Path) -> None:
    _, rows = ask(tables, number)
    found, wanted = (sorted(map(_in_parts, each)) for each in (rows, EXPECTED[number - 1]()))
    assert [texts for texts, _ in found] == [texts for texts, _ in wanted]
    for (texts, numbers), (_, others) in zip(found, wanted, strict=True):
        assert numbers == pytest.approx(others, abs=0.01), texts


def test_what_is_due_first_stands_first_and_before_it_what_has_no_calibration(
    tables: Path,
) -> None:
    dues = [row[-1] for row in ask(tables, 10)[1]]
    assert dues[0] is None
    assert dues[1:] == sorted(dues[1:])


def _in_parts(row: tuple[Any, ...]) -> tuple[list[str], list[float]]:
    """Return what a row has of texts and of numbers."""
    texts = ["" if each is None else str(each) for each in row if not isinstance(each, int | float)]
    return texts, [float(each) for each in row if isinstance(each, int | float)]
