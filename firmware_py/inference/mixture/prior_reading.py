"""The files of priors: how they are written, what is checked, and what is said of what is wrong."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

COVARIANCE: Final = "covariance_db2"  # of a Gaussian; a row a line


@runtime_checkable
class NamesFile(Protocol):
    """What names a file, as `pathlib.Path` does."""

    def __fspath__(self) -> str:
        """Return the name."""


class PriorError(ValueError):
    """An invalid prior; the message names file, place, value, and what is allowed."""


def text_of(head: Mapping[str, Any], name: str, gaussians: Iterable[object]) -> str:
    """Return the text of a file: what comes first, and Gaussians as a list of this name."""
    lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in head.items()]
    parts = ",\n".join(map(_gaussian_text, gaussians))
    return "{\n" + ",\n".join(lines) + f',\n"{name}": [\n' + parts + "\n]\n}\n"


def _gaussian_text(gaussian: object) -> str:
    values = vars(gaussian)
    fields = [
        f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in values.items()
        if name != COVARIANCE
    ]
    rows = ",\n".join(f"    {json.dumps(row)}" for row in values[COVARIANCE])
    return " {\n" + ",\n".join(fields) + f',\n  "{COVARIANCE}": [\n' + rows + "\n  ]\n }"


class PriorReader:
    """Checks the parts of one document; errors name the file and the place."""

    def __init__(self, name: str) -> None:
        self.name = name

    def document(self, text: str, kind: str) -> Any:
        """Return what the text of a file says, which is JSON and of this kind."""
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise PriorError(f"{self.name}: is not JSON ({error})") from None
        return self.of_kind(document, kind)

    def of_kind(self, document: Any, kind: str) -> Any:
        """Return what was read if it says that it is of this kind."""
        found = document.get("format") if isinstance(document, dict) else None
        if found != kind:
            raise PriorError(f"{self.name}: format is {found!r}; allowed is {kind!r}")
        return document

    def names(self, place: str, found: Any, allowed: set[str]) -> None:
        """Check that an object has exactly these fields."""
        if not isinstance(found, dict):
            raise self.wrong(place, found, f"an object with {', '.join(sorted(allowed))}")
        faults = [f"has an unknown {name!r}" for name in sorted({*found} - allowed)]
        faults += [f"has no {name!r}" for name in sorted(allowed - {*found})]
        if faults:
            raise PriorError(
                f"{self.name}: {place} {' and '.join(faults)}; allowed are exactly "
                f"{', '.join(sorted(allowed))}"
            )

    def numbers(
        self, place: str, found: Any, count: int | None, limits: tuple[float, float]
    ) -> tuple[float, ...]:
        """Return a list of so many numbers; None: of any number."""
        if not isinstance(found, list) or (count is not None and len(found) != count):
            raise self.wrong(place, found, f"a list of {count or ''} numbers")
        return tuple(self.number(place, value, limits) for value in found)

    def number(self, place: str, found: Any, limits: tuple[float, float]) -> float:
        """Return a number from one limit to the other."""
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        if not is_number or not limits[0] <= found <= limits[1]:
            raise self.wrong(place, found, f"a number from {limits[0]:g} to {limits[1]:g}")
        return float(found)

    def wrong(self, place: str, found: Any, allowed: str) -> PriorError:
        """Return the error that says what stands there and what is allowed."""
        return PriorError(f"{self.name}: {place} is {in_short(found)}; allowed is {allowed}")


def in_short(value: object) -> str:
    """Return a value as a message shows it."""
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def positive_definite(a: Sequence[Sequence[float]], sd_min: float) -> bool:
    """Tell whether a matrix is symmetric and its Cholesky factor's pivots are above this SD."""
    u = [list(row) for row in a]
    for i, row in enumerate(u):
        if any(a[i][j] != a[j][i] for j in range(i)):
            return False
        if not row[i] > sd_min * sd_min:
            return False
        for j in range(i + 1, len(u)):
            factor = row[j] / row[i]
            for k in range(j, len(u)):
                u[j][k] -= factor * row[k]
    return True
