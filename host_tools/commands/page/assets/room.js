// The noise of the room: what the device knows of it, and what the operator tells.

import { device } from "./device.js";
import { at, tell } from "./dom.js";
import { say } from "./words.js";

const SAID_HZ = 500; // noise of rooms masks most there

let known = { room: null }; // what the device answered last

/** Ask the device what it knows. */
export async function loadRoom() {
  known = JSON.parse(await device.ask("SESS:ROOM?"));
  at("room_dba").value = known.room?.dba ?? "";
  at("room_spectrum").value = known.room?.spectrum === "speech" ? "SPEECH" : "OFFICE";
  tell(at("room-note"), () => noteOf(known));
}

/** Tell the device what stands in the fields, if that is something else. */
export async function tellRoom() {
  const [dba, spectrum] = [at("room_dba").value, at("room_spectrum").value];
  if (isKnown(dba, spectrum)) {
    return;
  }
  await device.askOperator("SESS:ROOM", dba ? { level: dba, spectrum } : { level: "UNKNOWN" });
  await loadRoom();
}

function isKnown(dba, spectrum) {
  const { room } = known;
  if (!room) {
    return !dba;
  }
  const isOfMeter = room.spectrum === "third-octaves"; // no field here has it
  return Number(dba) === room.dba && (isOfMeter || room.spectrum === spectrum.toLowerCase());
}

function noteOf(told) {
  if (!told.room) {
    return say("room_ask");
  }
  if (told.too_loud) {
    return say(told.too_loud);
  }
  const limits = Object.values(told.floors_db_hl).map((floors) => floors[SAID_HZ]);
  return say("room_floor", { low: Math.max(...limits), hz: SAID_HZ });
}
