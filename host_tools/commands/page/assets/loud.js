// The sign that more than 100 dB HL are on: steady, until each sound that is so loud is over.

import { at, show } from "./dom.js";
import { KNOWS } from "./knowledge.js";

const loud = new Set();

/** Take in how loud a sound is, and its noise where it has some; without a level it is over. */
export function sounds(name, ...levels) {
  if (levels.some((level) => Number(level) > KNOWS.loud_db_hl)) {
    loud.add(name);
  } else {
    loud.delete(name);
  }
  show(at("sign"), loud.size > 0);
}
