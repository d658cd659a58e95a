"""A plugin of pytest: the product without a rule of the panel, or with another constant.

    GP_PTA_CHANGED="story silent" python -m pytest -x -p tests.faults.changed tests/session

The names are those that `python -m bench.panel` knows.
"""

import os

from bench.panel.changes import install
from bench.panel.constants import constants
from bench.panel.rules import RULES

install(({**RULES, **constants()})[os.environ["GP_PTA_CHANGED"]])
