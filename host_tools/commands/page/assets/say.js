// Says rows and reasons by the sentences of a language, as terms/words.py does.

const PLACE = /\{(\w+)\}/g;
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?(?:(Z)|([+-]\d\d:\d\d))?)?$/;
const YEAR_MIN = 2026; // an earlier one is of a clock that was never set: as self_check.py has it
const DIGITS = 6; // of a number without decimals of its own, at most: as Python's format "g" has it
const BETWEEN = "; "; // reasons beside one another
const LISTED = ", ";

/** Return whether a time, ISO 8601, is one of a clock that was set. */
export const wasClockSet = (iso) => Number(ISO.exec(iso)?.[1]) >= YEAR_MIN;

export class Language {
  #sentences;
  #rules;

  /** `sentences` by code; `rules`: what reasons.py says of figures by their names. */
  constructor(sentences, rules) {
    this.#sentences = sentences;
    const { several, decimals } = rules; // names of figures come from outside
    this.#rules = {
      ...rules,
      several: { __proto__: null, ...several },
      decimals: { __proto__: null, ...decimals },
    };
  }

  has(code) {
    return Object.hasOwn(this.#sentences, code);
  }

  /** Return one row or reason, or several, in words; "" of none. */
  say(said) {
    return [said ?? []].flat().map((each) => this.#sentence(each)).join(BETWEEN);
  }

  /** Return a number with so many decimals, or without superfluous ones. */
  number(value, decimals, isSigned = false) {
    const text = decimals === undefined ? general(value) : fixed(value, decimals);
    const bare = /[1-9]/.test(text) ? text : text.replace("-", ""); // there is no -0
    const sign = isSigned && !text.startsWith("-") ? "+" : "";
    return (sign + bare).replaceAll("-", "−").replace(".", this.#sentences["format-decimal"]);
  }

  /** Return a day of ISO 8601; what is none is left as it is. */
  date(iso) {
    const [, year, month, day] = ISO.exec(iso) ?? [];
    const name = this.#sentences[`format-month_${Number(month)}`];
    return name ? this.#fill("format-date", { day: String(Number(day)), month: name, year }) : iso;
  }

  /** Return a time by the clock of a device, with its zone, and that it was not set if that is so. */
  time(iso) {
    const [, year, , , hour = "00", minute = "00", utc, offset] = ISO.exec(iso) ?? [];
    const zone = utc || offset ? `UTC${/[1-9]/.test(offset ?? "") ? offset : ""}` : "";
    const parts = { date: this.date(iso), hours: `${hour}:${minute}`, zone };
    const said = year ? this.#fill("format-time", parts).trim() : iso;
    return wasClockSet(iso) ? said : `${said} (${this.#sentences["format-clock_not_set"]})`;
  }

  #sentence({ code, ...figures }) {
    const parts = { __proto__: null, unit: this.#sentences["unit-db-hl"] };
    for (const [name, part] of Object.entries(figures)) {
      parts[name] = this.#part(name, part);
    }
    if (this.has(code)) {
      return this.#fill(code, parts);
    }
    // It is of a later version: nothing that was found is lost.
    const told = Object.keys(figures).map((name) => `${name} ${parts[name]}`).join(LISTED);
    return told ? `${code} (${told})` : code;
  }

  #fill(code, parts) {
    return this.#sentences[code].replace(PLACE, (place, name) => parts[name] ?? asWritten(name, parts) ?? place);
  }

  #part(name, part) {
    const { several, words, dates, times, decimals, signed } = this.#rules;
    if (Array.isArray(part)) {
      return part.map((each) => this.#part(name, each)).join(several[name] ?? LISTED);
    }
    if (typeof part === "number") {
      return this.number(part, decimals[name], signed.includes(name));
    }
    if (typeof part === "object") {
      return this.#sentence(part);
    }
    if (words.includes(name)) {
      return this.#sentences[`${name}-${part}`] ?? part;
    }
    if (dates.includes(name)) {
      return this.date(part);
    }
    return times.includes(name) ? this.time(part) : part || this.#sentences.nothing;
  }
}

/** Return what `{Ear}` or `{EAR}` is filled with: the figure `ear`, with a capital or in capitals. */
function asWritten(name, parts) {
  const [first, ...rest] = parts[name.toLowerCase()] ?? [];
  if (first === undefined) {
    return undefined;
  }
  return name === name.toUpperCase() ? [first, ...rest].join("").toUpperCase() : first.toUpperCase() + rest.join("");
}

/** Return a number with so many decimals; in the middle between two, it is that with an even last digit. */
function fixed(value, decimals) {
  const text = value.toFixed(decimals); // in the middle away from zero
  const isMiddle = Math.abs(value * 2 ** (decimals + 1)) % 2 === 1;
  const isOdd = Number(text.at(-1)) % 2 === 1;
  return isMiddle && isOdd ? (value * (1 - Number.EPSILON)).toFixed(decimals) : text;
}

function general(value) {
  const [digits, power] = value.toPrecision(DIGITS).split("e");
  const short = digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
  return power ? `${short}e${power.replace(/^([+-])(\d)$/, "$10$2")}` : short;
}
