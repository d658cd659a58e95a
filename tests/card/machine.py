"""An emulated AArch64 machine with a card in it, a console, and USB ports; without KVM.

A program between the machine and the file of the card keeps what was written and not flushed, and
dies with the machine: at a power cut that is lost, as it is lost on a real card.
"""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TextIO

from device.die_with_parent import die_with_parent
from tests.card.boards import Board, MachineError, Plug

CARD_BYTES: Final = 1 << 30  # a power of two, which an emulated SD card has to have
BANNER: Final = "U-Boot 2"  # and the rest of the year: what it says first
ROOM_BYTES: Final = 48 << 20  # of a small data partition
OWNER: Final = 900  # the firmware's user
WAIT_S_MAX: Final = 300.0  # for anything at all, on a very busy machine
ASK_AGAIN_S: Final = 2.0
QUIET_S: Final = 0.5  # with every answer there, nothing more comes
LATE_S: Final = 5.0  # an answer that has not come by then was lost with its question
RECEIVES: Final = 0x10  # bytes that came interrupt, in the register of a PL011


class Kind(NamedTuple):
    """A kind of machine, and the QEMU that emulates it."""

    board: Board
    qemu: Path


class Machine:
    """An emulated machine, used in a `with` statement; its power is off.

    The copy of the file of a card is as large as a card, or as `card_bytes` says; the path of its
    place is short, since sockets are in it.
    """

    def __init__(self, kind: Kind, card: Path, place: Path, card_bytes: int | None = None) -> None:
        self.board = kind.board
        self.place = place
        self._qemu = kind.qemu
        self.card = place / "card.img"
        # What is between the machine and the file of the card
        self.card_server: tuple[str, ...] = (
            "nbdkit", "--foreground", f"--unix={place / 'nbd'}",
            "--filter=cache", "file", str(self.card),
            "cache=writeback" if self.board.flushes else "cache=writethrough",
        )  # fmt: skip
        self._processes: list[subprocess.Popen[bytes]] = []
        self._console: tuple[int, int] | None = None  # what it says, and what is typed
        self._monitor: TextIO | None = None
        self._unread = b""
        self.heard = b""  # at the console, since the power came on
        if not self.card.exists():
            subprocess.run(["cp", "--sparse=always", card, self.card], check=True)
            os.truncate(self.card, card_bytes or CARD_BYTES)
            self.board.prepare(self.card, place)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cut_power()

    def switch_on(self, *options: str, read_only: bool = False) -> Self:
        """Switch the power on; options are QEMU's."""
        self.cut_power()
        for name in ("console.in", "console.out", "usb", "usb-2", "qmp", "nbd"):
            (self.place / name).unlink(missing_ok=True)
        # Pipes: a machine stands still, monitor and all, while nobody takes what its console says,
        # and a socket is full after some 280 bytes that come one by one.
        for name in ("console.in", "console.out"):
            os.mkfifo(self.place / name)
        self.heard = self._unread = b""
        self._start(*self.card_server, name="nbdkit")
        self._wait_for(self.place / "nbd")
        disk = f"format=raw,file=nbd:unix:{self.place / 'nbd'}"
        self._start(
            str(self._qemu), "-display", "none", "-nodefaults",
            "-chardev", f"pipe,id=console,path={self.place / 'console'}",
            "-chardev", f"file,id=kernel,path={self.place / 'kernel.log'},append=on",
            *self.board.options(self.place, disk + (",readonly=on" if read_only else "")),
            "-qmp", f"unix:{self.place / 'qmp'},server=on,wait=off",
            *options,
            name="qemu",
        )  # fmt: skip
        for path in (self.place / "qmp", *self.board.waits_for(self.place)):
            self._wait_for(path)
        # Kept: a monitor that is left and met again at once may not answer any more.
        with self._connect("qmp") as line:
            self._monitor = line.makefile("rw")
        self._monitor.readline()
        self._console = (
            os.open(self.place / "console.out", os.O_RDONLY | os.O_NONBLOCK),
            os.open(self.place / "console.in", os.O_WRONLY | os.O_NONBLOCK),
        )
        self.monitor("qmp_capabilities")
        return self

    def fill_data(self) -> None:
        """Fill the data partition, as somebody at another computer may; the power is off."""
        self.put_on_data("/", "filling", os.urandom(ROOM_BYTES))

    def put_on_data(self, directory: str, name: str, content: bytes) -> None:
        """Write a file of the firmware's on the data partition, as much of it as it has room for.

        The power is off. What `data_of` has left is used.
        """
        data, file = self.place / "data.ext4", self.place / "file"
        file.write_bytes(content)
        told = [f"mkdir {directory}", f"cd {directory}", f"write {file} {name}"]
        for path in (*([] if directory == "/" else [directory]), name):
            told += [f"sif {path} {field} {OWNER}" for field in ("uid", "gid")]
        subprocess.run(
            ["debugfs", "-w", "-f", "-", data],
            input="\n".join(told), text=True, check=False, capture_output=True,
        )  # fmt: skip
        subprocess.run(["e2fsck", "-fy", data], check=False, capture_output=True)
        self._write_data(data)

    def empty_data(self) -> None:
        """Make the data partition as one whose first writes were all lost; the power is off."""
        data = self.place / "data.ext4"
        with data.open("wb") as file:
            file.truncate(_data_partition(self.card)[1])
        subprocess.run(["mke2fs", "-q", "-t", "ext4", data], check=True)
        self._write_data(data)

    def _write_data(self, data: Path) -> None:
        with self.card.open("r+b") as card:
            card.seek(_data_partition(self.card)[0])
            card.write(data.read_bytes())

    def cut_power(self) -> None:
        """Cut the power: what was not flushed to the card is lost."""
        for process in self._processes[::-1]:
            process.send_signal(signal.SIGKILL)
            process.wait()
        self._processes.clear()
        if self._monitor is not None:
            with suppress(OSError):  # what was not sent yet
                self._monitor.close()
        for end in self._console or ():
            os.close(end)
        self._console = self._monitor = None

    @property
    def processor_s(self) -> float:
        fields = (
            Path(f"/proc/{self._processes[-1].pid}/stat").read_text().rpartition(")")[2].split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    # The console

    def type(self, line: str) -> None:
        self.send(f"{line}\n".encode())

    def fileno(self) -> int:
        assert self._console is not None
        return self._console[0]

    def send(self, words: bytes) -> None:
        assert self._console is not None
        while words:
            if not select.select([], [self._console[1]], [], WAIT_S_MAX)[1]:
                raise self._error(f"{words!r} was not taken")
            words = words[os.write(self._console[1], words) :]

    def receive(self, seconds: float = WAIT_S_MAX) -> bytes:
        """Return what comes from the console next; empty: nothing came in time."""
        assert self._console is not None
        if not select.select([self._console[0]], [], [], seconds)[0]:
            return b""
        if not (words := os.read(self._console[0], 65536)):
            raise self._error("the machine ended")
        self.heard += words
        return words

    def hear(self, seconds: float) -> list[str]:
        """Return the lines that came within a time; a line is returned once."""
        until_s = time.monotonic() + seconds
        while b"\n" not in self._unread and (left_s := until_s - time.monotonic()) > 0:
            self._unread += self.receive(left_s)
        *lines, self._unread = self._unread.split(b"\n")
        return [line.decode(errors="replace").strip() for line in lines]

    def hear_for(self, seconds: float) -> list[str]:
        until_s, lines = time.monotonic() + seconds, list[str]()
        while (left_s := until_s - time.monotonic()) > 0:
            lines += self.hear(left_s)
        return lines

    def until(self, *words: str, seconds: float = WAIT_S_MAX) -> str:
        """Return the first line from now on that has all these words."""
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            lines = self.hear(1.0)
            for i, line in enumerate(lines):
                if all(word in line for word in words):
                    self._put_back(lines[i + 1 :])
                    return line
        raise self._error(f"{' '.join(words)!r} did not come")

    def ask(self, line: str, seconds: float = WAIT_S_MAX) -> str:
        """Type a line and return its answer: what comes first and is not told unasked."""
        self.type(line)
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            lines = [line for line in self.hear(1.0) if line]
            for i, answer in enumerate(lines):
                if not answer.startswith("! "):
                    self._put_back(lines[i + 1 :])
                    return answer
        raise self._error(f"{line} was not answered")

    def _put_back(self, lines: list[str]) -> None:
        self._unread = "".join(f"{line}\n" for line in lines).encode() + self._unread

    def wait_for_firmware(self) -> str:
        """Type until the firmware answers; return who it is."""
        who, asked, ask_s = list[str](), 0, 0.0
        heard_s = time.monotonic()
        until_s = heard_s + WAIT_S_MAX
        while time.monotonic() < until_s:
            if not who and time.monotonic() >= ask_s and self.is_read():
                self.type("*IDN?")
                asked, ask_s = asked + 1, time.monotonic() + ASK_AGAIN_S
            if lines := self.hear(QUIET_S):
                who += [line for line in lines if line.startswith("GP-PTA,")]
                heard_s = time.monotonic()
            # A late answer would be taken for that to the next question.
            quiet_s = QUIET_S if len(who) >= asked else LATE_S
            if who and time.monotonic() - heard_s >= quiet_s:
                return who[0]
        raise self._error("*IDN? was not answered")

    def is_read(self) -> bool:
        """Return whether the system has opened the console: its port interrupts when a byte comes.

        A line loses what nobody reads. This one keeps it, and a port whose queue is full when it is
        opened never interrupts.
        """
        return bool(self.register(self.board.interrupts) & RECEIVES)

    def register(self, address: int) -> int:
        told = self.monitor("human-monitor-command", **{"command-line": f"xp /1wx {address:#x}"})
        return int(told.split()[-1], 16)

    def faults(self) -> list[str]:
        """Return what of the board is not as a card has to set it up."""
        return self.board.faults(self.register, self._kernel_log())

    def _kernel_log(self) -> str:
        kernel = self.place / "kernel.log"
        return kernel.read_bytes().decode(errors="replace") if kernel.exists() else ""

    def _error(self, what: str) -> MachineError:
        end = self.heard[-3000:].decode(errors="replace")
        return MachineError(
            f"{what}. The console:\n{end}\nThe kernel:\n{self._kernel_log()[-2000:]}"
        )

    # USB

    def plug_in(self, port: str, *, second: bool = False) -> Plug:
        """Plug in a tone generator, by its pty."""
        return self.board.plug_in(self.place, self.monitor, port, second=second)

    def plug_in_stick(self, stick: Path) -> None:
        self.monitor("blockdev-add", driver="raw", **{"node-name": "stick", "read-only": True},
                     file={"driver": "file", "filename": str(stick)})  # fmt: skip
        self.monitor(
            "device_add", driver="usb-storage", drive="stick", id="stick", bus=self.board.usb_bus
        )

    def pull_stick(self) -> None:
        self.monitor("device_del", id="stick")
        until_s = time.monotonic() + WAIT_S_MAX
        while time.monotonic() < until_s:
            with suppress(MachineError):  # as long as the machine has not let go of it
                self.monitor("blockdev-del", **{"node-name": "stick"})
                return
            time.sleep(0.2)

    def monitor(self, command: str, **arguments: Any) -> Any:
        if self._monitor is None:
            raise MachineError("its power is off")
        self._monitor.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._monitor.flush()
        while not {"return", "error"} & (told := json.loads(self._monitor.readline())).keys():
            pass  # an event
        if "error" in told:
            raise self._error(f"{command}: {told['error']['desc']}")
        return told["return"]

    def _connect(self, name: str) -> socket.socket:
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(WAIT_S_MAX)
        line.connect(str(self.place / name))
        return line

    def _start(self, *command: str, name: str) -> None:
        with (self.place / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - it waits for nothing
            )  # fmt: skip
        self._processes.append(process)

    def _wait_for(self, path: Path) -> None:
        until_s = time.monotonic() + WAIT_S_MAX
        while not path.exists():
            if self._processes[-1].poll() is not None or time.monotonic() > until_s:
                name = "qemu" if len(self._processes) > 1 else "nbdkit"
                raise MachineError((self.place / f"{name}.log").read_text())
            time.sleep(0.02)


def short_directory() -> Path:
    """Return a new directory whose path leaves room for the name of a socket."""
    return Path(tempfile.mkdtemp(prefix="card-"))


def data_of(card: Path, place: Path) -> Path:
    """Return the firmware's recordings, taken off a card whose machine is off."""
    whole, out = place / "data.ext4", place / "data"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    start, size = _data_partition(card)
    with card.open("rb") as source, whole.open("wb") as target:
        source.seek(start)
        for _ in range(size >> 20):
            block = source.read(1 << 20)
            if block.count(0) == len(block):
                target.seek(len(block), os.SEEK_CUR)
            else:
                target.write(block)
        target.truncate(size)
    subprocess.run(["e2fsck", "-fy", whole], check=False, capture_output=True)
    subprocess.run(
        ["debugfs", "-R", f"rdump /lib/gp-pta {out}", whole],
        check=True,
        capture_output=True,
    )
    return out / "gp-pta"


def _data_partition(card: Path) -> tuple[int, int]:
    with card.open("rb") as file:
        entry = file.read(512)[494:510]
    start, sectors = (int.from_bytes(entry[at : at + 4], "little") for at in (8, 12))
    return start * 512, sectors * 512
