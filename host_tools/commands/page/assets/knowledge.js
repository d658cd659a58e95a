// What the page has from the firmware and the catalogue, as `knowledge.py` made it.

import { at } from "./dom.js";

const packed = Uint8Array.from(atob(at("knowledge").textContent), (letter) => letter.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));

export const KNOWS = await new Response(unpacked).json();
