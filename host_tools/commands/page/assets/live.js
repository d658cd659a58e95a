// A test under way: both ears, the tone, the answers, why it is broken off, and what can be done.

import { device } from "./device.js";
import { at, fill, make, show, tell } from "./dom.js";
import { drawEar, figureOf, sidesOf } from "./draw.js";
import { isBoardLost, reasonsOf } from "./lines.js";
import { sounds } from "./loud.js";
import { clockTime, dateAndTime, number, own, routeOf, say } from "./words.js";

const HEARD = { __proto__: null, true: true, false: false, unsure: null };
const ANSWERS = { __proto__: null, true: "heard", false: "not-heard", unsure: "unsure" };
const ANSWERS_SHOWN = 200;
const NONE = "–";
const KEPT = "gp-pta-symbols"; // those of the session under way
const IDENTITY = "identity"; // the check whether it is the same person
const CONTINUED = ["listener", "silence", "earphones", "placing"]; // which Continue ends
const WITHOUT_PAUSE = [IDENTITY, "placing", "earphones"]; // these end only at a button of their own

/** Return whether nothing of the ear is told: who asks for it is not to know it. */
function isCheck(about) {
  return about.purpose === "check";
}

function toneWords(tone) {
  const ear = routeOf(tone);
  if (!tone.frequency_hz) {
    return say("silence", { ear });
  }
  const { frequency_hz: frequency, level_db_hl: level } = figuresOf(tone);
  const words = say(isCheck(tone) ? "tone_check" : "tone_words", { ear, frequency, level });
  const noise = tone.noise_db_hl && say("tone_noise", { level: Number(tone.noise_db_hl) });
  const why = tone.unmasked && say("tone_unmasked", { why: say(reasonsOf(tone)) });
  return [words, noise, why].filter(Boolean).join(" ");
}

/** Return what came of an ear, as a row. */
export function outcomeOf({ outcome }) {
  return own(`outcome_${outcome.replaceAll("-", "_")}`);
}

function figuresOf(tone) {
  return { frequency_hz: Number(tone.frequency_hz), level_db_hl: Number(tone.level_db_hl) };
}

export class Live {
  #tone = null;
  #tones = []; // answered since this page was loaded
  #result = null;
  #shown = null; // what `state` was given last
  #known = new Map(); // the last reading that had a symbol, by route and frequency
  #knownOf = ""; // of which session

  begin() {
    this.#tones = [];
    this.#result = null;
    this.#shown = null;
    this.#silence();
    fill(at("answers"));
    show(at("answers-before"), false);
  }

  /** Say that this page did not see the test begin. */
  takenUp() {
    show(at("answers-before"), true);
  }

  /** Forget what is kept for a reload: the test is over. */
  end() {
    sessionStorage.removeItem(KEPT);
  }

  tone(about) {
    this.#tone = about;
    sounds("tone", about.level_db_hl, about.noise_db_hl);
    tell(at("now-tone"), () => toneWords(about));
    this.#draw();
  }

  answer(about) {
    const tone = this.#tone?.number === about.number ? this.#tone : {};
    const figures = about.purpose === "catch" ? {} : tone;
    if (figures.frequency_hz && !isCheck(about)) {
      this.#tones.push({
        ear: about.ear,
        transducer: about.transducer,
        number: Number(about.number),
        ...figuresOf(figures),
        heard: HEARD[about.heard],
        counts: about.purpose === "measure",
        retest: about.purpose === "retest",
      });
    }
    const row = make("tr");
    tell(row, () => answerCells(about, figures));
    at("answers").prepend(row);
    at("answers").children[ANSWERS_SHOWN]?.remove();
    this.#silence();
    this.#draw();
  }

  #silence() {
    this.#tone = null;
    sounds("tone");
    tell(at("now-tone"), () => say("tone_none"));
  }

  retell() {
    if (this.#shown) {
      this.state(...this.#shown);
    }
  }

  /**
   * Show where the test is: the answers to SESS:STAT? and, if they may be told, SESS:RES?; and
   * whose it is.
   */
  state(about, result, whose) {
    this.#shown = [about, result, whose];
    this.#result = result && this.#withDoubts(result, about);
    fill(at("whose"), whoseWords(whose));
    const isPaused = about.state === "paused";
    const isHeld = isHeldBy(about.check);
    const isSilent = isPaused || isBoardLost(about);
    sounds("noise", isSilent ? null : about.masking); // it tells what is due, too
    if (isSilent) {
      this.#silence();
    }
    showFigures(about, result);
    fill(at("pause-words"), say(isPaused ? "continue" : "pause"));
    at("pause").setAttribute("aria-pressed", String(isPaused));
    at("pause").disabled = isHeld;
    show(at("pause"), !isHeld);
    showCheck(isPaused && !about.check ? { check: "pause" } : about, whose);
    this.#draw();
  }

  /** Return the result with what it had symbols of before, and which ear is in doubt: in grey. */
  #withDoubts(result, about) {
    this.#recall(`${device.serial} ${result.session} ${result.started}`);
    const isDoubtful = (ear) => about.so_far === "doubtful" && routeOf(ear) === routeOf(about);
    const ears = result.ears.map((ear) => {
      const thresholds = ear.thresholds.map((found) => {
        const place = `${routeOf(ear)} ${found.frequency_hz}`;
        if (found.reading.symbol) {
          this.#known.set(place, found.reading);
        }
        return { ...found, before: this.#known.get(place) };
      });
      return { ...ear, thresholds, doubtful: isDoubtful(ear) };
    });
    sessionStorage.setItem(KEPT, JSON.stringify({ of: this.#knownOf, known: [...this.#known] }));
    return { ...result, ears };
  }

  /** Take what was known of a session, also before a reload. */
  #recall(of) {
    if (this.#knownOf !== of) {
      const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
      this.#known = new Map(kept.of === of ? kept.known : []);
      this.#knownOf = of;
    }
  }

  #draw() {
    show(at("live-locked"), this.#result === null);
    show(at("live-ears"), this.#result !== null);
    if (this.#result) {
      const isShown = this.#tone && this.#tone.frequency_hz && !isCheck(this.#tone);
      const next = isShown ? { ...this.#tone, ...figuresOf(this.#tone) } : null;
      drawEars(at("live-ears"), this.#result, this.#tones, next);
    }
  }
}

/** Draw the ears so far beside one another, each with how many tones it was asked. */
function drawEars(place, result, tones, next) {
  const sides = sidesOf(result);
  const kept = new Map([...place.children].map((figure) => [figure.dataset.ear, figure]));
  const shown = sides.map((side) => kept.get(side) ?? figureOf(side, make("figcaption")));
  if (shown.some((figure, i) => place.children[i] !== figure) || place.children.length !== shown.length) {
    fill(place, ...shown);
  }
  for (const figure of shown) {
    const side = figure.dataset.ear;
    const [ear, ...over] = result.ears.filter((each) => each.ear === side);
    drawEar(figure, result, say("audiogram_label", { ear: side }), { tones, next });
    const about = [say(`ear_title_${side}`)];
    about.push(...(ear.outcome === "incomplete" ? [] : [say(outcomeOf(ear))]));
    about.push(say("ear_tones", { tones: ear.tones, heard: ear.tones_heard }));
    const begun = over.filter((each) => each.tones > 0);
    about.push(...begun.map((each) => say("ear_tones_bone", { tones: each.tones, heard: each.tones_heard })));
    fill(figure.querySelector("figcaption"), about.join(" · "));
  }
}

function answerCells(about, figures) {
  const { frequency_hz: frequency, level_db_hl: level } = figures;
  return [
    make("th", { scope: "row" }, about.number),
    make("td", {}, isCheck(about) ? NONE : say({ code: `ear-${routeOf(about)}` })),
    make("td", {}, frequency ? number(Number(frequency)) : NONE),
    make("td", {}, level ? number(Number(level), 0) : NONE),
    make("td", {}, say({ code: `purpose-${about.purpose}` })),
    make("td", { class: `heard-${about.heard}` }, answerWords(about)),
  ];
}

function answerWords({ purpose, heard }) {
  const word = ANSWERS[heard];
  return say(purpose === "catch" ? `catch_${word.replace("-", "_")}` : { code: `answer-${word}` });
}

function showFigures(about, result) {
  const isLost = isBoardLost(about);
  fill(at("now-state"), stateWords(about, result));
  fill(at("now-left"), isLost ? NONE : clockTime(Number(about.seconds_to_go ?? 0)));
  fill(at("now-so-far"), say(`so_far_${about.so_far.replace("-", "_")}`));
  at("now-so-far").classList.toggle("bad", about.so_far === "doubtful");
  fill(at("now-width"), widthWords(about));
  fill(at("now-masking"), maskingWords(about.masking));
  fill(at("now-presses"), say({ code: "some-of", some: about.false_positives, of: about.silences }));
}

/**
 * Say what the test does, and in a test by two routes which ear is under way. Before a tone of it was
 * answered the question which ear is which may be under way, and tells nothing.
 */
function stateWords(about, result) {
  const isPaused = about.state === "paused";
  const isPlaced = ["placing", "earphones"].includes(about.check);
  const state = isBoardLost(about) && !isPaused ? "board_lost" : `state_${isPlaced ? "waiting" : about.state}`;
  const hasBone = about.transducer || result?.ears.some((ear) => ear.transducer);
  const isNamed = !isPaused && hasBone && Number(about.tones) > 0;
  return [say(state), isNamed ? say({ code: `ear-${routeOf(about)}` }) : ""].filter(Boolean).join(" · ");
}

function widthWords({ half_width_db: width, widest_hz: hz }) {
  return width ? say("widest", { half_width_db: Number(width), frequency: Number(hz) }) : "";
}

function maskingWords(masking) {
  const keys = { __proto__: null, ready: "masking_ready", none: "masking_none", off: "masking_off" };
  const key = keys[masking];
  return key ? say(key) : say("masking_level", { level: masking ?? "" });
}

/** Return whether a check is answered by a button of its own: Escape may have been meant as a pause. */
function isHeldBy(check) {
  return WITHOUT_PAUSE.includes(check);
}

/** Return what a check asks the operator, "" for a pause as well. */
export function questionOf(check, ear) {
  return say(`check_${check || "pause"}`, ear ? { ear } : {});
}

/** Say whose the test is: by the name if one was typed for it, and the identifier, or that it has none. */
function whoseWords({ typed, identifier, session }) {
  const who = [typed.name, identifier].filter(Boolean);
  // Of whom the device tells nothing yet only the number is known.
  const named = who.length || identifier === undefined ? who : [say("no_name")];
  return [...named, say("whose_session", { number: session })].join(" · ");
}

/** Show what a check asks, and what can be answered; without a check, nothing. */
function showCheck(about, whose) {
  const { check, ear } = about;
  show(at("live-check"), Boolean(check));
  if (!check) {
    return;
  }
  at("live-check").classList.toggle("warning", check === "pause");
  fill(at("check-question"), questionOf(check, ear));
  fill(at("check-why"), say(reasonsOf(about)));
  fill(at("check-note"), say(`check_${check}_note`));
  const isAsked = [IDENTITY, "pause"].includes(check);
  const begun = whose.started ? [say("whose_begun", { when: dateAndTime(whose.started) })] : [];
  fill(at("check-whose"), isAsked ? [whoseWords(whose), ...begun].join(" · ") : "");
  const answers = {
    "check-passed": CONTINUED.includes(check),
    "same-go-on": isAsked,
    "another-end": isAsked,
    "hear-operator": ["silence", "equipment"].includes(check),
    "hear-other": ["silence", "equipment"].includes(check),
    "hear-nobody": check === "equipment",
    "ear-left": check === "ear",
    "ear-right": check === "ear",
    "ear-unsure": check === "ear",
  };
  for (const [id, isShown] of Object.entries(answers)) {
    show(at(id), isShown);
  }
}
