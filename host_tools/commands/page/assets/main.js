// The page: the way to the device, what is shown when, keys, and what the operator is told.

import { Call } from "./call.js";
import { Device, Misfit, NotEntered } from "./device.js";
import { at, fill, make, onClick, retell, show, tell } from "./dom.js";
import { complain, mendAll } from "./field.js";
import { KNOWS } from "./knowledge.js";
import { errorOf, isBoardLost, pairs } from "./lines.js";
import { Live, questionOf } from "./live.js";
import { forgetTyped, samePerson, whoseIs } from "./person.js";
import { Preparation } from "./prepare.js";
import { ofNumber, plain, wordsFor } from "./problems.js";
import { asItSaid, asTold, useRemarks } from "./remarks.js";
import { Result } from "./result.js";
import { NotAllowed, Table } from "./table.js";
import { Refused } from "./talk.js";
import { HandTone } from "./tone.js";
import { Tuning } from "./tuning.js";
import { bridgeUrl, BridgeWay, Lost, SerialWay } from "./ways.js";
import { dateAndTime, languages, say, spoken, useUnit, useWords } from "./words.js";

const LANGUAGE_KEPT = "gp-pta-language";
const PORT_KEPT = "gp-pta-port";
const RETRY_MS = 2000;
const BUSY_TRIES = 3; // the page that was reloaded may still be hanging up
const REFRESH_MS = 250;
const QUIET_MS = 6000; // then it is asked whether the device is still there
const CLOCK_APART_MS = 5 * 60 * 1000;
const PROBLEMS_SHOWN = 3;
const PIN_NEEDED = -203;
const DISK_REFUSES = -250; // what ended or left a test, and stays to be read when that is over
const NOT_NOW = -221;
const PART_STATES = { // key and class of what is said
  ok: ["works", "good"],
  FAULT: ["fails", "bad"],
  unchecked: ["unchecked", ""],
  none: ["uncalibrated", "bad"],
};
// After these there is a way again by itself, sooner or later.
const COMES_BACK = ["unplugged", "bridge_gone", "no_port", "silent", "no_answer"];
const AFFECTS_STATE = [
  "answer", "ear", "ear-over", "ear-again", "listener-check", "equipment-check", "ear-check", "earphones", "placing", "paused", "continued", "board-lost", "board-ready",
  "finished", "session", "session-over", "resumed", "void", "unmasked", "tone-generator",
];
const OF_TUNING = [
  "speech", "comparison", "again", "nobody-answers", "aid-lost", "aid-ready", "setting",
  "tuning", "tuning-over", "tuning-resumed", "hearing-aid",
];
const EXPECTED = [Refused, Lost, Misfit, NotAllowed];
// What the device told by a number, by the line that tells that it is mended.
const MENDED = { "board-ready": [101, -241], continued: [106, 109, 111] };
const OF_HAND = ["manual-tone", "manual-tone-over", "button-down", "button-up"];

class Page {
  constructor() {
    this.table = new Table(KNOWS.commands);
    this.device = new Device(
      this.table,
      (why) => askPin(why),
      () => this.showLock(),
      (told, line) => this.told(told, line),
      (why) => this.lost(why),
    );
    const problem = (error) => this.problem(error);
    this.preparation = new Preparation(this.device, KNOWS, () => this.refresh(), problem);
    this.result = new Result(this.device, KNOWS, problem);
    this.live = new Live();
    this.call = new Call();
    this.tone = new HandTone(this.device, problem);
    this.tuning = new Tuning(this.device, problem);
    this.shown = "";
    this.about = {};
    this.port = null;
    this.busyTries = 0;
    this.refreshing = null;
    this.isStale = false;
    this.isPausedHere = false; // by the operator, who is not called for that
    this.begun = 0; // tests, since this page was loaded
    this.resultOf = null; // how many had begun when the result was asked for that is shown
  }

  // The way to the device

  begin() {
    this.bridge = bridgeUrl();
    const hasSerial = "serial" in navigator;
    show(at("connect-serial"), !this.bridge && hasSerial);
    show(at("choose"), !this.bridge && hasSerial);
    show(at("connect-none"), !this.bridge && !hasSerial);
    onClick("choose", () => this.choose());
    onClick("again", () => this.connect());
    if (hasSerial && !this.bridge) {
      navigator.serial.addEventListener("connect", () => this.comeBack());
    }
    if (this.bridge) {
      this.connect();
    } else if (hasSerial && sessionStorage.getItem(PORT_KEPT)) {
      this.comeBack();
    }
    setInterval(() => this.lookAround(), QUIET_MS / 2);
    document.addEventListener("visibilitychange", () => this.lookAround());
  }

  async choose() {
    try {
      this.port = await navigator.serial.requestPort();
    } catch {
      return; // nothing was chosen
    }
    await this.connect();
  }

  /** Take the port again that was used before, if it is there. */
  async comeBack() {
    if (this.device.isThere || this.isConnecting) {
      return;
    }
    if (!this.bridge) {
      const known = sessionStorage.getItem(PORT_KEPT);
      const ports = await navigator.serial.getPorts();
      const likely = ports.filter((port) => JSON.stringify(port.getInfo()) === known);
      this.port = likely.find((port) => port === this.port) ?? likely[0] ?? null;
      if (!this.port) {
        return;
      }
    }
    await this.connect();
  }

  async connect() {
    if (this.isConnecting || this.device.isThere) {
      return;
    }
    this.isConnecting = true;
    clearTimeout(this.retry);
    this.status("connecting");
    try {
      await this.device.connect(this.bridge ? new BridgeWay(this.bridge) : new SerialWay(this.port));
      if (this.port) {
        sessionStorage.setItem(PORT_KEPT, JSON.stringify(this.port.getInfo()));
      }
      this.busyTries = 0;
      show(at("again"), false);
      fill(at("problems"));
      await this.met();
    } catch (error) {
      this.notConnected(error);
    } finally {
      this.isConnecting = false;
    }
  }

  notConnected(error) {
    const kind = error instanceof Lost ? error.kind : "";
    const isSelf = this.busyTries < BUSY_TRIES && ["busy", "in_use"].includes(kind);
    if (isSelf) {
      this.busyTries += 1;
    } else {
      this.problem(error, "connection");
    }
    this.view("off");
    this.status(error instanceof Misfit ? "misfit" : "off");
    if (isSelf) {
      this.retry = setTimeout(() => this.connect(), RETRY_MS);
    } else if (COMES_BACK.includes(kind)) {
      this.retry = setTimeout(() => this.comeBack(), RETRY_MS);
    }
    show(at("again"), Boolean(this.bridge || this.port) && !isSelf);
  }

  lost(why) {
    const wasTest = this.shown === "live";
    this.sawBegin = false;
    this.problem(why, "connection");
    if (wasTest) {
      this.note(() => say("test_goes_on"));
    }
    this.notConnected(why);
  }

  /** Ask, when nothing was heard for long, whether the device is still there. */
  lookAround() {
    const isQuiet = performance.now() - this.device.heardAt > QUIET_MS;
    if (this.device.isThere && isQuiet) {
      this.refresh();
    }
  }

  // The device

  async met() {
    fill(at("device-name"), `GP-PTA ${plain(this.device.version)}`);
    if (this.device.version !== KNOWS.version) {
      const versions = { device: plain(this.device.version), page: KNOWS.version };
      this.note(() => say("other_version", versions));
    }
    await this.check();
    await this.showLock();
    await this.refresh();
  }

  async check() {
    const parts = await this.device.selfTest();
    tell(at("parts"), () => parts.map((part) => this.part(part)));
    const faults = parts.filter(({ state }) => state === "FAULT").length;
    const fine = parts.some(({ state }) => state === "none") ? "check_uncalibrated" : "check_fine";
    tell(at("check-words"), () => say(faults ? "check_faults" : fine, { faults }));
    at("check").open = faults > 0;
    const here = new Date();
    const there = new Date(await this.device.ask("SYST:TIME?"));
    if (Math.abs(there - here) > CLOCK_APART_MS) {
      const clocks = () => ({ device: dateAndTime(there), here: dateAndTime(here) });
      this.note(() => say("clock_apart", clocks()));
    }
    const calibration = JSON.parse(await this.device.ask("CAL?"));
    const state = calibration.state.toLowerCase();
    useUnit(state === "uncalibrated");
    translate();
    retell();
    tell(at("calibration"), () => make("span", { title: say(`calibration_${state}`) }, say(state)));
    const isCalibrated = state === "calibrated" || state === "simulated";
    at("calibration").classList.toggle("good", isCalibrated);
    at("calibration").classList.toggle("bad", !isCalibrated);
  }

  part({ name, state, why }) {
    const [key, mark] = PART_STATES[state];
    const works = state !== "FAULT";
    const advice = works ? null : make("p", {}, say(`fault_${name}`));
    const time = why.code === "clock-says" ? dateAndTime(why.time) : null;
    const told = make("span", { class: "told" }, time ?? asTold([why]));
    const shown = make("span", { class: mark }, say(key));
    return make("li", {}, make("b", {}, say(`part_${name}`)), " ", shown, " ", told, advice);
  }

  async showLock() {
    const lock = await this.device.ask("SYST:PIN?");
    tell(at("lock-words"), () => say(`pin_${lock.toLowerCase()}`));
    show(at("unlock"), lock === "LOCKED");
    show(at("lock"), lock === "UNLOCKED");
  }

  // Where the test is

  /** Ask where the test is, once at a time, and once more if something has happened meanwhile. */
  refresh() {
    this.isStale = true;
    this.refreshing ??= this.keepFresh().finally(() => {
      this.refreshing = null;
    });
    return this.refreshing;
  }

  async keepFresh() {
    try {
      while (this.isStale && this.device.isThere) {
        this.isStale = false;
        await this.look();
        await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
      }
    } catch (error) {
      if (!(error instanceof Lost)) {
        this.problem(error); // what is lost was told already
      }
    }
  }

  async look() {
    const begun = this.begun;
    this.about = pairs(await this.device.ask("SESS:STAT?"));
    const { state } = this.about;
    const isLost = isBoardLost(this.about);
    this.board(isLost);
    const isTest = state !== "idle" && state !== "finished";
    if (isTest) {
      if (this.shown !== "live" && !this.sawBegin) {
        this.live.begin();
        this.live.takenUp();
      }
      const result = await this.resultSoFar();
      const session = Number(this.about.session);
      if (result && result.session !== session) {
        this.isStale = true; // meanwhile another test has begun
        return;
      }
      // Before the PIN only the number is told.
      const whose = result ? whoseIs(this.device.serial, result) : { session, typed: {} };
      this.view("live");
      this.live.state(this.about, result, whose);
      this.status(statusOf(this.about));
      this.callFor(this.about);
      return;
    }
    // A test that began and ended between two looks was not live.
    const wasTest = this.shown === "live" || this.sawBegin;
    if (state === "finished" && (wasTest || this.shown !== "prepare")) {
      await this.lookAtResult(begun);
      return;
    }
    if (this.shown !== "prepare") {
      await this.prepare();
    }
  }

  /** Call the operator, unless nothing is asked, or the operator had the test paused. */
  callFor(about) {
    const { check = "", ear = "", reasons = "", state } = about;
    const isPaused = state === "paused";
    if (isBoardLost(about)) {
      this.call.to("board", () => say("status_board_lost"), true);
    } else if (check || (isPaused && !this.isPausedHere)) {
      this.call.to(`${check} ${ear} ${reasons}`, () => questionOf(check || "pause", ear), isPaused);
    } else {
      this.call.end();
    }
  }

  /** Show the last test, of so many that began, once: what is laid over it by hand stays. */
  async lookAtResult(begun) {
    const before = this.shown;
    const result = await this.resultSoFar();
    if (result && (before !== "result" || this.resultOf !== begun)) {
      if (!(await this.result.showLast(result))) {
        this.isStale = true;
        return;
      }
      this.resultOf = begun;
    }
    if (this.shown !== before) {
      return; // meanwhile the operator went on to the next test
    }
    show(at("result-locked"), result === null);
    show(at("result-body"), result !== null);
    show(at("same-person"), result !== null);
    this.view("result");
    this.status("finished");
  }

  async resultSoFar() {
    if (this.isResultLocked) {
      return null;
    }
    try {
      return JSON.parse(await this.device.ask("SESS:RES?"));
    } catch (error) {
      if (error instanceof Refused && error.number === PIN_NEEDED) {
        this.isResultLocked = true; // each refusal would be one more error in the device's queue
        return null;
      }
      throw error;
    }
  }

  /** Prepare a test, of a person or of nobody yet; `last`: whose the last one is, if that is known. */
  async prepare(person = null, last = null) {
    this.sawBegin = false;
    await this.preparation.load(person, last);
    await this.tone.load();
    await this.tuning.load();
    this.view("prepare");
    this.status("ready");
  }

  view(name) {
    const was = this.shown;
    this.shown = name;
    if (was !== name && name !== "off" && was !== "off") {
      this.forget((number) => number !== DISK_REFUSES); // nothing old stands over what is shown now
      mendAll();
    }
    for (const each of ["off", "prepare", "live", "result"]) {
      show(at(`view-${each}`), each === name);
    }
    show(at("check"), name === "prepare");
    show(at("device"), name !== "off");
    if (name !== "live") {
      this.call.end();
    }
    if (was !== name && (was || name !== "off")) {
      at(`view-${name}`).querySelector("h2").focus();
    }
  }

  // What the device says unasked

  told({ what, about }, line) {
    if (!line.startsWith("!")) {
      const error = errorOf(line);
      if (error) {
        this.problem(new Refused(error.number, error.words));
      }
      return;
    }
    if (what === "tone" || what === "catch") {
      this.live.tone(about);
    } else if (what === "answer") {
      this.live.answer(about);
    } else if (what in MENDED) {
      this.forget((number) => MENDED[what].includes(number));
    } else if (what === "session") {
      this.forget((number) => number === DISK_REFUSES);
      this.isResultLocked = this.isPausedHere = false;
      this.sawBegin = true;
      this.begun += 1;
      this.live.begin();
    } else if (what === "error") {
      this.problem(new Refused(Number(about.number), about.words));
      if (Number(about.number) === DISK_REFUSES) {
        this.check().then(() => this.refresh()).catch((error) => this.problem(error));
      }
    } else if (OF_HAND.includes(what)) {
      this.tone.told(what, about);
    } else if (OF_TUNING.includes(what)) {
      this.tuning.told(what, about);
      this.tuning.load().catch((error) => this.problem(error));
    }
    if (what === "continued") {
      this.isPausedHere = false;
    }
    this.announce(what, about);
    if (AFFECTS_STATE.includes(what)) {
      this.refresh();
    }
  }

  /** Have a screen reader hear what changed; single tones it does not hear. */
  announce(what, about) {
    const board = { "board-lost": "board_lost", "board-ready": "board_ready" }[what];
    if (board) {
      this.board(what === "board-lost");
      this.status(board);
    } else if (what === "ear") {
      this.speak(() => say("now_ear", { ear: say(`ear_${about.ear}`) }));
    } else if (what === "ear-over") {
      const outcome = () => say(`outcome_${about.outcome.replaceAll("-", "_")}`);
      this.speak(() => say("ear_over", { ear: say(`ear_${about.ear}`), outcome: outcome() }));
    } else if (what === "ear-again") {
      this.speak(() => say("ear_again", { ear: say(`ear_${about.ear}`) }));
    } else if (what === "resumed") {
      this.note(() => say("resumed", { tones: about.tones }));
    }
  }

  // What the operator is told

  /** Show whether the tone generator answers. */
  board(isLost) {
    tell(at("board"), () => say(isLost ? "board_lost" : "board_ready"));
    at("board").classList.toggle("bad", isLost);
  }

  status(key) {
    this.speak(() => say(`status_${key}`));
    document.body.dataset.status = key;
  }

  speak(words) {
    if (at("status").textContent !== words()) {
      tell(at("status"), words);
    }
  }

  problem(error, kind = "") {
    if (error instanceof NotEntered) {
      this.note(() => wordsFor(error).sentence);
      return;
    }
    if (error.field) {
      complain(error.field, () => wordsFor(error).sentence);
      return;
    }
    if (!EXPECTED.some((kind) => error instanceof kind)) {
      console.warn(error); // a fault of this page: whoever mends it wants to know where
    }
    this.alert(() => wordsFor(error), kind || "problem", error.number);
  }

  note(words) {
    this.alert(() => ({ sentence: words() }), "note");
  }

  alert(words, kind, number = "") {
    const box = make("div", { class: `alert ${kind}`, "data-number": `${number}` });
    tell(box, () => {
      const { sentence, detail } = words();
      const told = detail ? make("p", { class: "told" }, say("device_says"), " ", asItSaid(detail)) : null;
      const close = make("button", { type: "button", class: "close", onclick: () => box.remove() }, say("close"));
      return [make("p", {}, sentence), told, close];
    });
    [...at("problems").children].find((each) => each.textContent === box.textContent)?.remove();
    at("problems").prepend(box);
    at("problems").children[PROBLEMS_SHOWN]?.remove();
  }

  /** Take back what was told with such a number; what has none has 0. */
  forget(isSuch) {
    for (const box of [...at("problems").children]) {
      if (isSuch(Number(box.dataset.number))) {
        box.remove();
      }
    }
  }

  // What the operator does

  listen() {
    const ask = (header, values) => () =>
      this.device.askOperator(header, values).then(() => this.refresh(), (error) => this.problem(error));
    this.pauseOrGoOn = () => {
      this.isPausedHere = this.about.state !== "paused";
      return ask(this.isPausedHere ? "SESS:PAUS" : "SESS:CONT")();
    };
    this.abort = ask("SESS:ABOR");
    onClick("pause", () => this.pauseOrGoOn());
    onClick("abort", () => this.abort());
    // The second click of two in a row was meant for the button that was there before.
    const goOn = (event) => event.detail > 1 || ask("SESS:CONT")();
    onClick("check-passed", goOn);
    for (const by of ["OPERATOR", "OTHER", "NOBODY"]) {
      onClick(`hear-${by.toLowerCase()}`, ask("SESS:HEAR", { by }));
    }
    for (const named of ["LEFT", "RIGHT", "UNSURE"]) {
      onClick(`ear-${named.toLowerCase()}`, ask("SESS:EAR", { named }));
    }
    const next = (id, person) =>
      onClick(id, () => {
        const { whose } = this.result;
        const last = whose?.session === Number(this.about.session) ? whose : null;
        this.prepare(person(last), last).catch((e) => this.problem(e));
      });
    next("same-person", samePerson);
    next("next-person", () => {
      forgetTyped();
      return {};
    });
    onClick("same-go-on", goOn);
    onClick("another-end", () => this.abort());
    onClick("last-result", () => this.showResult());
    onClick("check-again", () => this.check().catch((e) => this.problem(e)));
    for (const id of ["unlock", "live-unlock", "result-unlock"]) {
      onClick(id, () => this.unlock());
    }
    onClick("lock", () =>
      this.device.ask("SYST:LOCK").then(() => this.showLock(), (error) => this.problem(error)),
    );
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** Escape pauses and goes on; with the shift key E ends the test. */
  key(event) {
    const isTyping = event.target.closest("input, select, textarea, dialog");
    const hasOther = event.ctrlKey || event.altKey || event.metaKey;
    if (this.shown !== "live" || event.repeat || isTyping || hasOther || document.querySelector("dialog[open]")) {
      return;
    }
    if (event.key === "Escape" && !at("pause").disabled) {
      this.pauseOrGoOn();
    } else if (event.key === "E" && event.shiftKey) {
      this.abort();
    }
  }

  /** Say everything in another language, whatever is under way. */
  speakIn(language) {
    localStorage.setItem(LANGUAGE_KEPT, language);
    window.location.replace(`#${language}`); // what was kept is not there at once
    useWords(KNOWS.keys, KNOWS.words, language);
    translate();
    retell();
    for (const each of [this.preparation, this.live, this.result]) {
      each.retell();
    }
    this.tuning.load().catch((error) => this.problem(error));
  }

  async unlock() {
    try {
      await this.device.unlock();
      this.isResultLocked = false;
      if (this.shown === "result") {
        this.shown = "";
      }
      await this.refresh();
    } catch (error) {
      this.problem(error);
    }
  }

  async showResult() {
    this.shown = "";
    this.isResultLocked = false;
    await this.refresh();
    if (this.about.state === "idle") {
      await this.sayNoResult();
    }
  }

  /** Say why there is no result to show: there was no test, or it was one of an earlier format. */
  async sayNoResult() {
    try {
      const { session: number } = JSON.parse(await this.device.askOperator("SESS:RES?"));
      this.note(() => say("earlier_format", { number }));
    } catch (error) {
      if (error.number === NOT_NOW) {
        this.note(() => say("no_result"));
      } else {
        this.problem(error);
      }
    }
  }
}

/** Return what is under way, as a screen reader hears it. */
function statusOf(about) {
  const asked = { ear: "asking", placing: "placing" }[about.check];
  if (asked || about.state === "paused") {
    return asked ?? "paused";
  }
  return about.check ? "checking" : isBoardLost(about) ? "board_lost" : "under_way";
}

/** Ask for the PIN; return it, or null. */
function askPin(why) {
  const dialog = at("pin-dialog");
  at("pin").value = "";
  const told = make("span", { class: "told" }, say("device_says"), " ", asItSaid(why));
  fill(at("pin-why"), ...(why ? [say("pin_refused"), make("br"), told] : []));
  dialog.returnValue = "";
  dialog.showModal();
  at("pin").focus();
  return new Promise((resolve) => {
    dialog.addEventListener(
      "close",
      () => {
        const pin = at("pin").value.trim();
        at("pin").value = "";
        resolve(dialog.returnValue === "enter" && pin ? pin : null);
      },
      { once: true },
    );
  });
}

/** Say what stands on the page from its beginning. */
function translate() {
  for (const element of document.querySelectorAll("[data-say]")) {
    element.textContent = say(element.dataset.say);
  }
}

function offerLanguages() {
  const options = languages().map((each) => {
    const name = new Intl.DisplayNames([each], { type: "language" }).of(each);
    return make("option", { value: each, lang: each, selected: each === spoken() }, name);
  });
  fill(at("language"), ...options);
}

const chosen = window.location.hash.slice(1) || localStorage.getItem(LANGUAGE_KEPT);
useWords(KNOWS.keys, KNOWS.words, chosen || navigator.language);
useRemarks(KNOWS.remarks);
translate();
offerLanguages();
onClick("pin-cancel", () => at("pin-dialog").close(""));
const page = new Page();
at("language").addEventListener("change", () => page.speakIn(at("language").value));
// A page that the browser kept is not taken out again: it would be that of somebody else.
addEventListener("pageshow", (event) => event.persisted && location.reload());
page.listen();
page.begin();
page.view("off");
