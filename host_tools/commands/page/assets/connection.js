// The way to the device: chosen once, and taken again by itself when it comes back.

import { forget, problem } from "./alerts.js";
import { device } from "./device.js";
import { at, onClick, show } from "./dom.js";
import { screen } from "./screen.js";
import { bridgeUrl, BridgeWay, SerialWay } from "./ways.js";

const PORT_KEPT = "gp-pta-port";
const RETRY_MS = 2000;
const BUSY_TRIES = 3; // the page that was reloaded may still be hanging up
// After these there is a way again by itself, sooner or later.
const COMES_BACK = ["unplugged", "bridge_gone", "no_port", "silent", "no_answer"];

export class Connection {
  #met;
  #bridge = bridgeUrl();
  #port = null;
  #retry = 0;
  #busyTries = 0;
  #isConnecting = false;

  /** `onMet` is called when the device answers. */
  begin(onMet) {
    this.#met = onMet;
    const hasSerial = "serial" in navigator;
    show(at("connect-serial"), !this.#bridge && hasSerial);
    show(at("choose"), !this.#bridge && hasSerial);
    show(at("connect-none"), !this.#bridge && !hasSerial);
    onClick("choose", () => this.#choose());
    onClick("again", () => this.#connect());
    if (hasSerial && !this.#bridge) {
      navigator.serial.addEventListener("connect", () => this.#comeBack());
    }
    if (this.#bridge) {
      this.#connect();
    } else if (hasSerial && sessionStorage.getItem(PORT_KEPT)) {
      this.#comeBack();
    }
  }

  async #choose() {
    try {
      this.#port = await navigator.serial.requestPort();
    } catch {
      return; // nothing was chosen
    }
    await this.#connect();
  }

  /** Take the port again that was used before, if it is there. */
  async #comeBack() {
    if (device.isThere || this.#isConnecting) {
      return;
    }
    if (!this.#bridge) {
      const known = sessionStorage.getItem(PORT_KEPT);
      const ports = await navigator.serial.getPorts();
      const likely = ports.filter((port) => JSON.stringify(port.getInfo()) === known);
      this.#port = likely.find((port) => port === this.#port) ?? likely[0] ?? null;
      if (!this.#port) {
        return;
      }
    }
    await this.#connect();
  }

  async #connect() {
    if (this.#isConnecting || device.isThere) {
      return;
    }
    this.#isConnecting = true;
    clearTimeout(this.#retry);
    screen.status("connecting");
    try {
      await device.connect(this.#bridge ? new BridgeWay(this.#bridge) : new SerialWay(this.#port));
      if (this.#port) {
        sessionStorage.setItem(PORT_KEPT, JSON.stringify(this.#port.getInfo()));
      }
      this.#busyTries = 0;
      show(at("again"), false);
      forget();
      await this.#met();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isConnecting = false;
    }
  }

  /** Tell that the device cannot be reached any more, and try again. */
  lost(why) {
    problem(why, "connection");
    this.#fail(why);
  }

  #fail(error) {
    const { kind, way = "" } = error;
    const isSelf = this.#busyTries < BUSY_TRIES && ["busy", "in_use"].includes(way);
    if (isSelf) {
      this.#busyTries += 1;
    } else {
      problem(error, "connection");
    }
    screen.view("off");
    screen.status(kind === "misfit" ? kind : "off");
    if (isSelf) {
      this.#retry = setTimeout(() => this.#connect(), RETRY_MS);
    } else if (COMES_BACK.includes(way)) {
      this.#retry = setTimeout(() => this.#comeBack(), RETRY_MS);
    }
    show(at("again"), Boolean(this.#bridge || this.#port) && !isSelf);
  }
}
