// A session as HL7 FHIR R4, as `gp-pta export --format fhir` writes it: see bundle.py for its rules.

import { inEnglish } from "./remarks.js";
import { fixed, rounded } from "./rounding.js";
import { verdictNote } from "./verdict.js";
import { unitOf, wasClockSet } from "./words.js";

/**
 * Return the bundle of a session.
 *
 * session: {identifier, started, firmware, device, transducer, vibrator, calibration, result}; terms: codes and words of
 * `bundle.py`, which Python puts into the page. What is undefined is left out when it is written.
 */
export function bundleOf(session, terms, newId = () => crypto.randomUUID()) {
  const entries = new Writer(session, terms, newId).resources().map((resource) => ({
    fullUrl: `urn:uuid:${resource.id}`,
    resource,
  }));
  return { resourceType: "Bundle", type: "collection", entry: entries };
}

const BONE = "bone";

const transducerOf = (ear) => ear.transducer ?? "air";

const earWords = ({ ear, transducer }) => (transducer ? `${ear} ear by ${transducer}` : `${ear} ear`);

class Writer {
  constructor(session, terms, newId) {
    this.session = session;
    this.terms = terms;
    this.newId = newId;
    this.gaps = session.result.air_bone_gaps ?? []; // the device has none of nominal levels
    this.device = {
      resourceType: "Device",
      id: newId(),
      deviceName: [{ name: "GP-PTA", type: "model-name" }],
      serialNumber: session.device || undefined,
      version: [{ value: session.firmware }],
    };
  }

  resources() {
    const of = (transducer) => {
      const ears = this.session.result.ears.filter((ear) => transducerOf(ear) === transducer);
      const found = ears.flatMap((ear) => this.ofEar(ear));
      return ears.length ? [...found, this.panel(transducer, ears, found)] : [];
    };
    return [this.device, ...Object.keys(this.terms.panels).flatMap(of)];
  }

  ofEar(ear) {
    if (!ear.has_thresholds) {
      return ear.thresholds.map((found) => this.notTested(ear, found));
    }
    const asked = new Map();
    for (const found of ear.thresholds.filter((each) => each.mark !== "inferred")) {
      asked.set(found.frequency_hz, this.threshold(ear, found));
    }
    const measured = ear.thresholds
      .filter((each) => each.mark === "measured")
      .map((each) => asked.get(each.frequency_hz));
    const all = ear.thresholds.map(
      (each) => asked.get(each.frequency_hz) ?? this.inferred(ear, each, measured),
    );
    return [...all, ...ear.confirmed.map((again) => this.confirmed(ear, again))];
  }

  notTested(ear, found) {
    return {
      ...this.at(ear, found.frequency_hz),
      dataAbsentReason: this.concept("absent", ...this.terms.not_tested),
      note: this.notes([verdictNote(ear)], [ear]),
    };
  }

  threshold(ear, found) {
    return {
      ...this.at(ear, found.frequency_hz),
      ...this.value(found),
      note: this.notes(this.wordsOf(ear, found), [ear]),
    };
  }

  inferred(ear, found, measured) {
    const sources = measured.map(reference);
    return {
      ...this.at(ear, found.frequency_hz),
      status: "preliminary",
      method: { text: this.terms.inferred_by },
      ...(sources.length ? { derivedFrom: sources } : {}),
      dataAbsentReason: this.concept("absent", ...this.terms.not_asked),
      component: this.components(found, this.terms.inferred),
      note: this.notes(this.wordsOf(ear, found), [ear]),
    };
  }

  confirmed(ear, again) {
    const value =
      again.threshold_db_hl === null
        ? { dataAbsentReason: this.concept("absent", "unknown", "Unknown") }
        : { valueQuantity: this.quantity(again.threshold_db_hl) };
    const marks = again.mark === "measured" ? [] : [again.mark];
    return {
      ...this.at(ear, again.frequency_hz),
      method: { text: this.terms.classical },
      ...value,
      note: this.notes([...marks, `${again.tones} tones`], [ear]),
    };
  }

  panel(transducer, ears, members) {
    const { result, started } = this.session;
    const tested = ears.filter((ear) => ear.has_thresholds);
    const outcomes = tested.map((e) => `${earWords(e)}: ${e.outcome}${e.why.length ? `; ${inEnglish(e.why)}` : ""}`);
    const gaps = transducer === BONE ? this.gaps.map((each) => this.gapWords(each)) : [];
    const verdicts = ears.map((e) => `${earWords(e)}: ${verdictNote(e)}`);
    const remarks = result.remarks.map((each) => inEnglish([each]));
    const said = [`session ${result.outcome || "unfinished"}`, ...verdicts, ...outcomes, ...gaps, ...remarks];
    if (result.ears.length > 1) {
      said.push(`which ear is which: ${result.which_ear.replaceAll("-", " ")}`);
    }
    if (started && !wasClockSet(started)) {
      said.push(this.terms.no_clock);
    }
    const absent = this.concept("absent", ...this.terms.not_tested);
    return {
      ...this.observation(this.concept("loinc", ...this.terms.panels[transducer]), ears),
      dataAbsentReason: tested.length ? undefined : absent,
      note: this.notes(said, ears),
      hasMember: members.map(reference),
    };
  }

  gapWords({ ear, loss, loss_is_probable: isProbable, mean }) {
    const told = `${ear} ear: type of loss by the air-bone gap: ${isProbable ? "probably " : ""}${loss}`;
    if (!mean) {
      return told;
    }
    const at = `${mean.frequencies_hz.join(", ")} Hz ${this.gapLevel(mean)}`;
    const inferred = mean.inferred_hz.length ? `, inferred at ${mean.inferred_hz.join(", ")} Hz` : "";
    return `${told}; mean at ${at}${inferred}`;
  }

  gapLevel(gap) {
    const [low, high] = [gap.low_db, gap.high_db].map((end) => (end === null ? "" : fixed(end, 0)));
    const band = low && high ? `${low} to ${high}` : low ? `from ${low}` : `up to ${high}`;
    return `${this.terms.bounds[gap.bound]}${fixed(gap.db, 0)} dB (95 % band ${band} dB)`;
  }

  /** Return the air-bone gap of an ear by bone at a frequency, as a note; none where nothing is known. */
  gapNote({ ear, transducer }, hz) {
    const of = this.gaps.find((each) => transducer === BONE && each.ear === ear);
    const gap = of?.gaps.find((each) => each.frequencies_hz[0] === hz);
    if (!gap) {
      return [];
    }
    const level = this.gapLevel(gap);
    return [gap.inferred_hz.length ? `inferred air-bone gap, not measured: ${level}` : `air-bone gap ${level}`];
  }

  at(ear, hz) {
    const transducer = transducerOf(ear);
    const through = transducer === BONE ? ` by ${transducer} conduction` : "";
    const name = `Hearing threshold Ear - ${ear.ear}${through} --${hz} Hz`;
    const known = this.terms.codes[transducer][ear.ear][hz];
    return this.observation(known ? this.concept("loinc", known, name) : { text: name }, [ear]);
  }

  /** Return whether what is said of these ears is final. */
  statusOf(ears) {
    if (!ears.some((ear) => ear.has_thresholds)) {
      return this.terms.not_tested_status;
    }
    const { outcome, nominal, simulated } = this.session.result;
    const isFinal = outcome === "complete" && !nominal && !simulated && ears.every((ear) => ear.may_conclude);
    return isFinal ? "final" : "preliminary";
  }

  observation(code, ears) {
    const { identifier, started } = this.session;
    return {
      resourceType: "Observation",
      id: this.newId(),
      status: this.statusOf(ears),
      category: [this.concept("category", "exam", "Exam")],
      code,
      subject: identifier ? { type: "Patient", identifier: { value: identifier } } : undefined,
      effectiveDateTime: started && wasClockSet(started) ? started : undefined,
      device: reference(this.device),
    };
  }

  value(found) {
    const { kind, level_db_hl: level } = found.reading;
    if (kind === "measured") {
      return {
        valueQuantity: this.quantity(level),
        component: this.components(found, this.terms.band),
      };
    }
    const beyond = this.terms.beyond[kind];
    if (beyond) {
      const [comparator, [code, display]] = beyond;
      return {
        valueQuantity: this.quantity(level, comparator),
        interpretation: [this.concept("interpretation", code, display)],
      };
    }
    return {
      dataAbsentReason: this.concept("absent", "unknown", "Unknown"),
      interpretation: [this.concept("interpretation", ...this.terms.indeterminate)],
    };
  }

  components({ reading }, names) {
    const { low_open, high_open } = reading;
    const signs = {
      level_db_hl: this.terms.comparators[reading.sign],
      low_db_hl: low_open && "<=",
      high_db_hl: high_open && ">=",
    };
    return Object.entries(names).map(([name, text]) => ({
      code: { text },
      valueQuantity: this.quantity(reading[name], signs[name]),
    }));
  }

  quantity(level, comparator) {
    const value = { ...(comparator ? { comparator } : {}), value: rounded(level, 1) };
    const { nominal } = this.session.result;
    const code = nominal ? {} : { system: this.terms.systems.ucum, code: "dB" };
    return { ...value, unit: this.unit(), ...code };
  }

  unit() {
    return unitOf(this.session.result, "en");
  }

  concept(system, code, display) {
    return { coding: [{ system: this.terms.systems[system], code, display }], text: display };
  }

  wordsOf(ear, found) {
    const words = found.mark === "measured" ? [] : [found.mark];
    if (found.masking !== null && found.masking !== "none") {
      words.push(`masking: ${found.masking}`);
    }
    if (found.air_bone_gap_db !== null && found.masking === "uncertain") {
      words.push(`air_bone_gap_db: ${found.air_bone_gap_db}`);
    }
    if (found.mark === "incomplete" && found.limit_db_hl !== null) {
      words.push(`perhaps beyond the limit of ${found.limit_db_hl} ${this.unit()}`);
    }
    if (["perhaps-above", "unknown"].includes(found.reading.kind) && ear.why.length) {
      words.push(inEnglish(ear.why));
    }
    words.push(...this.gapNote(ear, found.frequency_hz));
    return ear.may_conclude ? words : [...words, verdictNote(ear)];
  }

  /** Return notes; with what it was measured stands at their end, the calibration last. */
  notes(texts, ears) {
    const { transducer, vibrator, calibration } = this.session;
    const byBone = ears.some((ear) => transducerOf(ear) === BONE);
    const through = byBone ? vibrator && `bone vibrator: ${vibrator}` : transducer && `earphones: ${transducer}`;
    const boards = [...new Set(ears.flatMap((ear) => ear.boards))].join(", ");
    const from = boards && `tone generator: ${boards}`;
    const meant = ears.filter((ear) => ear.has_thresholds).map((ear) => ear.convention);
    const told = [...texts, from, through, ...meant, calibration];
    return told.filter(Boolean).map((text) => ({ text }));
  }
}

function reference(resource) {
  return { reference: `urn:uuid:${resource.id}` };
}
