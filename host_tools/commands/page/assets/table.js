// The console's table of commands, as the firmware of this page's version has it.

import { notAllowed } from "./trouble.js";

/** Return the line for a command in its short form; a value that is not allowed is refused. */
export function lineOf(commands, header, told = {}) {
  const command = commands[header];
  if (!command) {
    throw new Error(`${header} is not in the table of commands`);
  }
  const left = { ...told };
  const texts = [];
  for (const argument of command.arguments ?? []) {
    const value = left[argument.name];
    delete left[argument.name];
    if (value === undefined || value === null || value === "") {
      if (!argument.optional) {
        throw notAllowed("value_missing", { name: argument.name });
      }
      continue;
    }
    const text = checkValue(argument, String(value).trim());
    texts.push(command.named ? `${argument.name}=${text}` : text);
  }
  if (Object.keys(left).length) {
    throw new Error(`${header} has no ${Object.keys(left).join(", ")}`);
  }
  return [header, texts.join(",")].filter(Boolean).join(" ");
}

/** Return the headers that a device's HELP lacks or types otherwise; optional ones are left. */
export function missingIn(commands, help) {
  const own = Object.values(commands).filter((command) => !command.optional);
  return own.filter((command) => !isListed(command, help)).map(headerOf);
}

/** Return whether a device's HELP has the commands of a group, such as "tuning". */
export function hasGroup(commands, group, help) {
  const own = Object.values(commands).filter((command) => command.group === group);
  return own.every((command) => isListed(command, help));
}

function isListed(command, help) {
  return help[headerOf(command)] === command.usage;
}

/** Return the whole header, with which the usage begins. */
function headerOf({ usage }) {
  return usage.split(" ", 1)[0];
}

function checkValue(argument, text) {
  if (argument.choices) {
    return checkChoice(argument, text);
  }
  if (argument.number) {
    return checkNumber(argument, text);
  }
  if ((argument.any_script ? /,/ : /[\s,]/).test(text) || [...text].some((each) => each < " ")) {
    throw notAllowed("value_word", { name: argument.name, value: text });
  }
  return text;
}

function checkChoice({ name, choices }, text) {
  const word = text.toUpperCase();
  if (!choices.includes(word)) {
    throw notAllowed("value_choice", { name, value: text, allowed: choices.join(", ") });
  }
  return word;
}

function checkNumber({ name, low, high, whole, unit }, text) {
  const value = Number(text);
  if (!Number.isFinite(value) || (whole && !Number.isInteger(value))) {
    throw notAllowed("value_number", { name, value: text });
  }
  if (low !== undefined && (value < low || value > high)) {
    throw notAllowed("value_bounds", { name, value: text, least: low, most: high, unit });
  }
  return String(value);
}
