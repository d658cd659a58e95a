// A paper in elements: its blocks are laid out, its rows are said, and nothing else is done.

import { make, table } from "./dom.js";
import { drawMark } from "../../../drawing_js/marks.js";
import { figureOf } from "./draw.js";
import { number, say } from "./words.js";

const BLOCKS = {
  __proto__: null,
  alarm: alarmOf,
  audiograms: audiogramsOf,
  comments: commentsOf,
  facts: factsOf,
  legend: legendOf,
  sign: signOf,
  tables: tablesOf,
};

/**
 * Return the sections of a paper as elements. `shown` has what was `typed`, by field, and `draw`,
 * which draws an ear into a figure.
 */
export function sectionsOf(sections, shown) {
  return sections.map((each) => sectionOf(each, shown));
}

function sectionOf({ name, title, blocks }, shown) {
  const id = `result-${name}`;
  const told = blocks.map((each) => (BLOCKS[each.block] ?? rowsOf)(each, shown));
  if (!title) {
    return make("div", { id }, ...told);
  }
  const heading = make("h3", { id: `${id}-title` }, say(title));
  return make("section", { id, "aria-labelledby": heading.id }, heading, ...told);
}

/** Return what stands in a place: a row, a number, or what somebody wrote or typed. */
function wordsOf(cell, typed = {}) {
  if (cell === null || typeof cell === "string") {
    return cell ?? "";
  }
  if (typeof cell === "number") {
    return number(cell);
  }
  return "typed" in cell ? (typed[cell.typed] ?? "") : say(cell);
}

function rowsOf({ rows = [], small = false }) {
  const kind = { class: small ? "note" : null };
  if (rows.length === 1) {
    return make("p", kind, say(rows));
  }
  return make("ul", kind, ...rows.map((each) => make("li", {}, say(each))));
}

function alarmOf({ headline, rows, calm }) {
  const told = rows.map((each) => make("p", {}, say(each)));
  return make("div", { class: calm ? "verdict" : "verdict alert warning" }, make("b", {}, say(headline)), ...told);
}

/** Return names with their values, but for those that nobody typed. */
function factsOf({ facts }, { typed }) {
  const told = facts.map(([name, value]) => [say(name), wordsOf(value, typed)]);
  const pairs = told.filter(([, value]) => value);
  return make(
    "dl",
    { class: "about" },
    ...pairs.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", { dir: "auto" }, value))),
  );
}

function audiogramsOf({ of }, { draw }) {
  const figures = of.map(({ route, title, label, rows }) => {
    const figure = figureOf(sideOf(route), make("figcaption", {}, say(title)));
    draw(figure, say(label));
    figure.append(...rows.map((each) => make("p", {}, say(each))));
    return figure;
  });
  return make("div", { class: "ears" }, ...figures);
}

function sideOf(route) {
  return route.split("-")[0];
}

function legendOf({ entries }) {
  const told = entries.map(([mark, row]) => {
    const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    drawMark(drawing, mark);
    return make("li", {}, drawing, say(row));
  });
  return make("ul", { class: "legend" }, ...told);
}

function tablesOf({ tables, turned }) {
  return make("div", { class: turned ? "tables turned" : "tables" }, ...tables.map((each) => tableOf(each, turned)));
}

/** Return a table; one that is turned has a line a column. */
function tableOf({ caption, columns, rows, of, main }, isTurned) {
  const [head, ...others] = columns;
  const names = rows.map(([name]) => name);
  const cells = rows.map(([, each], i) => each.map((cell) => cellOf(cell, i < main)));
  const lines = isTurned
    ? others.map((name, i) => [wordsOf(name), ...cells.map((each) => each[i])])
    : names.map((name, i) => [wordsOf(name), ...cells[i]]);
  const made = table(say(caption), [head, ...(isTurned ? names : others)].map((each) => wordsOf(each)), lines);
  made.classList.add(...[sideOf(of)].filter(Boolean));
  return made;
}

/** Return a cell; what the table is for stands out where it is a plain value. */
function cellOf(cell, isMain) {
  const name = isMain && cell.code === "level" ? "b" : isMain ? "span" : "small";
  return make(name, {}, wordsOf(cell));
}

function commentsOf({ title }, { typed }) {
  const heading = make("h3", {}, say(title));
  return typed.remarks
    ? make("div", { class: "comments" }, heading, typed.remarks)
    : make("div", { class: "to-write" }, heading);
}

function signOf({ lines }, { typed }) {
  const ruled = lines.map(([name, value]) => [say(name), wordsOf(value, typed)].filter(Boolean).join(": "));
  return make("div", { class: "to-sign" }, ...ruled.map((each) => make("p", {}, each)));
}
