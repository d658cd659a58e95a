// Whose a session is: what the device recorded of it, and what only this page was told for it.

import { at } from "./dom.js";
import { wasClockSet } from "./words.js";

const KEPT = "gp-pta-session"; // of one session, by its device, number and start
// What is typed of a person, by the id of its field; only the first three ever reach the device.
const FIELDS = ["identifier", "birth_year", "sex", "name", "tester", "place", "remarks"];
const OF_PERSON = ["identifier", "birth_year", "sex", "name"];
const APART_YEARS_MAX = 1.5; // two years of birth that may be one: as identity.py has it

/** Return what was typed for the next test, by field. */
export function personTyped() {
  return Object.fromEntries(FIELDS.map((name) => [name, at(name).value.trim()]));
}

/** Write a person into the fields, and nothing of anybody else; nobody: all are empty. */
export function fillPerson(person = {}) {
  for (const name of FIELDS) {
    at(name).value = person[name] ?? "";
  }
}

/** Bind what was typed to the session that was begun for it, in the place of an earlier one. */
export function bindTyped(serial, { session, started, identifier, age_years, sex }, typed) {
  const kept = { serial, session, started, person: { identifier, age_years, sex }, typed };
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
}

export function forgetTyped() {
  sessionStorage.removeItem(KEPT);
}

/**
 * Return whose a result is: what the device tells with it, and what was typed for just this session.
 * While the console is locked no person is told, but that of a session that this page began is known.
 */
export function whoseIs(serial, { session, started, person }) {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
  const isOwn = kept.serial === serial && kept.session === session && kept.started === started;
  return { session, started, ...(person ?? (isOwn ? kept.person : {})), typed: isOwn ? kept.typed : {} };
}

/** Return the person of a session for one more test of the same person. */
export function samePerson(whose) {
  const person = {
    identifier: whose.identifier,
    birth_year: birthYear(whose),
    sex: whose.sex,
  };
  const kept = OF_PERSON.map((name) => [name, whose.typed[name] || person[name]]);
  return Object.fromEntries(kept);
}

/** Return the year of birth that the age of a session says; null: no age was told, or no clock says when. */
function birthYear({ started, age_years: age }) {
  return age === null || age === undefined || !wasClockSet(started) ? null : Math.floor(Number(started.slice(0, 4)) - age);
}

/** Return in which fields of a table of rules two sessions differ, with both values and the rule. */
export function differencesOf(rules, one, other) {
  const [mine, yours] = [identityOf(one), identityOf(other)];
  return Object.entries(rules)
    .filter(([field]) => !isSame(field, mine[field], yours[field]))
    .map(([field, rule]) => ({ field, rule, one: mine[field], other: yours[field] }));
}

function identityOf(told) {
  const boards = [...new Set(Object.values(told.boards ?? {}).flat())].sort();
  const kinds = [...new Set(boards.map((each) => each.split(" ", 1)[0]))];
  return {
    ...told,
    born_year: birthYear(told),
    calibration: "transducer" in told ? (told.calibration_digest ?? "none").slice(0, 8) : null,
    board: boards.join(", ") || null,
    board_kind: kinds.join(", ") || null,
  };
}

/** Return whether two values are the same; of what is unknown nothing is said. */
function isSame(field, one, other) {
  if ([one, other].some((each) => each === null || each === undefined || each === "")) {
    return true;
  }
  return field === "born_year" ? Math.abs(one - other) <= APART_YEARS_MAX : one === other;
}
