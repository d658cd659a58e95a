"""`gp-pta study --bone`: test people by air and bone, and print the table."""

import argparse
import json
from pathlib import Path
from typing import Final

from host_tools.errors import HostError
from host_tools.research.study.bone import (
    NOISES_DB,
    RATE,
    Measured,
    Unit,
    read_off,
    run_test,
    table_lines,
)
from host_tools.research.study.bone_people import people_of
from host_tools.research.study.ears import EARS_MAX
from host_tools.research.study.work import all_done, one_thread

PEOPLE_USUAL: Final = 40


def bone(arguments: argparse.Namespace, workers: int) -> int:
    """Run the tests, and print the table."""
    count = PEOPLE_USUAL if arguments.ears is None else arguments.ears
    if not 0 <= count <= EARS_MAX:
        raise HostError(f"--ears is {count}; allowed are whole numbers 0 to {EARS_MAX}")
    people = people_of(Path(arguments.audiograms), count)
    one_thread()
    units = [Unit(person, noise_db) for noise_db in NOISES_DB for person in people]
    by_noise: dict[float, list[Measured]] = {noise_db: [] for noise_db in NOISES_DB}
    for test in all_done(run_test, units, workers):
        by_noise[test.unit.noise_db].append(test)
    # In one order whoever was done first, so that sums have the same bits.
    rows = [
        read_off(noise_db, sorted(tests, key=lambda test: test.unit.person.name))
        for noise_db, tests in by_noise.items()
    ]
    if arguments.json:
        print(json.dumps({"rows": rows}))
        return 0
    print(
        f"{rows[0]['people']} people with both ears by air and bone, and the same with a gap drawn "
        f"for the right ear; lapses {RATE:g}, false alarms {RATE:g}"
    )
    print()
    print("\n".join(table_lines(rows)))
    return 0
