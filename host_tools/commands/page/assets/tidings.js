// What the device says unasked, and who has to know it.

import { forget, note, problem } from "./alerts.js";
import { errorOf } from "./lines.js";
import { outcomeOf } from "./live.js";
import { DISK_REFUSES } from "./screen.js";
import { Refused } from "./talk.js";
import { say } from "./words.js";

const AFFECTS_STATE = [
  "answer", "ear", "ear-over", "ear-again", "listener-check", "equipment-check", "ear-check", "earphones", "placing", "paused", "continued", "board-lost", "board-ready",
  "finished", "session", "session-over", "resumed", "void", "unmasked", "tone-generator",
];
const OF_TUNING = [
  "speech", "comparison", "again", "nobody-answers", "aid-lost", "aid-ready", "setting",
  "tuning", "tuning-over", "tuning-resumed", "hearing-aid",
];
const OF_HAND = ["manual-tone", "manual-tone-over", "button-down", "button-up"];
// What the device told by a number, by the line that tells that it is mended.
const MENDED = { "board-ready": [101, -241], continued: [106, 109, 111] };
const OF_BOARD = { "board-lost": "board_lost", "board-ready": "board_ready" };
const OF_AN_EAR = { ear: "now_ear", "ear-over": "ear_over", "ear-again": "ear_again" };

export class Tidings {
  #screen;
  #follower;
  #tone;
  #tuning;
  #check;

  /** `onDisk` tests the device when its disk refuses. */
  constructor(screen, follower, tone, tuning, onDisk) {
    this.#screen = screen;
    this.#follower = follower;
    this.#tone = tone;
    this.#tuning = tuning;
    this.#check = onDisk;
  }

  /** Take an unasked line, and what it tells. */
  take({ what, about }, line) {
    if (!line.startsWith("!")) {
      const error = errorOf(line);
      if (error) {
        problem(new Refused(error.number, error.words));
      }
      return;
    }
    this.#ofTest(what, about);
    this.#ofOthers(what, about);
    this.#announce(what, about);
    if (AFFECTS_STATE.includes(what)) {
      this.#follower.refresh();
    }
  }

  #ofTest(what, about) {
    if (what === "tone" || what === "catch") {
      this.#follower.live.tone(about);
    } else if (what === "answer") {
      this.#follower.live.answer(about);
    } else if (what === "session") {
      forget((number) => number === DISK_REFUSES);
      this.#follower.hasBegun();
    } else if (what === "continued") {
      this.#follower.isPausedHere = false;
    }
    if (what in MENDED) {
      forget((number) => MENDED[what].includes(number));
    }
  }

  #ofOthers(what, about) {
    if (what === "error") {
      problem(new Refused(Number(about.number), about.words));
      if (Number(about.number) === DISK_REFUSES) {
        this.#check().then(() => this.#follower.refresh()).catch(problem);
      }
    } else if (OF_HAND.includes(what)) {
      this.#tone.told(what, about);
    } else if (OF_TUNING.includes(what)) {
      this.#tuning.told(what, about);
      this.#tuning.load().catch(problem);
    }
  }

  /** Have a screen reader hear what changed; single tones it does not hear. */
  #announce(what, about) {
    if (what in OF_BOARD) {
      this.#screen.board(what === "board-lost");
      this.#screen.status(OF_BOARD[what]);
    } else if (what in OF_AN_EAR) {
      const outcome = about.outcome ? outcomeOf(about) : "";
      this.#screen.speak(() => say(OF_AN_EAR[what], { ear: about.ear, outcome }));
    } else if (what === "resumed") {
      note(() => say("resumed", { tones: about.tones }));
    }
  }
}
