"""`gp-pta page`: the page with which an operator runs a hearing test in a browser."""

import argparse
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from typing import Any, Final

from device.simulator.serve import stop_by_signals
from host_tools.catalogue import ENGLISH, LANGUAGES, add_language_argument
from host_tools.devices.simulation import (
    SIMULATED,
    add_listener_arguments,
    add_routes_argument,
    check_board,
    check_place,
    unusual,
)
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.files import check_name, write_text
from host_tools.parser import Options
from host_tools.recordings.newest import SESSIONS
from host_tools.terminal import say, say_aside

EXAMPLE = """\
example:
  gp-pta page -o operator.html
  gp-pta page /dev/ttyACM0
  gp-pta page /dev/ttyACM0 --order order.gdt
  gp-pta page --simulated --audiogram N3 --routes air,bone
  gp-pta page --guide --language de -o guide.pdf

The file needs nothing else: Chromium, Chrome and Edge open it, and it talks to the device's console
over Web Serial. Any browser of this computer can run a test by the second command: open the address
that it prints, which has a token, and which nobody else needs to know. It ends with ^C. One page at
a time has the device; a test under way goes on without any. The fourth command needs no device: it
runs a simulated one, firmware and all, with a listener who answers as fast as people do. You are
the operator. The journals stay, and an unfinished test is gone on with next time. The fifth writes
what to do, in what order, and what each question means: a page to print, .pdf or .html, or without
-o lines for this terminal.

--order has the page begin with the person of an order of a practice system (GDT 2.1, 6302); who
types another one is asked. gp-pta export --order writes the answer.

exit codes: 0 the file was written, or ^C; 2 it cannot be written, nothing can listen, or the
simulated device ended
"""

NEEDS: Final = {"PORT": ("websockets",), "--guide -o FILE.pdf": ("matplotlib", "typst")}
WANTED: Final = (
    "one of PORT, -o FILE.html, --guide and --simulated is wanted; gp-pta page --simulated needs "
    "no device"
)
ENDING: Final = ".html"
LISTEN_MAX: Final = 65535
POLL_S: Final = 0.5


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "port", metavar="PORT", nargs="?",
        help="serve the page, and bridge this port of the device's console, or a URL of pyserial",
    )  # fmt: skip
    p.add_argument("-o", "--out", type=Path, metavar="FILE.html", help="write the page to a file")
    p.add_argument("--force", action="store_true", help="replace FILE.html if it is there")
    p.add_argument(
        "--guide", action="store_true",
        help="tell what an operator does, and what each question means; with -o .html or .pdf",
    )  # fmt: skip
    add_language_argument(p, "of --guide; the page has all of them")
    p.add_argument(
        "--listen", type=int, default=0, metavar="N",
        help="serve at this port of 127.0.0.1 (default: any that is free)",
    )  # fmt: skip
    p.add_argument(
        "--order", type=Path, metavar="FILE", help="serve the page for this order of GDT 2.1"
    )
    p.add_argument(
        "--simulated", action="store_true", help="serve the page with a simulated device behind it"
    )
    _add_simulated(p.add_argument_group("options of --simulated"))
    p.set_defaults(board=SIMULATED, faults="")


def _add_simulated(p: Options) -> None:
    add_listener_arguments(p)
    add_routes_argument(p)
    p.add_argument(
        "--speed", type=float, default=1.0, help="times faster than people are (default: 1)"
    )
    p.add_argument(
        "--data", type=Path, metavar="DIR", default=SESSIONS,
        help=f"keeps the journals; made if it is not there (default: {SESSIONS})",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    from host_tools.commands.page.assemble import page  # it has the firmware's table of commands

    if arguments.guide:
        return _guide(arguments)
    if arguments.language != ENGLISH:
        raise HostError("--language is an option of --guide; the page has all languages")
    _check_way(arguments)
    if arguments.out is not None:
        _write_page(arguments)
        return 0
    if not 0 <= arguments.listen <= LISTEN_MAX:
        raise HostError(f"--listen is {arguments.listen}; allowed are 0 to {LISTEN_MAX}")
    what = "--simulated" if arguments.simulated else "PORT"
    need(f"gp-pta page {what}", *NEEDS["PORT"], use="page PORT")
    _serve(arguments, page(_ordered(arguments.order)))
    return 0


def _check_way(arguments: argparse.Namespace) -> None:
    """Refuse what goes with another of the three ways to have the page, or with none of them."""
    ways = (arguments.port is not None, arguments.out is not None, arguments.simulated)
    if sum(ways) != 1:
        raise HostError(WANTED)
    if arguments.simulated:
        check_board(arguments)
        check_place(arguments, arguments.data, say_aside)
    else:
        for option in unusual(_add_simulated, arguments):
            raise HostError(f"{option} is an option of --simulated, which is not there")
    if arguments.order is not None and arguments.out is not None:
        raise HostError("--order is of a page that is served; -o writes one of nobody")


def _write_page(arguments: argparse.Namespace) -> None:
    from host_tools.commands.page.assemble import page
    from host_tools.commands.page.knowledge import lacking

    check_name(arguments.out, "-o", (ENDING,), arguments.force)
    for language in LANGUAGES:
        if missing := ", ".join(lacking(language)):
            say_aside(f"{language}.toml lacks {missing}: the page says it in English")
    write_text(arguments.out, page(), for_all=True)


def _ordered(order: Path | None) -> dict[str, Any] | None:
    from host_tools.commands.export.gdt import Order

    return None if order is None else Order.read(order, date.today()).on_the_page()


def _guide(arguments: argparse.Namespace) -> int:
    """Show the operator's guide, or write it."""
    from host_tools.commands.page.guide import COLUMNS, GuideShown, guide, guide_as_html
    from host_tools.papers.pdf import PDF, write_paper

    if arguments.port is not None or arguments.simulated or arguments.order is not None:
        raise HostError("--guide goes with no PORT, --simulated or --order: it needs no device")
    out = arguments.out
    if out is None:
        from rich.console import Console

        from host_tools.papers.characters import show_paper

        show_paper(Console(highlight=False), guide(), GuideShown(arguments.language))
        return 0
    check_name(out, "-o", (ENDING, PDF), arguments.force)
    if out.suffix == ENDING:
        write_text(out, guide_as_html(arguments.language), for_all=True)
        return 0
    need(f"-o {out}", *NEEDS["--guide -o FILE.pdf"], use="page --guide -o FILE.pdf")
    write_paper(guide(), GuideShown(arguments.language), out, columns=COLUMNS)
    return 0


def _serve(arguments: argparse.Namespace, html: str) -> None:
    from host_tools.commands.page.bridge import HOST, Bridge

    stop = threading.Event()
    with stop_by_signals(stop), _port(arguments, stop) as url, ExitStack() as undo:
        try:
            bridge = undo.enter_context(Bridge(url, html, say_aside, arguments.listen))
        except OSError as error:
            raise HostError(
                f"nothing can listen at {HOST}:{arguments.listen}: {error.strerror}"
            ) from None
        say(bridge.address)
        say_aside("open this address in a browser of this computer; end with ^C")
        while not stop.wait(POLL_S):
            continue


@contextmanager
def _port(arguments: argparse.Namespace, stop: threading.Event) -> Iterator[str]:
    """Give the port of the device's console; a simulated device is there until the end."""
    if not arguments.simulated:
        yield arguments.port
        return
    from host_tools.devices.in_process import device_in_process

    with device_in_process(arguments, stop, say_aside) as port:
        yield port
