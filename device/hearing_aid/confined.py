"""Starts a program where nobody else reaches it: a network of its own, and one directory to see.

`confined.py SOCKET ROOT WORK COMMAND...` is run by `openmha.py`, as a file and with the standard
library only. It takes a network and mounts of its own (`unshare`), switches that network's loopback
on, sends sockets made there through SOCKET, locks itself into ROOT, where only WORK can be written
to, as `WORK_PLACE`, gives its rights away and becomes COMMAND. Where the system lets it do that for
root only, or for nobody, it sends the reason, and starts nothing.
"""

import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

READY: Final = b"ready"
SOCKETS: Final = 2  # what passes into that network: the commands, and the sound
WORK_PLACE: Final = "/var"  # of Debian's directories one that the program does not need
FILE_BYTES_MAX: Final = 100_000_000
NOBODY: Final = 65534

NEW_MOUNTS: Final = 0x00020000
NEW_USER: Final = 0x10000000
NEW_NETWORK: Final = 0x40000000
READ_ONLY: Final = 1 | 2 | 4  # MS_RDONLY, and that nothing there is a device or gives rights
REMOUNT: Final = 32
BIND: Final = 4096
ALL_PRIVATE: Final = 0x4000 | 0x40000
SET_FLAGS: Final = 0x8914  # SIOCSIFFLAGS
UP: Final = 1
DIE_WITH_PARENT: Final = 1
NO_NEW_RIGHTS: Final = 38


def _system(name: str, *arguments: int | bytes | None) -> None:
    """Call a function of the C library; `OSError` names it if it fails."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _leave() -> bool:
    """Take a network and mounts of its own; return whether that took the rights of root.

    Without them it takes users of its own, too, among whom it is nobody.
    """
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        with suppress(OSError):  # a root without rights, as in a container
            _system("unshare", NEW_MOUNTS | NEW_NETWORK)
            return True
    _system("unshare", NEW_USER | NEW_MOUNTS | NEW_NETWORK)
    maps = {"setgroups": "deny", "uid_map": f"{NOBODY} {user} 1", "gid_map": f"{NOBODY} {group} 1"}
    for name, line in maps.items():
        Path("/proc/self", name).write_text(line, "ascii")
    return False


def _switch_loopback_on() -> None:
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh22x", b"lo", UP))


def _lock_in(root: str, work: str, is_root: bool) -> None:
    """See nothing but `root`, read-only, and in it `work`; nothing of it is seen outside."""
    place = os.fsencode(root)
    work_place = place + os.fsencode(WORK_PLACE)
    _system("mount", None, b"/", None, ALL_PRIVATE, None)
    _system("mount", place, place, None, BIND, None)
    _system("mount", None, place, None, BIND | REMOUNT | READ_ONLY, None)
    _system("mount", os.fsencode(work), work_place, None, BIND, None)
    os.chroot(root)
    os.chdir("/")
    if is_root:
        os.chown(WORK_PLACE, NOBODY, NOBODY)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    _system("prctl", NO_NEW_RIGHTS, 1, 0, 0, 0)
    _system("prctl", DIE_WITH_PARENT, signal.SIGTERM, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(line: socket.socket, root: str, work: str, command: list[str]) -> None:
    """Become the program, or say why not."""
    line.set_inheritable(False)
    try:
        is_root = _leave()
        _switch_loopback_on()
        sockets = [socket.socket() for _ in range(SOCKETS)]
        _lock_in(root, work, is_root)
        socket.send_fds(line, [READY], [each.fileno() for each in sockets])
        os.execve(command[0], command, {"MHA_LIBRARY_PATH": "/usr/lib"})
    except (OSError, AttributeError) as error:  # no such function, on another system
        line.send((getattr(error, "strerror", None) or str(error)).encode())


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), sys.argv[2], sys.argv[3], sys.argv[4:])
