// A tone by hand while no test runs, and the listener's button as it is pressed.

import { mendAll, problem } from "./alerts.js";
import { device } from "./device.js";
import { at, onClick, tell } from "./dom.js";
import { limitsOf } from "./lines.js";
import { sounds } from "./loud.js";
import { checkTyped } from "./trouble.js";
import { own, say } from "./words.js";

export class HandTone {
  #limits = null;
  #isTold = false; // what became of the tone that was asked for last

  constructor() {
    at("tone-form").addEventListener("submit", (event) => {
      event.preventDefault();
      mendAll();
      this.#play().catch(problem);
    });
    onClick("tone-stop", () => device.ask("TONE:STOP").catch(problem));
    for (const name of ["tone-ear", "tone-frequency"]) {
      at(name).addEventListener("change", () => this.#showLimit());
    }
  }

  /** Take from the device what a tone may be now: each allows the next one more. */
  async load() {
    this.#limits = limitsOf(await device.ask("TONE:LIM?"));
    this.#showLimit();
  }

  get #bounds() {
    const { low, ...highest } = this.#limits;
    return { low, high: highest[at("tone-ear").value.toLowerCase()][at("tone-frequency").value] };
  }

  #showLimit() {
    if (this.#limits) {
      const { low, high } = this.#bounds;
      tell(at("tone-limit"), () => say("tone_limit", { low, high }));
    }
  }

  async #play() {
    const noise = at("tone-noise").value;
    const { value } = at("tone-level");
    checkTyped("tone-level", value, own("tone_level"), this.#bounds);
    this.#isTold = false;
    await device.ask("TONE", {
      ear: at("tone-ear").value,
      frequency: at("tone-frequency").value,
      level: value,
      ...(noise ? { noise } : {}),
    });
    if (!this.#isTold) {
      tell(at("tone-told"), () => say("tone_asked"));
    }
  }

  told(what, about) {
    const keys = { __proto__: null, "manual-tone": "tone_sounds", "manual-tone-over": "tone_over" };
    if (keys[what]) {
      sounds("hand", about.level_db_hl, about.noise_db_hl);
      this.#isTold = true; // perhaps in the same breath as that it was taken
      tell(at("tone-told"), () => say(keys[what]));
      this.load().catch(problem);
    } else if (what === "button-down" || what === "button-up") {
      tell(at("button-told"), () => say(what === "button-down" ? "button_down" : "button_up", { button: about.button }));
    }
  }
}
