// The two ways to the device's console: Web Serial, and the bridge of `gp-pta page PORT`.

import { lost } from "./trouble.js";

const BAUD_RATE = 115200;
const BUFFER_BYTES = 65536;
// Why the bridge closes; `bridge.py` has the same numbers.
const CLOSED_BY_BRIDGE = { 4000: "busy", 4001: "no_port", 4002: "unplugged" };

/** The way by Web Serial: a port that the operator chose. */
export class SerialWay {
  #port;
  #reader = null;
  #closing = false;
  #reading = Promise.resolve();

  constructor(port) {
    this.#port = port;
  }

  async open(onText, onLost) {
    try {
      await this.#port.open({ baudRate: BAUD_RATE, bufferSize: BUFFER_BYTES });
    } catch (error) {
      throw lost("in_use", error.message);
    }
    this.#reading = this.#read(onText, onLost);
  }

  async #read(onText, onLost) {
    const decoder = new TextDecoder();
    // After a disturbed byte there is a new stream; after a pulled cable there is none.
    while (this.#port.readable && !this.#closing) {
      this.#reader = this.#port.readable.getReader();
      try {
        for (;;) {
          const { value, done } = await this.#reader.read();
          if (done) {
            break;
          }
          onText(decoder.decode(value, { stream: true }));
        }
      } catch {
        continue;
      } finally {
        this.#reader.releaseLock();
      }
    }
    if (!this.#closing) {
      await this.#port.close().catch(() => {});
      onLost(lost("unplugged"));
    }
  }

  async write(text) {
    const writer = this.#port.writable?.getWriter();
    if (!writer) {
      throw lost("unplugged");
    }
    try {
      await writer.write(new TextEncoder().encode(text));
    } catch (error) {
      throw lost("unplugged", error.message);
    } finally {
      writer.releaseLock();
    }
  }

  async close() {
    this.#closing = true;
    await this.#reader?.cancel().catch(() => {});
    await this.#reading.catch(() => {});
    await this.#port.close().catch(() => {});
  }
}

/** The way by the bridge that served this page. */
export class BridgeWay {
  #url;
  #socket = null;
  #closing = false;
  #tellWhy;
  #whyGone = new Promise((resolve) => {
    this.#tellWhy = resolve;
  });

  constructor(url) {
    this.#url = url;
  }

  open(onText, onLost) {
    return new Promise((resolve, reject) => {
      const decoder = new TextDecoder();
      let isOpen = false;
      this.#socket = new WebSocket(this.#url);
      this.#socket.binaryType = "arraybuffer";
      this.#socket.onmessage = ({ data }) => {
        if (typeof data === "string") {
          isOpen = true; // it says so when it has opened the port
          resolve();
        } else {
          onText(decoder.decode(data, { stream: true }));
        }
      };
      this.#socket.onclose = ({ code, reason }) => {
        const why = lost(CLOSED_BY_BRIDGE[code] ?? "bridge_gone", reason);
        this.#tellWhy(why);
        if (!isOpen) {
          reject(why);
        } else if (!this.#closing) {
          onLost(why);
        }
      };
    });
  }

  async write(text) {
    if (this.#socket.readyState !== WebSocket.OPEN) {
      throw await this.#whyGone; // a socket is closed some time before it is told why
    }
    this.#socket.send(new TextEncoder().encode(text));
  }

  async close() {
    this.#closing = true;
    this.#socket?.close(1000);
  }
}

/** Return the address of the bridge's socket if a bridge served this page, else null. */
export function bridgeUrl(place = window.location) {
  if (!/^http:$/.test(place.protocol)) {
    return null;
  }
  return `ws://${place.host}${place.pathname.replace(/[^/]*$/, "")}console`;
}
