"""A policy file with one freeze."""

import json
from datetime import UTC, datetime, timedelta

from tests.builders.bundle import make_capture
from tests.builders.record import SAMPLE

POLICY_PATH = ".github/freeze-gate.yml"


def make_policy(**changes: object) -> bytes:
    """Return a policy file with one freeze of the sample, active today; JSON is YAML as well."""
    today = datetime.now(UTC).date()
    entry = {
        "fixture_id": "sorted-patch",
        "fixture_sha256": make_capture(pin=SAMPLE).record.fixture_sha256,
        "owner": "@octo-org/harness",
        "reason": "executor lane drops connections",
        "added": str(today - timedelta(days=3)),
        "expires": str(today + timedelta(days=3)),
        "unfreeze_when": "lane upgrade is out",
        **changes,
    }
    return json.dumps({"schema": "freeze-gate/policy/1", "freezes": [entry]}).encode()
