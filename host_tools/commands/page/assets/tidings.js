// What the device says unasked, and who has to know it. A table without a prototype has no word but its own.

import { forget, note, problem } from "./alerts.js";
import { errorOf } from "./lines.js";
import { outcomeOf } from "./live.js";
import { DISK_REFUSES, screen } from "./screen.js";
import { selfTest } from "./selftest.js";
import { refused } from "./trouble.js";
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
const MENDED = { __proto__: null, "board-ready": [101, -241], continued: [106, 109, 111] };
const OF_BOARD = { __proto__: null, "board-lost": "board_lost", "board-ready": "board_ready" };
const OF_AN_EAR = { __proto__: null, ear: "now_ear", "ear-over": "ear_over", "ear-again": "ear_again" };

/** Return what takes an unasked line and what it tells. */
export function tidingsTo(follower, tone, tuning) {
  const ofTest = {
    __proto__: null,
    tone: (about) => follower.live.tone(about),
    catch: (about) => follower.live.tone(about),
    answer: (about) => follower.live.answer(about),
    session: () => {
      forget((number) => number === DISK_REFUSES);
      follower.hasBegun();
    },
    continued: () => {
      follower.isPausedHere = false;
    },
    error: ({ number, words }) => {
      problem(refused(Number(number), words));
      if (Number(number) === DISK_REFUSES) {
        selfTest().then(() => follower.refresh()).catch(problem);
      }
    },
    room: ({ why }) => note(() => say(why)),
    resumed: ({ tones }) => note(() => say("resumed", { tones })),
  };
  return ({ what, about }, line) => {
    if (!line.startsWith("!")) {
      const error = errorOf(line);
      if (error) {
        problem(refused(error.number, error.words));
      }
      return;
    }
    ofTest[what]?.(about);
    forget((number) => MENDED[what]?.includes(number));
    if (OF_HAND.includes(what)) {
      tone.told(what, about);
    } else if (OF_TUNING.includes(what)) {
      tuning.told(what, about);
      tuning.load().catch(problem);
    }
    announce(what, about);
    if (AFFECTS_STATE.includes(what)) {
      follower.refresh();
    }
  };
}

/** Have a screen reader hear what changed; single tones it does not hear. */
function announce(what, about) {
  if (what in OF_BOARD) {
    screen.board(what === "board-lost");
    screen.status(OF_BOARD[what]);
  } else if (what in OF_AN_EAR) {
    const outcome = about.outcome ? outcomeOf(about) : "";
    screen.speak(() => say(OF_AN_EAR[what], { ear: about.ear, outcome }));
  }
}
