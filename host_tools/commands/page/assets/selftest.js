// What the device says of itself: its parts, its clock, its calibration and its lock.

import { note, plain } from "./alerts.js";
import { device } from "./device.js";
import { at, fill, make, retell, show, tell } from "./dom.js";
import { dateAndTime, say, translate, useUnit } from "./words.js";

const CLOCK_APART_MS = 5 * 60 * 1000;
const PART_STATES = { // what is said, and its class
  __proto__: null,
  ok: ["works", "good"],
  FAULT: ["fails", "bad"],
  unchecked: ["unchecked", ""],
  none: [{ code: "state-uncalibrated" }, "bad"],
};
const HOLDING = ["calibrated", "simulated"]; // calibrations in which levels are what they say

/** Say which firmware answers; `version` is that which this page was made for. */
export function greet(version) {
  fill(at("device-name"), `GP-PTA ${plain(device.version)}`);
  if (device.version !== version) {
    note(() => say("other_version", { device: plain(device.version), page: version }));
  }
}

export async function selfTest() {
  const parts = await device.selfTest();
  tell(at("parts"), () => parts.map(partOf));
  const faults = parts.filter(({ state }) => state === "FAULT").length;
  const fine = parts.some(({ state }) => state === "none") ? "check_uncalibrated" : "check_fine";
  tell(at("check-words"), () => say(faults ? "check_faults" : fine, { faults }));
  at("check").open = faults > 0;
  await compareClocks();
  await showCalibration();
}

function partOf({ name, state, why }) {
  const [word, mark] = PART_STATES[state];
  const time = why.code === "clock-says" ? dateAndTime(why.time) : null;
  const told = make("span", { class: "told" }, time ?? say(why));
  const shown = make("span", { class: mark }, say(word));
  const advice = state === "FAULT" ? make("p", {}, say(`fault_${name}`)) : null;
  return make("li", {}, make("b", {}, say(`part_${name}`)), " ", shown, " ", told, advice);
}

async function compareClocks() {
  const here = new Date().toISOString();
  const there = await device.ask("SYST:TIME?");
  if (Math.abs(new Date(there) - new Date(here)) > CLOCK_APART_MS) {
    note(() => say("clock_apart", { device: dateAndTime(there), here: dateAndTime(here) }));
  }
}

async function showCalibration() {
  const state = JSON.parse(await device.ask("CAL?")).state.toLowerCase();
  useUnit(state === "uncalibrated");
  translate();
  retell();
  const words = () => say({ code: `state-${state}` });
  tell(at("calibration"), () => make("span", { title: say(`calibration_${state}`) }, words()));
  at("calibration").classList.toggle("good", HOLDING.includes(state));
  at("calibration").classList.toggle("bad", !HOLDING.includes(state));
}

export async function showLock() {
  const lock = await device.ask("SYST:PIN?");
  tell(at("lock-words"), () => say(`pin_${lock.toLowerCase()}`));
  show(at("unlock"), lock === "LOCKED");
  show(at("lock"), lock === "UNLOCKED");
}
