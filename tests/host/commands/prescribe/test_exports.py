"""A tuned fit is written for every aid as the fit of a session is; a file has the ears it needs."""

import re
from pathlib import Path

import numpy as np
import pytest

from device.hearing_aid.fit import INPUT_LEVELS_DB_SPL, Fit, FitError
from device.hearing_aid.fit_file import fit_of_text
from firmware_py.comparisons.space import Setting
from host_tools.commands.prescribe.exports import AID_ENDINGS, check_ears, fit_as
from host_tools.errors import HostError
from tests.device.hearing_aid.fits import plain_ear, plain_fit

TUNED = plain_fit().tune(Setting(overall_db=3.0, tilt_db=-4.0))


def test_a_fit_is_read_again() -> None:
    assert fit_of_text(fit_as(".fit", TUNED, ["remark"]).encode()) == TUNED


def test_openmha_has_the_chain_with_the_table_of_the_fit_left_ear_first() -> None:
    ears = Fit((plain_ear("left", 12.0), plain_ear("right", 30.0)), "by hand", "nobody")
    text = fit_as(".cfg", ears, ["remark"])
    (table,) = re.findall(r"dc\.gtdata = \[(.*)\]", text)
    rows = [[float(x) for x in row.split()] for row in re.findall(r"\[([^\[\]]*)\]", table)]
    wanted = np.concatenate([ears.of_ear(ear).table.gains_db for ear in ("left", "right")])

    assert text.startswith("# remark\n")
    assert "calib_out.do_clipping = yes" in text
    assert len(rows[0]) == len(INPUT_LEVELS_DB_SPL)
    # Neighbours of a band add to it: what is written is a little less than what is heard.
    assert np.abs(np.array(rows) - wanted).max() <= 1.0


@pytest.mark.parametrize("ending", sorted({*AID_ENDINGS} - {".fit"}))
def test_an_aid_for_two_ears_gets_no_fit_of_one(ending: str) -> None:
    one = Fit(TUNED.ears[1:], "by hand", "nobody")
    with pytest.raises(FitError, match="the fit from nobody has no left ear"):
        fit_as(ending, one, [])


@pytest.mark.parametrize(
    ("name", "ears", "said"),
    [
        *(
            (f"a{ending}", ["left"], f"{ending} has settings of both ears, and the right ear has")
            for ending in (".cfg", ".txt", ".librepods.json", ".easyeffects.json")
        ),
        ("a.easyeffects.json", ["right"], "and the left ear has none"),
    ],
)
def test_a_file_of_other_ears_is_refused(name: str, ears: list[str], said: str) -> None:
    with pytest.raises(HostError, match=re.escape(said)):
        check_ears([Path(name)], ears)
