// A tone by hand while no test runs, and the listener's button as it is pressed.

import { at, fill } from "./dom.js";
import { limitsOf } from "./lines.js";
import { number, say } from "./words.js";

export class HandTone {
  #device;
  #limits = {};
  #isTold = false; // what became of the tone that was asked for last

  constructor(device, onProblem) {
    this.#device = device;
    at("tone-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#play().catch(onProblem);
    });
    at("tone-stop").addEventListener("click", () => this.#device.ask("TONE:STOP").catch(onProblem));
    for (const name of ["tone-ear", "tone-frequency"]) {
      at(name).addEventListener("change", () => this.#showLimit());
    }
  }

  /** Take the highest levels of the calibration from the device. */
  async load() {
    this.#limits = limitsOf(await this.#device.ask("CAL:LIM?"));
    this.#showLimit();
  }

  #showLimit() {
    const limit = this.#limits[at("tone-ear").value.toLowerCase()]?.[at("tone-frequency").value];
    at("tone-level").max = limit ?? "";
    fill(at("tone-limit"), limit === undefined ? "" : say("tone_limit", { level: number(limit) }));
  }

  async #play() {
    const noise = at("tone-noise").value;
    this.#isTold = false;
    await this.#device.ask("TONE", {
      ear: at("tone-ear").value,
      frequency: at("tone-frequency").value,
      level: at("tone-level").value,
      ...(noise ? { noise } : {}),
    });
    if (!this.#isTold) {
      fill(at("tone-told"), say("tone_asked"));
    }
  }

  /** Show what became of a tone, or that a button was pressed. */
  told(what, about) {
    const keys = { "manual-tone": "tone_sounds", "manual-tone-over": "tone_over" };
    if (keys[what]) {
      this.#isTold = true; // perhaps in the same breath as that it was taken
      fill(at("tone-told"), say(keys[what]));
    } else if (what === "button-down") {
      fill(at("button-told"), say("button_down", { button: about.button }));
    } else if (what === "button-up") {
      fill(at("button-told"), say("button_up", { button: about.button }));
    }
  }
}
