"""A fit as what an aid reads."""

from collections.abc import Sequence

from device.hearing_aid import chain
from device.hearing_aid.fit import Fit
from device.hearing_aid.fit_file import fit_text
from host_tools.commands.prescribe import tympan
from host_tools.commands.prescribe.endings import AID_ENDINGS, FIT, OPENMHA


def fit_as(ending: str, fit: Fit, remarks: Sequence[str]) -> str:
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
    if ending == FIT:
        return fit_text(fit)
    return chain.configuration(fit, remarks) if ending == OPENMHA else tympan.preset(fit, remarks)
