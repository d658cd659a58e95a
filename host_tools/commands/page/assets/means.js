// Mean thresholds and grades of hearing loss in words; the device tells them finished.

import { whyNothingFollows } from "./verdict.js";
import { earName, isByAir, number, oneDecimal, say } from "./words.js";

// Of a bound: how a grade is said that it is at least, or at most; its own grade, and the one that says nothing.
const BOUNDS = {
  "at-least": { key: "grade_at_least", own: "complete", any: "normal" },
  "at-most": { key: "grade_at_most", own: "normal", any: "complete" },
};
const NO_BREAK = "\u00a0";

/** Return what is said of the mean thresholds and the grades of a result. */
export function meanLines({ ears, grade, nominal }) {
  if (nominal) {
    return [say("nominal")];
  }
  const byAir = ears.filter(isByAir);
  const lines = byAir.map(lineOf);
  const known = byAir.filter((ear) => ear.pta4);
  if (grade) {
    lines.push(person(grade));
  } else if (known.length === 1) {
    lines.push(say("person_one_ear", { ear: earName(known[0]) }));
  } else if (known.length) {
    lines.push(say("person_boards"));
  }
  return lines;
}

function lineOf(ear) {
  const { pta4: mean, pta4_outside_hz: outside } = ear;
  const name = earName(ear);
  if (!mean) {
    const why = whyNothingFollows(ear) || say("pta4_outside", { frequencies_hz: outside.join(", ") });
    return say("pta4_none", { ear: name, why });
  }
  const isBound = mean.bound !== "none";
  const [low, high] = [mean.low_db_hl, mean.high_db_hl].map((level) => (level === null ? "" : number(level)));
  const level = isBound ? number(mean.level_db_hl) : oneDecimal(mean.level_db_hl);
  let words = say(isBound ? `mean_${mean.bound.replace("-", "_")}` : "mean", { level, low, high });
  const { clinical_db_hl: clinical } = mean;
  words = clinical === null ? words : say("mean_clinical", { mean: words, level: oneDecimal(clinical) });
  for (const key of ["beyond", "inferred", "doubtful"]) {
    const frequencies = mean[`${key}_hz`].map((hz) => number(hz)).join(", ");
    words = frequencies ? say(`mean_${key}`, { mean: words, frequencies_hz: frequencies }) : words;
  }
  return say("pta4", { ear: name, mean: words, grades: gradesOf(mean) });
}

/** Return what is said of the convention of thresholds, and on which the grades rest. */
export function conventionLines({ ears, nominal, threshold_convention: convention }) {
  const known = ears.filter((ear) => ear.has_thresholds);
  const clinical = convention !== "50 %";
  const lines = known.length ? [say(clinical ? "convention_clinical" : "convention_50")] : [];
  if (known.length && (clinical || (!nominal && known.some((ear) => ear.may_conclude)))) {
    const rest = known.some(isByAir) ? known.filter(isByAir) : known;
    const told = Object.fromEntries(rest.map((ear) => [ear.ear, oneDecimal(ear.clinical_offset_db)]));
    const [offset, other = offset] = Object.values(told);
    lines.push(offset === other ? say("convention_rules", { offset }) : say("convention_rules_ears", told));
  }
  return lines;
}

function person(found) {
  const key = found.inferred ? "person_grade_inferred" : "person_grade";
  const words = say(key, { grades: gradesOf(found) });
  const { unilateral } = found;
  return unilateral === null ? words : say("person_unilateral", { person: words, share: percent(unilateral) });
}

/** Return the grades that are named, with their shares; of a bound the one that is sure. */
function gradesOf({ bound, said }) {
  const nameOf = (name) => say(`grade_${name.replaceAll(" ", "_")}`);
  if (bound === "none") {
    return said.map(([name, share]) => say("grade_share", { grade: nameOf(name), share: percent(share) })).join(", ");
  }
  const { key, own, any } = BOUNDS[bound];
  const [name] = said.at(-1); // an older device names others before it, which are less sure
  if (name === any) {
    return say("grade_open");
  }
  return name === own ? nameOf(name) : say(key, { grade: nameOf(name) });
}

/** Return a share in percent, never 0 or 100: nothing measured is certain. */
export function percent(share) {
  const sure = share < 0.01 ? `<${NO_BREAK}1` : share > 0.99 ? `>${NO_BREAK}99` : null;
  return say("format_percent", { number: sure ?? number(100 * share) }).replace(" ", NO_BREAK);
}
