"""The four classes from end to end: lines, outputs, label, ticket, exit code."""

import pytest

from freeze_gate.evidence.digest import Sha256
from tests.builders.bundle import Capture, make_capture
from tests.builders.pairs import CLASSES, DRIFT, FLAKE, GREEN, MISS, SPLIT
from tests.builders.record import OTHER_SAMPLE, SAMPLE
from tests.support.gate_job import Job


@pytest.mark.parametrize("name", CLASSES)
def test_each_class_is_said_in_four_lines_and_put_out_and_blocks(job: Job, name: str) -> None:
    """A red pair blocks, whatever its class; only a flake asks for a freeze."""
    pair, reason = CLASSES[name]
    job.pair(*pair)

    outcome = job.gate()

    assert outcome.said == (name, name == "harness_flake", reason)
    assert outcome.code == 1
    assert outcome.lines["fixture_sha256"] == Sha256.of(SAMPLE)
    assert outcome.lines["fixture_path"] == f"fixtures/{Sha256.of(SAMPLE)}.json"
    assert outcome.outputs["pull-request"] == "12"
    assert outcome.outputs["verdict-file"] == "freeze-gate-verdict.json"
    assert [level for level, _ in outcome.annotations] == ["error"]


@pytest.mark.parametrize("name", CLASSES)
def test_only_a_flake_is_labelled_and_only_a_drift_has_a_ticket(job: Job, name: str) -> None:
    """What is posted follows from the class, and nothing else is posted."""
    job.pair(*CLASSES[name][0])

    outcome = job.gate()

    flake, drift = name == "harness_flake", name == "fixture_drift"
    assert job.pull.issue.labels == (["freeze-request"] if flake else [])
    assert outcome.outputs["label-posted"] == ("true" if flake else "false")
    tickets = [issue for issue in job.repository.issues.values() if not issue.pull]
    assert [(ticket.title, ticket.labels) for ticket in tickets] == (
        [("Refresh fixture: sorted-patch", ["fixture-refresh"])] if drift else []
    )
    assert outcome.outputs["issue-number"] == ("13" if drift else "")
    assert ("### Posted" in outcome.summary) == (flake or drift)
    assert ("starts no workflow" in outcome.log) == flake
    assert ("refresh ticket #13 for sorted-patch: created" in outcome.log) == drift


def test_a_green_pair_has_nothing_to_mute(job: Job) -> None:
    """Equal bytes, two passes, no fault: exit 0, and the class stays closed."""
    job.pair(*GREEN)

    outcome = job.gate()

    assert outcome.said == ("unclassified", False, "green")
    assert outcome.code == 0
    assert "**Why:** Nothing to mute" in outcome.summary
    assert [level for level, _ in outcome.annotations] == ["notice"]


@pytest.mark.parametrize("name", CLASSES)
def test_fail_on_never_observes(job: Job, name: str) -> None:
    """The verdict is the same, the exit code 0, and the annotation a warning."""
    pair, reason = CLASSES[name]
    job.pair(*pair)

    outcome = job.gate(fail_on="never")

    assert outcome.said == (name, name == "harness_flake", reason)
    assert outcome.code == 0
    assert [level for level, _ in outcome.annotations] == ["warning"]


@pytest.mark.parametrize("name", ["fixture_drift", "harness_flake"])
def test_a_dry_run_changes_nothing_on_github(job: Job, name: str) -> None:
    """What would be posted is said, and the verdict is the same."""
    pair, reason = CLASSES[name]
    job.pair(*pair)

    outcome = job.gate(dry_run="true")

    assert outcome.said == (name, name == "harness_flake", reason)
    assert outcome.outputs["label-posted"] == "false"
    assert outcome.outputs["issue-number"] == ""
    assert "dry run" in outcome.summary
    assert "would" in outcome.summary
    assert {request.method for request in job.github.log} == {"GET"}
    assert not job.pull.issue.labels


def test_a_dry_run_says_what_is_in_the_way_of_the_label(job: Job) -> None:
    """A dry run promises only what a real one would do."""
    job.pair(*FLAKE)
    job.pull.head_sha = "e" * 40

    outcome = job.gate(dry_run="true")

    assert "the label was not added" in outcome.summary
    assert "would add" not in outcome.summary


def test_tickets_can_be_switched_off(job: Job) -> None:
    """A drift without tickets is a drift all the same."""
    job.pair(*DRIFT)

    outcome = job.gate(tickets="false")

    assert outcome.said == ("fixture_drift", False, "digests-differ")
    assert len(job.repository.issues) == 1
    assert "switched off" in outcome.summary


def shards(*pairs: tuple[Capture, Capture]) -> tuple[list[Capture], list[Capture]]:
    """Give each pair an id of its own: s1, s2 and so on."""
    named = [[side.changed(fixture_id=f"s{place}") for side in pair] for place, pair in enumerate(pairs, 1)]
    return [first for first, _ in named], [rerun for _, rerun in named]


def test_of_several_pairs_the_worst_decides_and_no_label_is_set(job: Job) -> None:
    """A flake beside two misses and five green pairs is overall a miss."""
    first, rerun = shards(GREEN, MISS, GREEN, FLAKE, GREEN, MISS, GREEN, GREEN)
    job.upload("first", *first)
    job.upload("rerun", *rerun)

    outcome = job.gate()

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert outcome.code == 1
    assert "| `s2` |" in outcome.summary
    assert "| `s4` |" in outcome.summary
    assert "| `s1` |" not in outcome.summary
    assert not job.pull.issue.labels


def test_only_flakes_and_greens_ask_for_a_freeze(job: Job) -> None:
    """Green pairs are counted and left out."""
    first, rerun = shards(GREEN, FLAKE, FLAKE)
    job.upload("first", *first)
    job.upload("rerun", *rerun)

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert job.pull.issue.labels == ["freeze-request"]


def test_a_miss_on_a_pull_request_with_the_label_stays_a_miss(job: Job) -> None:
    """The label is neither added again nor removed nor read as an excuse."""
    job.repository.set_labels(job.pull.issue, ["freeze-request", "hold"])
    job.pair(*MISS)

    outcome = job.gate()

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert job.pull.issue.labels == ["freeze-request", "hold"]
    assert {request.method for request in job.github.log} == {"GET"}


def test_the_same_bytes_judged_twice_do_not_remember(job: Job) -> None:
    """Fail and fail at midnight, fail and pass in the morning."""
    job.pair(*MISS)
    assert job.gate().said == ("property_miss", False, "both-oracles-failed")

    job.run.artifacts.clear()
    job.pair(*SPLIT)
    assert job.gate().said == ("unclassified", False, "split-oracle")


def test_a_drift_with_a_fault_and_a_split_has_one_ticket(job: Job) -> None:
    """Two completions that differ by one token."""
    job.pair(make_capture(oracle=False, transport=False), make_capture(pin=OTHER_SAMPLE))

    assert job.gate().said == ("fixture_drift", False, "digests-differ")
    assert len(job.repository.issues) == 2


def test_a_second_run_updates_the_ticket(job: Job) -> None:
    """One ticket for a fixture, however often it drifts."""
    job.pair(*DRIFT)
    first = job.gate()
    job.run.artifacts.clear()
    job.pair(*(side.changed(run={"capture_id": f"{place:032x}"}) for place, side in enumerate(DRIFT)))

    second = job.gate()

    assert len(job.repository.issues) == 2
    assert second.outputs["issue-number"] == first.outputs["issue-number"]
    assert str(job.repository.issues[13].body).partition("### Sightings")[2].count("| 20") == 2


def test_a_record_without_a_run_is_no_evidence_for_the_gate(job: Job) -> None:
    """GitHub's word cannot be compared with nothing."""
    job.pair(FLAKE[0].changed(run={"run_id": None, "run_attempt": None, "commit": None}), FLAKE[1])

    assert job.gate().said == ("unclassified", False, "run-mismatch")


def test_an_expected_fixture_that_neither_side_has_blocks(job: Job) -> None:
    """A fixture that vanished from both sides is not silence."""
    job.pair(*GREEN)

    outcome = job.gate(expected_fixtures="sorted-*\nvanished\n")

    assert outcome.said == ("unclassified", False, "record-missing")
    assert outcome.code == 1
    assert "vanished" in outcome.summary


def test_expected_fixtures_that_are_there_change_nothing(job: Job) -> None:
    """A glob that matches one is satisfied."""
    job.pair(*GREEN)

    assert job.gate(expected_fixtures="sorted-*").said == ("unclassified", False, "green")


def test_the_same_error_body_pinned_twice_is_judged_by_the_oracle(job: Job) -> None:
    """Two failed oracles are a miss; two unknown ones with nothing to blame are undecided."""
    job.pair(*(make_capture(pin=b'{"error": "cached"}', oracle=False) for _ in range(2)))
    assert job.gate().said == ("property_miss", False, "both-oracles-failed")

    job.run.artifacts.clear()
    job.pair(*(make_capture(pin=b'{"error": "cached"}', oracle=None) for _ in range(2)))
    assert job.gate().said == ("unclassified", False, "nothing-to-blame")


def test_without_a_passing_oracle_a_request_may_be_made_and_is_never_muted(job: Job) -> None:
    """The order says flake; the summary says that nothing shows that the patch works."""
    job.pair(make_capture(oracle=None, transport=False), make_capture(oracle=None))

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert "nothing shows that the patch works" in outcome.summary


def test_an_oracle_that_reached_out_forbids_the_freeze_and_excuses_no_miss(job: Job) -> None:
    """Flake checks are about a flake alone."""
    job.pair(FLAKE[0], FLAKE[1].changed(oracle={"egress_attempts": 3}))
    assert job.gate().said == ("unclassified", False, "oracle-egress")

    job.run.artifacts.clear()
    job.pair(MISS[0], MISS[1].changed(oracle={"egress_attempts": 3}))
    assert job.gate().said == ("property_miss", False, "both-oracles-failed")


def replay_of(first: Capture) -> Capture:
    """Return a rerun from the first run's pin, with a passing oracle."""
    again = make_capture(transport=None, pin=first.pin)
    return again.changed(run={"replay_of": first.record.run.capture_id}, transport={"status_code": None})


def test_a_replayed_truncated_shows_nothing(job: Job) -> None:
    """Only a cut-off answer was ever checked."""
    truncated = make_capture(oracle=None, transport=False).changed(
        transport={"fault": "truncated", "pin_complete": False}
    )
    job.pair(truncated, replay_of(truncated))

    assert job.gate().said == ("unclassified", False, "pin-partial")


def test_a_lane_dropped_after_a_whole_sample_is_a_flake(job: Job) -> None:
    """The bytes were whole, the harness dropped the lane."""
    job.pair(FLAKE[0], replay_of(FLAKE[0]))

    assert job.gate().said == ("harness_flake", True, "transport-fault")
