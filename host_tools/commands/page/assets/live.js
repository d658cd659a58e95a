// A test under way: both ears, the tone, the answers as they come, and what the operator can do.

import { at, fill, make, show, tell } from "./dom.js";
import { isBoardLost, reasonsOf } from "./lines.js";
import { HOLDING, onPaper } from "./paper.js";
import { asTold, inWords } from "./remarks.js";
import { drawAudiogram } from "../../../drawing_js/audiogram.js";
import { verdictWord } from "./verdict.js";
import { clockTime, dateAndTime, earName, number, routeOf, say, unitOf } from "./words.js";

const HEARD = { true: true, false: false, unsure: null };
const ANSWERS_SHOWN = 200;
const IDENTITY = "identity"; // the check whether it is the same person
const HOLDING_UP = [IDENTITY, "placing", "earphones"]; // checks that end only at a button of their own
const RIGHT_FIRST = ["right", "left"];

/** Return whether nothing of the ear is told: who asks for it is not to know it. */
function isCheck(about) {
  return about.purpose === "check";
}

/** Return the ear of a tone, with its transducer where that is not usual. */
function earWords(about) {
  return about.transducer ? earName(about) : say(`ear_${about.ear}`);
}

/** Return a tone in words. */
function toneWords(tone) {
  if (!tone.frequency_hz) {
    return say("silence", { ear: earWords(tone) });
  }
  const words = say(isCheck(tone) ? "tone_check" : "tone_words", {
    ear: earWords(tone),
    frequency: number(Number(tone.frequency_hz)),
    level: number(Number(tone.level_db_hl)),
  });
  const noise = tone.noise_db_hl && say("tone_noise", { level: number(Number(tone.noise_db_hl)) });
  const why = tone.unmasked && say("tone_unmasked", { why: inWords(reasonsOf(tone)) });
  return [words, noise, why].filter(Boolean).join(" ");
}

/** Return what stands across the audiogram of an ear, "" for nothing: see report/drawn.py. */
function watermarkOf(ear, { outcome, calibration, simulated }) {
  const isCalibrated = HOLDING.includes(calibration);
  if (outcome && !ear.may_conclude && (isCalibrated || !ear.has_thresholds)) {
    return verdictWord(ear).toLocaleUpperCase();
  }
  if (!isCalibrated) {
    return say(calibration.toLowerCase());
  }
  return simulated ? onPaper("simulated_mark") : "";
}

/** Return an ear of a result as the drawing takes it. */
export function drawnEar(ear, tones = []) {
  const again = new Map(ear.confirmed.map((each) => [each.frequency_hz, each.threshold_db_hl]));
  const thresholds = ear.thresholds.map(({ frequency_hz, reading, before }) => ({
    frequency_hz,
    ...reading,
    before,
    confirmed_db_hl: again.get(frequency_hz),
  }));
  return { ear: ear.ear, transducer: ear.transducer, doubtful: ear.doubtful, thresholds, tones };
}

/** Draw the ears of a result beside one another, the right one first. */
export function drawEars(place, result, tones, next, earlier = []) {
  const figures = RIGHT_FIRST.filter((name) => result.ears.some((ear) => ear.ear === name));
  const kept = new Map([...place.children].map((figure) => [figure.dataset.ear, figure]));
  const shown = figures.map((name) => kept.get(name) ?? figureOf(name));
  if (shown.some((figure, i) => place.children[i] !== figure) || place.children.length !== shown.length) {
    fill(place, ...shown);
  }
  for (const [i, name] of figures.entries()) {
    const [ear, ...over] = result.ears.filter((each) => each.ear === name);
    const drawn = [ear, ...over].map((each) => ({
      ...drawnEar(each, tones.filter((tone) => routeOf(tone) === routeOf(each))),
      next: next?.frequency_hz && routeOf(next) === routeOf(each) ? figuresOf(next) : null,
    }));
    const ofEar = earlier.filter((each) => each.ear === name);
    const watermark = watermarkOf(ear, result);
    const data = { ears: drawn, earlier: ofEar, norm: ear.norm, watermark };
    drawAudiogram(shown[i].querySelector("svg"), data, {
      label: say("audiogram_label", { ear: say(`ear_${name}`) }),
      hz: say("hz"),
      db_hl: unitOf(result),
    });
    const about = [ear.outcome !== "incomplete" || result.outcome ? outcomeWords(ear) : null];
    if (result.outcome && ear.has_thresholds && !ear.may_conclude) {
      about.unshift(verdictWord(ear));
    }
    about.push(say("ear_tones", { tones: ear.tones, heard: ear.tones_heard }));
    const begun = over.filter((each) => each.tones > 0);
    about.push(...begun.map(({ tones, tones_heard: heard }) => say("ear_tones_bone", { tones, heard })));
    fill(shown[i].querySelector("figcaption"), [earTitle(name), ...about.filter(Boolean)].join(" · "));
  }
}

/** Return what came of an ear, in a word. */
export function outcomeWords(ear) {
  return say(`outcome_${ear.outcome.replaceAll("-", "_")}`);
}

export function earTitle(name) {
  return say(`ear_title_${name}`);
}

function figureOf(name) {
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const figure = make("figure", { class: name }, make("figcaption"), drawing);
  figure.dataset.ear = name;
  return figure;
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

  /** Forget the answers of another test. */
  begin() {
    this.#tones = [];
    this.#result = null;
    this.#shown = null;
    this.#known.clear();
    this.#silence();
    fill(at("answers"));
    show(at("answers-before"), false);
  }

  /** Say that this page did not see the test begin. */
  takenUp() {
    show(at("answers-before"), true);
  }

  tone(about) {
    this.#tone = about;
    tell(at("now-tone"), () => toneWords(about));
    this.#draw();
  }

  answer(about) {
    const tone = this.#tone?.number === about.number ? this.#tone : {};
    const figures = about.purpose === "catch" ? {} : tone;
    const heard = HEARD[about.heard];
    if (figures.frequency_hz && !isCheck(about)) {
      this.#tones.push({
        ear: about.ear,
        transducer: about.transducer,
        number: Number(about.number),
        ...figuresOf(figures),
        heard,
        counts: about.purpose === "measure",
        retest: about.purpose === "retest",
      });
    }
    const row = make("tr");
    tell(row, () => [
      make("th", { scope: "row" }, about.number),
      make("td", {}, isCheck(about) ? "–" : earWords(about)),
      make("td", {}, figures.frequency_hz ? number(Number(figures.frequency_hz)) : "–"),
      make("td", {}, figures.level_db_hl ? number(Number(figures.level_db_hl)) : "–"),
      make("td", {}, say(`purpose_${about.purpose}`)),
      make("td", { class: `heard-${about.heard}` }, answerWords(about)),
    ]);
    at("answers").prepend(row);
    at("answers").children[ANSWERS_SHOWN]?.remove();
    this.#silence();
    this.#draw();
  }

  #silence() {
    this.#tone = null;
    tell(at("now-tone"), () => say("tone_none"));
  }

  /** Say it again in another language. */
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
    const isLost = isBoardLost(about);
    if (isPaused || isLost) {
      this.#silence();
    }
    // These are answered by the button beside the question: Escape may have been meant as a pause.
    const isHeld = HOLDING_UP.includes(about.check);
    const isPlaced = isHeld && about.check !== IDENTITY;
    const state = say(isLost && !isPaused ? "board_lost" : `state_${isPlaced ? "waiting" : about.state}`);
    fill(at("now-state"), [state, isPaused ? "" : routeWords(about, result)].filter(Boolean).join(" · "));
    fill(at("now-left"), isLost ? "–" : clockTime(Number(about.seconds_to_go ?? 0)));
    fill(at("now-so-far"), say(`so_far_${about.so_far.replace("-", "_")}`));
    at("now-so-far").classList.toggle("bad", about.so_far === "doubtful");
    fill(at("now-width"), widthWords(about));
    fill(at("now-masking"), maskingWords(about.masking));
    fill(at("now-presses"), say("some_of", { some: about.false_positives, all: about.silences }));
    fill(at("pause-words"), say(isPaused ? "continue" : "pause"));
    at("pause").setAttribute("aria-pressed", String(isPaused));
    at("pause").disabled = isHeld;
    show(at("pause"), !isHeld);
    showCheck(isPaused && !about.check ? { check: "pause" } : about, whose);
    this.#draw();
  }

  /** Return the result with what it had symbols of before, and which ear is in doubt: in grey. */
  #withDoubts(result, about) {
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
    return { ...result, ears };
  }

  #draw() {
    show(at("live-locked"), this.#result === null);
    show(at("live-ears"), this.#result !== null);
    if (this.#result) {
      const next = this.#tone && !isCheck(this.#tone) ? this.#tone : null;
      drawEars(at("live-ears"), this.#result, this.#tones, next);
    }
  }
}

/**
 * Say which ear is under way, and by which route, in a test by two. Before a tone of it was answered
 * the question which ear is which may be under way, and tells nothing.
 */
function routeWords(about, result) {
  const hasBone = about.transducer || result?.ears.some((ear) => ear.transducer);
  return hasBone && Number(about.tones) > 0 ? earName(about) : "";
}

/** Say whose the test is: by the name if one was typed for it, and the identifier, or that it has none. */
function whoseWords({ typed, identifier, session }) {
  const who = [typed.name, identifier].filter(Boolean);
  // Of whom the device tells nothing yet only the number is known.
  const named = who.length || identifier === undefined ? who : [say("no_name")];
  return [...named, say("whose_session", { number: session })].join(" · ");
}

/** Show why the test is broken off, and what the operator can say; without a check, nothing. */
function showCheck(about, whose) {
  const { check, ear } = about;
  show(at("live-check"), Boolean(check));
  if (!check) {
    return;
  }
  at("live-check").classList.toggle("warning", check === "pause");
  const isAsked = check === IDENTITY || check === "pause";
  fill(at("check-question"), questionOf(check, ear));
  const begun = isAsked && whose.started ? [say("whose_begun", { when: dateAndTime(whose.started) })] : [];
  fill(at("check-whose"), isAsked ? [whoseWords(whose), ...begun].join(" · ") : "");
  fill(at("check-why"), asTold(reasonsOf(about)));
  fill(at("check-note"), say(`check_${check}_note`));
  show(at("check-passed"), ["listener", "silence", "earphones", "placing"].includes(check));
  show(at("same-go-on"), isAsked);
  show(at("another-end"), isAsked);
  for (const by of ["operator", "other"]) {
    show(at(`hear-${by}`), ["silence", "equipment"].includes(check));
  }
  for (const named of ["left", "right", "unsure"]) {
    show(at(`ear-${named}`), check === "ear");
  }
  show(at("hear-nobody"), check === "equipment");
}

/** Return what a check asks the operator. */
export function questionOf(check, ear) {
  return say(`check_${check}`, { ear: ear && earTitle(ear) });
}

function answerWords(about) {
  const isSilence = about.purpose === "catch";
  const word = { true: "heard", false: "not_heard", unsure: "unsure" }[about.heard];
  return say(isSilence ? `catch_${word}` : `answer_${word}`);
}

function widthWords(about) {
  if (!about.half_width_db) {
    return "";
  }
  const width = number(Number(about.half_width_db), 1);
  return say("widest", { width, frequency: number(Number(about.widest_hz)) });
}

function maskingWords(masking) {
  const key = { ready: "masking_ready", none: "masking_none", off: "masking_off" }[masking];
  return key ? say(key) : say("masking_level", { level: masking ?? "" });
}
