"""Which artifacts a name, a glob or an id stands for."""

from typing import Any

import pytest

from freeze_gate.artifacts.select import Candidate, slot_of_artifact, slots_of_name
from freeze_gate.evidence.side import Artifact

BOTH = ("first", "rerun")


def artifact(name: str, minute: int = 0, **facts: Any) -> Artifact:
    """Return an artifact of run 4242 that was created at that minute; its id says nothing about its age."""
    given = {"id": 1000 - minute, "size": 1, "run_id": 4242, "created_at": f"2026-11-29T08:{minute:02}:00Z", **facts}
    return Artifact(name=name, **given)


def shown(name: str, *listing: Artifact, sides: tuple[str, ...] = BOTH) -> dict[str, list[tuple[str, int | None]]]:
    """Return what a name leads to: label, then the artifacts with the attempts that their names say."""
    return {
        slot.label: [(candidate.artifact.name, candidate.attempt) for candidate in slot.candidates]
        for slot in slots_of_name(name, sides, listing)
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


def test_a_glob_makes_a_slot_of_each_name() -> None:
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
    (slot,) = slots_of_name("b", BOTH, [artifact("b", 5), artifact("b", 50), artifact("b", 20)])
    assert [candidate.artifact.created_at[14:16] for candidate in slot.candidates if candidate.artifact.created_at] == [
        "50",
        "20",
        "05",
    ]


def test_equal_digests_count_once_within_an_attempt() -> None:
    """A retried upload leaves two copies; two attempts with equal bytes stay two, for the check that says so."""
    copies = [artifact("b", minute, digest="sha256:x") for minute in (1, 2)]
    (slot,) = slots_of_name("b", BOTH, copies)
    assert len(slot.candidates) == 1

    (slot,) = slots_of_name("b-{attempt}", BOTH, [artifact(f"b-{n}", n, digest="sha256:x") for n in (1, 2)])
    assert len(slot.candidates) == 2


def test_unpublished_digests_are_not_equal() -> None:
    """None says nothing."""
    (slot,) = slots_of_name("b", BOTH, [artifact("b", 1), artifact("b", 2)])
    assert len(slot.candidates) == 2


def test_nothing_that_fits_is_missing() -> None:
    """One slot all the same, so that the side is not silent."""
    (slot,) = slots_of_name("b", BOTH, [])
    assert slot.fault
    assert slot.fault.check == "artifact-missing"


def test_only_expired_ones_are_expired() -> None:
    """Where all are, no order matters."""
    (slot,) = slots_of_name("b", BOTH, [artifact("b", minute, expired=True) for minute in (1, 2)])
    assert slot.fault
    assert slot.fault.check == "artifact-expired"


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
    (slot,) = slots_of_name(name, sides, [artifact(name, minute) for minute, name in enumerate(names)])
    assert len(slot.needed) == needed


def test_an_id_knows_of_the_attempts_beside_it() -> None:
    """By the capture action's names, or by the same name."""
    mine = artifact("s-4242-2", 2)
    listing = [mine, artifact("s-4242-1", 1), artifact("t-4242-1", 1), artifact("s-4242-x", 1)]

    slot = slot_of_artifact("first", mine, listing)

    assert slot.candidates == (Candidate(mine, 2),)
    assert [other.artifact.name for other in slot.others] == ["s-4242-2", "s-4242-1"]


def test_an_expired_attempt_is_one_of_the_others() -> None:
    """Nobody can see that it recorded no fail."""
    mine = artifact("s", 2)
    gone = artifact("s", 1, expired=True)

    assert Candidate(gone) in slot_of_artifact("first", mine, [mine, gone]).others
