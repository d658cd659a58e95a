// Before a test: who is tested, how, and its start. What is typed stays in this tab.

import { at, fill, make, show } from "./dom.js";
import { NotAllowed } from "./table.js";
import { number, say } from "./words.js";

const KEPT = "gp-pta-person";
// What is typed of a person, by the id of its field; only the first ones ever reach the device.
const FIELDS = ["identifier", "birth_year", "sex", "name", "tester", "remarks"];
const TEXTS = ["conduct", "first_ear", "masking", "confirm"];
const NUMBERS = ["level_max_db_hl", "tones_max", "stop_half_width_db"];
const SWITCHES = ["loud_confirmed", "unsure_button", "ask_all", "ear_check"];

export class Preparation {
  #device;
  #knows;
  #settings = {};

  /** `onStarted` is called when the device has begun a test, `onProblem` with an error. */
  constructor(device, knows, onStarted, onProblem) {
    this.#device = device;
    this.#knows = knows;
    restore();
    for (const name of FIELDS) {
      at(name).addEventListener("input", keep);
    }
    at("conduct").addEventListener("change", () => this.#byConduct());
    at("level_max_db_hl").addEventListener("input", () => this.#showLoud());
    for (const field of [at("unsure_button"), at("ear_check"), ...at("start-form").elements.ears]) {
      field.addEventListener("change", () => this.#instruct());
    }
    at("start-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#start().then(onStarted, onProblem);
    });
    at("new-person").addEventListener("click", () => {
      forget();
      at("identifier").focus();
    });
    this.#limits();
  }

  /** Write what the table of settings allows into the fields. */
  #limits() {
    for (const name of NUMBERS) {
      const { low, high, unit } = this.#knows.settings[name];
      Object.assign(at(name), { min: low, max: high });
      const shown = unit.startsWith("dB") ? unit : ""; // others are words of one language
      const words = say("allowed", { low: number(low), high: number(high), unit: shown }).trim();
      fill(at(`${name}-allowed`), words);
    }
    for (const name of TEXTS) {
      const choices = this.#knows.settings[name].choices;
      const options = choices.map((each) =>
        make("option", { value: each }, say(`${name}_${each.replaceAll("-", "_")}`)),
      );
      fill(at(name), ...options);
    }
  }

  /** Take the settings of the next test from the device. */
  async load() {
    this.#settings = JSON.parse(await this.#device.ask("SETT?"));
    for (const name of [...TEXTS, ...NUMBERS]) {
      at(name).value = this.#settings[name];
    }
    for (const name of SWITCHES) {
      at(name).checked = this.#settings[name];
    }
    const ears = at("start-form").elements.ears;
    ears.value = this.#settings.ears.toUpperCase();
    this.#showLoud();
    this.#instruct();
  }

  /** Show what follows from another conduct, which the device will set with it. */
  #byConduct() {
    const follows = this.#knows.conducts[at("conduct").value];
    for (const name of NUMBERS.filter((each) => each in follows)) {
      at(name).value = follows[name];
    }
    at("ear_check").checked = follows.ear_check;
    this.#instruct();
  }

  #showLoud() {
    const isLoud = Number(at("level_max_db_hl").value) > this.#knows.loud_db_hl;
    show(at("loud"), isLoud);
    at("loud_confirmed").required = isLoud;
    if (!isLoud) {
      at("loud_confirmed").checked = false;
    }
  }

  /** Show the instruction that is read out to the listener. */
  #instruct() {
    const ears = at("start-form").elements.ears.value;
    show(at("ear_check-choice"), ears === "BOTH");
    const isSaid = {
      title: false,
      both_ears: ears === "BOTH",
      one_ear: ears !== "BOTH",
      ear_check: ears === "BOTH" && at("ear_check").checked,
      noise: ears === "BOTH",
      unsure_button: at("unsure_button").checked,
    };
    const ear = ears === "BOTH" ? "" : say(`${ears.toLowerCase()}_ear`);
    const spoken = this.#knows.instruction
      .filter((key) => isSaid[key] ?? true)
      .map((key) => make("p", {}, say(`instruction_${key}`, { ear })));
    fill(at("instruction"), ...spoken);
  }

  async #start() {
    const told = this.#told();
    for (const [name, value] of this.#changes()) {
      await this.#device.askOperator("SETT", { name, value });
    }
    // Those of this test: when it has begun, the device tells those of the next one.
    this.#settings = JSON.parse(await this.#device.ask("SETT?"));
    await this.#device.askOperator("SESS:STAR", told);
  }

  #told() {
    const form = at("start-form").elements;
    const year = at("birth_year").value.trim();
    const sex = at("sex").value;
    const identifier = at("identifier").value.trim();
    return {
      EAR: form.ears.value,
      ...(year ? { AGE: ageOf(year) } : {}),
      ...(sex ? { SEX: sex } : {}),
      ...(identifier ? { ID: identifier } : {}),
    };
  }

  /** Yield the settings that are not as the device has them, in an order that it takes. */
  *#changes() {
    const wanted = Object.fromEntries([
      ...TEXTS.map((name) => [name, at(name).value]),
      ...SWITCHES.map((name) => [name, at(name).checked]),
      ...NUMBERS.map((name) => [name, Number(at(name).value)]),
    ]);
    const now = { ...this.#settings };
    if (wanted.conduct !== now.conduct) {
      Object.assign(now, this.#knows.conducts[wanted.conduct]);
      now.conduct = wanted.conduct;
      yield ["conduct", wanted.conduct];
    }
    const isQuieter = wanted.level_max_db_hl < now.level_max_db_hl;
    const order = isQuieter ? [...NUMBERS, ...TEXTS, ...SWITCHES] : [...SWITCHES, ...TEXTS, ...NUMBERS];
    for (const name of order) {
      if (wanted[name] !== now[name]) {
        yield [name, String(wanted[name])];
      }
    }
  }

  /** Return how far a band was to reach to either side at a frequency, in dB. */
  wantedHalfWidth(hz) {
    return (this.#knows.wider_at_hz[hz] ?? 1) * (this.#settings.stop_half_width_db ?? Infinity);
  }
}

function ageOf(year) {
  const now = new Date().getFullYear();
  const born = Number(year);
  if (!/^\d{4}$/.test(year) || born > now || born < now - 120) {
    throw new NotAllowed("birth_year_wrong", { value: year, low: now - 120, high: now });
  }
  return now - born;
}

/** Return what was typed of the person, by field. */
export function personTyped() {
  return Object.fromEntries(FIELDS.map((name) => [name, at(name).value.trim()]));
}

function keep() {
  sessionStorage.setItem(KEPT, JSON.stringify(personTyped()));
}

function restore() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
  for (const name of FIELDS) {
    at(name).value = kept[name] ?? "";
  }
}

function forget() {
  sessionStorage.removeItem(KEPT);
  restore();
}
