// The fit of a hearing aid, and its tuning by comparison, as the console has them.

import { at, fill, make, onClick, show, table, tell } from "./dom.js";
import { pairs } from "./lines.js";
import { personTyped } from "./person.js";
import { asTold } from "./remarks.js";
import { rounded } from "./rounding.js";
import { number, say } from "./words.js";

const OVER = ["idle", "finished"];
const STATES = [...OVER, "paused", "waiting"]; // of which something is said; else it is under way
const DIMENSIONS = ["overall_db", "tilt_db", "mid_db", "soft_db"];
const NOTES_MAX = 20;

/** Return a difference as it is written with its sign; there is no -0. */
function signed(value_db) {
  return `${rounded(value_db, 1) > 0 ? "+" : ""}${number(value_db, 1)}`;
}

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
      onClick(`tune-${answer.toLowerCase()}`, press);
    }
    onClick("tune-pause", () => {
      const isPaused = at("tune-pause").getAttribute("aria-pressed") === "true";
      this.#do(isPaused ? "TUNE:CONT" : "TUNE:PAUS");
    });
    onClick("tune-abort", () => this.#do("TUNE:ABOR"));
    onClick("tune-result", () => this.#result().catch(onProblem));
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
    tell(at("tune-found"), () => this.#found(found));
  }

  #found(found) {
    const isNone = found.finding === "none"; // what was not found has no figure
    const rows = DIMENSIONS.map((name, i) => [
      say(`tune_${name}`),
      signed(found.setting_db[i]),
      isNone ? "-" : signed(found.wish_db[i]),
      isNone ? "-" : say("from_to", { low: signed(found.low_db[i]), high: signed(found.high_db[i]) }),
    ]);
    const columns = ["", say("tune_setting"), say("tune_wish"), say("column_band")];
    const remarks = found.remarks.map((each) => make("p", {}, asTold([each])));
    const isWish = found.finding === "wish";
    return [
      make("div", { class: "scroll" }, table(say("tune_caption"), columns, rows)),
      make("p", {}, say("tune_counts", found)),
      isWish ? make("p", {}, say("tune_found_wish")) : null,
      ...remarks,
    ];
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
    const words = [say(`tune_${STATES.includes(about.state) ? about.state : "under_way"}`)];
    words.push(isUnderWay ? say("tune_done", done) : null);
    words.push(isUnderWay && regret ? say("tune_regret", { regret }) : null);
    fill(at("tune-state"), words.filter(Boolean).join(" "));
    if (!isUnderWay || isPaused) {
      fill(at("tune-now"));
    }
  }

  /** Show what an unasked line of a tuning tells. */
  told(what, about) {
    if (what === "speech") {
      tell(at("tune-now"), () => say(`tune_sounds_${about.place}`, about));
    } else if (what === "comparison") {
      this.#note(() => say("tune_answered", { ...about, answer: say(`tune_${about.answer}`) }));
    } else if (what === "again" || what === "nobody-answers") {
      this.#note(() => say(what === "again" ? "tune_again" : "tune_nobody", about));
    } else if (what === "tuning") {
      fill(at("tune-told"));
      fill(at("tune-found"));
    }
  }

  #note(words) {
    const item = make("li");
    tell(item, words);
    at("tune-told").prepend(item);
    at("tune-told").children[NOTES_MAX]?.remove();
  }
}
