"use strict";

// Steps through a session: what the page's "history" has, drawn as it was after so many answers.
(() => {
  const PLAY_MS = 700;
  const TENTH = 0.1;
  const MOST = 0.75; // how dense the objective is at most
  const EDGE = 2 ** 0.2; // how far its first and last column reach outward

  const history = JSON.parse(document.getElementById("history").textContent);
  const { trials, snapshots, words: WORDS } = history;
  const slider = document.getElementById("step");
  const play = document.getElementById("play");
  const now = document.getElementById("now");
  const count = document.getElementById("count");
  const rows = document.querySelectorAll("#session tbody tr");

  // A sentence in the page's language, with its places filled in.
  function say(key, parts = {}) {
    return WORDS[`step-${key}`].replace(/\{(\w+)\}/g, (_, name) => parts[name]);
  }

  function number(value, digits) {
    const text = digits === undefined ? `${+value.toFixed(1)}` : value.toFixed(digits);
    const told = /[1-9]/.test(text) ? text : text.replace("-", ""); // there is no -0
    return told.replace("-", "−").replace(".", WORDS.decimal);
  }

  // What is asked, in the words of the tables: an ear, by bone "right-bone".
  const routeOf = ({ ear, transducer }) => (transducer ? `${ear}-${transducer}` : ear);

  const earOf = (tone) => WORDS[`ear-${routeOf(tone)}`];

  // What was found, in its place above.

  for (const found of history.audiograms) {
    const svg = document.getElementById(`audiogram-${routeOf(found)}`);
    drawAudiogram(svg, found.data, { ...history.paper, label: found.label });
  }

  if (!slider) return; // it was not replayed: there are no steps

  // The panel of an ear.

  function makePanel(route) {
    const [ear, transducer] = route.split("-");
    const figure = document.createElement("figure");
    figure.className = `panel ${ear}`;
    const caption = document.createElement("figcaption");
    caption.id = `caption-${route}`;
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-labelledby", caption.id);
    figure.append(caption, svg);
    document.getElementById("panels").append(figure);
    return { route, ear, transducer, figure, caption, svg };
  }

  // What is shown after so many answers.

  function drawPanel(panel, step) {
    const { route, ear, transducer } = panel;
    const mine = trials.slice(0, step).filter((trial) => routeOf(trial) === route);
    const last = mine.at(-1);
    const snapshot = snapshots[last ? last.after : history.first[route]];
    const current = routeUnderTest(step) === route;
    panel.figure.classList.toggle("current", current);
    const name = WORDS[`ear-${route}`];
    const next = nextOf(step);
    panel.caption.textContent = current && next ? say("under-test", { ear: name }) : name;
    const drawn = {
      ear,
      transducer,
      thresholds: thresholdsOf(panel, snapshot, step),
      curve: curveOf(route, snapshot),
      asked_hz: mine.filter((trial) => trial.counts).map((trial) => trial.frequency_hz),
      tones: mine,
      last: last === trials[step - 1] ? last : null,
      next: next && routeOf(next) === route ? next : null,
    };
    const limit = history.limits[route];
    const shown = current && snapshot ? cellsOf(route, snapshot) : [];
    const data = { ears: [drawn], limit, cells: shown, watermark: history.watermark };
    drawAudiogram(panel.svg, data, history.paper);
  }

  // In the end those that were found: what the other ear may have heard, that ear can tell later.
  function thresholdsOf({ route, ear }, snapshot, step) {
    const drawn = history.audiograms.find((each) => each.ear === ear);
    const found = drawn && drawn.data.ears.find((each) => routeOf(each) === route);
    if (step === trials.length && found) return found.thresholds;
    return snapshot ? snapshot.thresholds : [];
  }

  const gridOf = (route) => (history.of_route && history.of_route[route]) || history;

  function curveOf(route, snapshot) {
    const tenths = (levels) => levels.map((level) => level * TENTH);
    if (!snapshot) return { frequencies_hz: [], low_db_hl: [], high_db_hl: [] };
    return {
      frequencies_hz: gridOf(route).grid_hz,
      mean_db_hl: tenths(snapshot.mean),
      low_db_hl: tenths(snapshot.low),
      high_db_hl: tenths(snapshot.high),
    };
  }

  // Each reaches half of the way to its neighbours; all levels of the first frequency come first.
  function cellsOf(route, snapshot) {
    const { cells } = gridOf(route);
    const at = cells.frequencies_hz;
    const edge = (i) => Math.sqrt(at[i - 1] * at[i]);
    const most = cells.characters.length - 1;
    return at.flatMap((frequency_hz, i) =>
      cells.levels_db_hl.map((level_db_hl, k) => ({
        frequency_hz,
        level_db_hl,
        from_hz: i > 0 ? edge(i) : frequency_hz / EDGE,
        to_hz: i + 1 < at.length ? edge(i + 1) : frequency_hz * EDGE,
        step_db: cells.step_db,
        share: (MOST * cells.characters.indexOf(
          snapshot.objective[i * cells.levels_db_hl.length + k])) / most,
      })),
    );
  }

  function nextOf(step) {
    return step < trials.length ? trials[step] : history.pending;
  }

  function routeUnderTest(step) {
    const tone = nextOf(step) || trials.at(-1);
    return tone ? routeOf(tone) : history.ears[0];
  }

  // The same in words.

  function nameOf(tone) {
    if (tone.frequency_hz === null) return say("silence");
    const parts = { frequency_hz: tone.frequency_hz, level: number(tone.level_db_hl), unit: history.unit };
    if (tone.purpose === "measure") return say("tone", parts);
    return say("tone-for", { ...parts, purpose: WORDS[`purpose-${tone.purpose}`] });
  }

  function answerOf(trial) {
    const catching = trial.frequency_hz === null;
    if (trial.heard === null) return say(catching ? "catch-unsure" : "unsure");
    if (catching) return say(trial.heard ? "catch-pressed" : "catch-not-pressed");
    if (!trial.heard) return say("not-heard");
    const { response_ms } = trial;
    return response_ms === null ? say("heard") : say("heard-after", { response_ms });
  }

  function tell(step) {
    const parts = [];
    if (step === 0) parts.push(say("before-first"));
    else {
      const trial = trials[step - 1];
      const snapshot = snapshots[trial.after]; // none of an ear that could not be tested
      const told = { ear: earOf(trial), tone: nameOf(trial), answer: answerOf(trial) };
      parts.push(say("presentation", { number: trial.number, ...told }));
      if (snapshot) {
        const [hz, half] = snapshot.widest;
        parts.push(say("widest", { half_width_db: number(half, 1), frequency_hz: hz }));
      }
    }
    const next = nextOf(step);
    parts.push(next ? say("next", { ear: earOf(next), tone: nameOf(next) }) : say("no-more"));
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
