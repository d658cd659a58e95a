// The device behind the console: who it is, whether this page fits it, its PIN, and questions to it.

import { plain } from "./alerts.js";
import { askPin } from "./ask.js";
import { KNOWS } from "./knowledge.js";
import { helpOf, told } from "./lines.js";
import { hasGroup, lineOf, missingIn } from "./table.js";
import { Talk } from "./talk.js";
import { misfit, refused, Trouble } from "./trouble.js";

const PIN_NEEDED = -203;

class Device {
  #talk = null;
  identity = "";
  heardAt = 0; // of the last line, by the browser's clock
  help = {};
  /** What is done with what an unasked line tells, when the PIN was right, and when it is lost. */
  when = { told() {}, unlocked() {}, lost() {} };

  get isThere() {
    return this.#talk !== null;
  }

  get serial() {
    return this.identity.split(",")[2] ?? "";
  }

  get version() {
    return this.identity.split(",").at(-1) ?? "";
  }

  /** Open a way to the device and see that it has the commands of this page. */
  async connect(way) {
    const talk = new Talk(
      way,
      (line) => {
        this.heardAt = performance.now();
        this.when.told(told(line), line);
      },
      (why) => {
        this.#talk = null;
        this.when.lost(why);
      },
    );
    this.identity = await talk.open();
    this.heardAt = performance.now();
    this.#talk = talk;
    this.help = helpOf(await talk.ask(lineOf(KNOWS.commands, "HELP")));
    const missing = missingIn(KNOWS.commands, this.help);
    if (missing.length) {
      await this.close();
      throw misfit(plain(this.identity), missing);
    }
    await this.ask("SYST:EVEN", { events: "ON" });
  }

  async close() {
    const talk = this.#talk;
    this.#talk = null;
    await talk?.close();
  }

  /** Ask once, without a PIN; return the last line of the answer. */
  async ask(header, values = {}) {
    const line = lineOf(KNOWS.commands, header, values);
    if (!this.#talk) {
      throw refused(0, "");
    }
    const answer = await this.#talk.ask(line);
    this.heardAt = performance.now();
    return answer.at(-1);
  }

  /** Ask, and have the operator enter the PIN if it is needed. */
  async askOperator(header, values = {}) {
    for (;;) {
      try {
        return await this.ask(header, values);
      } catch (error) {
        if (error.number !== PIN_NEEDED) {
          throw error;
        }
        await this.unlock();
      }
    }
  }

  /** Have the operator enter the PIN until it is right. */
  async unlock() {
    let why = "";
    for (;;) {
      const pin = await askPin(why);
      if (pin === null) {
        throw new Trouble("not-entered", "pin_not_entered");
      }
      try {
        await this.ask("SYST:PIN", { PIN: pin });
        await this.when.unlocked();
        return;
      } catch (error) {
        if (error.kind !== "refused") {
          throw error;
        }
        why = error.words;
      }
    }
  }

  async selfTest() {
    return JSON.parse(await this.ask("SYST:TEST?"));
  }

  /** Return whether a hearing aid can be tuned here. */
  get tunes() {
    return hasGroup(KNOWS.commands, "tuning", this.help);
  }
}

export const device = new Device();
