"""Pairs of captures, one for each class."""

from tests.builders.bundle import make_capture
from tests.builders.record import OTHER_SAMPLE

MISS = (make_capture(oracle=False), make_capture(oracle=False))
DRIFT = (make_capture(oracle=False), make_capture(pin=OTHER_SAMPLE))
FLAKE = (make_capture(oracle=None, transport=False), make_capture())
SPLIT = (make_capture(oracle=False), make_capture())
GREEN = (make_capture(), make_capture())


CLASSES = {
    "property_miss": (MISS, "both-oracles-failed"),
    "fixture_drift": (DRIFT, "digests-differ"),
    "harness_flake": (FLAKE, "transport-fault"),
    "unclassified": (SPLIT, "split-oracle"),
}
