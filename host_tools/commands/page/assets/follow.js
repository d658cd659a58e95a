// Where the test of the device is, and the view that belongs to that.

import { note, problem } from "./alerts.js";
import { call } from "./call.js";
import { device } from "./device.js";
import { at, show } from "./dom.js";
import { isBoardLost, pairs } from "./lines.js";
import { Live, questionOf } from "./live.js";
import { whoseIs } from "./person.js";
import { screen } from "./screen.js";
import { say } from "./words.js";

const REFRESH_MS = 250;
const QUIET_MS = 6000; // then it is asked whether the device is still there
const PIN_NEEDED = -203;
const NOT_NOW = -221;

export class Follower {
  #prepare;
  #result;
  #refreshing = null;
  #isStale = false;
  #isResultLocked = false;
  #sawBegin = false;
  #begun = 0; // tests, since this page was loaded
  #resultOf = null; // how many had begun when the result was asked for that is shown

  live = new Live();
  about = {}; // what SESS:STAT? told last
  isPausedHere = false; // by the operator, who is not called for that

  /** `onIdle` prepares a test; `result` shows one. */
  begin(onIdle, result) {
    this.#prepare = onIdle;
    this.#result = result;
    setInterval(() => this.#lookAround(), QUIET_MS / 2);
    document.addEventListener("visibilitychange", () => this.#lookAround());
  }

  /** Ask, when nothing was heard for long, whether the device is still there. */
  #lookAround() {
    const isQuiet = performance.now() - device.heardAt > QUIET_MS;
    if (device.isThere && isQuiet) {
      this.refresh();
    }
  }

  hasBegun() {
    this.#isResultLocked = this.isPausedHere = false;
    this.#sawBegin = true;
    this.#begun += 1;
    this.live.begin();
  }

  /** Take that nothing is known of a test that begins from now on, or ends. */
  loseSight() {
    this.#sawBegin = false;
  }

  /** Ask for the result again, whether it was locked or is shown. */
  async lookAgain() {
    this.#isResultLocked = false;
    if (screen.shown === "result") {
      screen.leave();
    }
    await this.refresh();
  }

  /** Ask where the test is, once at a time, and once more if something has happened meanwhile. */
  refresh() {
    this.#isStale = true;
    this.#refreshing ??= this.#keepFresh().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #keepFresh() {
    try {
      while (this.#isStale && device.isThere) {
        this.#isStale = false;
        await this.#look();
        await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
      }
    } catch (error) {
      if (error.kind !== "lost") {
        problem(error); // what is lost was told already
      }
    }
  }

  async #look() {
    const begun = this.#begun;
    this.about = pairs(await device.ask("SESS:STAT?"));
    const { state } = this.about;
    screen.board(isBoardLost(this.about));
    if (state !== "idle" && state !== "finished") {
      await this.#lookAtTest();
      return;
    }
    const { shown } = screen;
    // A test that began and ended between two looks was not live.
    const wasTest = shown === "live" || this.#sawBegin;
    if (state === "finished" && (wasTest || shown !== "prepare")) {
      await this.#lookAtResult(begun);
    } else if (shown !== "prepare") {
      await this.#prepare();
    }
  }

  async #lookAtTest() {
    if (screen.shown !== "live" && !this.#sawBegin) {
      this.live.begin();
      this.live.takenUp();
    }
    const result = await this.#resultSoFar();
    const session = Number(this.about.session);
    if (result && result.session !== session) {
      this.#isStale = true; // meanwhile another test has begun
      return;
    }
    // Before the PIN only the number is told.
    const whose = result ? whoseIs(device.serial, result) : { session, typed: {} };
    screen.view("live");
    this.live.state(this.about, result, whose);
    screen.status(statusOf(this.about));
    this.#callFor(this.about);
  }

  /** Call the operator, unless nothing is asked, or the operator had the test paused. */
  #callFor(about) {
    const { check = "", ear = "", reasons = "", state } = about;
    const isPaused = state === "paused";
    if (isBoardLost(about)) {
      call.to("board", () => say("status_board_lost"), true);
    } else if (check || (isPaused && !this.isPausedHere)) {
      call.to(`${check} ${ear} ${reasons}`, () => questionOf(check, ear), isPaused);
    } else {
      call.end();
    }
  }

  /** Show the last test, of so many that began, once: what is laid over it by hand stays. */
  async #lookAtResult(begun) {
    const before = screen.shown;
    const result = await this.#resultSoFar();
    if (result && (before !== "result" || this.#resultOf !== begun)) {
      if (!(await this.#result.showLast(result))) {
        this.#isStale = true;
        return;
      }
      this.#resultOf = begun;
    }
    if (screen.shown !== before) {
      return; // meanwhile the operator went on to the next test
    }
    this.live.end();
    show(at("result-locked"), result === null);
    show(at("result-body"), result !== null);
    show(at("same-person"), result !== null);
    screen.view("result");
    screen.status("finished");
  }

  async #resultSoFar() {
    if (this.#isResultLocked) {
      return null;
    }
    try {
      return JSON.parse(await device.ask("SESS:RES?"));
    } catch (error) {
      if (error.number === PIN_NEEDED) {
        this.#isResultLocked = true; // each refusal would be one more error in the device's queue
        return null;
      }
      throw error;
    }
  }

  /** Show the last result, or say why there is none: no test, or one of an earlier format. */
  async showResult() {
    screen.leave();
    this.#isResultLocked = false;
    await this.refresh();
    if (this.about.state !== "idle") {
      return;
    }
    try {
      const { session: number } = JSON.parse(await device.askOperator("SESS:RES?"));
      note(() => say("earlier_format", { number }));
    } catch (error) {
      if (error.number === NOT_NOW) {
        note(() => say("no_result"));
      } else {
        problem(error);
      }
    }
  }
}

/** Return what is under way, as a screen reader hears it. */
function statusOf(about) {
  const asked = { __proto__: null, ear: "asking", placing: "placing" }[about.check];
  if (asked || about.state === "paused") {
    return asked ?? "paused";
  }
  return about.check ? "checking" : isBoardLost(about) ? "board_lost" : "under_way";
}
