"""The page as a file: what it knows is the firmware's, what it says is the catalogue's."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from firmware_py.board.self_check import PARTS
from firmware_py.comparisons import tells as of_tuning
from firmware_py.console.command_row import help_lines
from firmware_py.operator.tuning_desk import COMMANDS as OF_TUNING
from firmware_py.presenting import presenter
from firmware_py.terms import outcomes, tells
from firmware_py.terms.settings import Settings
from host_tools.catalogue import ENGLISH, LANGUAGES, catalogue_of
from host_tools.commands.page.assemble import PAGE_BYTES_MAX, exports_of, modules, page
from host_tools.commands.page.bridge import BUSY, NO_PORT, UNPLUGGED
from host_tools.commands.page.knowledge import OF_EVERY_DEVICE, knowledge, sentences_of
from tests.firmware.rig import REPO
from tests.host.journals import BOTH, GpPta

ROOT = REPO / "host_tools" / "commands" / "page" / "assets"
# What the firmware tells beside the procedure's own: see runner.py and firmware.py.
TOLD_BY_THE_LOOP = {
    "session", "session-over", "resumed", "foreign-event", "tone-generator", "error",
    "button-down", "button-up", "manual-tone", "manual-tone-over",
}  # fmt: skip


def scripts() -> str:
    return "\n".join(modules().values())


def test_the_page_is_one_small_file_that_needs_nothing_from_outside() -> None:
    text = page()
    assert len(text.encode()) <= PAGE_BYTES_MAX
    assert "{{" not in text
    assert re.findall(r"<(?:link|img|iframe|script)\b[^>]*(?:src|href)=", text) == []
    assert "default-src 'none'" in text
    # Names of standards, which nobody asks for, and the bridge on this machine.
    allowed = ("http://loinc.org", "http://unitsofmeasure.org", "http://terminology.hl7.org/",
               "http://www.w3.org/2000/svg")  # fmt: skip
    assert [u for u in re.findall(r"https?://[^\s\"'\\]+", text) if not u.startswith(allowed)] == []
    assert page() == text, "the same bytes every time"


def test_nothing_is_ever_put_into_the_page_as_markup() -> None:
    wanted = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function"
    )
    assert re.findall(wanted, scripts()) == []
    assert "require-trusted-types-for 'script'" in page()


def test_every_line_that_the_page_sends_is_in_the_table_of_commands() -> None:
    known = {row.short for row in (*OF_EVERY_DEVICE, *OF_TUNING)}
    sent = set(re.findall(r'"(\*?[A-Z]{2,}(?::[A-Z]{2,})*\??)"', scripts())) & known
    asked = set(re.findall(r'(?:ask|askOperator|#do)\(\s*"([^"]+)"', scripts()))
    assert asked <= known
    assert {"SESS:STAR", "SESS:PAUS", "SESS:CONT", "SESS:ABOR", "SESS:RES?", "TONE"} <= sent


def test_the_page_knows_every_row_as_a_device_lists_it() -> None:
    known = knowledge()["commands"]
    for row in (*OF_EVERY_DEVICE, *OF_TUNING):
        told = known[row.short]
        assert told["usage"] == row.usage
        assert [each["name"] for each in told.get("arguments", ())] == [
            a.name for a in row.arguments
        ]
    listed = "\n".join(help_lines(OF_EVERY_DEVICE))
    assert all(row["usage"] in listed for row in known.values() if "optional" not in row)
    assert {field.name for field in fields(Settings)} == set(knowledge()["settings"])


def test_the_page_listens_for_what_the_firmware_tells() -> None:
    told = {
        each.WHAT
        for each in (*vars(tells).values(), *vars(of_tuning).values())
        if isinstance(each, type) and issubclass(each, tells.Tell) and each is not tells.Tell
    }
    told |= {"tuning", "tuning-over", "tuning-resumed", "hearing-aid"} | TOLD_BY_THE_LOOP
    text = modules()["tidings.js"]
    lists = re.findall(r"const (?:AFFECTS_STATE|OF_TUNING|OF_HAND) = \[(.*?)\]", text, re.DOTALL)
    heard = {word for each in lists for word in re.findall(r'"([\w-]+)"', each)}
    heard |= set(re.findall(r'what === "([\w-]+)"', text))
    assert heard <= told
    assert len(heard) > 20


def known_keys() -> set[str]:
    return {*catalogue_of(ENGLISH).tables["page"]}


def keys_of_the_page() -> Iterator[str]:
    """Yield the keys of the sentences that the page names in whole."""
    html = (ROOT / "page.html").read_text("utf-8")
    yield from re.findall(r'data-say="(\w+)"', html)
    yield from re.findall(r'\b(?:say|own)\(\s*"(\w+)"', scripts())
    yield from re.findall(r'notAllowed\(\s*"(\w+)"', scripts())
    yield from (f"status_{key}" for key in re.findall(r'status\(\s*"(\w+)"', scripts()))


def test_every_sentence_that_the_page_names_is_in_the_catalogue() -> None:
    assert sorted(set(keys_of_the_page()) - known_keys()) == []


def made_keys() -> set[str]:
    """Return the keys that the page puts together from words of the firmware."""
    settings = knowledge()["settings"]
    keys = {f"part_{name}" for name in PARTS} | {f"fault_{name}" for name in PARTS}
    for name in ("conduct", "first_ear", "routes", "masking", "confirm"):
        keys |= {f"{name}_{re.sub('[-, ]+', '_', each)}" for each in settings[name]["choices"]}
    for kind in ("in_use", "busy", "no_port", "unplugged", "bridge_gone", "another_device",
                 "no_answer", "silent", "closed"):  # fmt: skip
        keys.add(f"lost_{kind}")
    keys |= {f"outcome_{each.replace('-', '_')}" for each in outcomes.Outcome if each != "inferred"}
    keys |= {
        f"state_{getattr(presenter, name)}"
        for name in ("READY", "PAUSE_BEFORE", "STARTING", "LISTENING", "LATE", "PAUSED")
    }
    keys |= {f"calibration_{each}" for each in ("calibrated", "overdue", "uncalibrated")}
    keys |= {f"pin_{each}" for each in ("none", "locked", "unlocked")}
    return keys


def test_every_sentence_that_is_named_by_a_word_of_the_firmware_is_there() -> None:
    assert sorted(made_keys() - known_keys()) == []


def test_every_error_of_the_console_has_an_operators_sentence() -> None:
    text = (REPO / "firmware_py" / "console" / "grammar.py").read_text("utf-8")
    numbers = [int(n) for n in re.findall(r"^[A-Z_]+: Final = (-?\d{3})\b", text, re.MULTILINE)]
    assert len(numbers) > 15
    keys = {f"refused_{-n}" if n < 0 else f"error_{n}" for n in numbers if n < 0 or n > 100}
    keys.discard("error_200")  # how long a line may be, which is no error
    assert sorted(keys - known_keys()) == []


def test_no_sentence_of_the_page_is_left_over() -> None:
    """What nothing names is not translated for nothing."""
    text = scripts() + (ROOT / "page.html").read_text("utf-8")
    made = made_keys()
    prefixes = set(re.findall(r"`(\w+_)\$\{", text))
    for key in catalogue_of(ENGLISH).tables["page"]:
        named = key in made or re.search(rf"\b{key}\b", text)
        assert named or any(key.startswith(prefix) for prefix in prefixes), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_has_each_language(language: str) -> None:
    words = sentences_of(language)
    assert [*words] == [*sentences_of(ENGLISH)] == knowledge()["codes"]
    assert [*words.values()] == knowledge()["words"][language]


def test_no_two_modules_export_the_same_name() -> None:
    names = [name for source in modules().values() for name in exports_of(source)]
    assert len(names) == len(set(names)) > 30


def test_the_bridge_and_the_page_agree_why_a_socket_is_closed() -> None:
    numbers = {BUSY: "busy", NO_PORT: "no_port", UNPLUGGED: "unplugged"}
    told = dict(re.findall(r'(4\d{3}): "(\w+)"', modules()["ways.js"]))
    assert {int(number): kind for number, kind in told.items()} == numbers


def test_a_file_is_written_whole_and_over_another_with_force(gp_pta: GpPta, tmp_path: Path) -> None:
    out = tmp_path / "operator.html"
    assert gp_pta("page", "-o", out) == (0, "", "")
    assert out.read_text("utf-8") == page()
    assert gp_pta("page", "-o", out, "--force")[0] == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_the_command_that_makes_another_format_of_what_it_saves(
    gp_pta: GpPta, tmp_path: Path, language: str
) -> None:
    saved, out = tmp_path / "saved.json", tmp_path / "out.json"
    assert gp_pta("export", BOTH, "-o", saved)[0] == 0
    _, line = catalogue_of(language).tables["page"]["save_note"].split(": gp-pta ")
    command, _, *options, _ = line.split()
    assert gp_pta(command, saved, *options, out) == (0, "", "")
    assert json.loads(out.read_text())["resourceType"] == "Bundle"
