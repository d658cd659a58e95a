// The page: what it consists of, and in which language it speaks.

import { note, problem } from "./alerts.js";
import { askPin } from "./ask.js";
import { Call } from "./call.js";
import { Connection } from "./connection.js";
import { listen } from "./controls.js";
import { Device } from "./device.js";
import { at, fill, make, onClick, retell } from "./dom.js";
import { Follower } from "./follow.js";
import { KNOWS } from "./knowledge.js";
import { Preparation } from "./prepare.js";
import { Result } from "./result.js";
import { Screen } from "./screen.js";
import { greet, selfTest, showLock } from "./selftest.js";
import { Table } from "./table.js";
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
  const call = new Call();
  const screen = new Screen(call);
  const device = new Device(
    new Table(KNOWS.commands),
    askPin,
    () => showLock(device),
    (told, line) => tell(told, line),
    (why) => {
      follower.loseSight();
      if (screen.shown === "live") {
        note(() => say("test_goes_on"));
      }
      connection.lost(why);
    },
  );
  const result = new Result(device);
  const follower = new Follower(device, screen, call, () => prepare(), result);
  const preparation = new Preparation(device, () => follower.refresh());
  const tone = new HandTone(device);
  const tuning = new Tuning(device, call);
  const check = () => selfTest(device);
  const tell = tidingsTo(screen, follower, tone, tuning, check);
  const connection = new Connection(device, screen, async () => {
    greet(device, KNOWS.version);
    await check();
    await showLock(device);
    await follower.refresh();
  });

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

  onClick("check-again", () => check().catch(problem));
  at("language").addEventListener("change", () => {
    speakIn(at("language").value, [preparation, follower.live, result]);
    tuning.load().catch(problem);
  });
  listen(device, screen, follower, prepare, () => result.whose);
  follower.begin();
  connection.begin();
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
