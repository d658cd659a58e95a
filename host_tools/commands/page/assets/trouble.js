// What may go wrong: of which kind it is, which sentence says so, and what the device said of it.

import { hasWords } from "./words.js";

export class Trouble extends Error {
  /** `about` may have its `number`, the `field` it is about, its `way`, and the device's own `words`. */
  constructor(kind, key, values = {}, about = {}) {
    super(key);
    Object.assign(this, { kind, key, values, number: "", field: "", way: "", words: "" }, about);
  }
}

export function refused(number, words) {
  const key = number < 0 ? `refused_${-number}` : `error_${number}`;
  return new Trouble("refused", hasWords(key) ? key : "error_other", { number }, { number, words });
}

/** There is no way to the device any more, or none yet; `way` is a part of a sentence's key. */
export function lost(way, words = "") {
  return new Trouble("lost", `lost_${way}`, {}, { way, words });
}

/** A value that the console would refuse; `field`: the id of that in which it stands. */
export function notAllowed(key, values, field = "") {
  return new Trouble("not-allowed", key, values, { field });
}

/** The firmware at the port is one that this page was not made for. */
export function misfit(firmware, missing) {
  return new Trouble("misfit", "misfit", { firmware }, { words: missing.join(", ") });
}

/** Refuse a number, as it was typed in a field, that is missing or out of its bounds. */
export function checkTyped(field, typed, name, { low, high, ...unit }) {
  if (typed === "" || Number(typed) < low || Number(typed) > high) {
    const key = typed === "" ? "value_missing" : "value_bounds";
    throw notAllowed(key, { name, value: typed, least: low, most: high, ...unit }, field);
  }
}
