// Which view is shown, and what a screen reader hears of it.

import { forget, mendAll } from "./alerts.js";
import { call } from "./call.js";
import { at, show, tell } from "./dom.js";
import { sounds } from "./loud.js";
import { say } from "./words.js";

const VIEWS = ["off", "prepare", "live", "result"];
export const DISK_REFUSES = -250; // what ended or left a test, and stays to be read when that is over

class Screen {
  shown = "";

  view(name) {
    const was = this.shown;
    this.shown = name;
    if (was !== name && name !== "off" && was !== "off") {
      forget((number) => number !== DISK_REFUSES); // nothing old stands over what is shown now
      mendAll();
    }
    for (const each of VIEWS) {
      show(at(`view-${each}`), each === name);
    }
    show(at("check"), name === "prepare");
    show(at("device"), name !== "off");
    if (name !== "live") {
      call.end(); // for nothing that is not shown
      sounds("tone");
      sounds("noise");
    }
    if (name === "off") {
      sounds("hand");
    }
    if (was !== name && (was || name !== "off")) {
      at(`view-${name}`).querySelector("h2").focus();
    }
  }

  /** Have the view drawn anew, whichever it is. */
  leave() {
    this.shown = "";
  }

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
}

export const screen = new Screen();
