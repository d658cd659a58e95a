// What the operator is told above everything else, or at a field: what went wrong, and what to do.

import { at, fill, make, tell } from "./dom.js";
import { Trouble } from "./trouble.js";
import { say } from "./words.js";

const SHOWN_MAX = 3;
const SHOWN_LETTERS = 200;
const WRONG = "wrong";

/** Tell of an error, at its field if it has one. */
export function problem(error, kind = "problem") {
  if (!(error instanceof Trouble)) {
    console.warn(error); // a fault of this page: whoever mends it wants to know where
    alertOf(() => say("fault"), kind, "", plain(error?.message ?? error));
    return;
  }
  const words = () => say(error.key, error.values);
  if (error.field) {
    complain(error.field, words);
  } else {
    alertOf(words, error.kind === "not-entered" ? "note" : kind, error.number, plain(error.words));
  }
}

/** Tell what is no error; `words` returns it in the language that was chosen. */
export function note(words) {
  alertOf(words, "note");
}

function alertOf(words, kind, number = "", detail = "") {
  const box = make("div", { class: `alert ${kind}`, "data-number": `${number}` });
  tell(box, () => {
    const told = detail ? make("p", { class: "told" }, say("device_says"), " ", asItSaid(detail)) : null;
    const close = make("button", { type: "button", class: "close", onclick: () => box.remove() }, say("close"));
    return [make("p", {}, words()), told, close];
  });
  [...at("problems").children].find((each) => each.textContent === box.textContent)?.remove();
  at("problems").prepend(box);
  at("problems").children[SHOWN_MAX]?.remove();
}

/** Take back what was told with such a number, what has none has 0; or everything. */
export function forget(isSuch = () => true) {
  for (const box of [...at("problems").children]) {
    if (isSuch(Number(box.dataset.number))) {
      box.remove();
    }
  }
}

/** Return a text of a device as it may be shown: in one line, not too long, nothing unseen. */
export function plain(text) {
  const shown = [...String(text)].slice(0, SHOWN_LETTERS);
  const spelt = (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`;
  return shown.map((each) => (/[\p{C}\p{Zl}\p{Zp}]/u.test(each) ? spelt(each) : each)).join("");
}

/** Return what a device said in its own words as an element. */
export function asItSaid(words) {
  return make("span", { lang: "en" }, plain(words));
}

/** Say what is wrong with a field, and lead the operator there; it is gone when something is typed. */
function complain(id, words) {
  const field = at(id);
  mend(field);
  const told = make("small", { id: `${id}-${WRONG}`, class: WRONG, role: "alert" });
  field.closest("label").append(told);
  tell(told, words);
  field.setAttribute("aria-invalid", "true");
  const described = [field.getAttribute("aria-describedby"), told.id].filter(Boolean);
  field.setAttribute("aria-describedby", described.join(" "));
  const folded = field.closest("details");
  if (folded) {
    folded.open = true;
  }
  field.focus();
  for (const kind of ["input", "change"]) {
    field.addEventListener(kind, () => mend(field), { once: true });
  }
}

export function mendAll() {
  for (const field of document.querySelectorAll("[aria-invalid]")) {
    mend(field);
  }
}

function mend(field) {
  at(`${field.id}-${WRONG}`)?.remove();
  field.removeAttribute("aria-invalid");
  const left = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => !id.endsWith(WRONG));
  field.setAttribute("aria-describedby", left.join(" "));
}
