// A conversation with the console: one question at a time, and lines that nobody asked for.

import { errorOf } from "./lines.js";
import { lost, refused } from "./trouble.js";

const BEGIN_ANEW = "\x15\r"; // ^U: forget what somebody typed by half
const IDENTIFY = "*IDN?";
const IDENTITY = "GP-PTA,";
const QUIET_MS = 150;
const WAKE_MS = 1000;
const WAKES = 5;
// The console answers within a second, whatever it does; on a busy machine later.
const ANSWER_MS = 15000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Talk {
  #way;
  #tell;
  #lost;
  #partial = "";
  #waiting = [];
  #asked = null;
  #strange = null; // lines of whatever is there, until it is known to be a firmware
  #gone = null;

  /** `onTold` is given unasked lines, `onLost` is given why the way is gone, once. */
  constructor(way, onTold, onLost) {
    this.#way = way;
    this.#tell = onTold;
    this.#lost = onLost;
  }

  /** Open the way, and make sure that a firmware is at its end; return who it is. */
  async open() {
    await this.#way.open(
      (text) => this.#receive(text),
      (why) => this.#end(why),
    );
    this.#strange = [];
    for (let times = 0; times < WAKES && !this.#gone; times++) {
      await this.#way.write(BEGIN_ANEW);
      await pause(QUIET_MS);
      await this.#way.write(`${IDENTIFY}\r`);
      for (let waited = 0; waited < WAKE_MS; waited += QUIET_MS) {
        await pause(QUIET_MS);
        const identity = this.#strange.find((line) => line.startsWith(IDENTITY));
        if (identity) {
          await pause(QUIET_MS); // answers to what somebody else had asked
          this.#strange = null;
          return identity;
        }
      }
    }
    const came = this.#strange.at(-1) || this.#partial;
    const why = this.#gone ?? lost(came ? "another_device" : "no_answer", came);
    await this.close();
    throw why;
  }

  /** Send a line; return the lines of its answer, the last of which is a value or OK. */
  ask(line) {
    return new Promise((resolve, reject) => {
      if (this.#gone) {
        reject(this.#gone);
        return;
      }
      const isQuery = line.split(" ", 1)[0].endsWith("?");
      this.#waiting.push({ line, isQuery, resolve, reject, answer: [] });
      this.#next();
    });
  }

  async close() {
    this.#end(null);
    await this.#way.close();
  }

  #next() {
    if (this.#asked || this.#gone || !this.#waiting.length) {
      return;
    }
    this.#asked = this.#waiting.shift();
    this.#expect();
    this.#way.write(`${this.#asked.line}\r`).catch((error) => this.#end(error));
  }

  #expect() {
    clearTimeout(this.#asked.timer);
    this.#asked.timer = setTimeout(() => {
      this.#end(lost("silent"));
      this.#way.close();
    }, ANSWER_MS);
  }

  #receive(text) {
    const lines = (this.#partial + text).split("\n");
    this.#partial = lines.pop();
    for (const line of lines.map((each) => each.replace(/\r+$/, "")).filter(Boolean)) {
      this.#take(line);
    }
  }

  #take(line) {
    if (line.startsWith("!")) {
      this.#tell(line);
    } else if (this.#strange) {
      this.#strange.push(line);
    } else if (this.#asked) {
      this.#answer(line);
    } else {
      this.#tell(line); // what a firmware that ends says last
    }
  }

  #answer(line) {
    const asked = this.#asked;
    asked.answer.push(line);
    const error = errorOf(line);
    if (!error && !asked.isQuery && line !== "OK") {
      this.#expect();
      return;
    }
    clearTimeout(asked.timer);
    this.#asked = null;
    if (error) {
      asked.reject(refused(error.number, error.words));
    } else {
      asked.resolve(asked.answer);
    }
    this.#next();
  }

  #end(why) {
    if (this.#gone) {
      return;
    }
    this.#gone = why ?? lost("closed");
    for (const each of [this.#asked, ...this.#waiting].filter(Boolean)) {
      clearTimeout(each.timer);
      each.reject(this.#gone);
    }
    this.#asked = null;
    this.#waiting = [];
    if (why) {
      this.#lost(why);
    }
  }
}
