"""A fit as what an aid or another program reads: one table of targets, by the ending of a name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_py.terms.route import LEFT, RIGHT
from host_tools.errors import HostError

if TYPE_CHECKING:  # the names of files are checked before anything is computed
    from device.hearing_aid.fit import Fit
    from host_tools.commands.prescribe.ear_prescription import EarPrescription

    Write = Callable[[Fit, Sequence[EarPrescription], Sequence[str]], tuple[str, list[str]]]


@dataclass(frozen=True)
class Target:
    """What files with one ending are for."""

    ending: str
    words: str  # of the help
    # Given fit, ears and remarks: the text, and what has to be said with it.
    write: "Write"
    of_fit: bool = True  # and so of a tuned one; else of the thresholds or gains of ears
    both_ears: bool = True
    of_a_table: bool = True  # if not, it rests on how sure a threshold is


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
    """Return the text of a fit for a file with this ending, one of `AID_ENDINGS`.

    Parameters
    ----------
    ending : str
    fit : Fit
        Of both ears, but for ".fit".
    remarks : sequence of str
        What whoever fits the aid has to know; comments, where there are such.

    Raises
    ------
    FitError
        If the aid cannot take this fit.
    """
    assert ending in AID_ENDINGS
    target = next(each for each in TARGETS if each.ending == ending)
    return target.write(fit, (), remarks)[0]


def _own(
    fit: "Fit", _ears: "Sequence[EarPrescription]", _remarks: Sequence[str]
) -> tuple[str, list[str]]:
    from device.hearing_aid.fit_file import fit_text

    return fit_text(fit), []


def _openmha(
    fit: "Fit", _ears: "Sequence[EarPrescription]", remarks: Sequence[str]
) -> tuple[str, list[str]]:
    from device.hearing_aid import chain

    return chain.configuration(fit, remarks), []


def _tympan(
    fit: "Fit", _ears: "Sequence[EarPrescription]", remarks: Sequence[str]
) -> tuple[str, list[str]]:
    from host_tools.commands.prescribe import tympan

    return tympan.preset(fit, remarks), []


def _librepods(
    _fit: "Fit", ears: "Sequence[EarPrescription]", remarks: Sequence[str]
) -> tuple[str, list[str]]:
    from host_tools.commands.prescribe import librepods

    thresholds_db_hl = {ear.ear: ear.threshold_db_hl for ear in ears}
    return librepods.settings(ears[0].frequencies_hz, thresholds_db_hl, remarks), []


def _easyeffects(
    _fit: "Fit", ears: "Sequence[EarPrescription]", remarks: Sequence[str]
) -> tuple[str, list[str]]:
    from host_tools.commands.prescribe.easyeffects import preset
    from host_tools.commands.prescribe.equaliser import curve_of

    return preset([curve_of(ear) for ear in ears], remarks)


FIT: Final = ".fit"
TARGETS: Final = (
    Target(FIT, "the fit that gp-pta takes", _own, both_ears=False),
    Target(".cfg", "a fragment of an openMHA configuration", _openmha),
    Target(".txt", "a preset of Tympan (Preset_16_00.txt on its SD card)", _tympan),
    Target(".librepods.json", "the audiograms to type into LibrePods", _librepods, of_fit=False),
    Target(
        ".easyeffects.json",
        "a preset of EasyEffects, an equaliser, which is no hearing aid",
        _easyeffects,
        of_fit=False,
        of_a_table=False,
    ),
)
AID_ENDINGS: Final = tuple(each.ending for each in TARGETS if each.of_fit)
