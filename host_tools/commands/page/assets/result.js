// What a test found: its paper, beside earlier sessions of this person, printed and saved.

import { plain, problem } from "./alerts.js";
import { device } from "./device.js";
import { at, fill, make, onClick, save, show, tell } from "./dom.js";
import { drawEar, drawnEar } from "./draw.js";
import { KNOWS } from "./knowledge.js";
import { sessionsOf, shareOf } from "./lines.js";
import { sectionsOf } from "./paper.js";
import { differencesOf, whoseIs } from "./person.js";
import { differenceOf } from "./prepare.js";
import { misfit } from "./trouble.js";
import { dateAndTime, own, routeOf, say } from "./words.js";

const LISTED_MAX = 50;
const MADE_BY = ["device", "boards", "transducer", "vibrator", "calibration_digest"]; // a session
const FINISHED = ["complete", "aborted"];

export class Result {
  #result = null;
  #told = null; // what SESS:PAP? answered: the paper, and how it was made
  #whose = null; // what the device tells of the session, and what was typed for it
  #earlier = new Map(); // results of earlier sessions that are shown, by number

  constructor() {
    onClick("print", () => window.print());
    onClick("save-json", () => this.#save());
    onClick("find-earlier", () => this.#findEarlier().catch(problem));
  }

  /** Whose the result is that is shown; null: none is. */
  get whose() {
    return this.#whose;
  }

  /** Show the result of the last test; `answer` is that of SESS:RES?. Return whether it still is. */
  async showLast(answer) {
    const identity = JSON.parse(await device.ask("SESS:IDEN?"));
    const told = JSON.parse(await device.ask("SESS:PAP?"));
    if (identity.session !== answer.session || told.session !== answer.session) {
      return false; // meanwhile another test has begun
    }
    if (!told.paper) {
      throw misfit(plain(device.identity), ["SESSion:PAPer?"]); // it made no papers yet
    }
    const made = Object.fromEntries(MADE_BY.map((name) => [name, identity[name]]));
    const whose = { ...made, ...whoseIs(device.serial, answer) };
    // All at once: what is saved in the meantime is whole.
    this.#result = answer;
    this.#told = told;
    this.#whose = whose;
    this.#earlier.clear();
    show(at("earlier-list"), false);
    this.#draw();
    return true;
  }

  retell() {
    if (this.#result) {
      this.#draw();
    }
  }

  #draw() {
    const { headline, standing, final, footer, sections, details } = this.#told.paper;
    const { identifier } = this.#whose;
    const { birth_year: birth_date, ...typed } = this.#whose.typed;
    const earlier = [...this.#earlier.values()].flat();
    const ears = this.#result.ears.map((ear) => ({
      ...ear,
      norm: this.#told.norm[routeOf(ear)],
      discomfort: this.#discomfort.find((each) => routeOf(each) === routeOf(ear))?.levels,
    }));
    const draw = (figure, label) => drawEar(figure, { ...this.#result, ears }, label, { earlier });
    const shown = { typed: { ...typed, birth_date, identifier }, draw };
    fill(at("result-heading"), say(headline));
    fill(at("result-outcome"), say(standing));
    at("result").classList.toggle("not-final", !final);
    fill(at("result-paper"), ...sectionsOf(sections, shown));
    fill(at("result-details"), ...sectionsOf(details, shown));
    fill(at("result-footer"), say(footer));
  }

  /** What was told of each ear that has a level. */
  get #discomfort() {
    return this.#told.discomfort.filter((each) => each.levels.length);
  }

  async #findEarlier() {
    const { identifier, session } = this.#whose;
    const answer = await device.askOperator("SESS:LIST?", { count: LISTED_MAX });
    const share = shareOf(answer);
    const isEarlier = (each) => each.number < session && identifier && each.identifier === identifier;
    const same = sessionsOf(answer).filter((each) => isEarlier(each) && FINISHED.includes(each.outcome));
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
    box.addEventListener("change", () => this.#toggle(session, box).catch(problem));
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
    const told = JSON.parse(await device.askOperator("SESS:IDEN?", { number: earlier }));
    const differs = differencesOf(KNOWS.visits, told, this.#whose);
    const why = differs.map((each) => {
      const row = differenceOf(each);
      return each.rule === "said" ? row : own(`earlier_${each.rule}`, { differs: row });
    });
    if (differs.some((each) => each.rule === "refused")) {
      box.checked = false;
    } else {
      const { ears } = JSON.parse(await device.askOperator("SESS:RES?", { number: earlier }));
      // Only what was a valid test is laid beside another one.
      this.#earlier.set(earlier, ears.filter((ear) => ear.may_conclude).map((ear) => drawnEar(ear)));
      why.push(...ears.filter((ear) => !ear.may_conclude).map(verdictOf));
    }
    tell(box.parentElement.lastChild, () => why.map((each) => ` · ${say(each)}`));
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
    const { about } = this.#told.calibration;
    return {
      format: KNOWS.json_format,
      sessions: [
        {
          journal: `session-${String(session).padStart(6, "0")}.journal`,
          session,
          started,
          firmware: this.#told.firmware,
          device: this.#whose.device || null,
          breaks: this.#told.breaks,
          waits: this.#told.waits,
          ended: this.#told.ended,
          outcome: outcome || "unfinished",
          verdict,
          person: { identifier, age_years, sex },
          calibration: { state: calibration, words, about, digest, transducer, vibrator },
          settings: this.#told.settings,
          prior: this.#told.prior || null,
          ...(this.#discomfort.length ? { discomfort: this.#discomfort } : {}),
          ...(this.#told.noise?.length ? { noise: this.#told.noise } : {}),
          ...found,
        },
      ],
    };
  }
}

/** Return the verdict on an ear that is not laid over, as a row. */
function verdictOf(ear) {
  return { code: "of-ear-short", ear: routeOf(ear), of: { code: `test-${ear.verdict}` } };
}

/** Return a line of a list whose sentence follows the language. */
function lineOf(key, values) {
  const line = make("li");
  tell(line, () => say(key, values));
  return line;
}
