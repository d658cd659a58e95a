"""HL7 FHIR R4: a bundle of observations, one for each threshold and a panel for each session.

The person is named by the identifier of the clinic's own records only. What an observation cannot
say with a number it says in its value's comparator, its interpretation or its note; the calibration
is in the note of every one of them, so that none is read without it.
"""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from device.audiogram_tables.fhir import METHOD
from firmware_py.calibration.in_force import DB_HL
from firmware_py.console.wording import verdict_words, which_ear_words
from firmware_py.findings.statements import is_final
from firmware_py.platform.clock import was_clock_set
from firmware_py.terms.discomfort_levels import DiscomfortLevel
from firmware_py.terms.events import DiscomfortTold
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.reasons import reasons_at
from firmware_py.terms.route import AIR, BONE, BY_AIR
from firmware_py.terms.shown_threshold import SIGNS, Kind
from firmware_py.terms.verdicts import has_thresholds, may_conclude
from firmware_py.terms.words import say
from host_tools.commands.export.document_session import (
    DocumentEar,
    DocumentSession,
    JsonObject,
    document,
    known_db_hl,
    marks_of,
    measured_db_hl,
    open_ends,
    whole_as_one,
)
from host_tools.commands.export.fhir_parts import (
    BAND,
    BEYOND,
    INFERRED,
    LOINC,
    NOISE_LEVELS,
    UCUM,
    UNCERTAINTY,
    WHOLE,
    Resource,
    absent,
    categories,
    code_and_site,
    concept,
    extension,
    interpretation,
    masking,
    reference,
)
from host_tools.commands.export.gaps import BOUND_SIGNS, gap_note, loss_notes

_NAMES: Final = uuid.uuid5(uuid.NAMESPACE_URL, "urn:gp-pta:fhir")

# By the transducer of its members.
PANELS: Final = {
    AIR: ("89015-2", "Pure tone threshold audiometry panel"),
    BONE: ("100652-7", "Pure tone bone conduction threshold audiometry panel"),
}
INDETERMINATE: Final = ("IND", "Indeterminate")
# Of what was not asked: it is derived, and its number stands under a name that no reader of
# thresholds looks for.
NOT_ASKED: Final = ("not-performed", "Not Performed")
INFERRED_BY: Final = (
    "inferred from the tones at other frequencies and from what is known of other people; "
    "no tone was asked near this frequency"
)
# Of an ear that could not be tested: no result can be obtained, which HL7 calls cancelled ("X" of
# its table 0085).
NOT_TESTED_STATUS: Final = "cancelled"
NOT_TESTED: Final = ("error", "Error")
CLASSICAL: Final = "Hughson-Westlake procedure (ASHA 2005), after the test"
NO_CLOCK: Final = "the clock of the device was not set: nobody knows when this was"
COMPARATORS: Final = {SIGNS[bound]: comparator for bound, comparator in BOUND_SIGNS.items()}
# Of a session: what tells it from all others, by whichever way it came here.
NAMED_BY: Final = ("session", "started", "firmware", "device", "person", "settings", "prior")


def as_fhir(sessions: Iterable[DocumentSession]) -> Iterator[bytes]:
    """Yield one bundle of all sessions; the same sessions give the same bytes."""
    entries = (
        {"fullUrl": f"urn:uuid:{resource['id']}", "resource": resource}
        for resource in _resources(sessions)
    )
    return document({"resourceType": "Bundle", "type": "collection"}, "entry", entries)


def _resources(sessions: Iterable[DocumentSession]) -> Iterator[Resource]:
    """Yield those of each session; a device that several have but once."""
    known: set[str] = set()  # names of devices and of sessions
    for session in sessions:
        writer = _Writer(session)
        if writer.name in known:  # two that begin alike and differ later are both in
            writer = _Writer(session, digest=session.digest)
        known.add(writer.name)
        device, *others = writer.resources()
        if device["id"] not in known:
            known.add(device["id"])
            yield device
        yield from others


class _Writer:
    """Writes the resources of a session; `digest`: what its names have in them beside its head."""

    def __init__(self, session: DocumentSession, digest: str = "") -> None:
        self._of = session
        # Nothing random: a session has the same names whenever it is exported.
        self._name = json.dumps(
            [
                # A copy has the same names; of unknown devices two may be alike by chance.
                "" if session.record["device"] else session.record["journal"],
                whole_as_one({name: session.record[name] for name in NAMED_BY}),
                session.record["calibration"]["digest"],
                *filter(None, [digest]),
            ],
            sort_keys=True,
        )
        self._device = self._made_device()

    @property
    def name(self) -> str:
        """Return what tells the session from others; it is short."""
        return str(uuid.uuid5(_NAMES, self._name))

    def resources(self) -> Iterable[Resource]:
        """Return the device, the thresholds, and the panels that have them as their members."""
        yield self._device
        for transducer in PANELS:
            ears = [e for e in self._of.ears if e.route.transducer == transducer]
            found = [each for ear in ears for each in self._observations(ear)]
            yield from found
            if ears:
                yield self._panel(transducer, ears, found)
        for told in self._of.discomfort:
            yield from (self._discomfort_resource(told, level) for level in told.levels)

    def _observations(self, ear: DocumentEar) -> list[Resource]:
        """Return those of an ear: what was asked, what follows from it, what was confirmed."""
        if not has_thresholds(ear):
            why = [verdict_words(ear)], absent(*NOT_TESTED)
            return [self._at(ear, found["frequency_hz"], *why) for found in ear.thresholds]
        asked = {
            (f := found["frequency_hz"]): self._at(
                ear, f, self._words(ear, found), self._value(ear, found)
            )
            for found in ear.thresholds
            if found["mark"] != Outcome.INFERRED
        }
        measured = [
            asked[found["frequency_hz"]]
            for found in ear.thresholds
            if found["mark"] == Outcome.MEASURED
        ]
        both = [
            asked.get(found["frequency_hz"]) or self._inferred_resource(ear, found, measured)
            for found in ear.thresholds
        ]
        return [*both, *(self._confirmed_resource(ear, again) for again in ear.confirmed)]

    def _made_device(self) -> Resource:
        firmware, serial = self._of.record["firmware"], self._of.record["device"]
        return {
            "resourceType": "Device",
            "id": str(uuid.uuid5(_NAMES, f"device {firmware} {serial or ''}")),
            "deviceName": [{"name": "GP-PTA", "type": "model-name"}],
            **({"serialNumber": serial} if serial else {}),
            "version": [{"value": firmware}],
        }

    def _panel(
        self, transducer: str, ears: Sequence[DocumentEar], members: Iterable[Resource]
    ) -> Resource:
        record = self._of.record
        notes = [
            f"{ear.route.words}: {ear.record['outcome']}" + (f"; {say(ear.why)}" if ear.why else "")
            for ear in ears
            if has_thresholds(ear)
        ]
        if transducer == BONE:
            notes += loss_notes(self._of.gaps)
        verdicts = [f"{ear.route.words}: {verdict_words(ear)}" for ear in ears]
        name = "panel" if transducer == AIR else f"panel {transducer}"
        return {
            **self._observation(name, {"code": concept(LOINC, *PANELS[transducer])}, ears),
            **({} if any(map(has_thresholds, ears)) else absent(*NOT_TESTED)),
            "note": self._notes(
                [
                    f"session {record['outcome']}",
                    *verdicts,
                    *notes,
                    *map(say, reasons_at("remarks", record["remarks"])),
                    *([] if record.get("room") else [self._of.room]),
                    *which_ear_words(record["which_ear"], len(record["ears"])),
                    *self._course_words(),
                ],
                ears,
            ),
            "hasMember": [reference(member) for member in members],
        }

    def _inferred_resource(
        self, ear: DocumentEar, threshold: JsonObject, measured: Iterable[Resource]
    ) -> Resource:
        sources = [reference(each) for each in measured]
        parts = {
            "status": "preliminary",
            "method": {"text": INFERRED_BY},
            **({"derivedFrom": sources} if sources else {}),
            **absent(*NOT_ASKED),
            "component": self._components(threshold, INFERRED),
        }
        return self._at(ear, threshold["frequency_hz"], self._words(ear, threshold), parts)

    def _confirmed_resource(self, ear: DocumentEar, again: JsonObject) -> Resource:
        value = absent("unknown", "Unknown")
        if again["threshold_db_hl"] is not None:
            value = {"valueQuantity": self._quantity(again["threshold_db_hl"])}
        marks = [] if again["mark"] == Outcome.MEASURED else [again["mark"]]
        parts = {"method": {"text": CLASSICAL}, **value}
        notes = [*marks, f"{again['tones']} tones"]
        return self._at(ear, again["frequency_hz"], notes, parts, "confirmed ")

    def _discomfort_resource(self, told: DiscomfortTold, level: DiscomfortLevel) -> Resource:
        """Return a level that somebody measured elsewhere; nobody knows a code of LOINC for it."""
        name = f"Uncomfortable level Ear - {told.ear} --{level.frequency_hz} Hz"
        value = {"value": level.level_db_hl, "unit": DB_HL, "system": UCUM, "code": "dB"}
        by = f"measured elsewhere{': ' * bool(told.source)}{told.source}"
        found = self._observation(name, code_and_site(name, None, told.ear), [])
        for of_the_session in ("device", "effectiveDateTime", "effectivePeriod"):
            found.pop(of_the_session, None)
        return {
            **found,
            "status": "final",
            **({"effectiveDateTime": told.day} if told.day else {}),
            "valueQuantity": {"comparator": ">", **value} if level.above else value,
            "note": [{"text": by}],
        }

    def _at(
        self, of: DocumentEar, frequency_hz: int, notes: Iterable[str], parts: Resource,
        which: str = "",
    ) -> Resource:  # fmt: skip
        """Return an observation of an ear and frequency; `which` is in its id, not in its code."""
        ear, kind = of.route.ear, of.route.kind
        through = "" if kind is BY_AIR else f" by {kind.transducer} conduction"
        name = f"Hearing threshold Ear - {ear}{through} --{frequency_hz} Hz"
        code = code_and_site(name, kind.loinc[ear].get(frequency_hz), ear)
        method = {"method": {"text": METHOD}}
        found = {**self._observation(f"{which}{name}", code, [of]), **method, **parts}
        return {**found, "note": self._notes(notes, [of])}

    def _observation(self, name: str, code: Resource, ears: Sequence[DocumentEar]) -> Resource:
        identifier = self._of.record["person"]["identifier"]
        subject = {"type": "Patient", "identifier": {"value": identifier}}
        return {
            "resourceType": "Observation",
            "id": str(uuid.uuid5(_NAMES, f"{self._name} {name}")),
            "status": self._status(ears),
            "category": categories(),
            **code,
            **({"subject": subject} if identifier else {}),
            **self._when(),
            "device": reference(self._device),
        }

    def _when(self) -> Resource:
        """Return when it was, as far as a clock says; all the days, if it was gone on with."""
        record = self._of.record
        if not record["breaks"]:
            started = {"effectiveDateTime": record["started"]}
            return started if was_clock_set(record["started"]) else {}
        ends = {"start": record["started"], "end": self._ended}
        known = {name: time for name, time in ends.items() if time and was_clock_set(time)}
        return {"effectivePeriod": known} if known else {}

    @property
    def _ended(self) -> str:
        """Return when the last input came; an older device tells when it was gone on with."""
        record = self._of.record
        ended: str = record.get("ended", (record["breaks"] or [{"resumed": ""}])[-1]["resumed"])
        return ended or str(record["started"])

    def _course_words(self) -> list[str]:
        """Say that nobody knows when it was, where it was broken off, and why it waited."""
        record = self._of.record
        clock = [] if all(map(was_clock_set, (record["started"], self._ended))) else [NO_CLOCK]
        breaks = [
            f"broken off {b['left'] or '?'}, gone on with {b['resumed'] or '?'}"
            for b in record["breaks"]
        ]
        return clock + breaks + [f"waited {at}: {say(why)}" for at, why in self._of.waits]

    def _status(self, ears: Sequence[DocumentEar]) -> str:
        if not any(map(has_thresholds, ears)):
            return NOT_TESTED_STATUS
        final = is_final(
            self._of.record["outcome"],
            ears,
            nominal=self._of.is_nominal,
            simulated=self._of.record["simulated"],
        )
        return "final" if final else "preliminary"

    def _value(self, ear: DocumentEar, found: JsonObject) -> Resource:
        """Return the value of a threshold that was asked, or why there is none."""
        levels = self._of.noise_at(ear.route, found["frequency_hz"]) or {}
        noise = masking(found["masking"]) + [
            {"code": {"text": NOISE_LEVELS[end]}, "valueQuantity": self._quantity(levels[end])}
            for end in (NOISE_LEVELS if levels else ())
        ]
        level_db_hl = measured_db_hl(found)
        if level_db_hl is not None:
            sd_db = found["reading"].get("whole_sd_db")
            known = [] if sd_db is None else [extension(UNCERTAINTY, sd_db)]
            return {
                "valueQuantity": {
                    **({"extension": known} if known else {}), **self._quantity(level_db_hl),
                },
                "component": [*self._components(found, BAND), *noise],
            }  # fmt: skip
        parts = {"component": noise} if noise else {}
        limit_db_hl = known_db_hl(found)
        if limit_db_hl is not None:
            comparator, meaning = BEYOND[found["reading"]["kind"]]
            value = self._quantity(limit_db_hl, comparator)
            return {"valueQuantity": value, "interpretation": [interpretation(*meaning)], **parts}
        return {
            **absent("unknown", "Unknown"),
            "interpretation": [interpretation(*INDETERMINATE)],
            **parts,
        }

    def _components(self, found: JsonObject, names: Mapping[str, str]) -> list[Resource]:
        """Return the numbers of these names, and the whole's; the limits of the test say so."""
        reading = found["reading"]
        signs = {
            "level_db_hl": COMPARATORS[reading["sign"]],
            **{
                end: "<=" if "low" in end else ">="
                for end, known in open_ends(found).items()
                if known
            },
        }
        whole = {n: text for n, text in WHOLE.items() if reading.get(n) is not None}
        return [
            {
                "code": {"text": text},
                "valueQuantity": self._quantity(
                    reading[name], signs.get(name, ""), "dB" if name.endswith("sd_db") else ""
                ),
            }
            for name, text in {**names, **whole}.items()
        ]

    def _quantity(self, db: float, comparator: str = "", unit: str = "") -> Resource:
        """Return a level; `unit`: of what is none, as an uncertainty, which has no zero."""
        compared = {"comparator": comparator} if comparator else {}
        value = {**compared, "value": round(float(db), 1), "unit": unit or self._of.unit}
        # Nominal ones are no decibels of any standard, so they have no code.
        return value if self._of.is_nominal else {**value, "system": UCUM, "code": "dB"}

    def _notes(self, texts: Iterable[str], ears: Sequence[DocumentEar]) -> list[Resource]:
        """Return notes; with what it was measured stands at their end, the calibration last."""
        return [{"text": text} for text in (*texts, *self._with_what(ears))]

    def _words(self, ear: DocumentEar, found: JsonObject) -> list[str]:
        """Return what is to be said of a threshold beside its number."""
        words = marks_of(found)
        if found["mark"] == Outcome.INCOMPLETE and found["limit_db_hl"] is not None:
            limit = f"{found['limit_db_hl']:g} {self._of.unit}"
            words.append(f"perhaps beyond the limit of {limit}")
        if found["reading"]["kind"] in (Kind.PERHAPS_ABOVE, Kind.UNKNOWN) and ear.why:
            words.append(say(ear.why))
        gap = self._of.gap_at(ear.route.ear, found["frequency_hz"]) if ear.route.by_bone else None
        if gap is not None:
            words.append(gap_note(gap))
        if not may_conclude(ear):
            words.append(verdict_words(ear))
        return words

    def _with_what(self, ears: Sequence[DocumentEar]) -> list[str]:
        """Say with what it was measured; the calibration is the last."""
        by_bone = any(ear.route.by_bone for ear in ears)
        calibration = self._of.record["calibration"]
        transducer = calibration["vibrator" if by_bone else "transducer"]
        called = "bone vibrator" if by_bone else "earphones"
        boards = dict.fromkeys(board for ear in ears for board in ear.record["boards"])
        record = [f"tone generator: {', '.join(boards)}"] if boards else []
        record += [f"{called}: {transducer}"] if transducer else []
        record += [ear.record["convention"] for ear in ears if has_thresholds(ear)]
        return [*record, calibration["words"]]
