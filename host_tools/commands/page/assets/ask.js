// Questions to the operator that have to be answered before anything is done.

import { asItSaid } from "./alerts.js";
import { at, fill, make, onClick } from "./dom.js";
import { say } from "./words.js";

onClick("pin-cancel", () => at("pin-dialog").close(""));

/** Ask; `yes` and `no` are the keys of the answers. Return "yes", "no", or "" if it was closed. */
export function askOperator(words, yes, no) {
  fill(at("ask-words"), words);
  fill(at("ask-yes"), say(yes));
  fill(at("ask-no"), say(no));
  return answerTo(at("ask-dialog"));
}

/** Ask for the PIN; `why` the last one was refused, "" at first. Return it, or null. */
export async function askPin(why) {
  at("pin").value = "";
  const told = make("span", { class: "told" }, say("device_says"), " ", asItSaid(why));
  fill(at("pin-why"), ...(why ? [say("pin_refused"), make("br"), told] : []));
  const answer = await answerTo(at("pin-dialog"), "pin");
  const pin = at("pin").value.trim();
  at("pin").value = "";
  return answer === "enter" && pin ? pin : null;
}

function answerTo(dialog, field) {
  dialog.returnValue = "";
  dialog.showModal();
  if (field) {
    at(field).focus();
  }
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}
