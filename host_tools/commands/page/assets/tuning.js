// The fit of a hearing aid, and its tuning by comparison, as the console has them.

import { at, fill, make, show } from "./dom.js";
import { pairs } from "./lines.js";
import { personTyped } from "./prepare.js";
import { plain } from "./problems.js";
import { number, say } from "./words.js";

const OVER = ["idle", "finished"];

export class Tuning {
  #device;
  #problem;

  constructor(device, onProblem) {
    this.#device = device;
    this.#problem = onProblem;
    at("tune-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#start().then(() => this.load(), onProblem);
    });
    for (const answer of ["FIRST", "SECOND", "SAME"]) {
      const press = () => this.#do("TUNE:ANSW", { answer });
      at(`tune-${answer.toLowerCase()}`).addEventListener("click", press);
    }
    at("tune-pause").addEventListener("click", () => {
      const isPaused = at("tune-pause").getAttribute("aria-pressed") === "true";
      this.#do(isPaused ? "TUNE:CONT" : "TUNE:PAUS");
    });
    at("tune-abort").addEventListener("click", () => this.#do("TUNE:ABOR"));
    at("tune-result").addEventListener("click", () => this.#result().catch(onProblem));
  }

  async #start() {
    const identifier = personTyped().identifier;
    const count = at("tune-count").value;
    await this.#device.askOperator("TUNE:STAR", {
      ...(identifier ? { ID: identifier } : {}),
      ...(count ? { COUNT: count } : {}),
    });
  }

  #do(header, values) {
    this.#device.ask(header, values).then(() => this.load(), this.#problem);
  }

  async #result() {
    const found = JSON.parse(await this.#device.askOperator("TUNE:RES?"));
    fill(at("tune-found"), plain(JSON.stringify(found)));
  }

  /** Show where the tuning is; without a hearing aid at the device there is none. */
  async load() {
    show(at("tuning"), this.#device.tunes);
    if (!this.#device.tunes) {
      return;
    }
    const about = pairs(await this.#device.ask("TUNE:STAT?"));
    const isUnderWay = !OVER.includes(about.state);
    const isPaused = about.state === "paused";
    show(at("tune-form"), !isUnderWay);
    show(at("tune-live"), isUnderWay);
    show(at("tune-result"), about.state !== "idle");
    fill(at("tune-fit"), say(about.aid === "ready" ? "tune_aid_ready" : "tune_aid_lost", { fit: about.fit }));
    fill(at("tune-pause"), say(isPaused ? "continue" : "pause"));
    at("tune-pause").setAttribute("aria-pressed", String(isPaused));
    const done = { done: about.comparisons ?? 0, of: about.of ?? 0 };
    const regret = about.expected_regret && number(Number(about.expected_regret), 2);
    const words = [say("tune_state", { state: about.state }), isUnderWay ? say("tune_done", done) : null];
    words.push(regret ? say("tune_regret", { regret }) : null);
    fill(at("tune-state"), words.filter(Boolean).join(" "));
  }

  /** Show what an unasked line of a tuning tells. */
  told(what, about) {
    const figures = Object.entries(about).map(([name, value]) => `${name} ${plain(value)}`);
    at("tune-told").prepend(make("li", {}, `${what}: ${figures.join(", ")}`));
    at("tune-told").children[20]?.remove();
  }
}
