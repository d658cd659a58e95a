// The fit of a hearing aid, and its tuning by comparison, as the console has them.

import { problem } from "./alerts.js";
import { call } from "./call.js";
import { device } from "./device.js";
import { at, fill, make, onClick, show, table, tell } from "./dom.js";
import { pairs } from "./lines.js";
import { personTyped } from "./person.js";
import { number, own, say } from "./words.js";

const OVER = ["idle", "finished"];
const STATES = [...OVER, "paused", "waiting"]; // of which something is said; else it is under way
const DIMENSIONS = ["overall-db", "tilt-db", "mid-db", "soft-db"];
const NOTES_MAX = 20;

function signed(value_db) {
  return number(value_db, 1, true);
}

export class Tuning {
  #isPausedHere = false; // by the operator
  #isWaiting = false;

  constructor() {
    at("tune-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#start().then(() => this.load(), problem);
    });
    for (const answer of ["FIRST", "SECOND", "SAME"]) {
      const press = () => this.#do("TUNE:ANSW", { answer });
      onClick(`tune-${answer.toLowerCase()}`, press);
    }
    onClick("tune-pause", () => {
      const isPaused = at("tune-pause").getAttribute("aria-pressed") === "true";
      this.#isPausedHere = !isPaused;
      this.#do(isPaused ? "TUNE:CONT" : "TUNE:PAUS");
    });
    onClick("tune-abort", () => this.#do("TUNE:ABOR"));
    onClick("tune-result", () => this.#result().catch(problem));
  }

  async #start() {
    const identifier = personTyped().identifier;
    const count = at("tune-count").value;
    await device.askOperator("TUNE:STAR", {
      ...(identifier ? { ID: identifier } : {}),
      ...(count ? { COUNT: count } : {}),
    });
  }

  #do(header, values) {
    device.ask(header, values).then(() => this.load(), problem);
  }

  async #result() {
    const found = JSON.parse(await device.askOperator("TUNE:RES?"));
    tell(at("tune-found"), () => this.#found(found));
  }

  #found(found) {
    const { comparisons, same, silent } = found;
    const isNone = found.finding === "none"; // what was not found has no figure
    const rows = DIMENSIONS.map((name, i) => [
      say({ code: `dimension-${name}` }),
      signed(found.setting_db[i]),
      ...(isNone ? ["-", "-"] : wished(found, name, i)),
    ]);
    const columns = ["", say("tune_setting"), say("tune_wish"), say({ code: "row-band" })];
    const remarks = found.remarks.map((each) => make("p", {}, say(each)));
    const isWish = found.finding === "wish";
    return [
      make("div", { class: "scroll" }, table(say("tune_caption"), columns, rows)),
      make("p", {}, say("tune_counts", { comparisons, same, silent })),
      isWish ? make("p", {}, say("tune_found_wish")) : null,
      ...remarks,
    ];
  }

  /** Show where the tuning is; without a hearing aid at the device there is none. */
  async load() {
    show(at("tuning"), device.tunes);
    if (!device.tunes) {
      return;
    }
    const about = pairs(await device.ask("TUNE:STAT?"));
    const isUnderWay = !OVER.includes(about.state);
    const isPaused = about.state === "paused";
    show(at("tune-form"), !isUnderWay);
    show(at("tune-live"), isUnderWay);
    show(at("tune-result"), about.state !== "idle");
    fill(at("tune-fit"), say(about.aid === "ready" ? "tune_aid_ready" : "tune_aid_lost", { fit: about.fit }));
    fill(at("tune-pause"), say(isPaused ? "continue" : "pause"));
    at("tune-pause").setAttribute("aria-pressed", String(isPaused));
    fill(at("tune-state"), stateWords(about, isUnderWay));
    if (!isUnderWay || isPaused) {
      fill(at("tune-now"));
    }
    this.#isPausedHere &&= isPaused;
    this.#isWaiting = about.state === "waiting" || (isPaused && !this.#isPausedHere);
    this.callOperator();
  }

  /** Show what an unasked line of a tuning tells. */
  told(what, about) {
    if (what === "speech") {
      tell(at("tune-now"), () => say(`tune_sounds_${about.place}`, about));
    } else if (what === "comparison") {
      this.#note(() => say("tune_answered", { ...about, answer: own(`tune_${about.answer}`) }));
    } else if (what === "again" || what === "nobody-answers") {
      this.#note(() => say(what === "again" ? "tune_again" : "tune_nobody", about));
    } else if (what === "tuning") {
      fill(at("tune-told"));
      fill(at("tune-found"));
    }
  }

  /** Call the operator, where they see the tuning, while it waits, but not for their own pause. */
  callOperator() {
    if (at("view-prepare").hidden) {
      return;
    }
    if (this.#isWaiting) {
      call.to("tuning", () => at("tune-state").textContent, true);
    } else {
      call.end();
    }
  }

  #note(words) {
    const item = make("li");
    tell(item, words);
    at("tune-told").prepend(item);
    at("tune-told").children[NOTES_MAX]?.remove();
  }
}

/** Say what is wanted of a number, and its band; no figure of what may lie beyond its range. */
function wished({ wish_db, low_db, high_db, remarks }, dimension, i) {
  const end = remarks.find((remark) => remark.code === "range-end" && remark.dimension === dimension);
  if (end) {
    return [say({ ...end, code: "wish-end" }), "-"];
  }
  return [signed(wish_db[i]), say({ code: "band", low: signed(low_db[i]), high: signed(high_db[i]) })];
}

/** Say where a tuning is. */
function stateWords(about, isUnderWay) {
  const words = [say(`tune_${STATES.includes(about.state) ? about.state : "under_way"}`)];
  if (isUnderWay) {
    words.push(say("tune_done", { done: about.comparisons ?? 0, of: about.of ?? 0 }));
  }
  return words.join(" ");
}
