"""Tests of `freeze-gate prune`: what it lists, what it removes, and what it never touches."""

import argparse
import io
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from freeze_gate.capture.bundle.store import Store
from freeze_gate.commands import CommandContext, prune
from freeze_gate.errors import NoVerdictError, UsageError
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Oracle, Record, encode_record
from freeze_gate.github.wait_budget import Clock
from freeze_gate.maintenance.prune import open_store
from freeze_gate.policy.file import read_policy

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAY = 86_400
POLICY = "schema: freeze-gate/policy/1\nretention: {fixtures_days: 90}\n"


class CommandResult(NamedTuple):
    """How a run of the command ended."""

    code: int
    listed: list[str]
    words: str


class StoreFolder:
    """A store of our own, beside a policy."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "store"
        self.policy = folder / "policy.yml"
        self.policy.write_text(POLICY)
        Store(self.store).pin(b"the youngest")
        self.before = self.names()

    def names(self) -> set[str]:
        """All that is in the store, links included."""
        return {str(path.relative_to(self.store)) for path in self.store.rglob("*") if path.name != ".lock"}

    def pin(self, payload: bytes, days: float = 91, suffix: str = ".json") -> str:
        """Pin bytes that many days ago."""
        pin = Store(self.store).pin(payload, suffix)
        os.utime(self.store / pin.path, (NOW.timestamp() - days * DAY,) * 2)
        return pin.path

    def record(self, path: str, folder: str = "records", **fields: object) -> Path:
        """Write a record that points at a pin."""
        record = Record("an-id", Sha256(path[9:73]), path, None, None)._replace(**fields)
        file = self.store / folder / "an-id.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode_record(record))
        return file

    def prune(self, *flags: str, store: Path | None = None) -> CommandResult:
        """Run the command."""
        parser = argparse.ArgumentParser()
        prune.configure(parser)
        args = parser.parse_args([str(store or self.store), "--policy", str(self.policy), *flags])
        out, err = io.StringIO(), io.StringIO()
        code = prune.run(args, CommandContext({}, Clock(epoch=NOW.timestamp), io.BytesIO(), out, err))
        return CommandResult(code, out.getvalue().splitlines(), err.getvalue())


@pytest.fixture
def place(tmp_path: Path) -> StoreFolder:
    """Make a store with one young pin."""
    return StoreFolder(tmp_path)


def test_a_program_gets_one_object(place: StoreFolder) -> None:
    """`--json`: the path and the size of each pin, and whether they are gone."""
    old = place.pin(b"old")
    for flags in ((), ("--yes",)):
        document = json.loads("\n".join(place.prune("--json", *flags).listed))
        assert document == {"pins": [{"bytes": 3, "path": old}], "removed": bool(flags)}


@pytest.mark.parametrize("flags", [(), ("--dry-run",)])
def test_without_yes_it_only_lists(place: StoreFolder, flags: tuple[str, ...]) -> None:
    """The list is on stdout, what it means on stderr, and nothing is changed."""
    old = place.pin(b"old")
    before = place.names()
    assert place.prune(*flags) == CommandResult(0, [old], "1 pin, 3 bytes, to remove with --yes\n")
    assert place.names() == before


def test_with_yes_it_removes_what_it_lists_and_nothing_else(place: StoreFolder) -> None:
    """Young pins, records and folders stay."""
    old, older = place.pin(b"old", 90.01), place.pin(b"older", 400, "")
    place.pin(b"young", 89.99)
    before = place.names()
    ended = place.prune("--yes")
    assert (ended.code, ended.listed) == (0, sorted([old, older]))
    assert ended.words == "2 pins, 8 bytes, removed\n"
    assert place.names() == before - {old, older}
    assert place.prune("--yes").listed == []


@pytest.mark.parametrize("folder", ["records", "elsewhere/deeper/records"])
def test_a_pin_that_a_record_refers_to_stays(place: StoreFolder, folder: str) -> None:
    """Wherever in the store the record is."""
    place.record(place.pin(b"referred to"), folder)
    assert place.prune("--yes").listed == []


def test_a_pin_that_only_an_oracle_was_given_stays(place: StoreFolder) -> None:
    """A record that contradicts itself still refers to what it names."""
    given = place.pin(b"given to the oracle")
    place.record(place.pin(b"other"), oracle=Oracle(fixture_sha256=Sha256(given[9:73])))
    assert place.prune("--yes").listed == []


@pytest.mark.parametrize("expires", ["2026-12-10", "2026-06-02"])
def test_a_pin_that_a_freeze_is_about_stays(place: StoreFolder, expires: str) -> None:
    """A lapsed freeze counts too: whoever asks what was muted finds the bytes."""
    frozen, old = place.pin(b"frozen"), place.pin(b"old")
    place.policy.write_text(
        f"{POLICY}freezes:\n  - {{fixture_id: a, fixture_sha256: {frozen[9:73]}, owner: me, reason: why,"
        f" added: 2026-06-01, expires: {expires}, unfreeze_when: then}}\n"
    )
    assert place.prune("--yes").listed == [old]


@pytest.mark.parametrize("payload", [b"", b"{", b'{"schema": "freeze-gate/record/1"}', b"x" * 70_000])
def test_a_record_that_cannot_be_read_stops_everything(place: StoreFolder, payload: bytes) -> None:
    """It may refer to any pin, so it is named, and nothing goes."""
    place.pin(b"old")
    place.record(place.pin(b"other")).write_bytes(payload)
    before = place.names()
    with pytest.raises(UsageError, match=r"nothing is removed .* fix or remove records/an-id\.json \(.+\)"):
        place.prune("--yes")
    assert place.names() == before


def test_a_file_of_macos_beside_the_records_stops_nothing(place: StoreFolder) -> None:
    """`._NAME.json` (AppleDouble) is no record, so it refers to no pin."""
    old = place.pin(b"old")
    place.record(place.pin(b"other")).with_name("._an-id.json").write_bytes(b"\0\5\x16\7")
    assert place.prune("--yes").listed == [old]


@pytest.mark.parametrize("kind", ["link", "folder", "fifo"])
def test_an_odd_file_in_the_place_of_a_record_stops_everything(place: StoreFolder, kind: str, tmp_path: Path) -> None:
    """A link is not followed to find out what it refers to, and a FIFO is not waited for."""
    old = place.pin(b"old")
    elsewhere = place.record(old).rename(tmp_path / "elsewhere.json")
    odd = place.store / "records" / "an-id.json"
    {"link": lambda: odd.symlink_to(elsewhere), "folder": odd.mkdir, "fifo": lambda: os.mkfifo(odd)}[kind]()
    if kind == "folder":
        assert place.prune().listed == [old]
    else:
        with pytest.raises(UsageError, match=r"records/an-id\.json"):
            place.prune("--yes")
        assert (place.store / old).exists()


def test_a_records_folder_that_is_a_link_stops_everything(place: StoreFolder, tmp_path: Path) -> None:
    """What it leads to is not the store's, and may not be looked at; what it refers to is not known."""
    old = place.pin(b"old")
    place.record(old)
    (place.store / "records").rename(tmp_path / "records")
    (place.store / "records").symlink_to(tmp_path / "records")
    with pytest.raises(UsageError, match="nothing is removed, because records cannot be read"):
        place.prune("--yes")
    assert (place.store / old).exists()


def test_only_files_named_as_pins_directly_in_fixtures_are_ever_touched(place: StoreFolder, tmp_path: Path) -> None:
    """Links, folders, other names, and pins anywhere else stay, however old they are."""
    name, target = "a" * 64, tmp_path / "target"
    target.write_bytes(b"precious")
    fixtures, stays = place.store / "fixtures", [name[:-1], name.upper(), f"{name}x", f".{name}.tmp", "notes.txt"]
    for other in stays:
        (fixtures / other).write_bytes(b"other")
    (fixtures / f"{name}.json").symlink_to(target)
    (fixtures / f"{name}.txt").mkdir()
    (fixtures / "deeper").mkdir()
    (fixtures / "deeper" / name).write_bytes(b"deeper")
    (place.store / name).write_bytes(b"beside")
    (place.store / "outside").symlink_to(tmp_path)
    for path in [*place.store.rglob("*"), target]:
        os.utime(path, (0, 0), follow_symlinks=False)
    young = (place.store / next(each for each in place.before if each.startswith("fixtures/"))).name
    before = place.names()
    assert place.prune("--yes").listed == [f"fixtures/{young}"]
    assert place.names() == before - {f"fixtures/{young}"}
    assert target.read_bytes() == b"precious"


@pytest.mark.parametrize("what", ["missing", "a file", "a link", "without fixtures", "fixtures is a link"])
def test_what_is_no_store_is_refused_and_left_alone(place: StoreFolder, what: str, tmp_path: Path) -> None:
    """Nothing is created there either."""
    place.pin(b"old")
    odd = tmp_path / "odd"
    if what == "a file":
        odd.write_bytes(b"")
    elif what == "a link":
        odd.symlink_to(place.store)
    elif what != "missing":
        odd.mkdir()
    if what == "fixtures is a link":
        (odd / "fixtures").symlink_to(place.store / "fixtures")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match="is not a fixture store"):
        place.prune("--yes", store=odd)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("schema: freeze-gate/policy/1\n", "the policy sets no retention; add a line such as retention: "),
        (POLICY + "x: y\n", "policy.yml:3: x: is unknown; allowed are "),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_without_a_policy_that_sets_a_retention_nothing_happens(
    place: StoreFolder, text: str | None, words: str
) -> None:
    """What is wrong with the policy is said, and the exit code is that of a bad input."""
    old = place.pin(b"old")
    place.policy.unlink()
    if text is not None:
        place.policy.write_text(text)
    with pytest.raises(UsageError) as caught:
        place.prune("--yes")
    assert words in str(caught.value)
    assert caught.value.exit_code == 2
    assert (place.store / old).exists()


def test_a_pin_that_cannot_be_removed_is_an_error_not_a_success(place: StoreFolder) -> None:
    """Somebody else was faster: said, with the exit code for what was not delivered."""
    old = place.pin(b"old")
    policy = read_policy(POLICY.encode(), "policy.yml", NOW.date()).policy
    with open_store(place.store) as store:
        [pin] = store.list_prunable(policy, NOW)
        (place.store / old).unlink()
        with pytest.raises(NoVerdictError, match=f"cannot remove {old}: No such file or directory"):
            store.remove(pin)


def test_a_store_that_is_swapped_for_a_link_leads_nothing_astray(place: StoreFolder, tmp_path: Path) -> None:
    """What was opened is what is pruned, whatever stands at its path by then."""
    old = place.pin(b"old")
    with open_store(place.store) as store:
        [pin] = store.list_prunable(read_policy(POLICY.encode(), "policy.yml", NOW.date()).policy, NOW)
        place.store.rename(tmp_path / "moved")
        (tmp_path / "victim" / "fixtures").mkdir(parents=True)
        (tmp_path / "victim" / old).write_bytes(b"precious")
        place.store.symlink_to(tmp_path / "victim")
        store.remove(pin)
    assert (tmp_path / "victim" / old).read_bytes() == b"precious"
    assert not (tmp_path / "moved" / old).exists()
