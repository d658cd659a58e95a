"""A fit as what an aid reads, by the ending of the file's name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # the names of files are checked before anything is computed
    from device.hearing_aid.fit import Fit

FIT: Final = ".fit"  # for gp-pta
OPENMHA: Final = ".cfg"
TYMPAN: Final = ".txt"
AID_ENDINGS: Final = (FIT, OPENMHA, TYMPAN)


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
