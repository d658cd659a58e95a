// Calls the operator who looks away: title, icon and a sound of this computer, while a test waits for a word.

import { at, make, tell } from "./dom.js";
import { say } from "./words.js";

const SOUND_KEPT = "gp-pta-sound"; // "off"; else it is on
const AGAIN_MS = 15000; // while no tone plays that it could hide
const NOTES_HZ = [660, 880];
const NOTE_S = 0.18;
const FADE_S = 0.03; // no click
const LOUDNESS = 0.2;

class Call {
  #audio = null;
  #again = 0;
  #about = ""; // what is called for now; "": nothing
  #icon = make("link", { rel: "icon" });
  #title = document.querySelector("title");

  begin() {
    document.head.append(this.#icon);
    at("sound").checked = localStorage.getItem(SOUND_KEPT) !== "off";
    at("sound").addEventListener("change", () => {
      localStorage.setItem(SOUND_KEPT, at("sound").checked ? "on" : "off");
    });
    this.#show("");
  }

  /**
   * Call for the answer to a question, once, and again and again while the test `isWaiting`.
   * `about` is "" without one, and another for each; `words` returns what is asked.
   */
  to(about, words, isWaiting) {
    if (about === this.#about) {
      return;
    }
    this.#about = about;
    clearInterval(this.#again);
    this.#show(about, words);
    if (about) {
      this.ring();
      this.#again = isWaiting ? setInterval(() => this.ring(), AGAIN_MS) : 0;
    }
  }

  end() {
    this.to("");
  }

  #show(about, words) {
    tell(this.#title, () => (about ? `● ${words()}` : say("title")));
    const colour = about ? "#d9480f" : "#0b57d0";
    const disc = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="${colour}"/></svg>`;
    this.#icon.href = `data:image/svg+xml,${encodeURIComponent(disc)}`;
  }

  /** Sound once, if it is on; before any click a browser allows no sound. */
  ring() {
    if (!at("sound").checked || !navigator.userActivation.hasBeenActive) {
      return;
    }
    this.#audio ??= new AudioContext();
    const audio = this.#audio;
    audio.resume();
    for (const [i, hz] of NOTES_HZ.entries()) {
      const note = new OscillatorNode(audio, { frequency: hz });
      const gain = new GainNode(audio, { gain: 0 });
      const begin = audio.currentTime + i * NOTE_S;
      gain.gain.setValueAtTime(0, begin);
      gain.gain.linearRampToValueAtTime(LOUDNESS, begin + FADE_S);
      gain.gain.setTargetAtTime(0, begin + NOTE_S, FADE_S);
      note.connect(gain).connect(audio.destination);
      note.start(begin);
      note.stop(begin + 2 * NOTE_S);
    }
  }
}

export const call = new Call();
