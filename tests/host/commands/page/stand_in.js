// A stand-in for navigator.serial: ports whose bytes a test carries over a socket to a pty.
(() => {
  const url = "STAND_IN_URL";
  const gone = () => new DOMException("The device has been lost.", "NetworkError");

  class StandInPort extends EventTarget {
    readable = null;
    writable = null;
    #socket = null;
    #flow = null;

    getInfo() {
      return { usbVendorId: 0x0525, usbProductId: 0xa4a7 };
    }

    open({ baudRate }) {
      if (!(baudRate > 0)) return Promise.reject(new TypeError("baudRate is missing"));
      if (this.#socket) return Promise.reject(new DOMException("The port is already open.", "InvalidStateError"));
      return new Promise((resolve, reject) => {
        const socket = new WebSocket(url);
        socket.binaryType = "arraybuffer";
        socket.onmessage = ({ data }) => {
          if (typeof data === "string") {
            this.#opened(socket);
            resolve();
          } else {
            this.#flow.enqueue(new Uint8Array(data));
          }
        };
        socket.onclose = ({ code }) => {
          if (this.#socket !== socket) {
            reject(new DOMException("Failed to open serial port.", "NetworkError"));
          } else if (code !== 1000) {
            this.#lost();
          }
        };
      });
    }

    #opened(socket) {
      this.#socket = socket;
      this.readable = new ReadableStream({
        start: (flow) => { this.#flow = flow; },
      });
      this.writable = new WritableStream({
        write: (bytes) => {
          if (this.#socket !== socket || socket.readyState !== WebSocket.OPEN) throw gone();
          socket.send(bytes);
        },
      });
    }

    #lost() {
      this.#socket = null;
      const flow = this.#flow;
      this.readable = this.writable = null;
      serial.ports = [];
      flow.error(gone());
      serial.dispatchEvent(new Event("disconnect"));
    }

    async close() {
      this.#socket?.close(1000);
      this.#socket = null;
      this.readable = this.writable = null;
    }
  }

  class StandInSerial extends EventTarget {
    ports = [];
    asked = 0;

    async getPorts() {
      return sessionStorage.getItem("stand-in-granted") ? this.ports : [];
    }

    async requestPort() {
      if (!navigator.userActivation.isActive) throw new DOMException("no gesture", "SecurityError");
      if (!this.ports.length) throw new DOMException("No port selected by the user.", "NotFoundError");
      this.asked += 1;
      sessionStorage.setItem("stand-in-granted", "yes");
      return this.ports[0];
    }

    plug() {
      this.ports = [new StandInPort()];
      this.dispatchEvent(new Event("connect"));
    }
  }

  const serial = new StandInSerial();
  serial.plug();
  Object.defineProperty(navigator, "serial", { value: serial, configurable: true });
})();
