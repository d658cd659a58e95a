// Numbers with so many decimals, as Python rounds them: a report and the page write the same digit.

/** Return a number with so many decimals; in the middle between two, it is that with an even last digit. */
export function fixed(value, decimals) {
  const text = value.toFixed(decimals); // in the middle away from zero
  const isMiddle = Math.abs(value * 2 ** (decimals + 1)) % 2 === 1;
  const isOdd = Number(text.at(-1)) % 2 === 1;
  return isMiddle && isOdd ? (value * (1 - Number.EPSILON)).toFixed(decimals) : text;
}

/** Return a number rounded to so many decimals. */
export function rounded(value, decimals) {
  return Number(fixed(value, decimals));
}
