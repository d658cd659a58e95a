// What may be shown of a result: the rules of firmware_py/procedure/reading.py and pta4.py.

const BEYOND = { "no-response": "above", "hears-all": "at-most" };
export const PTA4_HZ = [500, 1000, 2000, 4000];
const GUESS_WIDTHS = 2; // examination.py
const KNOWN = ["measured", "above", "at-most"];

/** Return what of a threshold may be shown: kind, level, and how the other ear took part. */
export function readingOf(found) {
  const asked = { masked: found.masking === "masked", doubtful: found.masking === "uncertain" };
  if (found.mark === "inferred") {
    return { kind: "inferred", level: found.threshold_db_hl, masked: false, doubtful: false };
  }
  if (found.mark === "measured") {
    return { kind: "measured", level: found.threshold_db_hl, ...asked };
  }
  if (found.limit_db_hl === null) {
    return { kind: "unknown", level: null, masked: false, doubtful: false };
  }
  return { kind: BEYOND[found.mark] ?? "perhaps-above", level: found.limit_db_hl, ...asked };
}

/** Return an ear of a result as the drawing takes it. */
export function drawnEar(ear, tones = []) {
  return {
    ear: ear.ear,
    thresholds: ear.thresholds.map((found) => {
      const { kind, level } = readingOf(found);
      return {
        frequency_hz: found.frequency_hz,
        kind,
        level_db_hl: level,
        low_db_hl: found.low_db_hl,
        high_db_hl: found.high_db_hl,
        masking: found.masking,
        confirmed_db_hl: confirmedAt(ear, found.frequency_hz),
      };
    }),
    tones,
  };
}

function confirmedAt(ear, hz) {
  return ear.confirmed.find((each) => each.frequency_hz === hz)?.threshold_db_hl ?? null;
}

/**
 * Return an ear whose test did not end without the thresholds that its answers say little about;
 * `wanted` returns how far a band was to reach to either side at a frequency, in dB.
 */
export function withoutGuesses(ear, wanted) {
  if (ear.outcome !== "incomplete") {
    return ear;
  }
  const isGuess = (each) =>
    each.mark === "measured" &&
    (each.high_db_hl - each.low_db_hl) / 2 > GUESS_WIDTHS * wanted(each.frequency_hz);
  const none = { threshold_db_hl: null, sd_db: null, low_db_hl: null, high_db_hl: null };
  const thresholds = ear.thresholds.map((each) =>
    isGuess(each) ? { ...each, mark: "incomplete", ...none } : each,
  );
  return { ...ear, thresholds };
}

/** Return the mean threshold of an ear at four frequencies; null: it is not known. */
export function pta4Of(thresholds) {
  const four = thresholds.filter((each) => PTA4_HZ.includes(each.frequency_hz));
  const readings = four.map(readingOf);
  const levels = readings
    .filter(({ kind }) => KNOWN.includes(kind) || kind === "inferred")
    .map(({ level }) => level);
  if (levels.length < PTA4_HZ.length) {
    return null;
  }
  return {
    db_hl: levels.reduce((sum, level) => sum + level, 0) / levels.length,
    at_least: readings.some(({ kind, doubtful }) => kind === "above" || doubtful),
    inferred_hz: four
      .filter((each, i) => readings[i].kind === "inferred")
      .map((each) => each.frequency_hz),
  };
}
