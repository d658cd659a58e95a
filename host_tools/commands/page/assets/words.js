// The language that was chosen, and what the page says in it.

import { Language } from "./say.js";

let chosen = "en";
let language = null;
let isNominal = false; // the device that answers has no calibration

/** Take the sentences, by language in the order of their codes, and choose a language. */
export function useWords({ codes, words, figures }, wanted) {
  const short = (wanted || "en").slice(0, 2);
  chosen = short in words ? short : "en";
  language = new Language(Object.fromEntries(codes.map((code, i) => [code, words[chosen][i]])), figures);
  document.documentElement.lang = chosen;
}

export function spoken() {
  return chosen;
}

/** Return the row of a sentence of the page, by its key; a figure may be another row. */
export function own(key, figures) {
  return { code: `page-${key}`, unit: isNominal ? "nominal-db" : "db-hl", ...figures };
}

/** Say a sentence of the page by its key, or rows and reasons. */
export function say(what, figures) {
  return language.say(typeof what === "string" ? own(what, figures) : what);
}

export function hasWords(key) {
  return language.has(`page-${key}`);
}

/** Take whether the device has no calibration: the levels that it plays are no dB HL then. */
export function useUnit(ofDevice) {
  isNominal = ofDevice;
}

/** Return the unit of levels, of what the device plays now, or of something else. */
export function unitOf({ nominal } = { nominal: isNominal }) {
  return say({ code: nominal ? "unit-nominal-db" : "unit-db-hl" });
}

/** Return what is asked of an ear of a result, by bone "right-bone". */
export function routeOf({ ear, transducer }) {
  return transducer ? `${ear}-${transducer}` : ear;
}

/** Return a number as the language writes it, with so many decimals, or without superfluous ones. */
export function number(value, decimals, isSigned) {
  return language.number(value, decimals, isSigned);
}

/** Return date and time of day, with the zone; the text itself if it is none. */
export function dateAndTime(iso) {
  return language.time(iso);
}

/** Return so many seconds as minutes and seconds. */
export function clockTime(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** Say what stands on the page from its beginning. */
export function translate() {
  for (const element of document.querySelectorAll("[data-say]")) {
    element.textContent = say(element.dataset.say);
  }
  for (const element of document.querySelectorAll("[data-code]")) {
    element.textContent = say({ code: element.dataset.code });
  }
}
