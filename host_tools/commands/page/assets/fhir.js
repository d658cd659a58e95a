// A session as HL7 FHIR R4, as `gp-pta export --format fhir` writes it: see bundle.py for its rules.

import { inEnglish } from "./remarks.js";
import { readingOf } from "./reading.js";
import { hasThresholds, mayConclude, verdictNote } from "./verdict.js";

/**
 * Return the bundle of a session.
 *
 * session: {identifier, started, firmware, device, transducer, calibration, result}; terms: codes and words of
 * `bundle.py`, which Python puts into the page. What is undefined is left out when it is written.
 */
export function bundleOf(session, terms, newId = () => crypto.randomUUID()) {
  const entries = new Writer(session, terms, newId).resources().map((resource) => ({
    fullUrl: `urn:uuid:${resource.id}`,
    resource,
  }));
  return { resourceType: "Bundle", type: "collection", entry: entries };
}

class Writer {
  constructor(session, terms, newId) {
    this.session = session;
    this.terms = terms;
    this.newId = newId;
    this.device = {
      resourceType: "Device",
      id: newId(),
      deviceName: [{ name: "GP-PTA", type: "model-name" }],
      serialNumber: session.device || undefined,
      version: [{ value: session.firmware }],
    };
  }

  resources() {
    const found = this.session.result.ears.flatMap((ear) => this.ofEar(ear));
    return [this.device, ...found, this.panel(found)];
  }

  ofEar(ear) {
    if (!hasThresholds(ear)) {
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
      note: this.notes(wordsOf(ear, found), [ear]),
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
      note: this.notes(wordsOf(ear, found), [ear]),
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

  panel(members) {
    const { result } = this.session;
    const tested = result.ears.filter(hasThresholds);
    const ears = tested.map((e) => `${e.ear} ear: ${e.outcome}${e.why.length ? `; ${inEnglish(e.why)}` : ""}`);
    const verdicts = result.ears.map((e) => `${e.ear} ear: ${verdictNote(e)}`);
    const said = [`session ${result.outcome || "unfinished"}`, ...verdicts, ...ears, ...result.remarks.map((each) => inEnglish([each]))];
    if (result.ears.length > 1) {
      said.push(`which ear is which: ${result.which_ear.replaceAll("-", " ")}`);
    }
    const absent = this.concept("absent", ...this.terms.not_tested);
    return {
      ...this.observation(this.concept("loinc", ...this.terms.panel), result.ears),
      dataAbsentReason: tested.length ? undefined : absent,
      note: this.notes(said, result.ears),
      hasMember: members.map(reference),
    };
  }

  at(ear, hz) {
    const name = `Hearing threshold Ear - ${ear.ear} --${hz} Hz`;
    return this.observation(this.concept("loinc", this.terms.codes[ear.ear][hz], name), [ear]);
  }

  /** Return whether what is said of these ears is final. */
  statusOf(ears) {
    if (!ears.some(hasThresholds)) {
      return this.terms.not_tested_status;
    }
    const isFinal = this.session.result.outcome === "complete" && ears.every(mayConclude);
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
      effectiveDateTime: started || undefined,
      device: reference(this.device),
    };
  }

  value(found) {
    const { kind, level } = readingOf(found);
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
        valueQuantity: { comparator, ...this.quantity(level) },
        interpretation: [this.concept("interpretation", code, display)],
      };
    }
    return {
      dataAbsentReason: this.concept("absent", "unknown", "Unknown"),
      interpretation: [this.concept("interpretation", ...this.terms.indeterminate)],
    };
  }

  components(found, names) {
    return Object.entries(names).map(([name, text]) => ({
      code: { text },
      valueQuantity: this.quantity(found[name]),
    }));
  }

  quantity(level) {
    const value = Math.round(level * 10) / 10;
    return { value, unit: "dB HL", system: this.terms.systems.ucum, code: "dB" };
  }

  concept(system, code, display) {
    return { coding: [{ system: this.terms.systems[system], code, display }], text: display };
  }

  /** Return notes; with what it was measured stands at their end, the calibration last. */
  notes(texts, ears) {
    const { transducer, calibration } = this.session;
    const boards = [...new Set(ears.flatMap((ear) => ear.boards))].join(", ");
    const from = boards && `tone generator: ${boards}`;
    const told = [...texts, from, transducer && `earphones: ${transducer}`, calibration];
    return told.filter(Boolean).map((text) => ({ text }));
  }
}

function reference(resource) {
  return { reference: `urn:uuid:${resource.id}` };
}

function wordsOf(ear, found) {
  const words = found.mark === "measured" ? [] : [found.mark];
  if (found.masking !== null && found.masking !== "none") {
    words.push(`masking: ${found.masking}`);
  }
  if (found.air_bone_gap_db !== null && found.masking === "uncertain") {
    words.push(`air_bone_gap_db: ${found.air_bone_gap_db}`);
  }
  if (found.mark === "incomplete" && found.limit_db_hl !== null) {
    words.push(`perhaps beyond the limit of ${found.limit_db_hl} dB HL`);
  }
  if (["perhaps-above", "unknown"].includes(readingOf(found).kind) && ear.why.length) {
    words.push(inEnglish(ear.why));
  }
  return mayConclude(ear) ? words : [...words, verdictNote(ear)];
}
