// What the lines of the console say: answers, unasked lines, the state, the list.

const WORD = /([^\s=]+)(?:=("(?:[^"\\]|\\.)*"|\S*))?/g;
const ERROR = /^ERROR (-?\d+),"(.*)"$/;

/** Return the pairs NAME=VALUE of a line; a word without a value has an empty one. */
export function pairs(text) {
  const found = { __proto__: null };
  for (const [, name, value] of text.matchAll(WORD)) {
    found[name] = value?.startsWith('"') ? unquoted(value) : (value ?? "");
  }
  return found;
}

function unquoted(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(1, -1);
  }
}

/** Return what an unasked line tells: `what`, and its figures by name. */
export function told(line) {
  const [, what, rest] = /^!\s*(\S*)\s*(.*)$/.exec(line) ?? [null, "", ""];
  return { what, about: pairs(rest) };
}

/** Return number and words of an error, null if the line is none. */
export function errorOf(line) {
  const found = ERROR.exec(line);
  return found && { number: Number(found[1]), words: found[2].replaceAll('""', '"') };
}

/** Return why, as a line or an answer tells it: reasons, or none. */
export function reasonsOf({ reasons }) {
  return JSON.parse(reasons || "[]");
}

/** Return the sessions of the answer to SESS:LIST?, the newest first. */
export function sessionsOf(answer) {
  if (answer === "-") {
    return [];
  }
  return answer.split(";").filter((entry) => entry.includes(",")).map((entry) => {
    const [number, outcome, started, ears, ...identifier] = entry.split(",");
    const name = identifier.join(",");
    return { number: Number(number), outcome, started, ears, identifier: name === "-" ? "" : name };
  });
}

/** Return how many sessions such an answer lists, and how many there are; null if these are all. */
export function shareOf(answer) {
  const found = /(?:^|;)(\d+) of (\d+)$/.exec(answer);
  return found && { listed: found[1], all: found[2] };
}

/** Return whether two identifiers differ in case, blanks or what stands for these, or forms of letters only. */
export function isLike(one, other) {
  const [a, b] = [one, other].map(folded);
  return a === b && a !== "";
}

function folded(identifier) {
  const plain = identifier.normalize("NFKC").replace(/[^\p{L}\p{M}\p{N}]/gu, "");
  return plain.toUpperCase().toLowerCase().normalize("NFKC");
}

/** Return the lowest level of the answer to TONE:LIM?, and the highest by ear and frequency. */
export function limitsOf(answer) {
  const { low, ...ears } = pairs(answer);
  const found = { low: Number(low) };
  for (const [ear, levels] of Object.entries(ears)) {
    found[ear] = Object.fromEntries(levels.split(";").map((each) => each.split(",").map(Number)));
  }
  return found;
}

/** Return the header of each line of HELP, and how it is typed. */
export function helpOf(lines) {
  const found = {};
  for (const line of lines) {
    const [usage] = line.split("  ", 1);
    const header = usage.split(" ", 1)[0];
    if (/^\*?[A-Z][A-Za-z]*(:[A-Z][A-Za-z]*)*\??$/.test(header)) {
      found[header] = usage;
    }
  }
  return found;
}

/** Return whether the tone generator does not answer, by what SESS:STAT? told. */
export function isBoardLost(about) {
  return about.board === "lost";
}
