// Mean thresholds and grades of hearing loss in words, as the report has them (report/words.py).

import { PTA4_HZ } from "./reading.js";
import { whyNothingFollows } from "./verdict.js";
import { number, say, written } from "./words.js";

const LEAST_SHARE = 0.005; // of a grade that is named
const LIKELY = 0.5; // of a grade that it is at least, the worst that is named
const SURE = 0.99; // and the best
const NO_BREAK = "\u00a0";

/** Return what is said of the mean thresholds; `means` is the answer of SESS:MEAN?. */
export function meanLines(result, means) {
  const lines = result.ears.map((ear) => lineOf(ear, means.ears[ear.ear]));
  return means.better_ear === null ? lines : [...lines, person(means)];
}

function lineOf(ear, mean) {
  const name = say(`${ear.ear}_ear`);
  if (mean === null) {
    return say("pta4_none", { ear: name, why: whyNothingFollows(ear) || outside(ear) });
  }
  const band = { low: number(mean.low_db_hl), high: number(mean.high_db_hl) };
  const least = mean.at_least_db_hl;
  let words =
    least === null
      ? say("mean", { level: written(mean.mean_db_hl.toFixed(1)), ...band })
      : say("mean_at_least", { level: number(least), ...band });
  for (const key of ["beyond", "inferred", "doubtful"]) {
    const frequencies = mean[`${key}_hz`].map((hz) => number(hz)).join(", ");
    words = frequencies ? say(`mean_${key}`, { mean: words, frequencies_hz: frequencies }) : words;
  }
  return say("pta4", { ear: name, mean: words, grades: sharesOf(mean.grades, mean.doubtful_hz.length) });
}

function outside(ear) {
  const asked = ear.thresholds.map((each) => each.frequency_hz);
  const missing = PTA4_HZ.filter((hz) => hz < Math.min(...asked) || hz > Math.max(...asked));
  return say("pta4_outside", { frequencies_hz: missing.join(", ") });
}

function person({ ears, better_ear: better }) {
  if (!better.both_ears) {
    return say("person_one_ear", { ear: say(`${better.ear}_ear`) });
  }
  const isInferred = Object.values(ears).some((mean) => mean?.inferred_hz.length);
  const words = say(isInferred ? "person_grade_inferred" : "person_grade", {
    grades: sharesOf(better.grades, better.at_least),
  });
  const share = better.unilateral;
  return share < LEAST_SHARE ? words : say("person_unilateral", { person: words, share: percent(share) });
}

function sharesOf(grades, isBound) {
  return isBound ? bounds(grades) : shares(grades);
}

/** Return which grade it is at least: the worst that is likely, and down to a sure one. */
function bounds(grades) {
  const said = [];
  let sum = 0;
  for (const [name, share] of Object.entries(grades).reverse()) {
    sum += share;
    if (sum >= LIKELY) {
      said.push(say("grade_at_least", { grade: gradeNamed(name), share: percent(sum) }));
    }
    if (sum > SURE) {
      break;
    }
  }
  return said.join(", ");
}

function gradeNamed(name) {
  return say(`grade_${name.replaceAll(" ", "_")}`);
}

function shares(grades) {
  return Object.entries(grades)
    .filter(([, share]) => share >= LEAST_SHARE)
    .sort(([, one], [, other]) => other - one)
    .map(([name, share]) => say("grade_share", { grade: gradeNamed(name), share: percent(share) }))
    .join(", ");
}

/** Return a share in percent, never 0 or 100: nothing measured is certain. */
function percent(share) {
  const sure = share < 0.01 ? `<${NO_BREAK}1` : share > 0.99 ? `>${NO_BREAK}99` : null;
  return say("format_percent", { number: sure ?? number(100 * share) }).replace(" ", NO_BREAK);
}
