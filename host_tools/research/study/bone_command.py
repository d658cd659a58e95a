"""`gp-pta study --bone`: test people by air and bone, and print the table."""

import argparse
import json

from host_tools.research.study.bone import (
    NOISES_DB,
    RATE,
    Measured,
    Unit,
    read_off,
    run_test,
    table_lines,
)
from host_tools.research.study.bone_people import Person
from host_tools.research.study.work import all_done, one_thread


def bone(arguments: argparse.Namespace, people: list[Person], workers: int) -> int:
    """Run the tests, and print the table."""
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
