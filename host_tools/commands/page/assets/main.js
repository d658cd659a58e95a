// The page: what it consists of, and in which language it speaks.

import { note, problem } from "./alerts.js";
import { Call } from "./call.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { Device } from "./device.js";
import { at, fill, make, onClick, retell } from "./dom.js";
import { Follower } from "./follow.js";
import { KNOWS } from "./knowledge.js";
import { askPin } from "./pin.js";
import { Preparation } from "./prepare.js";
import { Result } from "./result.js";
import { Screen } from "./screen.js";
import { greet, selfTest, showLock } from "./selftest.js";
import { Table } from "./table.js";
import { Tidings } from "./tidings.js";
import { HandTone } from "./tone.js";
import { Tuning } from "./tuning.js";
import { say, spoken, translate, useWords } from "./words.js";

const LANGUAGE_KEPT = "gp-pta-language";

/** Say everything in a language from the beginning. */
function beginToSpeak() {
  const chosen = window.location.hash.slice(1) || localStorage.getItem(LANGUAGE_KEPT);
  useWords(KNOWS, chosen || navigator.language);
  translate();
  const options = Object.entries(KNOWS.languages).map(([each, name]) =>
    make("option", { value: each, lang: each, selected: each === spoken() }, name),
  );
  fill(at("language"), ...options);
}

class Page {
  #device;
  #screen;
  #preparation;
  #result;
  #tone;
  #tuning;
  #follower;
  #connection;

  constructor() {
    const call = new Call();
    this.#screen = new Screen(call);
    this.#device = new Device(
      new Table(KNOWS.commands),
      askPin,
      () => showLock(this.#device),
      (told, line) => tidings.take(told, line),
      (why) => this.#lost(why),
    );
    const device = this.#device;
    this.#result = new Result(device, KNOWS, problem);
    this.#follower = new Follower(device, this.#screen, call, () => this.#prepare(), this.#result);
    this.#preparation = new Preparation(device, KNOWS, () => this.#follower.refresh(), problem);
    this.#tone = new HandTone(device, problem);
    this.#tuning = new Tuning(device, call, problem);
    this.#connection = new Connection(device, this.#screen, () => this.#meet());
    const check = () => selfTest(device);
    const tidings = new Tidings(this.#screen, this.#follower, this.#tone, this.#tuning, check);
    onClick("check-again", () => check().catch(problem));
  }

  begin() {
    const controls = new Controls(this.#device, this.#screen, this.#follower);
    controls.listen((person, last) => this.#prepare(person, last), () => this.#result.whose);
    at("language").addEventListener("change", () => this.#speakIn(at("language").value));
    this.#follower.begin();
    this.#connection.begin();
    this.#screen.view("off");
  }

  async #meet() {
    greet(this.#device, KNOWS.version);
    await selfTest(this.#device);
    await showLock(this.#device);
    await this.#follower.refresh();
  }

  #lost(why) {
    this.#follower.loseSight();
    if (this.#screen.shown === "live") {
      note(() => say("test_goes_on"));
    }
    this.#connection.lost(why);
  }

  /** Prepare a test, of a person or of nobody yet; `last`: whose the last one is, if that is known. */
  async #prepare(person = null, last = null) {
    this.#follower.loseSight();
    await this.#preparation.load(person, last);
    await this.#tone.load();
    await this.#tuning.load();
    this.#screen.view("prepare");
    this.#tuning.callOperator();
    this.#screen.status("ready");
  }

  /** Say everything in another language, whatever is under way. */
  #speakIn(language) {
    localStorage.setItem(LANGUAGE_KEPT, language);
    window.location.replace(`#${language}`); // what was kept is not there at once
    useWords(KNOWS, language);
    translate();
    retell();
    for (const each of [this.#preparation, this.#follower.live, this.#result]) {
      each.retell();
    }
    this.#tuning.load().catch(problem);
  }
}

beginToSpeak();
// A page that the browser kept is not taken out again: it would be that of somebody else.
addEventListener("pageshow", (event) => event.persisted && location.reload());
new Page().begin();
