"""A fit in a file: JSON with a version and a checksum, which refuses what no aid may get."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from device.hearing_aid.fit import (
    BANDS_MAX,
    INPUT_LEVELS_DB_SPL,
    BandFit,
    EarFit,
    Fit,
    FitError,
    refusal,
)
from device.hearing_aid.for_whom import EarFinding
from device.hearing_aid.whose import Whose
from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.platform.named_file import TEXT, open_named
from firmware_py.terms.printable import show
from firmware_py.terms.record_checks import ResultError, object_of, several

FORMAT: Final = "gp-pta fit"
VERSION: Final = 3
# Of what the numbers of a setting mean (`shapes.py`): no tuning goes on with other ones.
SETTINGS_VERSION: Final = 2
# A fit of two ears with the most bands is a fifth of this.
BYTES_MAX: Final = 200_000
DIGEST_CHARACTERS: Final = 12

_FILE_FIELDS: Final = ("format", "version", "checksum", "fit")
# Words, and whose and for whom it is: two fits that differ in nothing else sound the same.
_WORDS: Final = ("rule", "source", "of", "for_whom")
_FIT_FIELDS: Final = (*_WORDS, "uncertainty_db", "input_levels_db_spl", "ears")
_EAR_FIELDS: Final = ("ear", "output_max_db_spl", "bands")
_BAND_FIELDS: Final = ("center_hz", "gain_max_db", "output_max_db_spl", "gains_db")
_FINDINGS: Final = several(object_of(EarFinding), 0, BANDS_MAX)


def write_fit(path: Path, fit: Fit) -> None:
    """Write a fit, whole or not at all; a file that is there is replaced."""
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(0o600, exist_ok=False)  # it may say whose it is
    with unfinished.open("wb") as file:
        file.write(fit_text(fit).encode())
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def read_fit(path: Path) -> Fit:
    """Read a fit; `FitError`, which begins with the path, if it is none that an aid may get."""
    try:
        return fit_of_text(_content(path))
    except FitError as error:
        raise FitError(f"{path}: {error}") from None


def fit_digest(fit: Fit) -> str:
    """Return what names a fit in a journal: the same for all that sound, and are tuned, alike."""
    record = {name: value for name, value in _fit_record(fit).items() if name not in _WORDS}
    return checksum({**record, "settings": SETTINGS_VERSION})


def fit_text(fit: Fit) -> str:
    record = _fit_record(fit)
    whole = {"format": FORMAT, "version": VERSION, "checksum": checksum(record), "fit": record}
    return json.dumps(whole, indent=1) + "\n"


def fit_of_text(content: bytes) -> Fit:
    """Return the fit of which a file has this content; `FitError` as `read_fit`."""
    try:
        return _fit_of_whole(json.loads(content.decode(TEXT), parse_constant=_refuse_constant))
    except (FitError, ResultError) as error:
        raise FitError(str(error)) from None
    except (ValueError, RecursionError) as error:  # no text, no JSON, nested without end
        raise FitError(f"this is no fit: {error}") from None


def _fit_of_whole(whole: Any) -> Fit:
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise FitError(f'this is no fit: its field "format" is not {FORMAT!r}')
    if whole.get("version") != VERSION:
        raise refusal("version", whole.get("version"), f"is {VERSION}: made by another gp-pta")
    _check_fields("the file", whole, _FILE_FIELDS)
    found = checksum(whole["fit"])
    if whole["checksum"] != found:
        raise FitError(
            f"damaged, or changed by hand: its checksum is {show(whole['checksum'])}, and that "
            f"of what it says {found!r}"
        )
    return _fit(whole["fit"])


def _content(path: Path) -> bytes:
    try:
        with open_named(path) as file:
            content = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise FitError(f"cannot be read: {error.strerror}") from None
    if len(content) > BYTES_MAX:
        raise FitError(f"is larger than {BYTES_MAX} bytes: this is no fit")
    return content


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def checksum(record: object) -> str:
    """Return a digest of the values of a fit in a file, whatever the spaces between them."""
    canonical = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:DIGEST_CHARACTERS]


def _fit_record(fit: Fit) -> dict[str, Any]:
    names = [dimension.name for dimension in DIMENSIONS]
    return {
        "rule": fit.rule,
        "source": fit.source,
        "of": fit.of.as_record(),
        "for_whom": [found.as_record() for found in fit.for_whom],
        "uncertainty_db": dict(zip(names, fit.uncertainty_db, strict=True)),
        "input_levels_db_spl": list(INPUT_LEVELS_DB_SPL),
        "ears": [
            {
                "ear": ear.ear,
                "output_max_db_spl": ear.output_max_db_spl,
                "bands": [
                    {name: _plain(getattr(band, name)) for name in _BAND_FIELDS}
                    for band in ear.bands
                ],
            }
            for ear in fit.ears
        ],
    }


def _plain(value: float | tuple[float, ...]) -> float | list[float]:
    return list(value) if isinstance(value, tuple) else value


def _fit(record: Any) -> Fit:
    _check_fields("fit", record, _FIT_FIELDS)
    if record["input_levels_db_spl"] != list(INPUT_LEVELS_DB_SPL):
        first, last = INPUT_LEVELS_DB_SPL[0], INPUT_LEVELS_DB_SPL[-1]
        raise refusal(
            "input_levels_db_spl", record["input_levels_db_spl"], f"are {first:g} to {last:g} by 5"
        )
    names = [dimension.name for dimension in DIMENSIONS]
    _check_fields("uncertainty_db", record["uncertainty_db"], names)
    return Fit(
        ears=tuple(_ear(ear) for ear in _check_list("ears", record["ears"])),
        rule=record["rule"],
        source=record["source"],
        of=object_of(Whose)("of", record["of"]),
        for_whom=_FINDINGS("for_whom", record["for_whom"]),
        uncertainty_db=tuple(record["uncertainty_db"][name] for name in names),
    )


def _ear(record: Any) -> EarFit:
    _check_fields("an ear", record, _EAR_FIELDS)
    bands = tuple(_band(band) for band in _check_list("bands", record["bands"]))
    return EarFit(record["ear"], bands, record["output_max_db_spl"])


def _band(record: Any) -> BandFit:
    _check_fields("a band", record, _BAND_FIELDS)
    gains_db = _check_list("gains_db", record["gains_db"])
    return BandFit(
        record["center_hz"], tuple(gains_db), record["gain_max_db"], record["output_max_db_spl"]
    )


def _check_list(place: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > max(BANDS_MAX, len(INPUT_LEVELS_DB_SPL)):
        raise refusal(place, value, "is a list that is not too long")
    return value


def _check_fields(place: str, value: Any, names: Sequence[str]) -> None:
    if not isinstance(value, Mapping) or set(value) != set(names):
        told = list(value) if isinstance(value, Mapping) else value
        raise refusal(place, told, f"is an object of {', '.join(names)}")
