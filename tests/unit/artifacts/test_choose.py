"""Which artifact is the first run's and which the rerun's."""

from itertools import permutations

import pytest

from freeze_gate.action.inputs import Wanted
from freeze_gate.artifacts.choose import Choice, are_attempts, settle
from freeze_gate.artifacts.select import Slot, slots_of_name
from freeze_gate.errors import UsageError
from freeze_gate.evidence.side import Artifact

BOTH = ("first", "rerun")

Facts = tuple[int, int, int | None]
"""An artifact's id, the minute of its upload, the attempt that its records name."""


def chosen(*facts: Facts, sides: tuple[str, ...] = BOTH, newest: int | None = 9) -> dict[str, int | str]:
    """Return for each side the id of its artifact, or the check that failed."""
    listing = [Artifact(id_, "b", 1, created_at=f"2026-11-29T08:{minute:02}:00Z") for id_, minute, _ in facts]
    attempts = {id_: attempt for id_, _, attempt in facts}
    (slot,) = slots_of_name("b", sides, listing)
    choices = settle(slot, lambda candidate: attempts[candidate.artifact.id], newest)
    return {choice.side: _shown(choice) for choice in choices}


def _shown(choice: Choice) -> int | str:
    if choice.fault:
        return choice.fault.check
    assert choice.candidate
    return choice.candidate.artifact.id


@pytest.mark.parametrize("order", list(permutations([(7, 10, 1), (5, 20, 2), (6, 30, 3)])))
def test_the_newest_attempt_is_the_rerun_and_the_one_before_the_first(order: tuple[Facts, ...]) -> None:
    """In whatever order they are listed and numbered."""
    assert chosen(*order) == {"rerun": 6, "first": 5}
    assert chosen(*order, sides=("first",)) == {"first": 6}


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param([(1, 10, 1), (2, 20, 1)], id="two of one attempt"),
        pytest.param([(1, 10, 1), (2, 20, 1), (3, 30, 2)], id="the first run twice"),
        pytest.param([(1, 10, 2), (2, 20, 1)], id="times and records disagree"),
        pytest.param([(1, 10, 1), (2, 10, 2)], id="one second"),
        pytest.param([(1, 10, None), (2, 20, 2)], id="the first not known"),
        pytest.param([(1, 10, 1), (2, 20, None)], id="the rerun not known"),
        pytest.param([(1, 10, None), (2, 20, 2), (3, 30, 3)], id="the one beside the first not known"),
    ],
)
def test_where_there_is_no_honest_way_nothing_is_chosen(facts: list[Facts]) -> None:
    """Both sides are ambiguous."""
    assert chosen(*facts) == {"first": "artifact-ambiguous", "rerun": "artifact-ambiguous"}


def test_a_gap_between_attempts_is_none() -> None:
    """An attempt that left nothing is passed over: the rerun is the newest that did."""
    assert chosen((1, 10, 1), (2, 20, 4)) == {"rerun": 2, "first": 1}


@pytest.mark.parametrize(
    ("attempt", "newest", "missing", "words"),
    [
        (1, 1, "rerun", "only one attempt"),
        (1, None, "rerun", "only one attempt"),
        (None, 1, "rerun", "only one attempt"),
        (1, 2, "rerun", "no later attempt left an artifact named b, and the run is at attempt 2"),
        (2, 2, "first", "{attempt}"),
        (None, 3, "first", "{attempt}"),
        (None, None, "first", "not known"),
    ],
)
def test_a_single_one_says_which_side_is_missing_and_why(
    attempt: int | None, newest: int | None, missing: str, words: str
) -> None:
    """It is the rerun where it is of the first attempt, else the first run."""
    (slot,) = slots_of_name("b", BOTH, [Artifact(1, "b", 1)])

    choices = {choice.side: choice for choice in settle(slot, lambda _: attempt, newest)}

    fault = choices[missing].fault
    assert fault
    assert fault.check == "artifact-missing"
    assert words in fault.detail
    assert all(choice.candidate for side, choice in choices.items() if side != missing)


def test_what_the_slot_lacks_every_side_lacks() -> None:
    """Nothing fits."""
    (slot,) = slots_of_name("b", BOTH, [])
    assert {choice.fault for choice in settle(slot, lambda _: None, 1)} == {slot.fault}


def test_the_candidates_are_named_where_nothing_is_chosen() -> None:
    """The first few, and the number of the others."""
    listing = [Artifact(number, "b", 1, created_at="2026-11-29T08:00:00Z") for number in range(1, 10)]
    (slot,) = slots_of_name("b", BOTH, listing)

    choices = settle(slot, lambda candidate: candidate.artifact.id, 9)

    fault = choices[0].fault
    assert fault
    assert "and 3 more" in fault.detail


def test_no_more_is_read_than_was_announced() -> None:
    """What `needed` names is all that has to be placed."""
    listing = [Artifact(minute, "b", 1, created_at=f"2026-11-29T08:{minute:02}:00Z") for minute in range(10, 20)]
    slots: list[tuple[Slot, list[int]]] = []
    for sides in (BOTH, ("first",)):
        (slot,) = slots_of_name("b", sides, listing)
        asked: list[int] = []
        settle(slot, lambda candidate, asked=asked: asked.append(candidate.artifact.id) or candidate.artifact.id, 9)  # type: ignore[misc,func-returns-value]
        slots.append((slot, asked))
    assert all([artifact.id for artifact in slot.needed] == asked for slot, asked in slots)


def wanted(name: str | None, artifact_id: int | None = None) -> Wanted:
    """Return what one side asks for."""
    return Wanted(artifact_id, name, None)


@pytest.mark.parametrize(
    ("first", "rerun", "one_run", "attempts"),
    [
        (wanted("b"), wanted("b"), True, True),
        (wanted("b"), wanted("b"), False, False),
        (wanted("b"), wanted("c"), True, False),
        (wanted("b-{attempt}"), wanted("b-{attempt}"), True, True),
        (wanted("b-{attempt}"), wanted("c-{attempt}"), True, False),
        (wanted("b-{attempt}"), wanted("b"), False, False),
        (wanted("b", 1), wanted("b", 2), True, False),
        (wanted("b-{attempt}", 1), wanted("b"), True, False),
        (wanted(None, 1), wanted("b"), True, False),
    ],
)
def test_one_name_in_one_run_means_attempts(first: Wanted, rerun: Wanted, one_run: bool, attempts: bool) -> None:
    """Unless an id says exactly what is meant."""
    assert are_attempts(first, rerun, one_run=one_run) is attempts


@pytest.mark.parametrize("names", [("b-{attempt}", "b"), ("b", "c-{attempt}")])
def test_attempt_in_one_name_of_one_run_is_refused(names: tuple[str, str]) -> None:
    """In both, or in neither."""
    with pytest.raises(UsageError, match="in both names"):
        are_attempts(wanted(names[0]), wanted(names[1]), one_run=True)
