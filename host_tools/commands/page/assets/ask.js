// A question to the operator that has to be answered before anything is done.

import { at, fill } from "./dom.js";
import { say } from "./words.js";

/** Ask; `yes` and `no` are the keys of the answers. Return "yes", "no", or "" if it was closed. */
export function askOperator(words, yes, no) {
  const dialog = at("ask-dialog");
  fill(at("ask-words"), words);
  fill(at("ask-yes"), say(yes));
  fill(at("ask-no"), say(no));
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}
