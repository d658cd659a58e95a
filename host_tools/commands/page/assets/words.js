// Sentences of the catalogue in the language that was chosen; numbers and dates as it writes them.

import { fixed, rounded } from "./rounding.js";

const PLACE = /\{(\w+)\}/g;

// How a language writes, where that is not by its bare name: the bare English is American.
const LOCALES = { en: "en-GB" };

let language = "en";
let catalogue = {};
let isNominal = false; // the device that answers has no calibration

/** Take the catalogue, sentences by language in the order of their keys, and choose a language. */
export function useWords(keys, words, wanted) {
  const byKey = ([each, sentences]) => [each, Object.fromEntries(sentences.map((s, i) => [keys[i], s]))];
  catalogue = Object.fromEntries(Object.entries(words).map(byKey));
  const short = (wanted || "en").slice(0, 2);
  language = short in catalogue ? short : "en";
  document.documentElement.lang = language;
  return language;
}

/** Return the languages that there are. */
export function languages() {
  return Object.keys(catalogue);
}

/** Return the language that was chosen. */
export function spoken() {
  return language;
}

/** Return what is asked of an ear of a result, by bone "right-bone". */
export function routeOf({ ear, transducer }) {
  return transducer ? `${ear}-${transducer}` : ear;
}

/** Return whether an ear of a result was tested by air. */
export function isByAir({ transducer }) {
  return !transducer;
}

/** Return what an ear of a result is called in the middle of a sentence. */
export function earName(ear) {
  return say(`${routeOf(ear)}_ear`);
}

/** Return whether there is a sentence of this key. */
export function hasWords(key) {
  return key in (catalogue[language] ?? {}) || key in (catalogue.en ?? {});
}

/** Take whether the device has no calibration: the levels that it plays are no dB HL then. */
export function useUnit(ofDevice) {
  isNominal = ofDevice;
}

/** Return the unit of levels, of what the device plays now, or of something else. */
export function unitOf({ nominal } = { nominal: isNominal }) {
  return say(nominal ? "remark_unit_nominal_db" : "remark_unit_db_hl");
}

/** Return the sentence of a key with these values in its places; a function says its own when asked. */
export function say(key, values = {}) {
  const sentence = catalogue[language]?.[key] ?? catalogue.en?.[key];
  if (sentence === undefined) {
    throw new Error(`the catalogue has no sentence ${key}`);
  }
  const valueOf = (value) => String(typeof value === "function" ? value() : value);
  return sentence.replace(PLACE, (place, name) => {
    if (name in values) {
      return valueOf(values[name]);
    }
    return name === "unit" ? unitOf() : place;
  });
}

/** Return a number as the language writes it, with so many decimals at most. */
export function number(value, decimals = 0) {
  const form = { maximumFractionDigits: decimals, useGrouping: false, signDisplay: "negative" }; // no -0
  return new Intl.NumberFormat(LOCALES[language] ?? language, form).format(rounded(value, decimals)).replace("-", "−");
}

/** Return a number that was written with a point as the language writes it. */
export function written(text) {
  const told = /[1-9]/.test(text) ? text : text.replace("-", ""); // there is no -0
  return told.replace("-", "−").replace(".", number(0.1, 1)[1]);
}

/** Return a number with one decimal, as the language writes it. */
export function oneDecimal(value) {
  return written(fixed(value, 1));
}

/** Return a day of ISO 8601 as the language writes it; the text itself if it is none. */
export function day(text) {
  const moment = new Date(`${text}T00:00Z`);
  if (Number.isNaN(moment.getTime())) {
    return text;
  }
  const form = { dateStyle: "long", timeZone: "UTC" };
  return new Intl.DateTimeFormat(LOCALES[language] ?? language, form).format(moment);
}

/** Return date and time of day as the language writes them; the text itself if it is none. */
export function dateAndTime(text) {
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) {
    return text;
  }
  const form = { dateStyle: "medium", timeStyle: "short" };
  return new Intl.DateTimeFormat(LOCALES[language] ?? language, form).format(moment);
}

const YEAR_MIN = 2026; // an earlier one is of a clock that was never set: as self_check.py has it

/** Return whether a time, ISO 8601, is one of a clock that was set. */
export const wasClockSet = (text) => Number(text.slice(0, 4)) >= YEAR_MIN;

/** Return so many seconds as minutes and seconds. */
export function clockTime(seconds) {
  const whole = Math.max(0, rounded(seconds, 0));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
