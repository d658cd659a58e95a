"""What is on a card, as CycloneDX has it: for people, and programs that look for known holes."""

import json
from pathlib import Path
from typing import Any

from device.card.packages import Package


def bill_of_materials(version: str, debian: list[Package], wheels: list[Path]) -> str:
    """Return a list of Debian's packages and Python's wheels, as CycloneDX 1.5 in JSON."""
    components = [_of_debian(package) for package in debian] + [_of_python(w) for w in wheels]
    device = {"type": "firmware", "name": "gp-pta", "version": version}
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": device},
        "components": components,
    }
    return json.dumps(content, indent=1) + "\n"


def _of_debian(package: Package) -> dict[str, Any]:
    return {
        "type": "library",
        "name": package.name,
        "version": package.version,
        "purl": f"pkg:deb/debian/{package.name}@{package.version}?distro=bookworm",
        "hashes": [{"alg": "SHA-256", "content": package.sha256}],
    }


def _of_python(wheel: Path) -> dict[str, Any]:
    name, version, *_ = wheel.name.split("-")
    return {
        "type": "library",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
    }
