// Levels of discomfort that somebody measured: typed before a test, told once it has begun.

import { device } from "./device.js";
import { at } from "./dom.js";
import { KNOWS } from "./knowledge.js";
import { notAllowed } from "./trouble.js";

const LEVEL = /^(\d+):>?(\d+(?:\.\d+)?)$/;
const FIELDS = ["right", "left", "source", "day"].map((name) => `discomfort_${name}`);

/** Return what is typed as the console takes it; null: no level is. What can be none is refused. */
export function discomfortTyped() {
  const [right, left, source, day] = FIELDS.map((id) => at(id).value.trim());
  const told = {
    ...(right ? { RIGHT: levelsOf(right, "discomfort_right") } : {}),
    ...(left ? { LEFT: levelsOf(left, "discomfort_left") } : {}),
  };
  const about = { ...(source ? { SOURCE: source.replaceAll(/[\s,]+/g, " ") } : {}), ...(day ? { DAY: day } : {}) };
  return Object.keys(told).length ? { ...told, ...about } : null;
}

/** Tell the test that has begun. */
export async function tellDiscomfort(told) {
  if (told) {
    await device.askOperator("SESS:DISC", told);
  }
  forgetDiscomfort();
}

export function forgetDiscomfort() {
  for (const id of FIELDS) {
    at(id).value = "";
  }
}

function levelsOf(text, field) {
  const { frequencies_hz: hertz, low, high } = KNOWS.discomfort;
  const parts = text.split(/[\s;]+/).filter(Boolean);
  const known = parts.map((part) => LEVEL.exec(part)).filter(Boolean);
  const isOne = ([, hz, level]) => hertz.includes(Number(hz)) && Number(level) >= low && Number(level) <= high;
  const isOnce = new Set(known.map(([, hz]) => hz)).size === parts.length;
  if (!isOnce || !known.every(isOne)) {
    throw notAllowed("discomfort_wrong", { value: text, frequencies_hz: hertz, low, high }, field);
  }
  return parts.join(";");
}
