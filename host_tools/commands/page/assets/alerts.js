// What the operator is told above everything else: what went wrong, and what to do.

import { Misfit, NotEntered } from "./device.js";
import { at, fill, make, tell } from "./dom.js";
import { complain } from "./field.js";
import { asItSaid, wordsFor } from "./problems.js";
import { NotAllowed } from "./table.js";
import { Refused } from "./talk.js";
import { Lost } from "./ways.js";
import { say } from "./words.js";

const SHOWN_MAX = 3;
const EXPECTED = [Refused, Lost, Misfit, NotAllowed];

/** Tell of an error, at its field if it has one. */
export function problem(error, kind = "problem") {
  if (error instanceof NotEntered) {
    note(() => wordsFor(error).sentence);
    return;
  }
  if (error.field) {
    complain(error.field, () => wordsFor(error).sentence);
    return;
  }
  if (!EXPECTED.some((each) => error instanceof each)) {
    console.warn(error); // a fault of this page: whoever mends it wants to know where
  }
  alertOf(() => wordsFor(error), kind, error.number);
}

/** Tell what is no error; `words` returns it in the language that was chosen. */
export function note(words) {
  alertOf(() => ({ sentence: words() }), "note");
}

function alertOf(words, kind, number = "") {
  const box = make("div", { class: `alert ${kind}`, "data-number": `${number}` });
  tell(box, () => {
    const { sentence, detail } = words();
    const told = detail ? make("p", { class: "told" }, say("device_says"), " ", asItSaid(detail)) : null;
    const close = make("button", { type: "button", class: "close", onclick: () => box.remove() }, say("close"));
    return [make("p", {}, sentence), told, close];
  });
  [...at("problems").children].find((each) => each.textContent === box.textContent)?.remove();
  at("problems").prepend(box);
  at("problems").children[SHOWN_MAX]?.remove();
}

/** Take back what was told with such a number; what has none has 0. */
export function forget(isSuch) {
  for (const box of [...at("problems").children]) {
    if (isSuch(Number(box.dataset.number))) {
      box.remove();
    }
  }
}

/** Take back everything. */
export function forgetAll() {
  fill(at("problems"));
}
