// The buttons and keys with which the operator runs a test.

import { problem } from "./alerts.js";
import { device } from "./device.js";
import { at, onClick } from "./dom.js";
import { forgetTyped, samePerson } from "./person.js";
import { screen } from "./screen.js";
import { showLock } from "./selftest.js";

/** `prepare` prepares a test of a person, and `whose` returns whose result is shown. */
export function listen(follower, prepare, whose) {
  const ask = (header, values) => device.askOperator(header, values).then(() => follower.refresh(), problem);
  const abort = () => ask("SESS:ABOR");
  const pauseOrGoOn = () => {
    follower.isPausedHere = follower.about.state !== "paused";
    return ask(follower.isPausedHere ? "SESS:PAUS" : "SESS:CONT");
  };
  listenInTest(ask, abort, pauseOrGoOn);
  const next = (id, person) =>
    onClick(id, () => {
      const last = whose()?.session === Number(follower.about.session) ? whose() : null;
      prepare(person(last), last).catch(problem);
    });
  next("same-person", samePerson);
  next("next-person", () => {
    forgetTyped();
    return {};
  });
  onClick("last-result", () => follower.showResult());
  for (const id of ["unlock", "live-unlock", "result-unlock"]) {
    onClick(id, () => device.unlock().then(() => follower.lookAgain()).catch(problem));
  }
  onClick("lock", () => device.ask("SYST:LOCK").then(() => showLock(), problem));
  listenToKeys(abort, pauseOrGoOn);
}

/** Escape pauses and goes on; with the shift key E ends the test. */
function listenToKeys(abort, pauseOrGoOn) {
  document.addEventListener("keydown", (event) => {
    if (screen.shown !== "live" || isForOthers(event)) {
      return;
    }
    if (event.key === "Escape" && !at("pause").disabled) {
      pauseOrGoOn();
    } else if (event.key === "E" && event.shiftKey) {
      abort();
    }
  });
}

function listenInTest(ask, abort, pauseOrGoOn) {
  onClick("pause", pauseOrGoOn);
  onClick("abort", abort);
  // The second click of two in a row was meant for the button that was there before.
  const goOn = (event) => event.detail > 1 || ask("SESS:CONT");
  onClick("check-passed", goOn);
  onClick("same-go-on", goOn);
  onClick("another-end", abort);
  for (const by of ["OPERATOR", "OTHER", "NOBODY"]) {
    onClick(`hear-${by.toLowerCase()}`, () => ask("SESS:HEAR", { by }));
  }
  for (const named of ["LEFT", "RIGHT", "UNSURE"]) {
    onClick(`ear-${named.toLowerCase()}`, () => ask("SESS:EAR", { named }));
  }
}

/** Return whether a key was pressed in a field or a dialog, or with others, or is held down. */
function isForOthers(event) {
  const isTyping = event.target.closest("input, select, textarea, dialog");
  const hasOther = event.ctrlKey || event.altKey || event.metaKey;
  return Boolean(isTyping || hasOther || event.repeat || document.querySelector("dialog[open]"));
}
