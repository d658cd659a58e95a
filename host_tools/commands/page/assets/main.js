// The page: what it consists of, and in which language it speaks.

import { note, problem } from "./alerts.js";
import { call } from "./call.js";
import { Connection } from "./connection.js";
import { listen } from "./controls.js";
import { device } from "./device.js";
import { at, fill, make, onClick, retell } from "./dom.js";
import { Follower } from "./follow.js";
import { KNOWS } from "./knowledge.js";
import { Preparation } from "./prepare.js";
import { Result } from "./result.js";
import { screen } from "./screen.js";
import { greet, selfTest, showLock } from "./selftest.js";
import { tidingsTo } from "./tidings.js";
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

/** Put the parts together, and go to the device. */
function begin() {
  const result = new Result();
  const follower = new Follower();
  const preparation = new Preparation(() => follower.refresh());
  const tone = new HandTone();
  const tuning = new Tuning();
  const connection = new Connection();

  /** Prepare a test, of a person or of nobody yet; `last`: whose the last one is, if that is known. */
  async function prepare(person = null, last = null) {
    follower.loseSight();
    await preparation.load(person, last);
    await tone.load();
    await tuning.load();
    screen.view("prepare");
    tuning.callOperator();
    screen.status("ready");
  }

  device.when = {
    told: tidingsTo(follower, tone, tuning),
    unlocked: showLock,
    lost: (why) => {
      follower.loseSight();
      if (screen.shown === "live") {
        note(() => say("test_goes_on"));
      }
      connection.lost(why);
    },
  };
  onClick("check-again", () => selfTest().catch(problem));
  at("language").addEventListener("change", () => {
    speakIn(at("language").value, [preparation, follower.live, result]);
    tuning.load().catch(problem);
  });
  listen(follower, prepare, () => result.whose);
  call.begin();
  follower.begin(() => prepare(), result);
  connection.begin(async () => {
    greet(KNOWS.version);
    await selfTest();
    await showLock();
    await follower.refresh();
  });
  screen.view("off");
}

/** Say everything in another language, whatever is under way. */
function speakIn(language, views) {
  localStorage.setItem(LANGUAGE_KEPT, language);
  window.location.replace(`#${language}`); // what was kept is not there at once
  useWords(KNOWS, language);
  translate();
  retell();
  for (const each of views) {
    each.retell();
  }
}

beginToSpeak();
// A page that the browser kept is not taken out again: it would be that of somebody else.
addEventListener("pageshow", (event) => event.persisted && location.reload());
begin();
