"""A fit as what an aid or another program reads, by the ending of the file's name."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_py.terms.route import LEFT, RIGHT
from host_tools.errors import HostError

if TYPE_CHECKING:  # the names of files are checked before anything is computed
    from device.hearing_aid.fit import Fit
    from host_tools.commands.prescribe.ear_prescription import EarPrescription

FIT: Final = ".fit"  # for gp-pta
OPENMHA: Final = ".cfg"
TYMPAN: Final = ".txt"
AID_ENDINGS: Final = (FIT, OPENMHA, TYMPAN)
# Of the thresholds or the gains of ears, and with two dots in the name.
LIBREPODS: Final = ".librepods.json"
LIBREPODS_LINUX: Final = ".librepods-linux.json"
EASYEFFECTS: Final = ".easyeffects.json"
AUTOEQ: Final = ".autoeq.csv"
EAR_ENDINGS: Final = (LIBREPODS, LIBREPODS_LINUX, EASYEFFECTS, AUTOEQ)
OF_BOTH_EARS: Final = (OPENMHA, TYMPAN, LIBREPODS, LIBREPODS_LINUX, EASYEFFECTS)


def ear_ending(path: Path) -> str | None:
    """Return which of `EAR_ENDINGS` a name has; None: it has none of them."""
    return next((ending for ending in EAR_ENDINGS if path.name.endswith(ending)), None)


def check_ears(out: Sequence[Path], ears: Sequence[str]) -> None:
    """Refuse files that have other ears than there are, before anything is written.

    Raises
    ------
    HostError
        One ear is missing of what has both, or there are two for a file of one.
    """
    missing = [ear for ear in (RIGHT, LEFT) if ear not in ears]
    for path in out:
        ending = next((each for each in OF_BOTH_EARS if path.name.endswith(each)), None)
        if ending is not None and missing:
            raise HostError(
                f"-o: {ending} has settings of both ears, and the {missing[0]} ear has none"
            )
        if path.suffix == Path(AUTOEQ).suffix and ear_ending(path) is None:
            raise HostError(f"-o is {str(path)!r}; of .csv allowed is a name in {AUTOEQ}")
        if ear_ending(path) == AUTOEQ and not missing:
            raise HostError(f"-o: {AUTOEQ} is of one ear; say which with --ear left or --ear right")


def ears_as(
    ending: str, ears: "Sequence[EarPrescription]", remarks: Sequence[str]
) -> tuple[str, list[str]]:
    """Return the text of ears for a file in one of `EAR_ENDINGS`, and what has to be said with it.

    Raises
    ------
    HostError
        The program cannot take them.
    """
    from host_tools.commands.prescribe import librepods
    from host_tools.commands.prescribe.equaliser import curve_of
    from host_tools.commands.prescribe.equaliser_files import autoeq_signature, easyeffects_preset

    if ending == EASYEFFECTS:
        return easyeffects_preset([curve_of(ear) for ear in ears], remarks)
    if ending == AUTOEQ:
        return autoeq_signature(curve_of(ears[0]), remarks)
    settings = librepods.linux_settings if ending == LIBREPODS_LINUX else librepods.settings
    thresholds_db_hl = {ear.ear: ear.threshold_db_hl for ear in ears}
    return settings(ears[0].frequencies_hz, thresholds_db_hl, remarks), []


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
    from device.hearing_aid import chain
    from device.hearing_aid.fit_file import fit_text
    from host_tools.commands.prescribe import tympan

    assert ending in AID_ENDINGS
    if ending == FIT:
        return fit_text(fit)
    return chain.configuration(fit, remarks) if ending == OPENMHA else tympan.preset(fit, remarks)
