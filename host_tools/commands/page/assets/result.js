// What a test found: drawn, in tables, beside earlier sessions of this person, printed and saved.

import { asymmetryLines, bandOf, columnsOf, gapLines, lossLines, normMark, notesOf } from "./beside.js";
import { at, fill, make, onClick, save, show, table, tell } from "./dom.js";
import { sessionsOf, shareOf } from "./lines.js";
import { drawEars, drawnEar, outcomeWords } from "./live.js";
import { meanLines } from "./means.js";
import {
  alarmsOf, capital, courseOf, earSentence, factsOf, onPaper, qualityOf, signatureOf, standingOf,
} from "./paper.js";
import { differencesOf, whoseIs } from "./person.js";
import { differsWords } from "./prepare.js";
import { asTold } from "./remarks.js";
import { shortVerdict, verdictsOf, verdictWord } from "./verdict.js";
import { dateAndTime, earName, number, oneDecimal, routeOf, say, unitOf } from "./words.js";

const LISTED_MAX = 50;
const ORDER = ["right", "left", "right-bone", "left-bone"]; // as on paper, whichever was tested first

export class Result {
  #device;
  #knows;
  #problem;
  #result = null;
  #paper = null; // how the device says that it was made
  #whose = null; // what the device tells of the session, and what was typed for it
  #earlier = new Map(); // results of earlier sessions that are shown, by number

  /** `onProblem` is given errors. */
  constructor(device, knows, onProblem) {
    this.#device = device;
    this.#knows = knows;
    this.#problem = onProblem;
    onClick("print", () => window.print());
    onClick("save-json", () => this.#save());
    onClick("find-earlier", () => this.#findEarlier().catch(onProblem));
  }

  /** Whose the result is that is shown; null: none is. */
  get whose() {
    return this.#whose;
  }

  /** Show the result of the last test; `answer` is that of SESS:RES?. Return whether it still is. */
  async showLast(answer) {
    const told = JSON.parse(await this.#device.ask("SESS:IDEN?"));
    const paper = JSON.parse(await this.#device.ask("SESS:PAP?"));
    if (told.session !== answer.session || paper.session !== answer.session) {
      return false; // meanwhile another test has begun
    }
    const { device, boards, transducer, vibrator, calibration_digest } = told;
    const made = { device, boards, transducer, vibrator, calibration_digest };
    const whose = { ...made, ...whoseIs(this.#device.serial, answer) };
    // All at once: what is saved in the meantime is whole.
    this.#result = answer;
    this.#paper = paper;
    this.#whose = whose;
    this.#earlier.clear();
    show(at("earlier-list"), false);
    this.#draw();
    return true;
  }

  /** Say it again in another language. */
  retell() {
    if (this.#result) {
      this.#draw();
    }
  }

  #draw() {
    const told = this.#result.ears.map((ear) => ({ ...ear, norm: this.#paper.ears[routeOf(ear)].norm }));
    const ears = told.toSorted((one, other) => ORDER.indexOf(routeOf(one)) - ORDER.indexOf(routeOf(other)));
    const result = { ...this.#result, ears };
    const isFinal = result.final;
    const isValid = result.ears.every((ear) => ear.may_conclude);
    const doubt = result.nominal ? say("uncalibrated") : onPaper("simulated_mark");
    const why = isValid ? doubt : shortVerdict(ears);
    fill(at("result-outcome"), standingOf(result, isFinal ? "" : why));
    fill(at("result-verdicts"), ...verdictsOf(result.ears));
    at("result").classList.toggle("not-final", !isFinal);
    const paper = this.#paper;
    fill(at("result-about"), ...factsOf(result, this.#whose, paper));
    fill(at("result-alarms"), ...alarmsOf(result, paper.calibration));
    drawEars(at("result-ears"), result, [], null, [...this.#earlier.values()].flat());
    for (const figure of at("result-ears").children) {
      const ears = result.ears.filter((each) => each.ear === figure.dataset.ear);
      const sentence = figure.querySelector("p") ?? figure.appendChild(make("p"));
      fill(sentence, ears.map(earSentence).join(" "));
    }
    fill(at("result-norm"), normMark(paper));
    const tables = result.ears.filter((ear) => ear.has_thresholds);
    fill(at("result-tables"), ...tables.map((ear) => thresholdTable(ear, unitOf(result), columnsOf(ear, paper))));
    fill(at("result-means"), ...meanLines(result).map((line) => make("li", {}, line)));
    const losses = lossLines(result);
    show(at("result-gaps"), losses.length > 0);
    fill(at("result-losses"), ...losses.map((line) => make("li", {}, line)));
    fill(at("result-meant"), ...notesOf(result, paper, this.#whose).map((line) => make("li", {}, line)));
    fill(at("result-quality"), qualityOf(result, paper));
    fill(at("result-sign"), ...signatureOf(this.#whose));
    fill(at("result-footer"), onPaper("footer", { version: paper.firmware }));
    const said = [...result.remarks.map((each) => asTold([each])), ...asymmetryLines(paper), ...gapLines(result)];
    fill(at("result-remarks"), ...[...courseOf(result, paper), ...said].map((each) => make("li", {}, each)));
  }

  async #findEarlier() {
    const { identifier, session } = this.#whose;
    const answer = await this.#device.askOperator("SESS:LIST?", { count: LISTED_MAX });
    const share = shareOf(answer);
    const isEarlier = (each) => each.number < session && identifier && each.identifier === identifier;
    const isDone = (each) => ["complete", "aborted"].includes(each.outcome);
    const same = sessionsOf(answer).filter((each) => isEarlier(each) && isDone(each));
    const lines = same.map((each) => this.#choice(each));
    if (!identifier) {
      lines.push(lineOf("earlier_nobody"));
    } else if (share) {
      lines.push(lineOf(same.length ? "earlier_among" : "earlier_none_among", share));
    } else if (!same.length) {
      lines.push(lineOf("earlier_none"));
    }
    fill(at("earlier-list"), ...lines);
    show(at("earlier-list"), true);
  }

  #choice(session) {
    const box = make("input", { type: "checkbox", id: `earlier-${session.number}` });
    box.addEventListener("change", () => this.#toggle(session, box).catch(this.#problem));
    const words = make("span");
    tell(words, () => {
      const when = dateAndTime(session.started);
      return ` ${say("earlier_session", { number: session.number, when })}`;
    });
    return make("li", {}, make("label", {}, box, words, make("span")));
  }

  async #toggle(session, box) {
    if (!box.checked) {
      this.#earlier.delete(session.number);
      this.#draw();
      return;
    }
    const { number: earlier } = session;
    const told = JSON.parse(await this.#device.askOperator("SESS:IDEN?", { number: earlier }));
    const differs = differencesOf(this.#knows.visits, told, this.#whose);
    const why = differs.map((each) => () => {
      const words = differsWords(each);
      return each.rule === "said" ? words : say(`earlier_${each.rule}`, { differs: words });
    });
    if (differs.some((each) => each.rule === "refused")) {
      box.checked = false;
    } else {
      const answer = await this.#device.askOperator("SESS:RES?", { number: earlier });
      const { ears } = JSON.parse(answer);
      // Only what was a valid test is laid beside another one.
      this.#earlier.set(earlier, ears.filter((ear) => ear.may_conclude).map((ear) => drawnEar(ear)));
      const others = ears.filter((ear) => !ear.may_conclude);
      why.push(...others.map((ear) => () => `${earName(ear)}: ${verdictWord(ear)}`));
    }
    tell(box.parentElement.lastChild, () => why.map((each) => ` · ${each()}`));
    this.#draw();
  }

  #save() {
    const text = `${JSON.stringify(this.asJson(), null, 1)}\n`;
    save(`gp-pta-session-${this.#whose.session}.json`, "application/json", text);
  }

  /** Return the session as `gp-pta export --format json` writes it: that makes every other format of it. */
  asJson() {
    const { outcome, verdict, calibration, calibration_words: words, session, started, person, ...rest } = this.#result;
    const { nominal, final, ...found } = rest;
    const { identifier = null, age_years = null, sex = null } = this.#whose;
    const { calibration_digest: digest, transducer, vibrator } = this.#whose;
    const { about } = this.#paper.calibration;
    return {
      format: this.#knows.json_format,
      sessions: [
        {
          journal: `session-${String(session).padStart(6, "0")}.journal`,
          session,
          started,
          firmware: this.#paper.firmware,
          device: this.#whose.device || null,
          breaks: this.#paper.breaks,
          waits: this.#paper.waits,
          ended: this.#paper.ended,
          outcome: outcome || "unfinished",
          verdict,
          person: { identifier, age_years, sex },
          calibration: { state: calibration, words, about, digest, transducer, vibrator },
          settings: this.#paper.settings,
          prior: this.#paper.prior || null,
          ...found,
        },
      ],
    };
  }
}

function levelWords({ reading }) {
  if (reading.level_db_hl === null) {
    return "–";
  }
  const words = `${reading.sign} ${number(reading.level_db_hl)}`.trim();
  const doubt = reading.symbol === "uncertain" ? "*" : "";
  return reading.kind === "inferred" ? `(${words})` : `${reading.wide ? "~ " : ""}${words}${doubt}`;
}

function bandWords({ reading }) {
  if (reading.low_db_hl === null) {
    return "–";
  }
  const words = bandOf(reading);
  return reading.kind === "inferred" ? `(${words})` : words;
}

function spreadWords({ sd_db: sd, inferred }) {
  if (inferred) {
    return `(${oneDecimal(inferred.sd_db)})`;
  }
  return sd === null ? "–" : oneDecimal(sd);
}

/** Return the table of an ear; `others`: columns beside its own. */
function thresholdTable(ear, unit, others) {
  const doubt = ear.may_conclude ? "" : `${verdictWord(ear)}, `;
  const caption = `${capital(earName(ear))}: ${doubt}${outcomeWords(ear)}`;
  const isConfirmed = ear.confirmed.length > 0;
  const again = new Map(ear.confirmed.map((each) => [each.frequency_hz, each]));
  const confirmed = [say("column_confirmed"), (hz) => confirmedWords(again.get(hz))];
  const more = [...others, ...(isConfirmed ? [confirmed] : [])];
  const columns = ["Hz", unit, say("column_band"), onPaper("column_sd"), ...more.map(([name]) => name)];
  const rows = ear.thresholds.map((found) => {
    const row = [number(found.frequency_hz), levelWords(found), bandWords(found), spreadWords(found)];
    return [...row, ...more.map(([, cellOf]) => cellOf(found.frequency_hz))];
  });
  const made = table(caption, columns, rows);
  made.classList.add(ear.ear);
  return made;
}

/** Return a line of a list whose sentence follows the language. */
function lineOf(key, values) {
  const line = make("li");
  tell(line, () => say(key, values));
  return line;
}

function confirmedWords(again) {
  if (!again) {
    return "–";
  }
  const level = again.threshold_db_hl;
  return level === null ? say(`outcome_${again.mark.replaceAll("-", "_")}`) : number(level);
}
