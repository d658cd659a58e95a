// The reasons of the firmware by their codes and parts, in words; procedure/words.py does the same.

import { make } from "./dom.js";
import { plain } from "./problems.js";
import { fixed } from "./rounding.js";
import { day, english, hasWords, say, written } from "./words.js";

const SPOKEN = { say, written, day };
const ENGLISH = { say: english, written: String, day: String };

let parts = {};

/** Take what procedure/reasons.py says of parts. */
export function useRemarks(knows) {
  parts = knows;
}

/** Return reasons in the language that was chosen. */
export function inWords(reasons, by = SPOKEN) {
  return reasons.map((each) => sentence(each, by)).join("; ");
}

/** Return reasons in English, as the firmware writes it. */
export function inEnglish(reasons) {
  return inWords(reasons, ENGLISH);
}

/** Return reasons as an element. */
export function asTold(reasons) {
  return make("span", {}, inWords(reasons).replaceAll("+-", "±"));
}

/** Return what a device said in its own words as an element. */
export function asItSaid(words) {
  return make("span", { lang: "en" }, plain(words));
}

function sentence({ code, ...its }, by) {
  const key = keyOf(code);
  const words = Object.entries(its).map(([name, part]) => [name, wordsOf(name, part, by)]);
  const unit = its.unit ?? "db-hl"; // what is told without a calibration says so
  words.push(["unit", by.say(keyOf(`unit_${unit}`))]);
  return hasWords(key) ? by.say(key, Object.fromEntries(words)) : plain(code); // of a later firmware
}

function wordsOf(name, part, by) {
  if (Array.isArray(part)) {
    return part.map((each) => wordsOf(name, each, by)).join(parts.several[name]);
  }
  if (typeof part === "number") {
    const sign = parts.signed.includes(name) && part >= 0 ? "+" : "";
    return by.written(sign + (name in parts.decimals ? fixed(part, parts.decimals[name]) : part));
  }
  if (typeof part === "object") {
    return sentence(part, by);
  }
  if (parts.words.includes(name)) {
    return by.say(keyOf(`${name}_${part}`));
  }
  return parts.dates.includes(name) ? by.day(part) : plain(part) || by.say("remark_nothing");
}

function keyOf(code) {
  return `remark_${code.replaceAll("-", "_")}`;
}
