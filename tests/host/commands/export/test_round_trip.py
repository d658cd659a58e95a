"""What gp-pta writes, the reader of tables reads: the same from every form, however it is spelt."""

from functools import partial

import pytest

from host_tools.commands.export.cells import COMMA, SEMICOLON, TAB, spelling_of
from host_tools.commands.export.formats import CSV_FORMS
from tests.host.commands.export.every_form import FORMS
from tests.host.commands.export.promises import bone_comes_back, come_back, limits_that_come_back


@pytest.mark.parametrize("form", CSV_FORMS)
@pytest.mark.parametrize("separator", [SEMICOLON, TAB])
def test_a_csv_comes_back_however_it_is_spelt(form: str | None, separator: str) -> None:
    come_back(partial(CSV_FORMS[form], spelling=spelling_of(separator, COMMA)))


def test_the_codes_of_nhanes_alone_have_no_limit_and_no_bone() -> None:
    without_limit = {name for name, form in FORMS.items() if not limits_that_come_back(form.encode)}
    without_bone = {name for name, form in FORMS.items() if not bone_comes_back(form.encode)}
    assert without_limit == without_bone == {"csv --nhanes"}
