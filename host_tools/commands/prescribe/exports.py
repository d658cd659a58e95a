"""A fit as what an aid or another program reads: one table of targets, by the ending of a name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from firmware_py.terms.route import LEFT, RIGHT
from host_tools.errors import HostError

if TYPE_CHECKING:  # the names of files are checked before anything is computed
    from device.hearing_aid.fit import Fit
    from host_tools.commands.prescribe.ear_prescription import EarPrescription

    Ears = Sequence[EarPrescription]


@dataclass(frozen=True)
class Target:
    """What files with one ending are for."""

    ending: str
    words: str  # of the help
    module: str  # that writes it; it brings NumPy
    # Given the module, fit, ears and remarks: the text; or with it what has to be said.
    how: "Callable[[Any, Fit, Ears, Sequence[str]], str | tuple[str, list[str]]]"
    of_fit: bool = True  # and so of a tuned one; else of the thresholds or gains of ears
    both_ears: bool = True
    of_a_table: bool = True  # if not, it rests on how sure a threshold is

    def write(self, fit: "Fit", ears: "Ears", remarks: Sequence[str]) -> tuple[str, list[str]]:
        """Return the text, and what has to be said with it."""
        made = self.how(import_module(self.module), fit, ears, remarks)
        return (made, []) if isinstance(made, str) else made


def target_of(path: Path) -> Target | None:
    """Return what a file of this name is for; None: for no aid and no other program."""
    return next((each for each in TARGETS if path.name.endswith(each.ending)), None)


def check_ears(out: Sequence[Path], ears: Sequence[str]) -> None:
    """Refuse files of both ears where one is missing, `HostError`, before anything is written."""
    missing = [ear for ear in (RIGHT, LEFT) if ear not in ears]
    for target in map(target_of, out):
        if target is not None and target.both_ears and missing:
            raise HostError(
                f"-o: {target.ending} has settings of both ears, and the {missing[0]} ear has none"
            )


def fit_as(ending: str, fit: "Fit", remarks: Sequence[str]) -> str:
    """Return the text of a fit for a file with one of `AID_ENDINGS`, with remarks as comments.

    `FitError` if the aid cannot take this fit, such as one of a single ear.
    """
    assert ending in AID_ENDINGS
    target = next(each for each in TARGETS if each.ending == ending)
    return target.write(fit, (), remarks)[0]


_HERE: Final = __package__
FIT: Final = ".fit"
TARGETS: Final = (
    Target(
        FIT, "the fit that gp-pta takes", "device.hearing_aid.fit_file",
        lambda file, fit, _ears, _remarks: file.fit_text(fit), both_ears=False,
    ),
    Target(
        ".cfg", "a fragment of an openMHA configuration", "device.hearing_aid.chain",
        lambda chain, fit, _ears, remarks: chain.configuration(fit, remarks),
    ),
    Target(
        ".txt", "a preset of Tympan (Preset_16_00.txt on its SD card)", f"{_HERE}.tympan",
        lambda tympan, fit, _ears, remarks: tympan.preset(fit, remarks),
    ),
    Target(
        ".librepods.json", "the audiograms to type into LibrePods", f"{_HERE}.librepods",
        lambda librepods, _fit, ears, remarks: librepods.settings(
            ears[0].frequencies_hz, {ear.ear: ear.threshold_db_hl for ear in ears}, remarks
        ),
        of_fit=False,
    ),
    Target(
        ".easyeffects.json", "a preset of EasyEffects, an equaliser, which is no hearing aid",
        f"{_HERE}.equaliser",
        lambda equaliser, _fit, ears, remarks: equaliser.preset(
            [*map(equaliser.curve_of, ears)], remarks
        ),
        of_fit=False, of_a_table=False,
    ),
)  # fmt: skip
AID_ENDINGS: Final = tuple(each.ending for each in TARGETS if each.of_fit)
