"""Claims that contradict each other, each by itself; and what is merely not said, which contradicts nothing."""

import json
from typing import Any

import pytest

from freeze_gate.evidence.contradictions import contradictions
from freeze_gate.evidence.record import LengthChecks, Oracle, Run, Transport, read_record
from tests.builders.record import make_mapping

SOUND = read_record(json.dumps(make_mapping()).encode(), "sorted-patch")
CONTRADICTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "true beside a timeout": ({"transport": Transport(timed_out=True)}, "transport_ok"),
    "true beside a fault": ({"transport": Transport(fault="connection")}, "transport_ok"),
    "14 of 10000 bytes": ({"transport": Transport(bytes_received=14, bytes_declared=10_000)}, "transport_ok"),
    "false without a fault": ({"transport_ok": False}, "transport_ok"),
    "404 as a fault": (
        {"transport_ok": False, "transport": Transport(404, fault="http_status")},
        "transport.status_code",
    ),
    "600 as a fault": (
        {"transport_ok": False, "transport": Transport(600, fault="http_status")},
        "transport.status_code",
    ),
    "a length check of nothing": (
        {"transport_ok": False, "transport": Transport(fault="length_check")},
        "transport.checks",
    ),
    "passed and false": ({"oracle_passed": False}, "oracle_passed"),
    "passed and null": ({"oracle_passed": None, "oracle": Oracle("passed")}, "oracle_passed"),
    "crashed and true": ({"oracle": Oracle("crashed")}, "oracle_passed"),
    "timed out and null": ({"oracle_passed": None, "oracle": Oracle("timed_out")}, "oracle_passed"),
    "not run and false": ({"oracle_passed": False, "oracle": Oracle("not_run")}, "oracle_passed"),
    "exit code 1 and true": ({"oracle": Oracle(exit_code=1)}, "oracle_passed"),
    "exit code of a signal and true": ({"oracle": Oracle("passed", 137)}, "oracle_passed"),
    "exit code 1 and null": ({"oracle_passed": None, "oracle": Oracle(exit_code=1)}, "oracle_passed"),
    "exit code 0 of an oracle that did not run": (
        {"oracle_passed": None, "oracle": Oracle("not_run", 0)},
        "oracle_passed",
    ),
    "true of nothing": ({"fixture_sha256": None, "fixture_path": None}, "oracle_passed"),
    "a replay that made a call": ({"run": Run(replay_of="a" * 32)}, "run.replay_of"),
    "a replay whose call worked, on a lane": (
        {"oracle": Oracle("passed", lane="ssh"), "run": Run(replay_of="a" * 32)},
        "run.replay_of",
    ),
    "unreported and false": ({"oracle_passed": False, "oracle": Oracle("unreported", lane="ssh")}, "oracle_passed"),
    "a replay whose call failed": (
        {"transport_ok": False, "transport": Transport(fault="timeout"), "run": Run(replay_of="a" * 32)},
        "run.replay_of",
    ),
}


@pytest.mark.parametrize(("facts", "path"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_claims_that_cannot_both_be_true_are_named(facts: dict[str, Any], path: str) -> None:
    """One is enough to make the record unusable."""
    assert [problem.path for problem in contradictions(SOUND._replace(**facts))] == [path]


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"transport_ok": None, "transport": Transport(400)},
        {"transport_ok": None, "run": Run(replay_of="a" * 32)},
        {
            "oracle_passed": None,
            "oracle": Oracle("not_run", lane="ssh"),
            "transport_ok": False,
            "transport": Transport(fault="connection"),
            "run": Run(replay_of="a" * 32),
        },
        {"oracle_passed": None, "oracle": Oracle("unreported", lane="ssh")},
        {"transport": Transport(bytes_received=10, bytes_declared=10)},
        {"transport": Transport(bytes_received=10)},
        {"transport": Transport(retry_count=3)},
        *(
            {"transport_ok": False, "transport": Transport(s, fault="http_status")}
            for s in (408, 425, 429, 500, 529, 599, None)
        ),
        {"transport_ok": False, "transport": Transport(fault="length_check", checks=LengthChecks(min_bytes=0))},
        {"oracle_passed": False, "oracle": Oracle("timed_out", 124)},
        {"oracle_passed": None, "oracle": Oracle()},
        {"oracle": Oracle()},
        {"oracle": Oracle("passed")},
        {"oracle_passed": False, "oracle": Oracle("failed", 0)},
    ],
)
def test_unknown_is_never_read_as_no(facts: dict[str, Any]) -> None:
    """What is merely not said contradicts nothing."""
    assert contradictions(SOUND._replace(**facts)) == []


def test_a_contradiction_is_in_force_from_the_rules_that_it_came_with() -> None:
    """So a verdict that was reached without it is computed again without it."""
    record = SOUND._replace(oracle=Oracle("passed", 137))
    assert contradictions(record, rules=1) == []
    assert contradictions(record, rules=2) == contradictions(record) != []
