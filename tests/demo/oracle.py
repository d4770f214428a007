"""A property check: the rows of the pinned sample are sorted. With `broken`, what a patch that breaks it would do."""

import json
import os
import sys
from pathlib import Path

rows = json.loads(Path(os.environ["FREEZE_GATE_FIXTURE"]).read_bytes())["rows"]
if "broken" in sys.argv:
    rows.reverse()
sys.exit(rows != sorted(rows))
