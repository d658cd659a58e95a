// The buttons and keys with which the operator runs a test.

import { problem } from "./alerts.js";
import { at, onClick } from "./dom.js";
import { forgetTyped, samePerson } from "./person.js";
import { showLock } from "./selftest.js";

export class Controls {
  #device;
  #screen;
  #follower;

  constructor(device, screen, follower) {
    this.#device = device;
    this.#screen = screen;
    this.#follower = follower;
  }

  /** `prepare` prepares a test of a person, and `whose` returns whose result is shown. */
  listen(prepare, whose) {
    this.#listenInTest();
    const next = (id, person) =>
      onClick(id, () => {
        const last = whose()?.session === Number(this.#follower.about.session) ? whose() : null;
        prepare(person(last), last).catch(problem);
      });
    next("same-person", samePerson);
    next("next-person", () => {
      forgetTyped();
      return {};
    });
    onClick("last-result", () => this.#follower.showResult());
    for (const id of ["unlock", "live-unlock", "result-unlock"]) {
      onClick(id, () => this.#unlock());
    }
    onClick("lock", () => this.#device.ask("SYST:LOCK").then(() => showLock(this.#device), problem));
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  #listenInTest() {
    onClick("pause", () => this.#pauseOrGoOn());
    onClick("abort", () => this.#abort());
    // The second click of two in a row was meant for the button that was there before.
    const goOn = (event) => event.detail > 1 || this.#ask("SESS:CONT");
    onClick("check-passed", goOn);
    onClick("same-go-on", goOn);
    onClick("another-end", () => this.#abort());
    for (const by of ["OPERATOR", "OTHER", "NOBODY"]) {
      onClick(`hear-${by.toLowerCase()}`, () => this.#ask("SESS:HEAR", { by }));
    }
    for (const named of ["LEFT", "RIGHT", "UNSURE"]) {
      onClick(`ear-${named.toLowerCase()}`, () => this.#ask("SESS:EAR", { named }));
    }
  }

  #ask(header, values) {
    return this.#device.askOperator(header, values).then(() => this.#follower.refresh(), problem);
  }

  #pauseOrGoOn() {
    const isPause = this.#follower.about.state !== "paused";
    this.#follower.isPausedHere = isPause;
    return this.#ask(isPause ? "SESS:PAUS" : "SESS:CONT");
  }

  #abort() {
    return this.#ask("SESS:ABOR");
  }

  /** Escape pauses and goes on; with the shift key E ends the test. */
  #key(event) {
    if (this.#screen.shown !== "live" || isForOthers(event)) {
      return;
    }
    if (event.key === "Escape" && !at("pause").disabled) {
      this.#pauseOrGoOn();
    } else if (event.key === "E" && event.shiftKey) {
      this.#abort();
    }
  }

  async #unlock() {
    try {
      await this.#device.unlock();
      await this.#follower.lookAgain();
    } catch (error) {
      problem(error);
    }
  }
}

/** Return whether a key was pressed in a field or a dialog, or with others, or is held down. */
function isForOthers(event) {
  const isTyping = event.target.closest("input, select, textarea, dialog");
  const hasOther = event.ctrlKey || event.altKey || event.metaKey;
  return Boolean(isTyping || hasOther || event.repeat || document.querySelector("dialog[open]"));
}
