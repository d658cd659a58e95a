"""A prior of air-bone gaps: what ships, reading and writing, and what is refused."""

import json
import math
from typing import Any

import numpy as np
import pytest

from firmware_py.inference.mixture.bone_prior import classes_at
from firmware_py.inference.mixture.gap_prior import CLASSES_MAX, FORMAT, GapPrior, shipped_gap_prior
from firmware_py.inference.mixture.prior_reading import PriorError


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shipped_gap_prior().to_json())
    return found


def read(changed: dict[str, Any]) -> GapPrior:
    return GapPrior.from_json(json.dumps(changed), "gaps.json")


def test_what_ships_is_a_mixture_of_people_and_textbooks() -> None:
    prior = shipped_gap_prior()
    by_name = {each.name: each for each in prior.classes}
    at = {f: i for i, f in enumerate(prior.frequencies_hz)}

    assert list(at) == [250.0, 500.0, 750.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0]
    assert math.fsum(each.weight for each in prior.classes) == pytest.approx(1.0, abs=1e-12)
    people = sum(by_name[n].weight for n in ("no gap", "conductive", "more conductive"))
    assert people == pytest.approx(0.94, abs=1e-9)
    # As another program found them in the half of these people: shares, gaps at 0.5 and 4 kHz.
    for name, share, at_500, at_4000 in (
        ("no gap", 0.81, 2.0, 11.0),
        ("conductive", 0.14, 10.0, 16.0),
        ("more conductive", 0.05, 19.0, 28.0),
    ):
        assert by_name[name].weight / people == pytest.approx(share, abs=0.02)
        assert by_name[name].mean_db[at[500.0]] == pytest.approx(at_500, abs=2.0)
        assert by_name[name].mean_db[at[4000.0]] == pytest.approx(at_4000, abs=1.5)
    for each in prior.classes:
        sd = np.sqrt(np.diag(each.covariance_db2))
        assert np.linalg.eigvalsh(np.array(each.covariance_db2))[0] > 0.5
        if each.name in ("no gap", "conductive", "more conductive"):
            assert sd[at[250.0]] > 1.4 * sd[at[500.0]]  # nobody was measured there
            assert sd[at[3000.0]] > sd[at[2000.0]]
    assert set(prior.provenance["published"]) == {"otosclerosis", "fluid", "largest"}
    assert "CC BY 4.0" in prior.provenance["learned_from"]["licence"]


def test_otosclerosis_has_carharts_notch() -> None:
    (found,) = (each for each in shipped_gap_prior().classes if each.name == "otosclerosis")
    gap = dict(zip(shipped_gap_prior().frequencies_hz, found.mean_db, strict=True))

    low = (gap[250.0] + gap[500.0] + gap[1000.0]) / 3.0
    assert low == pytest.approx(36.9, abs=0.5)
    assert gap[4000.0] == pytest.approx(31.1, abs=0.5)
    assert min(gap, key=lambda f: gap[f]) == 2000.0
    # Without the notch the gap falls evenly from low to high frequencies.
    whole = [gap[f] + worse for f, worse in ((500.0, 5), (1000.0, 10), (2000.0, 15), (4000.0, 5))]
    assert max(whole) - min(whole) <= 7.0
    assert whole == sorted(whole, reverse=True)


def test_a_gap_above_the_last_frequency_is_usual_wide_and_tells_nothing_of_the_others() -> None:
    """Nobody measured it: what an ear has there shall move no threshold that people have."""
    shipped = shipped_gap_prior()
    asked_hz = (1000.0, 4000.0, 6000.0)
    found = shipped.reaching(asked_hz)
    assert found.frequencies_hz == (*shipped.frequencies_hz, 6000.0)
    assert found.usual_db(6000.0) == shipped.usual_db(6000.0) == shipped.usual_db(4000.0)
    for old, (weight, mean_db, covariance_db2) in zip(
        shipped.classes, classes_at(None, asked_hz), strict=True
    ):
        at = [shipped.frequencies_hz.index(f) for f in asked_hz[:2]]
        assert weight == old.weight
        assert mean_db.tolist() == [*(old.mean_db[k] for k in at), shipped.usual_db(4000.0)]
        known = np.array(old.covariance_db2)[np.ix_(at, at)]
        assert covariance_db2.tolist() == [[*known[0], 0.0], [*known[1], 0.0], [0.0, 0.0, 15.0**2]]
    assert shipped.reaching(asked_hz[:2]) is shipped, "nothing is added where nothing is asked"


def test_what_is_written_is_read_again() -> None:
    prior = shipped_gap_prior()

    assert GapPrior.from_json(prior.to_json(), "gaps.json") == prior
    assert GapPrior.from_json(prior.to_json(), "gaps.json").to_json() == prior.to_json()


def change(place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = document()
    inner: Any = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("format",), "gp-pta prior 1", f"format is 'gp-pta prior 1'; allowed is '{FORMAT}'"),
        (("frequencies_hz", 1), 250.0, "allowed is 2 to 64 rising frequencies"),
        (("classes",), [], f"classes is []; allowed is a list of 1 to {CLASSES_MAX}"),
        (("classes", 1, "name"), "", "class 2, name is ''; allowed is 1 to 40 characters"),
        (("classes", 1, "name"), "no gap", "the names of the classes is"),
        (("classes", 1, "weight"), 0.5, "the sum of the weights is 1.37"),
        (
            ("classes", 1, "weight"),
            -0.1,
            "class 2, weight is -0.1; allowed is a number from 0",
        ),
        (
            ("classes", 1, "mean_db", 0),
            101,
            "class 2, mean_db is 101; allowed is a number from",
        ),
        (("classes", 1, "mean_db"), [1.0], "class 2, mean_db is [1.0]; allowed is a list of 8"),
        (("classes", 1, "covariance_db2"), [[1.0]], "class 2, covariance_db2 is [[1.0]]; allowed"),
        (("classes", 1, "covariance_db2", 0, 1), 9.0, "covariance_db2 is not the covariance of"),
        (("classes", 1, "covariance_db2", 0, 0), 0.001, "covariance_db2 is not the covariance of"),
        (("classes", 0, "colour"), "red", "class 1 has an unknown 'colour'"),
        (("provenance",), "me", "provenance is 'me'; allowed is an object"),
        (("more",), 1, "the prior has an unknown 'more'"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(
    place: tuple[Any, ...], value: Any, message: str
) -> None:
    with pytest.raises(PriorError) as refused:
        read(change(place, value))

    assert str(refused.value).startswith("gaps.json: ")
    assert message in str(refused.value)
