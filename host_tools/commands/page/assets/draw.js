// The ears of a result beside one another, each drawn with what was found of it by bone.

import { make } from "./dom.js";
import { drawAudiogram } from "../../../drawing_js/audiogram.js";
import { routeOf, say, unitOf } from "./words.js";

const RIGHT_FIRST = ["right", "left"];
const HOLDING = ["CALIBRATED", "SIMULATED"]; // calibrations in which levels are what they say

/** Return which ears a result has, the right one first. */
export function sidesOf(result) {
  return RIGHT_FIRST.filter((name) => result.ears.some((ear) => ear.ear === name));
}

export function figureOf(side, ...children) {
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const figure = make("figure", { class: side }, ...children, drawing);
  figure.dataset.ear = side;
  return figure;
}

/** Return an ear of a result as the drawing takes it. */
export function drawnEar(ear, tones = [], next = null) {
  const again = new Map(ear.confirmed.map((each) => [each.frequency_hz, each.threshold_db_hl]));
  const thresholds = ear.thresholds.map(({ frequency_hz, reading, before }) => ({
    frequency_hz,
    ...reading,
    before,
    confirmed_db_hl: again.get(frequency_hz),
  }));
  const { ear: side, transducer, doubtful, discomfort } = ear;
  return { ear: side, transducer, doubtful, discomfort, thresholds, tones, next };
}

/** Draw an ear of a result; `label` says what it is, `over` has tones, the next one, and `earlier` ears. */
export function drawEar(figure, result, label, { tones = [], next = null, earlier = [] } = {}) {
  const side = figure.dataset.ear;
  const ears = result.ears.filter((each) => each.ear === side);
  const isOf = (ear) => (tone) => routeOf(tone) === routeOf(ear);
  const drawn = ears.map((ear) => drawnEar(ear, tones.filter(isOf(ear)), [next].filter(Boolean).find(isOf(ear))));
  const data = {
    ears: drawn,
    earlier: earlier.filter((each) => each.ear === side),
    norm: ears[0].norm,
    watermark: watermarkOf(ears[0], result),
  };
  const words = { label, hz: say("hz"), db_hl: unitOf(result) };
  drawAudiogram(figure.querySelector("svg"), data, words);
}

/** Return what stands across the audiogram of an ear, "" for nothing: one word has room. */
function watermarkOf(ear, { outcome, calibration, simulated }) {
  const isCalibrated = HOLDING.includes(calibration);
  if (outcome && !ear.may_conclude && (isCalibrated || !ear.has_thresholds)) {
    return say({ code: `test-${ear.verdict}` }).toUpperCase();
  }
  if (!isCalibrated) {
    return say({ code: `state-${calibration.toLowerCase()}` });
  }
  return simulated ? say({ code: "simulated-mark" }) : "";
}
