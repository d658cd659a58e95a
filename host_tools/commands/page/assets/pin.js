// The operator's PIN.

import { at, fill, make, onClick } from "./dom.js";
import { asItSaid } from "./problems.js";
import { say } from "./words.js";

onClick("pin-cancel", () => at("pin-dialog").close(""));

/** Ask for the PIN; `why` the last one was refused, "" at first. Return it, or null. */
export function askPin(why) {
  const dialog = at("pin-dialog");
  at("pin").value = "";
  const told = make("span", { class: "told" }, say("device_says"), " ", asItSaid(why));
  fill(at("pin-why"), ...(why ? [say("pin_refused"), make("br"), told] : []));
  dialog.returnValue = "";
  dialog.showModal();
  at("pin").focus();
  return new Promise((resolve) => {
    dialog.addEventListener(
      "close",
      () => {
        const pin = at("pin").value.trim();
        at("pin").value = "";
        resolve(dialog.returnValue === "enter" && pin ? pin : null);
      },
      { once: true },
    );
  });
}
