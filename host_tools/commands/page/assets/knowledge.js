// What the page has from the firmware and the catalogue, as `knowledge.py` made it.

import { at } from "./dom.js";

// As `base64.b85encode` has them, but for two signs that mean something in HTML and templates.
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`.|}~";
const LETTERS = 5; // stand for four bytes; fewer, at the end, for one less than they are

/** Return the bytes that a text of these digits stands for. */
export function bytesOf(text) {
  const missing = (LETTERS - (text.length % LETTERS)) % LETTERS;
  const whole = text + "~".repeat(missing);
  const bytes = new DataView(new ArrayBuffer((whole.length / LETTERS) * 4));
  for (let i = 0; i * LETTERS < whole.length; i++) {
    const letters = [...whole.slice(i * LETTERS, (i + 1) * LETTERS)];
    bytes.setUint32(i * 4, letters.reduce((sum, each) => sum * DIGITS.length + DIGITS.indexOf(each), 0));
  }
  return new Uint8Array(bytes.buffer, 0, bytes.byteLength - missing);
}

const unpacked = new Blob([bytesOf(at("knowledge").textContent)]).stream();
export const KNOWS = await new Response(unpacked.pipeThrough(new DecompressionStream("gzip"))).json();
