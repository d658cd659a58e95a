// Why a test is broken off, and what the operator can say to it.

import { at, fill, show } from "./dom.js";
import { reasonsOf } from "./lines.js";
import { dateAndTime, say } from "./words.js";

export const IDENTITY = "identity"; // the check whether it is the same person
const CONTINUED = ["listener", "silence", "earphones", "placing"]; // which Continue ends
const WITHOUT_PAUSE = [IDENTITY, "placing", "earphones"]; // these end only at a button of their own

/** Return whether a check is answered by a button of its own: Escape may have been meant as a pause. */
export function isHeldBy(check) {
  return WITHOUT_PAUSE.includes(check);
}

/** Return what a check asks the operator, "" for a pause as well. */
export function questionOf(check, ear) {
  return say(`check_${check || "pause"}`, ear ? { ear } : {});
}

/** Say whose the test is: by the name if one was typed for it, and the identifier, or that it has none. */
export function whoseWords({ typed, identifier, session }) {
  const who = [typed.name, identifier].filter(Boolean);
  // Of whom the device tells nothing yet only the number is known.
  const named = who.length || identifier === undefined ? who : [say("no_name")];
  return [...named, say("whose_session", { number: session })].join(" · ");
}

/** Show what a check asks, and what can be answered; without a check, nothing. */
export function showCheck(about, whose) {
  const { check, ear } = about;
  show(at("live-check"), Boolean(check));
  if (!check) {
    return;
  }
  at("live-check").classList.toggle("warning", check === "pause");
  fill(at("check-question"), questionOf(check, ear));
  fill(at("check-why"), say(reasonsOf(about)));
  fill(at("check-note"), say(`check_${check}_note`));
  const isAsked = [IDENTITY, "pause"].includes(check);
  const begun = whose.started ? [say("whose_begun", { when: dateAndTime(whose.started) })] : [];
  fill(at("check-whose"), isAsked ? [whoseWords(whose), ...begun].join(" · ") : "");
  const answers = {
    "check-passed": CONTINUED.includes(check),
    "same-go-on": isAsked,
    "another-end": isAsked,
    "hear-operator": ["silence", "equipment"].includes(check),
    "hear-other": ["silence", "equipment"].includes(check),
    "hear-nobody": check === "equipment",
    "ear-left": check === "ear",
    "ear-right": check === "ear",
    "ear-unsure": check === "ear",
  };
  for (const [id, isShown] of Object.entries(answers)) {
    show(at(id), isShown);
  }
}
