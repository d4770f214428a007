"""Two runs' captures for each thing that the gate can say about them."""

from typing import NamedTuple

from tests.builders.bundle import Capture, make_capture
from tests.builders.record import OTHER_SAMPLE

FIXTURE_ID = "sorted-patch"


class Example(NamedTuple):
    """A pair of captures and what the gate says about it without a freeze."""

    first: Capture
    rerun: Capture
    failure_class: str
    reason: str
    freeze_allowed: bool = False
    exit_code: int = 1


_PASSED, _FAILED, _DROPPED = make_capture(), make_capture(oracle=False), make_capture(oracle=None, transport=False)

EXAMPLES = {
    "property_miss": Example(_FAILED, make_capture(oracle=False), "property_miss", "both-oracles-failed"),
    "fixture_drift": Example(_FAILED, make_capture(pin=OTHER_SAMPLE), "fixture_drift", "digests-differ"),
    "harness_flake": Example(_DROPPED, _PASSED, "harness_flake", "transport-fault", freeze_allowed=True),
    "unclassified": Example(_FAILED, _PASSED, "unclassified", "split-oracle"),
    "green": Example(_PASSED, make_capture(), "unclassified", "green", exit_code=0),
}
