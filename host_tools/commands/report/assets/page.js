"use strict";

// Steps through a session: what the page's "history" has, drawn as it was after so many answers.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const UNITS_PER_DB = 3;
  const [TOP_DB, BOTTOM_DB] = [-10, 120];
  const DB_PER_OCTAVE = 20;
  const [LEFT, TOP, RIGHT, BOTTOM] = [40, 8, 6, 36];
  const WIDTH = 7 * DB_PER_OCTAVE * UNITS_PER_DB;
  const HEIGHT = (BOTTOM_DB - TOP_DB) * UNITS_PER_DB;
  const TICKS_HZ = [125, 250, 500, 1000, 2000, 4000, 8000];
  const ZONES_DB = [[20, 35], [50, 65], [80, 95]];
  const PLAY_MS = 700;
  const TENTH = 0.1;

  const history = JSON.parse(document.getElementById("history").textContent);
  const COUNTS = history.counted; // what tones are for whose answers the posterior rests on
  const { trials, snapshots, cells, words: WORDS } = history;
  const slider = document.getElementById("step");
  const play = document.getElementById("play");
  const now = document.getElementById("now");
  const count = document.getElementById("count");
  const rows = document.querySelectorAll("#session tbody tr");

  const x = (hz) => LEFT + (Math.log2(hz / 125) + 0.5) * DB_PER_OCTAVE * UNITS_PER_DB;
  const y = (level) => TOP + (level - TOP_DB) * UNITS_PER_DB;

  function element(name, attributes, parent) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  }

  // A sentence in the page's language, with its places filled in.
  function say(key, parts = {}) {
    return WORDS[key].replace(/\{(\w+)\}/g, (_, name) => parts[name]);
  }

  function number(value, digits) {
    const text = digits === undefined ? `${+value.toFixed(1)}` : value.toFixed(digits);
    return text.replace("-", "−").replace(".", WORDS.decimal);
  }

  const earOf = (tone) => WORDS[`${tone.ear}_ear`];

  function write(text, at, anchor, parent) {
    element("text", { x: at[0], y: at[1], "text-anchor": anchor }, parent).textContent = text;
  }

  // The panel of an ear: what never changes now, and places for what does.

  function makePanel(ear) {
    const figure = document.createElement("figure");
    figure.className = `panel ${ear}`;
    const caption = document.createElement("figcaption");
    caption.id = `caption-${ear}`;
    figure.append(caption);
    document.getElementById("panels").append(figure);
    const size = `0 0 ${LEFT + WIDTH + RIGHT} ${TOP + HEIGHT + BOTTOM}`;
    const svg = element("svg", { viewBox: size, role: "img", "aria-labelledby": caption.id }, figure);
    drawPaper(svg);
    const objective = element("g", {}, svg);
    const clip = element("clipPath", { id: `clip-${ear}` }, svg);
    element("rect", { x: LEFT, y: TOP, width: WIDTH, height: HEIGHT }, clip);
    const curves = element("g", { "clip-path": `url(#clip-${ear})` }, svg);
    const asked = element("clipPath", { id: `asked-${ear}` }, svg);
    return {
      ear,
      figure,
      caption,
      cells: makeCells(objective),
      asked,
      pale: element("path", { class: "band pale" }, curves),
      band: element("path", { class: "band", "clip-path": `url(#asked-${ear})` }, curves),
      mean: element("path", { class: "mean" }, curves),
      tones: element("g", { class: "tones" }, svg),
    };
  }

  function drawPaper(svg) {
    for (const [from, to] of ZONES_DB) {
      const height = (to - from) * UNITS_PER_DB;
      element("rect", { class: "zone", x: LEFT, y: y(from), width: WIDTH, height }, svg);
    }
    const state = document.body.dataset.calibration;
    if (state) {
      const [middleX, middleY] = [LEFT + WIDTH / 2, TOP + HEIGHT / 2];
      const turned = `translate(${middleX} ${middleY}) rotate(-42)`;
      const mark = { class: "mark", transform: turned, "text-anchor": "middle" };
      element("text", mark, svg).textContent = state;
    }
    for (const hz of TICKS_HZ) {
      element("path", { class: "grid", d: `M${x(hz)} ${TOP}v${HEIGHT}` }, svg);
      const name = hz < 1000 ? `${hz}` : `${hz / 1000}k`;
      write(name, [x(hz), TOP + HEIGHT + 14], "middle", svg);
    }
    for (let level = TOP_DB; level <= BOTTOM_DB; level += 10) {
      element("path", { class: "grid", d: `M${LEFT} ${y(level)}h${WIDTH}` }, svg);
      write(`${level}`.replace("-", "−"), [LEFT - 5, y(level) + 4], "end", svg);
    }
    write("Hz", [LEFT + WIDTH, TOP + HEIGHT + 30], "end", svg);
    write("dB HL", [2, TOP + HEIGHT + 30], "start", svg);
    element("rect", { class: "paper", x: LEFT, y: TOP, width: WIDTH, height: HEIGHT }, svg);
  }

  function makeCells(group) {
    const at = cells.frequencies_hz.map(x);
    const made = [];
    at.forEach((middle, i) => {
      const before = i > 0 ? (at[i - 1] + middle) / 2 : middle - 12;
      const after = i + 1 < at.length ? (at[i + 1] + middle) / 2 : middle + 12;
      for (const level of cells.levels_db_hl) {
        const top = Math.max(y(level - cells.step_db / 2), TOP);
        const height = y(level + cells.step_db / 2) - top;
        const place = { x: before, y: top, width: after - before, height };
        made.push(element("rect", { class: "cell", ...place, "fill-opacity": 0 }, group));
      }
    });
    return made;
  }

  // What is shown after so many answers.

  function drawPanel(panel, step) {
    const mine = trials.slice(0, step).filter((trial) => trial.ear === panel.ear);
    const last = mine.at(-1);
    const snapshot = snapshots[last ? last.after : history.first[panel.ear]];
    const current = earUnderTest(step) === panel.ear;
    panel.figure.classList.toggle("current", current);
    const testing = current && nextOf(step);
    const ear = earOf(panel);
    panel.caption.textContent = testing ? say("under_test", { ear }) : ear;
    drawCurves(panel, snapshot);
    drawAsked(panel, mine);
    panel.tones.replaceChildren();
    for (const trial of mine) drawTone(panel.tones, trial);
    if (last && last === trials[step - 1]) drawRing(panel.tones, last, "last", 7);
    const next = nextOf(step);
    if (next && next.ear === panel.ear) drawRing(panel.tones, next, "upcoming", 10);
  }

  function drawCurves(panel, snapshot) {
    const line = (levels) =>
      levels.map((tenths, i) => `${x(history.grid_hz[i]).toFixed(1)} ${y(tenths * TENTH).toFixed(1)}`);
    const most = cells.characters.length - 1;
    panel.mean.setAttribute("d", snapshot ? `M${line(snapshot.mean).join("L")}` : "");
    const band = snapshot
      ? `M${[...line(snapshot.low), ...line(snapshot.high).reverse()].join("L")}Z`
      : "";
    for (const path of [panel.pale, panel.band]) path.setAttribute("d", band);
    panel.cells.forEach((cell, i) => {
      const root = snapshot ? cells.characters.indexOf(snapshot.objective[i]) / most : 0;
      cell.setAttribute("fill-opacity", (0.75 * root).toFixed(2));
    });
  }

  // The band is pale where no tone that counts was asked within a third of an octave.
  function drawAsked(panel, mine) {
    panel.asked.replaceChildren();
    const half = (DB_PER_OCTAVE * UNITS_PER_DB) / 3;
    for (const trial of mine) {
      if (!COUNTS.includes(trial.purpose)) continue;
      const place = { x: x(trial.frequency_hz) - half, y: TOP, width: 2 * half, height: HEIGHT };
      element("rect", place, panel.asked);
    }
  }

  function drawTone(group, trial) {
    if (trial.frequency_hz === null) return;
    const answer = trial.heard === null ? "unsure" : trial.heard ? "heard" : "silent";
    const familiar = COUNTS.includes(trial.purpose) ? "" : "familiar-";
    const transform = `translate(${x(trial.frequency_hz)} ${y(trial.level_db_hl)})`;
    const mark = { href: `#${familiar}${answer}`, transform, "data-number": trial.number };
    element("use", mark, group);
    if (trial.purpose === "retest") drawRing(group, trial, "ring", 6);
  }

  function drawRing(group, tone, name, r) {
    if (tone.frequency_hz === null) return;
    element("circle", { class: name, cx: x(tone.frequency_hz), cy: y(tone.level_db_hl), r }, group);
  }

  function nextOf(step) {
    return step < trials.length ? trials[step] : history.pending;
  }

  function earUnderTest(step) {
    const tone = nextOf(step) || trials.at(-1);
    return tone ? tone.ear : history.ears[0];
  }

  // The same in words.

  function nameOf(tone) {
    if (tone.frequency_hz === null) return say("silence");
    const parts = { frequency_hz: tone.frequency_hz, level: number(tone.level_db_hl) };
    if (tone.purpose === "measure") return say("tone", parts);
    return say("tone_for", { ...parts, purpose: WORDS[`purpose_${tone.purpose}`] });
  }

  function answerOf(trial) {
    const catching = trial.frequency_hz === null;
    if (trial.heard === null) return say(catching ? "catch_unsure" : "unsure");
    if (catching) return say(trial.heard ? "catch_pressed" : "catch_not_pressed");
    if (!trial.heard) return say("not_heard");
    const { response_ms } = trial;
    return response_ms === null ? say("heard") : say("heard_after", { response_ms });
  }

  function tell(step) {
    const parts = [];
    if (step === 0) parts.push(say("before_first"));
    else {
      const trial = trials[step - 1];
      const [hz, half] = snapshots[trial.after].widest;
      const told = { ear: earOf(trial), tone: nameOf(trial), answer: answerOf(trial) };
      parts.push(say("presentation", { number: trial.number, ...told }));
      parts.push(say("widest", { half_width_db: number(half, 1), frequency_hz: hz }));
    }
    const next = nextOf(step);
    parts.push(next ? say("next", { ear: earOf(next), tone: nameOf(next) }) : say("no_more"));
    return parts.join(" ");
  }

  // Moving about.

  const panels = history.ears.map(makePanel);
  let timer = 0;

  function show(step) {
    slider.value = step;
    slider.setAttribute("aria-valuetext", say("answers", { step, all: trials.length }));
    count.textContent = `${step} / ${trials.length}`;
    now.textContent = tell(step);
    for (const panel of panels) drawPanel(panel, step);
    rows.forEach((row, i) => {
      if (i === step - 1) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    });
  }

  function go(step) {
    stop();
    show(Math.min(Math.max(step, 0), trials.length));
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = say("play");
    now.setAttribute("aria-live", "polite");
  }

  function start() {
    if (slider.valueAsNumber === trials.length) show(0);
    play.textContent = say("pause");
    now.setAttribute("aria-live", "off"); // nobody can listen so fast
    timer = setInterval(() => {
      show(slider.valueAsNumber + 1);
      if (slider.valueAsNumber === trials.length) stop();
    }, PLAY_MS);
  }

  const KEYS = {
    ArrowRight: () => go(slider.valueAsNumber + 1),
    ArrowLeft: () => go(slider.valueAsNumber - 1),
    Home: () => go(0),
    End: () => go(trials.length),
  };

  document.querySelector(".controls").addEventListener("keydown", (event) => {
    const action = KEYS[event.key];
    if (!action || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    action();
  });
  slider.addEventListener("input", () => go(slider.valueAsNumber));
  document.getElementById("previous").addEventListener("click", KEYS.ArrowLeft);
  document.getElementById("next").addEventListener("click", KEYS.ArrowRight);
  play.addEventListener("click", () => (timer ? stop() : start()));
  show(trials.length);
})();
