"""The program on an emulated board without an installation: its files lie in the flash as they are.

An installation takes the emulator a quarter of a minute, most of it for the file system. Here the
compiled files lie beside the flash that MicroPython knows of, and a file system of a few lines
has them at the places of an installation.
"""

from typing import Any, Final

from device.emulator.image import find_image
from device.emulator.pico import FLASH_BYTES, EmulatedPico
from host_tools.devices.board_program import installed_files

BAUD_RATE: Final = 1_000_000
START: Final = b"from device.tone_generator.program import run\nrun()\x04"
START_US: Final = 300_000
FILE_SYSTEM: Final = """
import io, os, sys, uctypes, vfs
FILES = {files}
FILE, FOLDER = 0x8000, 0x4000
class Flash:
    def mount(self, readonly, mkfs): pass
    def umount(self): pass
    def chdir(self, path): pass
    def stat(self, path):
        path = path.lstrip("/")
        if path in FILES:
            return (FILE, 0, 0, 0, 0, 0, FILES[path][1], 0, 0, 0)
        if any(each.startswith(path + "/") for each in FILES):
            return (FOLDER, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        raise OSError(2)
    def open(self, path, mode):
        path = path.lstrip("/")
        if path not in FILES or "w" in mode:
            raise OSError(2)
        data = uctypes.bytearray_at(*FILES[path])
        return io.BytesIO(data) if path.endswith(".mpy") else io.StringIO(str(data, "utf-8"))
vfs.mount(Flash(), "/flash")
os.chdir("/flash")
sys.path.insert(0, "/flash")
"""


def pico_with_program(settings: dict[str, Any]) -> EmulatedPico:
    pico = EmulatedPico(find_image(), baud_rate=BAUD_RATE)
    pico.enter_raw_repl()
    bytecode = int(pico.execute("import sys; print(sys.implementation._mpy)"))
    files: dict[str, tuple[int, int]] = {}
    offset = FLASH_BYTES
    for path, content in installed_files(settings, bytecode).items():
        files[path] = (pico.write_flash(offset, content), len(content))
        offset += len(content)
    pico.execute(FILE_SYSTEM.format(files=files))
    pico.send(START)
    pico.run(START_US)
    return pico
