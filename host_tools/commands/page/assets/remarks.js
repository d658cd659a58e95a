// What the device tells in English, in the language that was chosen; `remarks.py` does the same.

import { make } from "./dom.js";
import { plain } from "./problems.js";
import { day, englishOf, say, written } from "./words.js";

const NESTED_MAX = 4;
const BETWEEN = "; ";
const SAID = {
  ear: (ear) => say(ear.replace(" ", "_")),
  verdict: (verdict) => say(`retest_${verdict}`),
  told: plain,
  boards: (boards) => plain(boards).replace(/left ear|right ear/g, (ear) => SAID.ear(ear)),
  one: valueOf,
  other: valueOf,
  frequencies_hz: plain,
  time: plain,
  date: day,
  due: day,
  today: day,
};

function valueOf(text) {
  return text === "none" ? say("remark_nothing") : plain(text);
}

let forms = [];
let sentences = {};

/** Take what may stand in the places of recorded sentences, and which places have sentences. */
export function useRemarks(knows) {
  const longest = englishOf(knows.prefix).sort(([, one], [, other]) => other.length - one.length);
  forms = longest.map(([key, sentence]) => [key, formOf(sentence, knows)]);
  sentences = knows.sentences;
}

/** Return what an English sentence looks like with its places filled. */
function formOf(sentence, { places, number }) {
  const parts = sentence
    .split(/\{(\w+)\}/)
    .map((part, i) => (i % 2 ? `(?<${part}>${places[part] ?? number})` : part.replace(/[^\w\s]/g, "\\$&")));
  return new RegExp(`^${parts.join("")}$`);
}

/** Return what the device told as the language has it; null if the catalogue does not know it. */
export function inWords(told) {
  const parts = told.split(BETWEEN).map((part) => said(part, NESTED_MAX));
  return parts.includes(null) ? said(told, NESTED_MAX) : parts.join(BETWEEN);
}

/** Return it as an element; what is not known stays in English, and is marked as that. */
export function asTold(told) {
  const words = inWords(told);
  const attributes = words === null ? { lang: "en" } : {};
  return make("span", attributes, (words ?? plain(told)).replaceAll("+-", "±"));
}

function said(told, deep) {
  for (const [key, form] of deep > 0 ? forms : []) {
    const found = form.exec(told);
    const parts = Object.entries(found?.groups ?? {}).map(([name, text]) => [name, part(name, text, deep)]);
    if (found && parts.every(([, words]) => words !== null)) {
      return say(key, Object.fromEntries(parts));
    }
  }
  return null;
}

function part(name, text, deep) {
  if (name in sentences) {
    return text && several(text, sentences[name], deep - 1);
  }
  return (SAID[name] ?? written)(text);
}

/** Return sentences beside one another; a sentence may have the same comma in it. */
function several(text, between, deep) {
  const whole = said(text, deep);
  if (whole !== null || !between) {
    return whole;
  }
  for (let at = text.indexOf(between); at >= 0; at = text.indexOf(between, at + 1)) {
    const first = said(text.slice(0, at), deep);
    const others = first === null ? null : several(text.slice(at + between.length), between, deep);
    if (others !== null) {
      return first + between + others;
    }
  }
  return null;
}
