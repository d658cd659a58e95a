// Draws an audiogram: level downward, frequency in octaves, one octave as wide as 20 dB.
//
// The report's page, its step-through, its paper and the operator's page draw with this module, and
// with nothing else. What a symbol looks like stands in symbols.json.

import TABLE from "../symbols.json" with { type: "json" };

const SVG = "http://www.w3.org/2000/svg";
const PAPER = TABLE.paper;
const UNITS_PER_DB = 3;
const UNITS_PER_OCTAVE = PAPER.db_per_octave * UNITS_PER_DB;
const [LEFT, TOP, RIGHT, BOTTOM] = [40, 8, 8, 40];
const WIDTH = (PAPER.octaves + 2 * PAPER.margin_octaves) * UNITS_PER_OCTAVE;
const HEIGHT = (PAPER.bottom_db_hl - PAPER.top_db_hl) * UNITS_PER_DB;
export const SYMBOL_UNITS = 7.5;
export const TONE_UNITS = 4;
const ROUNDING = 10; // places are drawn to a tenth of a unit

let drawings = 0; // each has names of its own for what it refers to

const rounded = (units) => Math.round(units * ROUNDING) / ROUNDING;

/** Where a frequency is drawn, in units of the drawing. */
export const xOf = (hz) =>
  rounded(LEFT + (Math.log2(hz / PAPER.first_hz) + PAPER.margin_octaves) * UNITS_PER_OCTAVE);

/** Where a level is drawn, in units of the drawing. */
export const yOf = (levelDbHl) => rounded(TOP + (levelDbHl - PAPER.top_db_hl) * UNITS_PER_DB);

const onPaper = (levelDbHl) =>
  Math.min(Math.max(levelDbHl, PAPER.top_db_hl), PAPER.bottom_db_hl);

export function element(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

export function write(text, at, attributes, parent) {
  const made = element("text", { x: at[0], y: at[1], ...attributes }, parent);
  made.textContent = text; // never as markup: it may have come from a file
  return made;
}

// A path of the table, larger: its numbers are x and y by turns. Strokes keep their width.
export const scaled = (path, x, y = x) => {
  let across = false;
  return path.replace(/-?[\d.]+/g, (number) => {
    across = !across;
    return rounded(number * (across ? x : y));
  });
};

const line = (points) => `M${points.map((point) => point.join(" ")).join("L")}`;

/**
 * Draw an audiogram into an SVG element, in the place of what it had.
 *
 * data: {
 *   ears: [{
 *     ear: "right" | "left",
 *     transducer: "bone", or left out by air: no lines join its symbols, and without a curve each
 *       has its band as a bar;
 *     supposed: whether it is what another model says, drawn in grey with diamonds;
 *     doubtful: whether its symbols are drawn in grey;
 *     thresholds: [{frequency_hz, kind, level_db_hl, low_db_hl, high_db_hl, symbol, wide,
 *                   confirmed_db_hl, before}],
 *       kind: "measured", "above", "at-most", "perhaps-above", "inferred" or "unknown";
 *       symbol: "none", "masked" or "uncertain"; what is not known is null or left out;
 *       before: the same of what has no symbol any more, which is drawn in grey;
 *     curve: {frequencies_hz, mean_db_hl, low_db_hl, high_db_hl}: the band and, if it is there,
 *       the mean of the posterior; without a curve the band joins those of the thresholds;
 *     asked_hz: the frequencies of the tones that count: elsewhere the band is faint; without it
 *       those of the thresholds that are not inferred;
 *     tones: [{number, frequency_hz, level_db_hl, heard, counts, retest}]: heard is true, false
 *       or null for unsure;
 *     discomfort: [{frequency_hz, level_db_hl, above}]: from where on tones are uncomfortable, as
 *       somebody measured it elsewhere; above: nothing was up to there;
 *     last, next: {frequency_hz, level_db_hl}: the tone just answered, and the one to come or
 *       being played;
 *   }],
 *   earlier: [ears as above]: of earlier sessions, drawn thin below the others;
 *   limit: {frequencies_hz, levels_db_hl}: what lies below is hatched;
 *   norm: {median: {frequencies_hz, levels_db_hl}, spread: [the same, of 10 and 90 %]};
 *   cells: [{frequency_hz, level_db_hl, from_hz, to_hz, step_db, share}]: the objective, 0 to 1;
 *   watermark: text across the paper, "" for none;
 * }
 * words: {label, hz, db_hl}: of the language of the page.
 */
export function drawAudiogram(svg, data, words) {
  const name = `audiogram-${(drawings += 1)}`;
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${LEFT + WIDTH + RIGHT} ${TOP + HEIGHT + BOTTOM}`);
  svg.classList.add("audiogram");
  if (words.label) {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", words.label);
  }
  drawSheet(svg, data, words, name);
  const clip = element("clipPath", { id: `${name}-paper` }, element("defs", {}, svg));
  element("rect", { x: LEFT, y: TOP, width: WIDTH, height: HEIGHT }, clip);
  const curves = element("g", { "clip-path": `url(#${name}-paper)` }, svg);
  drawCells(curves, data.cells || []);
  if (data.norm) drawNorm(curves, data.norm);
  for (const ear of data.earlier || []) drawEarlier(curves, ear);
  for (const ear of data.ears) drawBand(curves, ear, `${name}-${classOf(ear)}`);
  // Symbols last, each on an edge of paper: no tone and no line lies over one.
  const below = [[drawTones, svg], [drawLines, curves]];
  const layers = [...below, [drawSymbols, svg], [drawDiscomfort, svg], [drawRings, svg]];
  for (const [draw, place] of layers) data.ears.forEach((ear) => draw(place, ear));
}

// The paper.

function drawSheet(svg, data, words, name) {
  element("rect", { class: "sheet", x: LEFT, y: TOP, width: WIDTH, height: HEIGHT }, svg);
  if (data.watermark) drawWatermark(svg, data.watermark);
  if (data.limit) drawHatch(svg, data.limit, name);
  drawGrid(svg, words);
  if (data.limit) element("path", { class: "limit", d: line(edgeOf(data.limit)) }, svg);
}

function drawWatermark(svg, text) {
  const [x, y] = [LEFT + WIDTH / 2, TOP + HEIGHT / 2];
  const turned = `translate(${x} ${y}) rotate(-42)`;
  // Twelve letters go across; a longer word is written smaller.
  const place = { class: "watermark", transform: turned, "text-anchor": "middle" };
  const size = Math.min(44, (44 * 12) / text.length);
  write(text, [0, 0], place, svg).style.fontSize = `${size}px`;
}

const edgeOf = (limit) =>
  limit.frequencies_hz.map((hz, i) => [xOf(hz), yOf(onPaper(limit.levels_db_hl[i]))]);

function drawHatch(svg, limit, name) {
  const defs = element("defs", {}, svg);
  const size = { width: 7, height: 7, patternUnits: "userSpaceOnUse" };
  const turned = { patternTransform: "rotate(45)" };
  const hatch = element("pattern", { id: `${name}-hatch`, ...size, ...turned }, defs);
  element("path", { class: "hatch", d: "M0 0V7" }, hatch);
  const edge = edgeOf(limit);
  const bottom = yOf(PAPER.bottom_db_hl);
  const around = [[edge[0][0], bottom], ...edge, [edge.at(-1)[0], bottom]];
  element("path", { fill: `url(#${name}-hatch)`, d: `${line(around)}Z` }, svg);
}

function drawGrid(svg, words) {
  for (const hz of [...PAPER.ticks_hz, ...PAPER.between_hz]) {
    const among = PAPER.between_hz.includes(hz) ? "grid between" : "grid";
    element("path", { class: among, d: `M${xOf(hz)} ${TOP}v${HEIGHT}` }, svg);
  }
  for (const hz of PAPER.ticks_hz) {
    const text = hz < 1000 ? `${hz}` : `${hz / 1000}k`;
    write(text, [xOf(hz), TOP + HEIGHT + 15], { "text-anchor": "middle" }, svg);
  }
  for (let level = PAPER.top_db_hl; level <= PAPER.bottom_db_hl; level += 10) {
    element("path", { class: "grid", d: `M${LEFT} ${yOf(level)}h${WIDTH}` }, svg);
    const text = `${level}`.replace("-", "−");
    write(text, [LEFT - 5, yOf(level) + 4], { "text-anchor": "end" }, svg);
  }
  write(words.hz || "Hz", [LEFT + WIDTH, TOP + HEIGHT + 33], { "text-anchor": "end" }, svg);
  write(words.db_hl || "dB HL", [2, TOP + HEIGHT + 33], { "text-anchor": "start" }, svg);
  element("rect", { class: "frame", x: LEFT, y: TOP, width: WIDTH, height: HEIGHT }, svg);
}

function drawCells(group, cells) {
  for (const cell of cells) {
    const [left, right] = [xOf(cell.from_hz), xOf(cell.to_hz)];
    const top = Math.max(yOf(cell.level_db_hl - cell.step_db / 2), TOP);
    const height = yOf(cell.level_db_hl + cell.step_db / 2) - top;
    const place = { x: left, y: top, width: right - left, height };
    element("rect", { class: "cell", ...place, "fill-opacity": cell.share.toFixed(2) }, group);
  }
}

function drawNorm(group, norm) {
  const way = (of) => line(of.frequencies_hz.map((hz, i) => [xOf(hz), yOf(of.levels_db_hl[i])]));
  element("path", { class: "norm", d: way(norm.median) }, group);
  for (const edge of norm.spread || []) {
    if (edge.frequencies_hz.length) element("path", { class: "norm spread", d: way(edge) }, group);
  }
}

// What is known of an ear.

const classOf = (ear) => (ear.supposed ? "supposed" : ear.ear);

const isByBone = (ear) => ear.transducer === "bone";

const hasBand = (each) => each.low_db_hl != null && each.high_db_hl != null;

function curveOf(ear) {
  if (ear.curve) return ear.curve;
  const known = isByBone(ear) ? [] : ear.thresholds.filter(hasBand);
  return {
    frequencies_hz: known.map((each) => each.frequency_hz),
    low_db_hl: known.map((each) => each.low_db_hl),
    high_db_hl: known.map((each) => each.high_db_hl),
  };
}

function askedHz(ear) {
  if (ear.asked_hz) return ear.asked_hz;
  const asked = (each) => each.kind !== "inferred" && each.kind !== "unknown";
  return ear.thresholds.filter(asked).map((each) => each.frequency_hz);
}

// Faint from the lowest to the highest frequency that has a threshold or a tone, and not beyond;
// strong, with an edge, where a tone that counts was asked near.
function drawBand(group, ear, name) {
  const curve = curveOf(ear);
  if (!curve.frequencies_hz.length) return;
  const points = (levels) => levels.map((level, i) => [xOf(curve.frequencies_hz[i]), yOf(level)]);
  const [low, high] = [points(curve.low_db_hl), points(curve.high_db_hl)];
  const around = `${line([...low, ...high.slice().reverse()])}Z`;
  const clip = element("clipPath", { id: name }, group);
  const half = PAPER.asked_octaves * UNITS_PER_OCTAVE;
  for (const hz of askedHz(ear)) {
    element("rect", { x: xOf(hz) - half, y: TOP, width: 2 * half, height: HEIGHT }, clip);
  }
  const known = [...askedHz(ear), ...ear.thresholds.map((each) => each.frequency_hz)].map(xOf);
  const [first, last] = [Math.min(...known), Math.max(...known)];
  const between = element("clipPath", { id: `${name}-known` }, group);
  element("rect", { x: first, y: TOP, width: last - first, height: HEIGHT }, between);
  const own = element("g", { class: classOf(ear), "clip-path": `url(#${name}-known)` }, group);
  const asked = element("g", { "clip-path": `url(#${name})` }, own);
  for (const [place, faint] of [[own, " faint"], [asked, ""]]) {
    element("path", { class: `band${faint}`, d: around }, place);
    for (const edge of [low, high]) element("path", { class: `edge${faint}`, d: line(edge) }, place);
  }
  if (curve.mean_db_hl) element("path", { class: "mean", d: line(points(curve.mean_db_hl)) }, own);
}

function drawTones(svg, ear) {
  const group = element("g", { class: `tones ${ear.ear}` }, svg);
  const symbols = ear.thresholds.filter(hasSymbol).map(placeOf);
  for (const tone of ear.tones || []) {
    if (tone.frequency_hz == null) continue;
    const [x, y] = placeOfTone(tone, symbols, ear);
    const answer = tone.heard === null ? "unsure" : tone.heard ? "heard" : "silent";
    const mark = element("g", { class: `tone ${answer}` }, group);
    mark.setAttribute("transform", `translate(${x} ${y})`);
    mark.dataset.number = tone.number;
    toneInto(mark, answer, tone.counts !== false);
    if (tone.retest) element("circle", { class: "ring", r: 1.6 * TONE_UNITS }, mark);
  }
}

// A tone that would lie on a symbol stands beside it, at its level, on the side without an arrow.
// By bone it stands where its symbols do, beside the frequency, or further out.
function placeOfTone(tone, symbols, ear) {
  const outward = isByBone(ear) ? TABLE.ears[ear.ear].side : -TABLE.ears[ear.ear].side;
  const [x, y] = [xOf(tone.frequency_hz), yOf(tone.level_db_hl)];
  const reach = SYMBOL_UNITS + TONE_UNITS + 0.9; // half of the way from 3 to 4 kHz, at most
  const hit = symbols.find(([sx, sy]) => Math.abs(sx - x) < reach && Math.abs(sy - y) < reach);
  return [(hit ? hit[0] + outward * reach : x) + shiftOf(ear), y];
}

export const shiftOf = (ear) => (isByBone(ear) ? TABLE.ears[ear.ear].side * BESIDE_UNITS : 0);

export function toneInto(mark, answer, counts) {
  const shape = counts ? "counts" : "beside";
  const drawn = (name) => scaled(TABLE.tones[name], TONE_UNITS);
  element("path", { d: drawn(shape) }, mark);
  if (answer === "unsure") element("path", { class: "half", d: drawn(`${shape}_half`) }, mark);
}

// Measured neighbours are joined, dotted over what was inferred between them.
function drawLines(group, ear) {
  if (isByBone(ear)) return;
  const own = element("g", { class: classOf(ear) }, group);
  let way = [];
  for (const each of ear.thresholds) {
    const at = [xOf(each.frequency_hz), yOf(each.level_db_hl)];
    if (each.kind === "inferred" && way.length) way.push(at);
    else if (each.kind === "measured") {
      way.push(at);
      const kind = way.length < 3 ? "join" : "join inferred";
      if (way.length > 1) element("path", { class: kind, d: line(way) }, own);
      way = [at];
    } else if (each.kind !== "inferred") way = [];
  }
}

const hasSymbol = (each) => Boolean(each.symbol);

const placeOf = (each) => [xOf(each.frequency_hz), yOf(onPaper(each.level_db_hl))];

function drawSymbols(svg, ear) {
  const group = element("g", { class: `thresholds ${classOf(ear)}` }, svg);
  const bars = isByBone(ear) && !ear.curve;
  for (const each of ear.thresholds) {
    if (bars && hasSymbol(each) && hasBand(each)) drawBar(group, ear, each);
    if (hasSymbol(each)) drawOne(group, ear, each, ear.doubtful);
    else if (each.before) drawOne(group, ear, { frequency_hz: each.frequency_hz, ...each.before }, true);
    if (each.confirmed_db_hl != null) drawConfirmed(group, each);
  }
}

// Where the symbols of bone conduction stand, beside the frequency: see the table.
const BESIDE_UNITS = 1.65 * SYMBOL_UNITS;
const ARROW_UNITS = 1.1 * SYMBOL_UNITS; // its arrow begins at its lower end

function drawBar(group, ear, each) {
  const x = rounded(xOf(each.frequency_hz) + shiftOf(ear));
  const [top, bottom] = [each.low_db_hl, each.high_db_hl].map((level) => yOf(onPaper(level)));
  element("path", { class: "edge", d: `M${x} ${top}V${bottom}` }, group);
}

function drawOne(group, ear, each, inGrey) {
  const [x, y] = placeOf(each);
  const mark = element("g", { class: inGrey ? "threshold grey" : "threshold", transform: `translate(${x} ${y})` }, group);
  mark.dataset.frequencyHz = each.frequency_hz;
  mark.dataset.kind = each.kind;
  symbolInto(mark, ear, each.symbol, each.kind);
  const side = TABLE.ears[ear.ear].side;
  let sign = TABLE.arrows[each.kind]?.sign ?? "";
  if (each.wide) sign += TABLE.signs.wide;
  if (each.symbol === "uncertain") sign += TABLE.signs.uncertain;
  // Away from the arrow, on the inner side; by bone outside, as the symbol by air stands within.
  const toward = isByBone(ear) ? side : -side;
  const away = isByBone(ear) ? 2.3 * SYMBOL_UNITS : SYMBOL_UNITS + 2;
  const place = { class: "sign", "text-anchor": toward > 0 ? "start" : "end" };
  if (sign) write(sign, [toward * away, -3], place, mark);
}

// A route as the table of symbols has it: its parts, but for those that are the usual ones.
const routeOf = ({ ear, transducer, measured }) =>
  [ear, transducer, measured].filter(Boolean).join("-");

export function symbolInto(mark, ear, symbol, kind) {
  const [way, side] = [TABLE.arrows[kind]?.way, TABLE.ears[ear.ear].side];
  const paths = [
    ear.supposed // its corners stick out below the other
      ? scaled(TABLE.tones.counts, 1.4 * SYMBOL_UNITS)
      : scaled(TABLE.symbols[routeOf(ear)][symbol].path, SYMBOL_UNITS),
  ];
  if (way) paths.push(scaled(TABLE.arrows.path, SYMBOL_UNITS * side, SYMBOL_UNITS * way));
  const beside = isByBone(ear) ? { transform: `translate(${rounded(side * ARROW_UNITS)} 0)` } : {};
  for (const layer of ["halo", "symbol"]) {
    paths.forEach((d, i) => element("path", { class: layer, d, ...(i ? beside : {}) }, mark));
  }
}

function drawConfirmed(group, each) {
  const paths = [scaled(TABLE.confirmed.path, SYMBOL_UNITS)];
  drawLevel(group, "confirmed", each.frequency_hz, each.confirmed_db_hl, paths);
}

function drawDiscomfort(svg, ear) {
  for (const { frequency_hz, level_db_hl, above } of ear.discomfort || []) {
    const own = element("g", { class: classOf(ear) }, svg);
    const side = TABLE.ears[ear.ear].side;
    const paths = [scaled(TABLE.discomfort.path, SYMBOL_UNITS)];
    if (above) paths.push(scaled(TABLE.arrows.path, SYMBOL_UNITS * side, SYMBOL_UNITS));
    drawLevel(own, "discomfort", frequency_hz, level_db_hl, paths);
  }
}

function drawLevel(group, kind, hz, levelDbHl, paths) {
  const [x, y] = [xOf(hz), yOf(onPaper(levelDbHl))];
  const mark = element("g", { class: kind, transform: `translate(${x} ${y})` }, group);
  mark.dataset.frequencyHz = hz;
  for (const layer of ["halo", "symbol"]) {
    for (const d of paths) element("path", { class: layer, d }, mark);
  }
}

function drawRings(svg, ear) {
  const own = element("g", { class: ear.ear }, svg);
  const symbols = ear.thresholds.filter(hasSymbol).map(placeOf);
  const played = (tone) => tone && tone.frequency_hz != null;
  if (played(ear.last)) { // around its mark, wherever that stands
    const [cx, cy] = placeOfTone(ear.last, symbols, ear);
    element("circle", { class: "last", cx, cy, r: 7 }, own);
  }
  if (played(ear.next)) {
    const [cx, cy] = [xOf(ear.next.frequency_hz) + shiftOf(ear), yOf(ear.next.level_db_hl)];
    element("circle", { class: "upcoming", cx, cy, r: 11 }, own);
  }
}

function drawEarlier(group, ear) {
  const own = element("g", { class: `earlier ${ear.ear}` }, group);
  const shown = ear.thresholds.filter((each) => each.kind === "measured");
  const isJoined = shown.length > 1 && !isByBone(ear);
  if (isJoined) element("path", { class: "join", d: line(shown.map(placeOf)) }, own);
  for (const each of shown) {
    const [x, y] = placeOf(each);
    const d = scaled(TABLE.symbols[routeOf(ear)][each.symbol].path, SYMBOL_UNITS * 0.6);
    element("path", { class: "symbol", transform: `translate(${x} ${y})`, d }, own);
  }
}
