// Whether there was a test, in words.

import { make } from "./dom.js";
import { asTold } from "./remarks.js";
import { earName, say } from "./words.js";

/** Return a verdict in a word or two. */
export function verdictWord(ear) {
  return say(keyOf(ear));
}

/** Return the verdicts in short; one word if they are the same. */
export function shortVerdict(ears) {
  const isSame = new Set(ears.map(verdictWord)).size === 1;
  const told = (ear) => say("verdict_short", { ear: earName(ear), verdict: verdictWord(ear) });
  return isSame ? verdictWord(ears[0]) : ears.map(told).join("; ");
}

/** Return in the middle of a sentence why nothing follows from thresholds; "": it may. */
export function whyNothingFollows(ear) {
  return ear.may_conclude ? "" : say(`${keyOf(ear)}_why`);
}

/** Return the verdict on each ear with its reasons, or one that is true of all, as elements. */
export function verdictsOf(ears) {
  const isSame = new Set(ears.map((ear) => JSON.stringify([ear.verdict, ear.reasons]))).size === 1;
  return (isSame ? ears.slice(0, 1) : ears).map((ear) => told(ear, isSame));
}

function told(ear, isOfAll) {
  const isValid = ear.may_conclude;
  const word = verdictWord(ear);
  const parts = { verdict: isValid ? word : word.toLocaleUpperCase(), ear: earName(ear) };
  const reasons = ear.reasons.map((each) => make("li", {}, asTold([each])));
  return make(
    "div",
    { class: isValid ? "verdict" : "verdict alert warning" },
    make("b", {}, say(isOfAll ? "verdict_of_test" : "verdict_of_ear", parts)),
    reasons.length ? make("ul", {}, ...reasons) : null,
    isValid ? null : make("p", {}, say(`${keyOf(ear)}_means`)),
  );
}

function keyOf(ear) {
  return `verdict_${ear.verdict.replaceAll("-", "_")}`;
}
