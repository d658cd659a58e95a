// Draws the marks of an audiogram, for whoever explains them.

import TABLE from "../symbols.json" with { type: "json" };
import {
  SYMBOL_UNITS, TONE_UNITS, element, scaled, shiftOf, symbolInto, toneInto, write,
} from "./audiogram.js";

const REACH = 10; // of a mark, to every side
const across = (y) => `M${-REACH} ${y}H${REACH}`;
const pathInto = (group, name, d) => element("path", { class: name, d }, group);
const toneOf = (group, answer, counts) =>
  toneInto(element("g", { class: `tone ${answer}` }, group), answer, counts);
const bandInto = (group, faint) => {
  pathInto(group, `band${faint}`, `${across(-6)}V6H${-REACH}Z`);
  pathInto(group, `edge${faint}`, across(-6) + across(6));
};

const MARKS = {
  __proto__: null,
  symbol: (group, route, masking = "none") => {
    const [ear, transducer] = route.split("-");
    group.setAttribute("transform", `translate(${-shiftOf({ ear, transducer })} 0)`);
    symbolInto(group, { ear, transducer }, masking, "measured");
  },
  band: (group) => bandInto(group, ""),
  pale: (group) => bandInto(group, " faint"),
  bar: (group) => pathInto(group, "edge", `M0 ${-REACH}V${REACH}`),
  line: (group, kind) => pathInto(group, kind === "norm" ? "norm" : "join inferred", across(0)),
  limit: (group) => pathInto(group, "limit", across(0)),
  confirmed: (group) => pathInto(group, "symbol", scaled(TABLE.confirmed.path, SYMBOL_UNITS)),
  discomfort: (group) => pathInto(group, "symbol", scaled(TABLE.discomfort.path, SYMBOL_UNITS)),
  tone: (group, answer) => toneOf(group, answer === "not-heard" ? "silent" : answer, true),
  beside: (group) => toneOf(group, "heard", false),
  retest: (group) => element("circle", { class: "limit", r: 1.6 * TONE_UNITS }, group),
  arrow: (group, ear) => {
    group.setAttribute("transform", `scale(${TABLE.ears[ear].side} 1) translate(-12 -12)`);
    pathInto(group, "symbol", scaled(TABLE.arrows.path, 1.1 * SYMBOL_UNITS));
  },
  sign: (group, name) =>
    write(TABLE.signs[name], [0, 5], { class: "sign", "text-anchor": "middle" }, group),
};

/** Draw a mark of a legend into an SVG element, such as ["symbol", "right-bone", "masked"]. */
export function drawMark(svg, [kind, ...names]) {
  svg.setAttribute("viewBox", `${-REACH} ${-REACH} ${2 * REACH} ${2 * REACH}`);
  svg.setAttribute("aria-hidden", "true"); // the words beside it say what it is
  svg.classList.add("audiogram");
  const [ear] = (names[0] ?? "").split("-");
  MARKS[kind]?.(element("g", { class: Object.hasOwn(TABLE.ears, ear) ? ear : "grey" }, svg), ...names);
}
