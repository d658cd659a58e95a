// What stands beside a result, as the device tells it: report/notes.py, norms.py, referral.py.

import { conventionLines, percent } from "./means.js";
import { capital, joined, NOTHING, onPaper } from "./paper.js";
import { whyNothingFollows } from "./verdict.js";
import { earName, isByAir, number, routeOf, say, unitOf } from "./words.js";

const WIDE_LINES = "– – ";

/** Return the sentences on the numbers: their convention, confirmations elsewhere, the age norm. */
export function notesOf(result, paper, { age_years: age }) {
  const told = result.ears.filter((ear) => ear.has_thresholds);
  const isConfirmed = told.some((ear) => ear.confirmed.length > 0);
  return [
    ...conventionLines(result),
    ...(isConfirmed ? [say("convention_confirmed")] : []),
    ...told.flatMap(({ ear }) => paper.ears[ear].confirmed_outside.map((each) => outsideWords(ear, each, unitOf(result)))),
    normWords(told, paper, age),
  ];
}

function outsideWords(ear, { frequency_hz: frequency, confirmed_db_hl: level, ...band }, unit) {
  return say("confirmed_beside", {
    ear: capital(say(`${ear}_ear`)),
    frequency_hz: number(frequency),
    level: number(level),
    unit,
    band: bandOf(band),
  });
}

/** Return a band in words; one that reaches over a limit says so. */
export function bandOf({ low_db_hl: low, high_db_hl: high, low_open: isBelow, high_open: isAbove }) {
  return say("from_to", {
    low: `${isBelow ? "≤ " : ""}${number(low)}`,
    high: `${isAbove ? "> " : ""}${number(high)}`,
  });
}

/** Say whom the age norm is about, or why there is none. */
function normWords(told, paper, age) {
  const { norm, no_norm: missing } = paper;
  if (!norm) {
    return onPaper("no_norm", { why: whyNoNorm(missing, paper.norms, age) });
  }
  const { standard } = paper.norms;
  const above = norm.informative_above_hz;
  const source = above ? onPaper("norm_informative", { standard, frequency_hz: above }) : standard;
  const people = onPaper(norm.sex === "F" ? "norm_women" : "norm_men", { age: number(norm.age_years, 1), source });
  const note = onPaper("norm_note", { people });
  const isLower = told.some((ear) => ear.may_conclude && paper.ears[routeOf(ear)].below_clinical_db >= 0.05);
  return isLower ? onPaper("norm_note_50", { note }) : note;
}

function whyNoNorm(missing, { standard, from_years: from, to_years: to }, age) {
  const keys = { nominal: "nominal_why", verdict: "verdict_no_norm_why", locked: "norm_locked" };
  if (missing in keys) {
    return say(keys[missing]);
  }
  const needs = { age: "norm_age", "no-age": "norm_needs_age", "no-sex": "norm_needs_sex" };
  const parts = { standard, from: number(from), to: number(to), age: number(age ?? 0, 1) };
  return onPaper(needs[missing] ?? "norm_needs", parts);
}

/** Return what the lines of the age norm are, "" without one. */
export function normMark({ norm }) {
  return norm ? `${WIDE_LINES}${onPaper("mark_norm")}` : "";
}

/** Return the columns that a table of thresholds has beside its own: names, and cells by frequency. */
export function columnsOf(ear, { norm, ears }) {
  const { noise, usual } = ears[routeOf(ear)];
  const columns = [];
  if (Object.values(ears).some((each) => each.noise.length)) {
    columns.push([onPaper("noise_of"), (hz) => noiseWords(at(noise, hz))]);
  }
  if (norm && isByAir(ear)) {
    columns.push([onPaper("column_usual"), (hz) => usualWords(at(usual, hz))]);
    columns.push([onPaper("column_peers"), (hz) => shareWords(at(usual, hz))]);
  }
  return columns;
}

function at(found, hz) {
  return found.find((each) => each.frequency_hz === hz);
}

function noiseWords(noise) {
  if (!noise) {
    return NOTHING;
  }
  const [low, high] = [noise.low_db, noise.high_db].map((level) => number(level));
  return low === high ? low : onPaper("noise_range", { low, high });
}

function usualWords(usual) {
  if (!usual) {
    return NOTHING;
  }
  const [low, median, high] = usual.levels_db_hl.map((level) => (level === null ? "" : number(level)));
  return low ? onPaper("norm", { median, low, high }) : median;
}

function shareWords(usual) {
  const share = usual?.share_better ?? null;
  return share === null ? NOTHING : percent(share);
}

/** Return by how much an ear is worse than the other, and which criteria that meets, as remarks. */
export function asymmetryLines({ asymmetries }) {
  return asymmetries.map((found) => {
    const { ear, differences, more, criteria, sure, may_be_conductive: isPerhaps } = found;
    const largest = differences.map(differenceWords).join(", ");
    return onPaper(isPerhaps ? "asymmetry_may" : sure ? "asymmetry" : "asymmetry_doubt", {
      ear: say(`${ear}_ear`),
      differences: more ? onPaper("differences_more", { differences: largest, count: more }) : largest,
      criteria: joined(sourcesOf(criteria)),
      about: aboutWords(found),
    });
  });
}

/** Return what is known of the type of loss, which the sources mean. */
function aboutWords({ loss, may_be_conductive: isPerhaps, bone_hz: by }) {
  if (by) {
    return onPaper("asymmetry_by_bone", { frequencies_hz: by.join(", ") });
  }
  const isInferred = isPerhaps && loss === "sensorineural";
  return onPaper(`asymmetry_${isInferred ? "unknown" : (loss ?? "by_air")}`);
}

function differenceWords({ frequency_hz: hz, db, half_width_db: half, at_least: isLeast }) {
  const parts = { db: number(db), frequency_hz: hz, half_width_db: number(half) };
  return onPaper(isLeast ? "difference_at_least" : "difference", parts);
}

/** Return each source with those of its criteria that are met. */
function sourcesOf(criteria) {
  const bySource = Map.groupBy(criteria, (each) => each.source);
  return [...bySource].map(([source, met]) => `${source} (${met.map(({ key }) => onPaper(key)).join(", ")})`);
}

// Those of `firmware_py/findings/air_bone_gap.py`.
const TYPE_SOURCE = "Mazzoli et al. 2003";
const EXAMINATION_SOURCE = "21 CFR 801.420";
const GAP_KEYS = { none: "gap_value", "at-least": "gap_at_least", "at-most": "gap_at_most" };

/** Return which type the loss of each ear is by its air-bone gap, and by which rule; none without bone. */
export function lossLines({ air_bone_gaps: gaps = [], ears, nominal }) {
  if (nominal) {
    return [];
  }
  const said = [...gaps.map(lossOf), ...["right", "left"].flatMap((ear) => withoutGaps(ear, ears, gaps))];
  return gaps.length ? [...said, onPaper("gap_rule", { source: TYPE_SOURCE })] : said;
}

/** Return why no gap is told of an ear that was tested by bone. */
function withoutGaps(side, ears, gaps) {
  const bone = ears.find((each) => each.ear === side && !isByAir(each));
  if (!bone || gaps.some(({ ear }) => ear === side)) {
    return [];
  }
  const air = ears.filter((each) => each.ear === side && isByAir(each));
  const found = [bone, ...air].find((each) => whyNothingFollows(each));
  return found ? [onPaper("gap_missing", { ear: capital(earName(found)), why: whyNothingFollows(found) })] : [];
}

function lossOf({ ear, loss, loss_is_probable: isProbable, mean, mean_is_undecided: isUndecided }) {
  const named = onPaper(`loss_${loss}`);
  const parts = { ear: capital(say(`${ear}_ear`)), loss: isProbable ? onPaper("loss_probably", { loss: named }) : named };
  if (!mean) {
    return onPaper("gap_none", parts);
  }
  const [low, high] = [mean.low_db, mean.high_db].map((end) => (end === null ? "" : number(end)));
  let gap = onPaper(GAP_KEYS[mean.bound], { db: number(mean.db), low, high });
  if (mean.inferred_hz.length) {
    const at = mean.inferred_hz.map((hz) => number(hz)).join(", ");
    gap = say("mean_inferred", { mean: gap, frequencies_hz: at });
  }
  if (isUndecided) {
    return onPaper("gap_mean", { ...parts, gap, share: onPaper("gap_share_open") });
  }
  const isKnown = mean.bound === "none" && mean.share !== null; // no probability is told of a bound
  return isKnown
    ? onPaper("gap_mean", { ...parts, gap, share: percent(mean.share) })
    : onPaper("gap_mean_bound", { ...parts, gap });
}

/** Return which gaps want an examination, and which cannot be, as remarks; `tell` says them in a language. */
export function gapLines({ air_bone_gaps: gaps = [] }, tell = say) {
  const lines = gaps.flatMap((gap) => {
    const ear = capital(tell(`${gap.ear}_ear`));
    const [due, at] = [gap.examined_hz, gap.impossible_hz].map((hz) => hz.join(", "));
    return [
      ...(due ? [tell("paper_gap_examination", { ear, frequencies_hz: due, source: EXAMINATION_SOURCE })] : []),
      ...(at ? [tell("paper_gap_impossible", { ear, frequencies_hz: at })] : []),
      ...(gap.bone_is_poorer ? [tell("paper_gap_negative", { ear })] : []),
    ];
  });
  const inEither = gaps.some((gap) => gap.in_either);
  return inEither ? [...lines, tell("paper_gap_either", { source: EXAMINATION_SOURCE })] : lines;
}
