"""An estimator as plain values, of which it is made again: by the same calls, to the same bits."""

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Final

import numpy as np

from firmware_py.inference.curves import Curves
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.record import Record

FORMAT: Final = "gp-pta estimator 2"
FIELDS: Final = (
    "format", "arguments", "expected_shares", "expected_curves", "answers", "log_evidence",
)  # fmt: skip
# Of the log evidence, relative: other machines round otherwise, another prior is far from this.
SAME: Final = 1e-6


def plain_values(record: Record, log_evidence: float) -> dict[str, Any]:
    """Return what `make_again` takes."""
    if record.left_out:
        raise ValueError(
            f"to_dict after {record.left_out} silences more than max_trials: they were not kept; "
            "allowed are as many silences as tones there is room for"
        )
    return {
        "format": FORMAT,
        "arguments": {name: _plain(value) for name, value in record.arguments.items()},
        "expected_shares": _plain(record.expected_shares),
        "expected_curves": _plain(record.expected_curves),
        "answers": [[each.frequency_hz, each.level_db_hl, each.heard] for each in record.answers()],
        "log_evidence": log_evidence,
    }


def make_again(
    kind: Callable[..., Any], saved: Mapping[str, Any], kept_all_the_same: type[Exception]
) -> Any:
    """Return an estimator that was told the same again as the one that was saved.

    `kind` makes it of its arguments; an answer of which `observe` raises `kept_all_the_same` is
    kept. A `ValueError`: these are no such values, or they come to another posterior than then.
    """
    _check_fields(saved)
    estimator = _empty(kind, saved["arguments"])
    _expect(estimator, saved["expected_shares"], saved["expected_curves"])
    answers = saved["answers"]
    if isinstance(answers, str) or not isinstance(answers, Sequence):
        raise ValueError(f"answers is {answers!r}; allowed is a list")
    for place, row in enumerate(answers, 1):
        try:
            _tell(estimator, row)
        except kept_all_the_same:
            pass
        except (TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"answers, row {place}: {error}") from None
    _compare(estimator.log_evidence, saved["log_evidence"])
    return estimator


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, PopulationPrior):
        return _plain(value.to_dict())
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, Curves):
        return _plain(value._asdict())
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else [_plain(each) for each in value]


def _check_fields(saved: Mapping[str, Any]) -> None:
    found = saved.get("format") if isinstance(saved, Mapping) else None
    if found != FORMAT:
        raise ValueError(f"format is {found!r}; allowed is {FORMAT!r}, a dict of to_dict")
    if odd := set(saved) ^ set(FIELDS):
        raise ValueError(
            f"saved misses or does not know {', '.join(sorted(map(str, odd)))}; allowed are "
            f"exactly {', '.join(FIELDS)}"
        )


def _empty(kind: Callable[..., Any], arguments: Any) -> Any:
    if not isinstance(arguments, Mapping):
        raise ValueError(f"arguments is {arguments!r}; allowed are names with values")
    prior = arguments.get("prior")
    if prior is not None:
        prior = PopulationPrior.from_dict(prior, "arguments, prior")
    try:
        return kind(**{**arguments, "prior": prior})
    except TypeError as error:
        raise ValueError(f"arguments: {error}") from None


def _expect(estimator: Any, shares: Any, curves: Any) -> None:
    try:
        if shares is not None:
            estimator.expect_shares(shares)
        if curves is not None:
            parts = {name: np.array(part, dtype=float) for name, part in curves.items()}
            estimator.expect_threshold(Curves(**parts))
    except (AttributeError, IndexError, TypeError) as error:
        raise ValueError(f"expected_curves: {error}") from None


def _tell(estimator: Any, row: Any) -> None:
    if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 3:
        raise ValueError(f"is {row!r}; allowed is [frequency_hz, level_db_hl, heard]")
    frequency_hz, level_db_hl, heard = row
    if frequency_hz is None and level_db_hl is None:
        estimator.observe_silence(heard)
    else:
        estimator.observe(frequency_hz, level_db_hl, heard)


def _compare(now: float, then: Any) -> None:
    """Refuse another posterior than that which was saved."""
    if then is None:
        return
    is_number = isinstance(then, Real) and not isinstance(then, bool)
    if not is_number or not math.isclose(now, then, rel_tol=SAME, abs_tol=SAME):
        raise ValueError(
            f"log_evidence is {then!r}; these answers have {now!r} here: the prior that ships, or "
            "the method, is another one than when they were saved. With None it is not compared"
        )
