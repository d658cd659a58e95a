// The reasons of the firmware by their codes and parts, in words; procedure/words.py does the same.

import { make } from "./dom.js";
import { plain } from "./problems.js";
import { fixed } from "./rounding.js";
import { day, hasWords, say, written } from "./words.js";

let parts = {};

/** Take what procedure/reasons.py says of parts. */
export function useRemarks(knows) {
  parts = knows;
}

/** Return reasons in the language that was chosen. */
export function inWords(reasons) {
  return reasons.map(sentence).join("; ");
}

/** Return reasons as an element. */
export function asTold(reasons) {
  return make("span", {}, inWords(reasons).replaceAll("+-", "±"));
}

/** Return what a device said in its own words as an element. */
export function asItSaid(words) {
  return make("span", { lang: "en" }, plain(words));
}

function sentence({ code, ...its }) {
  const key = keyOf(code);
  const words = Object.entries(its).map(([name, part]) => [name, wordsOf(name, part)]);
  const unit = its.unit ?? "db-hl"; // what is told without a calibration says so
  words.push(["unit", say(keyOf(`unit_${unit}`))]);
  return hasWords(key) ? say(key, Object.fromEntries(words)) : plain(code); // of a later firmware
}

function wordsOf(name, part) {
  if (Array.isArray(part)) {
    return part.map((each) => wordsOf(name, each)).join(parts.several[name]);
  }
  if (typeof part === "number") {
    const sign = parts.signed.includes(name) && part >= 0 ? "+" : "";
    return written(sign + (name in parts.decimals ? fixed(part, parts.decimals[name]) : part));
  }
  if (typeof part === "object") {
    return sentence(part);
  }
  if (parts.words.includes(name)) {
    return say(keyOf(`${name}_${part}`));
  }
  return parts.dates.includes(name) ? day(part) : plain(part) || say("remark_nothing");
}

function keyOf(code) {
  return `remark_${code.replaceAll("-", "_")}`;
}
