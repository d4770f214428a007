"""Which artifact is the first run's and which the rerun's."""

from itertools import permutations
from typing import Any

import pytest

from freeze_gate.artifacts.select import (
    ArtifactSelector,
    Candidate,
    CandidateGroup,
    Selection,
    compares_attempts,
    group_by_name,
    group_of_artifact,
    select,
)
from freeze_gate.errors import UsageError
from freeze_gate.evidence.models import Artifact

BOTH = ("first", "rerun")


def artifact(name: str, minute: int = 0, **facts: Any) -> Artifact:
    """Return an artifact of run 4242 that was created at that minute; its id says nothing about its age."""
    given = {"id": 1000 - minute, "size": 1, "run_id": 4242, "created_at": f"2026-11-29T08:{minute:02}:00Z", **facts}
    return Artifact(name=name, **given)


def shown(name: str, *listing: Artifact, sides: tuple[str, ...] = BOTH) -> dict[str, list[tuple[str, int | None]]]:
    """Return what a name leads to: label, then the artifacts with the attempts that their names say."""
    return {
        group.label: [(candidate.artifact.name, candidate.attempt) for candidate in group.candidates]
        for group in group_by_name(name, sides, listing)
    }


def test_an_exact_name_is_that_name_alone() -> None:
    """Not a part of it, not another case."""
    assert shown("bundle", *map(artifact, ("bundle", "bundle-2", "a-bundle", "Bundle"))) == {
        "bundle": [("bundle", None)]
    }


def test_a_bracket_in_a_name_is_a_bracket() -> None:
    """`shard[1]` may be an artifact's name, and stands for no other; so no bracket can spoil what stands beside it."""
    assert shown("shard[1]", artifact("shard[1]"), artifact("shard1")) == {"shard[1]": [("shard[1]", None)]}
    assert shown("shard[1]", artifact("shard1")) == {"shard[1]": []}
    for name in ("x[{attempt}]", "[{attempt}-z]", "[!{attempt}", "a]{attempt}[", "[*{attempt}?"):
        held = name.replace("*", "star").replace("?", "q")
        found = shown(name, *(artifact(held.replace("{attempt}", str(number))) for number in (1, 2)))
        assert [[attempt for _, attempt in each] for each in found.values()] == [[2, 1]]


def test_a_stranger_s_name_costs_no_time() -> None:
    """Many stars, and a name that nearly fits in a million ways."""
    assert shown("*-*-*-*-*-*x", artifact("-" * 900)) == {"*-*-*-*-*-*x": []}


def test_a_glob_makes_a_group_of_each_name() -> None:
    """In the order of the names."""
    assert list(shown("first-*", *map(artifact, ("first-b", "rerun-a", "first-a")))) == ["first-a", "first-b"]


def test_the_attempt_in_a_name_is_read_as_a_number() -> None:
    """Ten comes after nine, and what is no attempt does not fit."""
    names = ("b-9", "b-10", "b-0", "b-x", "b-1-2")
    assert shown("b-{attempt}", *map(artifact, names)) == {"b-{attempt}": [("b-10", 10), ("b-9", 9)]}


def test_a_glob_with_an_attempt_groups_what_differs_in_nothing_else() -> None:
    """Shards, each with its attempts."""
    names = ("s-a-1", "s-a-2", "s-b-1")
    assert shown("s-*-{attempt}", *map(artifact, names)) == {
        "s-a-{attempt}": [("s-a-2", 2), ("s-a-1", 1)],
        "s-b-{attempt}": [("s-b-1", 1)],
    }


def test_the_capture_action_s_names_are_parted_from_their_attempt() -> None:
    """`-<run id>-<attempt>` at the end, of this very run."""
    names = ("s-a-4242-1", "s-a-4242-2", "s-b-4243-1")
    assert shown("s-*", *map(artifact, names)) == {
        "s-a-4242-{attempt}": [("s-a-4242-2", 2), ("s-a-4242-1", 1)],
        "s-b-4243-1": [("s-b-4243-1", None)],
    }


def test_candidates_without_an_attempt_are_newest_first_whatever_their_ids() -> None:
    """By `created_at`."""
    (group,) = group_by_name("b", BOTH, [artifact("b", 5), artifact("b", 50), artifact("b", 20)])
    assert [
        candidate.artifact.created_at[14:16] for candidate in group.candidates if candidate.artifact.created_at
    ] == [
        "50",
        "20",
        "05",
    ]


def test_equal_digests_count_once_within_an_attempt() -> None:
    """A retried upload leaves two copies; two attempts with equal bytes stay two, for the check that says so."""
    copies = [artifact("b", minute, digest="sha256:x") for minute in (1, 2)]
    (group,) = group_by_name("b", BOTH, copies)
    assert len(group.candidates) == 1

    (group,) = group_by_name("b-{attempt}", BOTH, [artifact(f"b-{n}", n, digest="sha256:x") for n in (1, 2)])
    assert len(group.candidates) == 2


def test_unpublished_digests_are_not_equal() -> None:
    """None says nothing."""
    (group,) = group_by_name("b", BOTH, [artifact("b", 1), artifact("b", 2)])
    assert len(group.candidates) == 2


def test_nothing_that_fits_is_missing() -> None:
    """One group all the same, so that the side is not silent."""
    (group,) = group_by_name("b", BOTH, [])
    assert group.fault
    assert group.fault.check == "artifact-missing"


def test_only_expired_ones_are_expired() -> None:
    """Where all are, no order matters."""
    (group,) = group_by_name("b", BOTH, [artifact("b", minute, expired=True) for minute in (1, 2)])
    assert group.fault
    assert group.fault.check == "artifact-expired"


@pytest.mark.parametrize(
    ("sides", "names", "needed"),
    [
        (("first",), ("b", "b", "b"), 2),
        (BOTH, ("b", "b", "b"), 3),
        (("first",), ("b-4242-1", "b-4242-2", "b-4242-3"), 1),
        (BOTH, ("b-4242-1", "b-4242-2", "b-4242-3"), 2),
    ],
)
def test_what_must_be_read_is_what_names_do_not_say(
    sides: tuple[str, ...], names: tuple[str, ...], needed: int
) -> None:
    """One more than there are sides, to see that it is of another attempt."""
    name = "b" if names[0] == "b" else "b-*"
    (group,) = group_by_name(name, sides, [artifact(name, minute) for minute, name in enumerate(names)])
    assert len(group.to_download) == needed


def test_an_id_knows_of_the_attempts_beside_it() -> None:
    """By the capture action's names, or by the same name."""
    mine = artifact("s-4242-2", 2)
    listing = [mine, artifact("s-4242-1", 1), artifact("t-4242-1", 1), artifact("s-4242-x", 1)]

    group = group_of_artifact("first", mine, listing)

    assert group.candidates == (Candidate(mine, 2),)
    assert [sibling.artifact.name for sibling in group.siblings] == ["s-4242-2", "s-4242-1"]


def test_an_expired_attempt_is_one_of_the_others() -> None:
    """Nobody can see that it recorded no fail."""
    mine = artifact("s", 2)
    gone = artifact("s", 1, expired=True)

    assert Candidate(gone) in group_of_artifact("first", mine, [mine, gone]).siblings


Facts = tuple[int, int, int | None]
"""An artifact's id, the minute of its upload, the attempt that its records name."""


def selected(*facts: Facts, sides: tuple[str, ...] = BOTH, newest: int | None = 9) -> dict[str, int | str]:
    """Return for each side the id of its artifact, or the check that failed."""
    listing = [Artifact(id_, "b", 1, created_at=f"2026-11-29T08:{minute:02}:00Z") for id_, minute, _ in facts]
    attempts = {id_: attempt for id_, _, attempt in facts}
    (group,) = group_by_name("b", sides, listing)
    selections = select(group, lambda candidate: attempts[candidate.artifact.id], newest)
    return {selection.side: _shown(selection) for selection in selections}


def _shown(selection: Selection) -> int | str:
    if selection.fault:
        return selection.fault.check
    assert selection.candidate
    return selection.candidate.artifact.id


@pytest.mark.parametrize("order", list(permutations([(7, 10, 1), (5, 20, 2), (6, 30, 3)])))
def test_the_newest_attempt_is_the_rerun_and_the_one_before_the_first(order: tuple[Facts, ...]) -> None:
    """In whatever order they are listed and numbered."""
    assert selected(*order) == {"rerun": 6, "first": 5}
    assert selected(*order, sides=("first",)) == {"first": 6}


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
def test_where_there_is_no_honest_way_nothing_is_selected(facts: list[Facts]) -> None:
    """Both sides are ambiguous."""
    assert selected(*facts) == {"first": "artifact-ambiguous", "rerun": "artifact-ambiguous"}


def test_a_gap_between_attempts_is_none() -> None:
    """An attempt that left nothing is passed over: the rerun is the newest that did."""
    assert selected((1, 10, 1), (2, 20, 4)) == {"rerun": 2, "first": 1}


@pytest.mark.parametrize(
    ("attempt", "newest", "missing", "words"),
    [
        (1, 1, "rerun", "only one attempt"),
        (1, None, "rerun", "only one attempt"),
        (None, 1, "rerun", "only one attempt"),
        (1, 2, "rerun", "no later attempt left an artifact named b, and the run is at attempt 2"),
        (2, 2, "first", "{attempt}"),
        (None, 3, "first", "{attempt}"),
        (None, None, "first", "unknown"),
    ],
)
def test_a_single_one_says_which_side_is_missing_and_why(
    attempt: int | None, newest: int | None, missing: str, words: str
) -> None:
    """It is the rerun where it is of the first attempt, else the first run."""
    (group,) = group_by_name("b", BOTH, [Artifact(1, "b", 1)])

    selections = {selection.side: selection for selection in select(group, lambda _: attempt, newest)}

    fault = selections[missing].fault
    assert fault
    assert fault.check == "artifact-missing"
    assert words in fault.detail
    assert all(selection.candidate for side, selection in selections.items() if side != missing)


def test_what_the_group_lacks_every_side_lacks() -> None:
    """Nothing fits."""
    (group,) = group_by_name("b", BOTH, [])
    assert {selection.fault for selection in select(group, lambda _: None, 1)} == {group.fault}


def test_the_candidates_are_named_where_nothing_is_selected() -> None:
    """The first few, and the number of the others."""
    listing = [Artifact(number, "b", 1, created_at="2026-11-29T08:00:00Z") for number in range(1, 10)]
    (group,) = group_by_name("b", BOTH, listing)

    selections = select(group, lambda candidate: candidate.artifact.id, 9)

    fault = selections[0].fault
    assert fault
    assert "and 3 more" in fault.detail


def test_no_more_is_read_than_was_announced() -> None:
    """What `needed` names is all that has to be placed."""
    listing = [Artifact(minute, "b", 1, created_at=f"2026-11-29T08:{minute:02}:00Z") for minute in range(10, 20)]
    groups: list[tuple[CandidateGroup, list[int]]] = []
    for sides in (BOTH, ("first",)):
        (group,) = group_by_name("b", sides, listing)
        asked: list[int] = []
        select(group, lambda candidate, asked=asked: asked.append(candidate.artifact.id) or candidate.artifact.id, 9)  # type: ignore[misc,func-returns-value]
        groups.append((group, asked))
    assert all([artifact.id for artifact in group.to_download] == asked for group, asked in groups)


def selector(name: str | None, artifact_id: int | None = None) -> ArtifactSelector:
    """Return what one side asks for."""
    return ArtifactSelector(artifact_id, name, None)


@pytest.mark.parametrize(
    ("first", "rerun", "one_run", "attempts"),
    [
        (selector("b"), selector("b"), True, True),
        (selector("b"), selector("b"), False, False),
        (selector("b"), selector("c"), True, False),
        (selector("b-{attempt}"), selector("b-{attempt}"), True, True),
        (selector("b-{attempt}"), selector("c-{attempt}"), True, False),
        (selector("b-{attempt}"), selector("b"), False, False),
        (selector("b", 1), selector("b", 2), True, False),
        (selector("b-{attempt}", 1), selector("b"), True, False),
        (selector(None, 1), selector("b"), True, False),
    ],
)
def test_one_name_in_one_run_means_attempts(
    first: ArtifactSelector, rerun: ArtifactSelector, one_run: bool, attempts: bool
) -> None:
    """Unless an id says exactly what is meant."""
    assert compares_attempts(first, rerun, one_run=one_run) is attempts


@pytest.mark.parametrize("names", [("b-{attempt}", "b"), ("b", "c-{attempt}")])
def test_attempt_in_one_name_of_one_run_is_refused(names: tuple[str, str]) -> None:
    """In both, or in neither."""
    with pytest.raises(UsageError, match="in both names"):
        compares_attempts(selector(names[0]), selector(names[1]), one_run=True)
