"""`gp-pta`: the one command of the host tools."""

import argparse
import io
import sys
from collections.abc import Sequence
from typing import Final

from firmware_py.platform.program import is_of_output, refusal, run_program
from host_tools.errors import FAULT, REFUSED, HostError
from host_tools.parser import Command, CommandParser, parser_of
from host_tools.terminal import say_aside

COMMANDS: Final = (
    Command("demo", "host_tools.commands.demo",
        "measure a simulated listener from start to end and replay the journal"),
    Command("workbench", "host_tools.commands.workbench",
        "simulated board, firmware and the operator's console, together in this terminal"),
    Command("listen", "host_tools.commands.listen",
        "your own ears: the sound card is the tone generator, the space bar is the button"),
    Command("simulate", "host_tools.commands.simulate",
        "serve a simulated tone generator and listener; prints its serial port (a pty)"),
    Command("cable", "host_tools.commands.cable",
        "join two programs by a serial cable: prints its two ends, which are ports (ptys)"),
    Command("console", "host_tools.commands.console.command",
        "talk to the firmware's console: completion and history, or line by line in a pipe"),
    Command("page", "host_tools.commands.page.command",
        "the page that runs a hearing test in a browser: one file, or served for a port"),
    Command("watch", "host_tools.commands.watch.command",
        "show a running session live: audiogram, bands, answers, information, time to go"),
    Command("replay", "host_tools.commands.replay.command",
        "check that a journal's every stimulus and its result come out again, bit for bit"),
    Command("report", "host_tools.commands.report.command",
        "draw a session: its audiogram, grade, quality, and how it went, tone by tone"),
    Command("prescribe", "host_tools.commands.prescribe.command",
        "fit a hearing aid from a session, by a published rule"),
    Command("tune", "host_tools.commands.tune",
        "tune a hearing aid by what its wearer likes better: openMHA, speech, and a button"),
    Command("export", "host_tools.commands.export.command",
        "write what sessions found as CSV, JSON, FHIR or Parquet"),
    Command("sessions", "host_tools.commands.sessions.command",
        "list the journals of a directory, choose among them, export them together"),
    Command("protect", "host_tools.commands.protect",
        "encrypt journals to a public key, with age"),
    Command("unprotect", "host_tools.commands.unprotect",
        "decrypt journals with a secret key of age"),
    Command("calibrate", "host_tools.commands.calibrate.command",
        "measure the device with a sound level meter, guided, and write its calibration file"),
    Command("install-board", "host_tools.commands.install_board",
        "copy the tone generator's program to a Raspberry Pi Pico with MicroPython and check it"),
    Command("update", "host_tools.commands.update",
        "send a device that runs from a card a new system; sent by half, it is gone on with"),
    Command("study", "host_tools.research.study.command",
        "compare methods on simulated listeners, time tests, or draw a figure of the paper again"),
    Command("learn-prior", "host_tools.research.learn_prior.command",
        "learn the prior of the hearing test from a table of audiograms"),
    Command("doctor", "host_tools.commands.doctor.command",
        "what is here, and what is missing for which command, with the line to type"),
    Command("completion", "host_tools.commands.completion",
        "print the completion of gp-pta for a shell"),
)  # fmt: skip


def parser() -> CommandParser:
    return parser_of(COMMANDS)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    return run_program(lambda: _command(argv), "gp-pta")


def _command(argv: Sequence[str] | None) -> int:
    if words := refusal():
        say_aside(f"gp-pta: {words}")
        return REFUSED
    if isinstance(sys.stdout, io.TextIOWrapper):  # a file name may have bytes that are no text
        sys.stdout.reconfigure(errors="backslashreplace")
    return run(parser().parse_args(argv))


def run(arguments: argparse.Namespace) -> int:
    """Run the command that was asked for, and return its exit code."""
    from host_tools.extras import need

    try:
        command: Command = arguments.command
        module = command.module
        need(f"gp-pta {command.name}", *module.NEEDS.get("", ()), use=command.name)
        code = module.run(arguments)
        sys.stdout.flush()
    except HostError as error:
        say_aside(f"gp-pta: {error}")
        return error.exit_code
    except OSError as error:
        if is_of_output(error):
            raise
        if not isinstance(error, PermissionError) or error.filename is None:
            return _fault()
        say_aside(f"gp-pta: {error.filename}: {error.strerror}")  # in a closed directory, say
        return REFUSED
    except Exception as error:  # 1, as Python has it, would say something of a journal
        if not _is_of_user(error):
            return _fault()
        say_aside(f"gp-pta: {error}")
        return REFUSED
    return code


def _is_of_user(error: Exception) -> bool:
    """Return whether an error of another room is one that a user can see to."""
    from device.simulator.audiograms import AudiogramError  # whoever raises one, imported it
    from firmware_py.inference.library import LibraryError

    return isinstance(error, AudiogramError | LibraryError)


def _fault() -> int:
    """Say where the error is that is being handled, which nobody foresaw."""
    import traceback

    say_aside(*traceback.format_exc().splitlines())
    return FAULT


if __name__ == "__main__":
    sys.exit(main())
