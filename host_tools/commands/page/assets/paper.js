// The paper of a session, as `gp-pta report` has it: particulars.py, words.py, quality_words.py, page.py.

import { make, table } from "./dom.js";
import { inWords } from "./remarks.js";
import { verdictWord } from "./verdict.js";
import { day, earName, number, oneDecimal, routeOf, say, wasClockSet } from "./words.js";

export const NOTHING = "-";
export const HOLDING = ["CALIBRATED", "SIMULATED"]; // calibrations in which levels are what they say
// What is said of the frequencies of an ear by their readings, after what was measured.
const KINDS = {
  above: "part_above",
  "at-most": "part_at_most",
  "perhaps-above": "part_perhaps_above",
  unknown: "part_unknown",
  inferred: "part_inferred",
};
const FIRST = { unreliable: "part_unreliable", incomplete: "part_incomplete" };

/** Return a sentence of the paper. */
export function onPaper(key, values) {
  return say(`paper_${key}`, values);
}

/** Return a time by the clock of the device, wherever this page is read, with its zone. */
function time(iso) {
  const [offset] = /(?:Z|[+-]\d\d:\d\d)$/.exec(iso) ?? [];
  const zone = offset ? `UTC${offset}`.replace(/Z|[+]00:00/, "") : "";
  const told = onPaper("time", { date: day(iso.slice(0, 10)), hours: iso.slice(11, 16), zone }).trim();
  return wasClockSet(iso) ? told : `${told} (${onPaper("clock_not_set")})`;
}

/** Return words as a list in a sentence: "a, b and c". */
export function joined(words) {
  const some = words.slice(0, -1).join(", ");
  return some ? onPaper("and", { some, last: words.at(-1) }) : words[0];
}

/** Return a sentence about so many things; 1 has one of its own. */
function counted(key, count) {
  return onPaper(count === 1 ? `${key}_one` : key, { count, age: number(count, 1) });
}

export function capital(text) {
  return text.slice(0, 1).toLocaleUpperCase() + text.slice(1);
}

/** Return whether a result is final, and why it is not. */
export function standingOf(result, why) {
  const isDone = result.outcome === "complete";
  const reason = isDone ? why : onPaper(`status_${result.outcome || "unfinished"}`);
  return reason ? onPaper("not_final", { why: reason }) : onPaper("final");
}

/** Return everything that is known of a session, as pairs of elements. */
export function factsOf(result, whose, paper) {
  const facts = [...who(result, whose, paper), ...what(result, whose, paper)];
  return facts.map(([key, value]) => {
    const name = key.startsWith("which") ? say(key) : onPaper(key);
    return make("div", {}, make("dt", {}, name), make("dd", {}, value || onPaper("not_told")));
  });
}

function who(result, whose, paper) {
  const { typed, session, started, identifier, sex } = whose;
  const age = whose.age_years;
  const told = [Number.isFinite(age) ? counted("age", age) : "", sex ? onPaper({ F: "female", M: "male" }[sex]) : ""];
  const begun = [started, ...paper.breaks.map((each) => each.resumed)].map(time);
  const status = onPaper(`status_${result.outcome || "unfinished"}`);
  const breaks = paper.breaks.map(({ left, resumed }) =>
    left
      ? onPaper("broken_off_value", { left: time(left), resumed: time(resumed) })
      : onPaper("broken_off_unknown", { resumed: time(resumed) }),
  );
  const waits = paper.waits.map((each) => inWords(each.why));
  return [
    ["name", typed.name],
    ["tested", joined(begun)],
    ["identifier", identifier],
    ["session", onPaper("session_value", { session, status })],
    ["birth_date", typed.birth_year],
    ["tester", typed.tester],
    ["age_sex", told.filter(Boolean).join(", ")],
    ["place", typed.place],
    ...(breaks.length ? [["broken_off", breaks.join("; ")]] : []),
    ...(waits.length ? [["waited", waits.join("; ")]] : []),
  ];
}

function what(result, whose, { settings, prior, firmware, calibration, masked }) {
  const device = whose.device
    ? onPaper("device_value", { version: firmware, serial: whose.device })
    : onPaper("device_alone", { version: firmware });
  const { transducer: phones, vibrator, calibration: made, state } = calibration;
  const isMade = Boolean(made);
  const told = onPaper(`conduct_${settings.conduct}`);
  const conduct = settings.confirm === "none" ? told : onPaper("conduct_confirmed", { conduct: told });
  const noise = settings.masking === "off" ? "masking_off" : masked ? "masking_automatic" : "masking_not_needed";
  const own = prior && onPaper("profile_own", { prior: prior.slice(0, 8) });
  const profile = settings.profile === "default" ? own || onPaper("profile_default") : settings.profile;
  const byBone = result.ears.some((ear) => ear.transducer === "bone");
  const isBoth = result.ears.length > 1;
  return [
    ["device", device],
    ["board", boardsOf(result.ears)],
    ["calibration", isMade ? calibrated(state, made) : headline(calibration)],
    ["transducer", isMade ? earphones(phones) : onPaper(`transducer_${state === "SIMULATED" ? "simulated" : "unknown"}`)],
    ...(byBone && vibrator ? [["vibrator", onPaper("vibrator_value", vibrator)]] : []),
    ["meter", isMade && meter(made, phones)],
    ["method", onPaper(byBone ? "method_both" : "method_value", { profile })],
    ["conduct", conduct],
    ["masking", onPaper(noise)],
    ...(isBoth ? [["which_ear", say(`which_ear_${result.which_ear.replaceAll("-", "_")}`)]] : []),
  ];
}

/** Return which tone generators there were, ear by ear if they are not the same. */
function boardsOf(ears) {
  const told = ears.map((ear) => [ear, ear.boards.join(", ")]);
  if (new Set(told.map(([, boards]) => boards)).size === 1) {
    return told[0][1];
  }
  const missing = onPaper("not_told");
  return told
    .map(([ear, boards]) => onPaper("of_ear", { ear: earName(ear), value: boards || missing }))
    .join("; ");
}

function calibrated(state, { date, due, technician }) {
  const days = { date: day(date), due: day(due) };
  return onPaper("calibration_value", { state: say(state.toLowerCase()), technician, ...days });
}

function earphones({ name, kind, serial_left: left, serial_right: right }) {
  return onPaper("transducer_value", { name, left, right, kind: onPaper(`kind_${kind.replace("-", "_")}`) });
}

/** Return what it was measured with: levels hold on that coupler only. */
function meter({ meter: name, meter_serial: serial }, { coupler }) {
  return onPaper("meter_value", { meter: name, serial, coupler });
}

function headline({ state, about }) {
  const name = say(state.toLowerCase());
  return state === "SIMULATED" ? name : `${name}: ${inWords([about])}`;
}

/** Return what must not be overlooked, as elements: who was not tested, and levels that are none. */
export function alarmsOf({ simulated, speed }, calibration) {
  const told = [];
  if (simulated || speed !== 1) {
    const ran = speed === null ? onPaper("clock_of_board") : onPaper("clock_ran", { speed: number(speed, 5) });
    const words = [simulated && onPaper("simulated_means"), speed !== 1 && ran].filter(Boolean).join(" ");
    told.push([onPaper(simulated ? "simulated_mark" : "clock_mark"), words]);
  }
  if (!HOLDING.includes(calibration.state)) {
    const state = calibration.state.toLowerCase();
    told.push([say(state), `${capital(inWords([calibration.about]))}. ${onPaper(`${state}_means`)}`]);
  }
  return told.map(([mark, words]) =>
    make("div", { class: "alert warning verdict" }, make("b", {}, mark), make("p", {}, words)),
  );
}

/** Return the sentence that says what came of an ear. */
export function earSentence(ear) {
  const name = capital(earName(ear));
  return onPaper("ear_sentence", { ear: name, parts: earParts(ear).join("; ") });
}

function earParts(ear) {
  const said = ear.may_conclude ? [] : [verdictWord(ear)];
  if (!ear.has_thresholds) {
    return [...said, ...ear.reasons.map((each) => inWords([each]))];
  }
  const first = FIRST[ear.outcome];
  said.push(...(first ? [onPaper(first)] : []));
  const of = (kind) => ear.thresholds.filter((each) => each.reading.kind === kind);
  const hertz = (found) => found.map((each) => number(each.frequency_hz)).join(", ");
  const measured = of("measured");
  if (measured.length) {
    const half = (each) => each.reading.half_width_db;
    const wide = ear.outcome === "measured" ? measured.filter((each) => each.reading.wide) : [];
    const key = `${wide.length ? "part_wide" : "part_measured"}${measured.length === 1 ? "_one" : ""}`;
    said.push(
      onPaper(key, {
        count: measured.length,
        all: ear.thresholds.length,
        half_width_db: oneDecimal(Math.max(...measured.map(half))),
        wanted_db: number(Math.min(...wide.map((each) => each.reading.wanted_db)), 3),
        frequencies_hz: hertz(wide),
      }),
    );
  }
  for (const [kind, key] of Object.entries(KINDS)) {
    const found = of(kind);
    said.push(...(found.length ? [onPaper(key, { frequencies_hz: hertz(found) })] : []));
  }
  const doubtful = ear.thresholds.filter((each) => each.reading.symbol === "uncertain");
  return [...said, ...(doubtful.length ? [onPaper("part_doubtful", { frequencies_hz: hertz(doubtful) })] : [])];
}

/** Return why an ear ended; how wide its bands are is said in its sentence, and only there. */
function endingOf(ear) {
  const [end, ...bands] = ear.why;
  const isOnlyEnd = ear.outcome === "measured";
  const why = isOnlyEnd ? inWords(bands.length ? [end] : []) : inWords(ear.why);
  return why && onPaper("ended_by", { ear: earName(ear), why });
}

/** Return how the test went, why its ears ended, and what was asked again, as the first remarks. */
export function courseOf(result, { minutes, checks }) {
  const aside = result.ears.map((ear) => {
    const count = checks[routeOf(ear)].set_aside;
    return count ? onPaper(count === 1 ? "set_aside_one" : "set_aside", { ear: earName(ear), count }) : "";
  });
  return [wholeOf(result, minutes), ...result.ears.map(endingOf), ...aside].filter(Boolean);
}

function wholeOf(result, minutes) {
  return onPaper("whole", {
    presentations: result.presentations,
    minutes: oneDecimal(minutes),
    presses: counted("presses", result.stray_presses),
  });
}

/** Return the table of how good the test was. */
export function qualityOf(result, { checks, ears: told }) {
  const columns = ["", ...result.ears.map((ear) => earName(ear))];
  const ears = result.ears.map((ear) => qualityRows(ear, checks[routeOf(ear)], told[routeOf(ear)].response_times));
  const rows = ears[0].map(([name], i) => [name, ...ears.map((each) => each[i][1])]);
  return table(onPaper("quality"), columns, rows);
}

/** Return how long the answers took: their median, and the middle half of them. */
function responseWords({ median_ms: median, first_quartile_ms: low, third_quartile_ms: high }) {
  if (median === null) {
    return NOTHING;
  }
  const told = { median: number(median), low: number(low ?? 0), high: number(high ?? 0) };
  return onPaper(low === null ? "response_value" : "response_middle", told);
}

function qualityRows(ear, found, times) {
  const unsure = ear.tones_unsure;
  const tones = { tones: ear.tones, heard: ear.tones_heard, unsure, aside: found.set_aside };
  const more = `${unsure ? "_unsure" : ""}${found.set_aside ? "_aside" : ""}`;
  const { pauses, pauses_pressed: pressed, checks, checks_missed: missed, retest } = found;
  const of = (some, all) => say("some_of", { some, all });
  const catches = { alarms: ear.false_alarms, catches: ear.catch_trials, unsure: ear.unsure_alarms };
  const silences = [
    pauses ? onPaper("silence_pauses", { pressed, pauses }) : "",
    ear.catch_trials ? onPaper(ear.unsure_alarms ? "silence_catches_unsure" : "silence_catches", catches) : "",
  ];
  const difference = ear.retest_difference_db;
  const again = { difference_db: `${difference >= 0 ? "+" : ""}${oneDecimal(difference ?? 0)}` };
  const verdict = retest && onPaper(`retest_${retest}`);
  const sds = ear.thresholds.filter((each) => each.mark === "measured").map((each) => each.sd_db);
  const mean = sds.reduce((sum, sd) => sum + sd, 0) / sds.length;
  return [
    [onPaper("tones"), onPaper(`tones${more || "_value"}`, tones)],
    [onPaper("silence"), silences.filter(Boolean).join("; ") || NOTHING],
    ...(checks === null ? [] : [[onPaper("checks_missed"), of(missed, checks)], [onPaper("doubted"), String(found.doubted_tones)]]),
    [onPaper("retest"), difference === null ? onPaper("retest_none") : onPaper("retest_value", { ...again, verdict })],
    [say("quality_masked"), String(ear.tones_masked)],
    [onPaper("clear_missed"), of(found.clear_missed, found.clear_tones)],
    [onPaper("response_time"), responseWords(times)],
    [onPaper("trial_time"), found.trial_s === null ? NOTHING : `${oneDecimal(found.trial_s)} s`],
    [onPaper("posterior_sd"), sds.length ? onPaper("posterior_sd_value", { mean: oneDecimal(mean), most: oneDecimal(Math.max(...sds)) }) : NOTHING],
  ];
}

/** Return what is written by hand: the comments, unless they were typed, and the lines to sign on. */
export function signatureOf({ typed }) {
  const heading = make("h3", {}, onPaper("comments"));
  const comments = typed.remarks
    ? make("div", { class: "comments" }, heading, typed.remarks)
    : make("div", { class: "to-write" }, heading);
  const ruled = (key, value) => make("p", {}, `${onPaper(key)}${value ? `: ${value}` : ""}`);
  const sign = [ruled("signed_name", typed.tester), ruled("signed_on"), ruled("signed")];
  return [comments, make("div", { class: "to-sign" }, ...sign)];
}
