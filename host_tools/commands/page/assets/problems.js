// What went wrong, in an operator's words and with what to do; the device's own words beside it.

import { Misfit, NotEntered } from "./device.js";
import { make } from "./dom.js";
import { NotAllowed } from "./table.js";
import { Refused } from "./talk.js";
import { Lost } from "./ways.js";
import { hasWords, say } from "./words.js";

const SHOWN_LETTERS = 200;

/** Return a text of a device as it may be shown: in one line, not too long, nothing unseen. */
export function plain(text) {
  const shown = [...String(text)].slice(0, SHOWN_LETTERS);
  return shown.map((each) => (/[\p{C}\p{Zl}\p{Zp}]/u.test(each) ? spelt(each) : each)).join("");
}

function spelt(letter) {
  return `\\u{${letter.codePointAt(0).toString(16)}}`;
}

/** Return what a device said in its own words as an element. */
export function asItSaid(words) {
  return make("span", { lang: "en" }, plain(words));
}

/** Return the sentence for an error, and the words of the device that it rests on. */
export function wordsFor(error) {
  if (error instanceof Refused) {
    return { sentence: ofNumber(error.number), detail: plain(error.words) };
  }
  if (error instanceof Lost) {
    return { sentence: say(`lost_${error.kind}`), detail: plain(error.words) };
  }
  if (error instanceof Misfit) {
    const sentence = say("misfit", { firmware: plain(error.identity) });
    return { sentence, detail: plain(error.missing.join(", ")) };
  }
  if (error instanceof NotAllowed) {
    return { sentence: say(error.key, error.values), detail: "" };
  }
  if (error instanceof NotEntered) {
    return { sentence: say("pin_not_entered"), detail: "" };
  }
  return { sentence: say("fault"), detail: plain(error?.message ?? error) };
}

/** Return the sentence for the number of an error of the console. */
export function ofNumber(number) {
  const key = number < 0 ? `refused_${-number}` : `error_${number}`;
  return hasWords(key) ? say(key) : say("error_other", { number });
}
