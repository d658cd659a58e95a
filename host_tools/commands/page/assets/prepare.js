// Before a test: who is tested, how, and its start. Nothing here is of the person before.

import { mendAll, plain, problem } from "./alerts.js";
import { askOperator } from "./ask.js";
import { device } from "./device.js";
import { discomfortTyped, forgetDiscomfort, tellDiscomfort } from "./discomfort.js";
import { at, fill, make, onClick, show, tell } from "./dom.js";
import { KNOWS } from "./knowledge.js";
import { isLike, sessionsOf } from "./lines.js";
import { bindTyped, differencesOf, fillPerson, forgetTyped, personTyped } from "./person.js";
import { loadRoom, tellRoom } from "./room.js";
import { checkTyped, notAllowed } from "./trouble.js";
import { dateAndTime, number, own, say, unitOf } from "./words.js";

const LISTED_MAX = 50; // sessions that are looked through for an identifier
const OF_PERSON = ["sex", "born_year"]; // what one identifier has to agree in
const TEXTS = ["conduct", "first_ear", "routes", "masking", "confirm"];
const NUMBERS = ["level_max_db_hl", "tones_max", "stop_half_width_db"];
const SWITCHES = ["loud_confirmed", "unsure_button", "ask_all", "ear_check"];
const ORDERED = "gp-pta-ordered"; // whose test an order has had

export class Preparation {
  #settings = {};
  #configured = {};
  #isNamed = true; // whether the last test has an identifier
  // The person of an order, until a test of theirs has begun: a reload is no order for one more.
  #ordered = sessionStorage.getItem(ORDERED) === KNOWS.ordered?.identifier ? null : KNOWS.ordered;

  /** `onStarted` is called when the device has begun a test. */
  constructor(onStarted) {
    for (const kind of ["input", "change"]) {
      at("start-form").addEventListener(kind, () => this.#remind());
    }
    at("conduct").addEventListener("change", () => this.#byConduct());
    at("level_max_db_hl").addEventListener("input", () => this.#showLoud());
    for (const field of [at("unsure_button"), at("ear_check"), at("routes"), ...at("start-form").elements.ears]) {
      field.addEventListener("change", () => this.#instruct());
    }
    at("start-form").addEventListener("submit", (event) => {
      event.preventDefault();
      mendAll();
      this.#start().then(onStarted, problem);
    });
    onClick("new-person", () => {
      forgetTyped();
      forgetDiscomfort();
      this.load({}).then(() => {
        fillPerson();
        at("identifier").focus();
      }, problem);
    });
    this.#limits();
    fillPerson(this.#ordered ?? {});
  }

  /** Write what the table of settings allows into the fields. */
  #limits() {
    for (const name of NUMBERS) {
      const { low, high, unit } = KNOWS.settings[name];
      Object.assign(at(name), { min: low, max: high });
      // Others are words of one language.
      const shown = () => (name.endsWith("_db_hl") ? unitOf() : unit.startsWith("dB") ? unit : "");
      tell(at(`${name}-allowed`), () =>
        say("allowed", { low, high, unit: shown() }).trim(),
      );
    }
    for (const name of TEXTS) {
      const choices = KNOWS.settings[name].choices;
      const rightFirst = choices.toSorted((one, other) => (one === "left") - (other === "left"));
      fill(at(name), ...rightFirst.map((each) => optionOf(name, each)));
    }
  }

  /** Say it again in another language; what was typed and chosen stays. */
  retell() {
    if (this.#configured.ears) {
      this.#instruct();
      this.#remind();
      this.#showLoud();
    }
  }

  /**
   * Prepare a test as configured: of this person, `{}` of nobody yet, or of whoever was typed.
   * `last` tells whose the last test is, if that is known.
   */
  async load(person = null, last = null) {
    this.#settings = JSON.parse(await device.ask("SETT?"));
    this.#configured = JSON.parse(await device.ask("SETT:CONF?"));
    await loadRoom();
    if (person) {
      fillPerson(Object.keys(person).length > 0 ? person : this.#ordered ?? {});
      this.#isNamed = last === null || Boolean(last.identifier);
      const isSame = last !== null && Object.keys(person).length > 0;
      tell(at("same-note"), () => (isSame ? say("same_note", { number: last.session }) : ""));
    }
    for (const name of [...TEXTS, ...NUMBERS]) {
      at(name).value = this.#configured[name];
    }
    for (const name of SWITCHES) {
      at(name).checked = this.#configured[name];
    }
    at("start-form").elements.ears.value = this.#configured.ears.toUpperCase();
    this.#showLoud();
    this.#instruct();
    this.#remind();
  }

  /** Say beside Start what is otherwise than configured, and that nobody is named. */
  #remind() {
    const wanted = { ...this.#wanted(), ears: at("start-form").elements.ears.value.toLowerCase() };
    const differ = ["ears", ...TEXTS, ...NUMBERS, ...SWITCHES]
      .filter((name) => name !== "loud_confirmed" && wanted[name] !== this.#configured[name])
      .map((name) => {
        const [value, usual] = [wanted, this.#configured].map((each) => valueWords(name, each[name]));
        return make("li", {}, say("differs_line", { name: say(name), value, usual }));
      });
    const others = Object.entries(this.#settings).filter(
      ([name, value]) => !Object.hasOwn(wanted, name) && String(value) !== String(this.#configured[name]),
    );
    differ.push(...others.map(([name, value]) => make("li", { lang: "en" }, plain(`${name}: ${value}`))));
    fill(at("differs"), ...differ);
    show(at("differs-part"), differ.length > 0);
    show(at("new-person"), Object.values(personTyped()).some(Boolean));
    const key = this.#isNamed ? "unnamed" : "unnamed_again";
    fill(at("unnamed"), personTyped().identifier ? "" : say(key));
  }

  /** Show what follows from another conduct, which the device will set with it. */
  #byConduct() {
    const follows = KNOWS.conducts[at("conduct").value];
    for (const name of NUMBERS.filter((each) => each in follows)) {
      at(name).value = follows[name];
    }
    at("ear_check").checked = follows.ear_check;
    this.#instruct();
  }

  #showLoud() {
    const isLoud = Number(at("level_max_db_hl").value) > KNOWS.loud_db_hl;
    show(at("loud"), isLoud);
    if (!isLoud) {
      at("loud_confirmed").checked = false;
    }
  }

  /** Show the instruction that is read out to the listener. */
  #instruct() {
    const ears = at("start-form").elements.ears.value;
    fill(at("conduct-note"), say(`conduct_note_${at("conduct").value}`));
    show(at("ear_check-choice"), ears === "BOTH");
    const isSaid = {
      title: false,
      both_ears: ears === "BOTH",
      only_left: ears === "LEFT",
      only_right: ears === "RIGHT",
      ear_check: ears === "BOTH" && at("ear_check").checked,
      noise: ears === "BOTH",
      bone: at("routes").value !== "air",
      unsure_button: at("unsure_button").checked,
    };
    const spoken = KNOWS.instruction
      .filter((key) => isSaid[key] ?? true)
      .map((key) => make("p", {}, say({ code: `instruction-${key}` })));
    fill(at("instruction"), ...spoken);
  }

  async #start() {
    if (!(await this.#isAgreed())) {
      return;
    }
    const typed = personTyped();
    const told = this.#told(typed);
    const discomfort = discomfortTyped();
    this.#settings = JSON.parse(await device.ask("SETT?"));
    for (const [name, value] of this.#changes()) {
      await device.askOperator("SETT", { name, value });
    }
    await tellRoom();
    await device.askOperator("SESS:STAR", told);
    fillPerson(); // it is of this session, and of no other
    if (typed.identifier === this.#ordered?.identifier) {
      sessionStorage.setItem(ORDERED, typed.identifier);
      this.#ordered = null;
    }
    const begun = JSON.parse(await device.ask("SESS:IDEN?"));
    bindTyped(device.serial, begun, typed);
    await tellDiscomfort(discomfort);
  }

  /** Return whether the identifier is of one person, as far as the device and the operator know. */
  async #isAgreed() {
    if (!(await this.#isOrdered(personTyped()))) {
      return false;
    }
    const typed = personTyped();
    this.#told(typed); // what cannot be is refused before anything is asked
    discomfortTyped();
    this.#check();
    if (!typed.identifier) {
      return true;
    }
    const sessions = sessionsOf(await device.askOperator("SESS:LIST?", { count: LISTED_MAX }));
    let known = sessions.find((each) => each.identifier === typed.identifier);
    const like = known ?? sessions.find((each) => isLike(each.identifier, typed.identifier));
    if (like && !known) {
      const names = { known: like.identifier, typed: typed.identifier };
      const answer = await askOperator(say("ask_spelling", names), "ask_known", "ask_other");
      if (answer === "yes") {
        at("identifier").value = typed.identifier = like.identifier;
        known = like;
      } else if (!answer) {
        return false;
      }
    }
    return !known || this.#isSamePerson(known, typed);
  }

  /** Have the operator say who is tested, where the order is for another person than is typed. */
  async #isOrdered(typed) {
    const ordered = this.#ordered;
    if (!ordered || ordered.identifier === typed.identifier) {
      return true;
    }
    const names = { ordered: ordered.identifier, typed: typed.identifier || "-" };
    const answer = await askOperator(say("ask_order", names), "ask_known", "ask_other");
    if (answer === "yes") {
      fillPerson({ ...typed, ...ordered });
    }
    return Boolean(answer);
  }

  /** Have the operator say whether a session and what is typed now are of the same person. */
  async #isSamePerson(known, typed) {
    const { number: session } = known;
    const before = await this.#identityOf(session);
    const age = typed.birth_year ? ageOf(typed.birth_year) : null;
    const now = { started: new Date().toISOString(), age_years: age, sex: typed.sex };
    const rules = Object.fromEntries(OF_PERSON.map((field) => [field, KNOWS.visits[field]]));
    const differs = say(differencesOf(rules, before, now).map(differenceOf));
    const words = () => say("ask_same", { number: session, when: dateAndTime(known.started), differs });
    if (!differs || (await askOperator(words(), "same_person", "ask_other")) === "yes") {
      return true;
    }
    at("identifier").focus();
    return false;
  }

  /** Return whose a session is; one that cannot be read differs in nothing. */
  async #identityOf(session) {
    try {
      return JSON.parse(await device.askOperator("SESS:IDEN?", { number: session }));
    } catch (error) {
      if (error.kind === "refused") {
        return {};
      }
      throw error;
    }
  }

  /** Refuse what stands in the fields of the test if it cannot be. */
  #check() {
    for (const name of NUMBERS) {
      checkTyped(name, at(name).value, own(name), KNOWS.settings[name]);
    }
    if (!at("loud").hidden && !at("loud_confirmed").checked) {
      throw notAllowed("loud_missing", {}, "loud_confirmed");
    }
  }

  #told(typed) {
    const form = at("start-form").elements;
    const { birth_year: year, sex, identifier } = typed;
    if (/[\s,]/.test(identifier)) {
      throw notAllowed("value_word", { name: own("about_identifier"), value: identifier }, "identifier");
    }
    return {
      EAR: form.ears.value,
      ...(year ? { AGE: ageOf(year) } : {}),
      ...(sex ? { SEX: sex } : {}),
      ...(identifier ? { ID: identifier } : {}),
    };
  }

  #wanted() {
    return Object.fromEntries([
      ...TEXTS.map((name) => [name, at(name).value]),
      ...SWITCHES.map((name) => [name, at(name).checked]),
      ...NUMBERS.map((name) => [name, Number(at(name).value)]),
    ]);
  }

  /** Yield the settings that are not as the device has them, in an order that it takes. */
  *#changes() {
    const wanted = this.#wanted();
    const now = { ...this.#settings };
    if (wanted.conduct !== now.conduct) {
      Object.assign(now, KNOWS.conducts[wanted.conduct]);
      now.conduct = wanted.conduct;
      yield ["conduct", wanted.conduct];
    }
    const isQuieter = wanted.level_max_db_hl < now.level_max_db_hl;
    const order = isQuieter ? [...NUMBERS, ...TEXTS, ...SWITCHES] : [...SWITCHES, ...TEXTS, ...NUMBERS];
    for (const name of order) {
      if (wanted[name] !== now[name]) {
        yield [name, String(wanted[name]).replaceAll(", ", ";")]; // a list on the console
      }
    }
  }
}

function ageOf(year) {
  const now = new Date().getFullYear();
  const born = Number(year);
  if (!/^\d{4}$/.test(year) || born > now || born < now - 120) {
    const values = { value: year, low: now - 120, high: now };
    throw notAllowed("birth_year_wrong", values, "birth_year");
  }
  return now - born;
}

function optionOf(name, choice) {
  const option = make("option", { value: choice });
  tell(option, () => choiceWords(name, choice));
  return option;
}

function choiceWords(name, choice) {
  return say(`${name}_${choice.replaceAll(/[-, ]+/g, "_")}`);
}

/** Return in what two sessions differ, as a row. */
export function differenceOf({ field, one, other }) {
  const wordOf = (value) => (field === "sex" ? own(`sex_${value.toLowerCase()}`) : value === "none" ? "" : value);
  return { code: "differs", field: field.replace("_", "-"), one: wordOf(one), other: wordOf(other) };
}

function valueWords(name, value) {
  if (typeof value === "number") {
    return number(value);
  }
  return typeof value === "boolean" ? say(value ? "yes" : "no") : choiceWords(name, value);
}
