"""`gp-pta page`: the page with which an operator runs a hearing test in a browser."""

import argparse
import threading
from pathlib import Path
from typing import Final

from device.simulator.serve import stop_by_signals
from host_tools.catalogue import LANGUAGES
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.files import check_name, write_text
from host_tools.terminal import say, say_aside

EXAMPLE = """\
example:
  gp-pta page -o operator.html
  gp-pta page /dev/ttyACM0

The file needs nothing else: Chromium, Chrome and Edge open it, and it talks to the device's console
over Web Serial. Any browser of this computer can run a test by the second command: open the address
that it prints, which has a token, and which nobody else needs to know. It ends with ^C. One page at
a time has the device; a test under way goes on without any.

exit codes: 0 the file was written, or ^C; 2 it cannot be written, or nothing can listen
"""

NEEDS: Final = {"PORT": ("websockets",)}
ENDING: Final = ".html"
LISTEN_MAX: Final = 65535
POLL_S: Final = 0.5


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    p.add_argument(
        "port", metavar="PORT", nargs="?",
        help="serve the page, and bridge this port of the device's console, or a URL of pyserial",
    )  # fmt: skip
    p.add_argument("-o", "--out", type=Path, metavar="FILE.html", help="write the page to a file")
    p.add_argument("--force", action="store_true", help="replace FILE.html if it is there")
    p.add_argument(
        "--listen", type=int, default=0, metavar="N",
        help="serve at this port of 127.0.0.1 (default: any that is free)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Write the page, or serve it until interrupted."""
    from host_tools.commands.page.assemble import page  # with the firmware's table of commands
    from host_tools.commands.page.knowledge import lacking

    if (arguments.port is None) == (arguments.out is None):
        raise HostError("either PORT or -o FILE.html is wanted; gp-pta page --help shows both")
    if arguments.out is not None:
        check_name(arguments.out, "-o", (ENDING,), arguments.force)
        for language in LANGUAGES:
            if missing := ", ".join(lacking(language)):
                say_aside(f"{language}.toml lacks {missing}: the page says it in English")
        write_text(arguments.out, page(), for_all=True)
        return 0
    if not 0 <= arguments.listen <= LISTEN_MAX:
        raise HostError(f"--listen is {arguments.listen}; allowed are 0 to {LISTEN_MAX}")
    need("gp-pta page PORT", *NEEDS["PORT"], use="page PORT")
    _serve(arguments.port, page(), arguments.listen)
    return 0


def _serve(url: str, html: str, listen: int) -> None:
    from host_tools.commands.page.bridge import HOST, Bridge

    stop = threading.Event()
    try:
        bridge = Bridge(url, html, say_aside, listen)
    except OSError as error:
        raise HostError(f"nothing can listen at {HOST}:{listen}: {error.strerror}") from None
    with stop_by_signals(stop), bridge:
        say(bridge.address)
        say_aside("open this address in a browser of this computer; end with ^C")
        while not stop.wait(POLL_S):
            continue
