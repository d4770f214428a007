"""Tests of `freeze-gate check`: every problem at once with its address, notes for what is allowed but may surprise."""

import argparse
import io
import json
import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from freeze_gate.capture.bundle.store import Store
from freeze_gate.commands import CommandContext, check
from freeze_gate.errors import UsageError
from freeze_gate.evidence.models import Pair, Side, Source
from freeze_gate.evidence.record import Record, encode_record
from freeze_gate.github.wait_budget import Clock
from freeze_gate.verdict.document import encode
from freeze_gate.verdict.evaluate import evaluate
from freeze_gate.verdict.models import Case
from tests.builders.zip import zip_folder

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
SHA = "0b5c" + "0" * 60
NO_CHECKS = "declares nothing, and transport.fault is length_check"
DOT = "has a name that starts with a dot; the upload step skips it unless include-hidden-files is true"


class CommandResult(NamedTuple):
    """How a run of the command ended."""

    code: int
    lines: list[str]
    words: str


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of our own, so that paths are as short as a person would type them."""
    monkeypatch.chdir(tmp_path)


def run(*paths: str) -> CommandResult:
    """Run the command."""
    parser = argparse.ArgumentParser()
    check.configure(parser)
    out, err = io.StringIO(), io.StringIO()
    code = check.run(parser.parse_args(paths), CommandContext({}, Clock(epoch=NOW.timestamp), io.BytesIO(), out, err))
    return CommandResult(code, out.getvalue().splitlines(), err.getvalue())


def bundle(folder: str = "b", **changes: Any) -> dict[str, Any]:
    """Make a bundle with one good record, changed as asked; return what the record says."""
    store = Store(Path(folder))
    pin = store.pin(b"a\r\nb", ".json")
    store.write(Record("an-id", pin.sha256, pin.path, oracle_passed=True, transport_ok=True))
    file = Path(folder, "records", "an-id.json")
    said = {**json.loads(file.read_bytes()), **changes}
    file.write_text(json.dumps(said))
    return said


def zipped(folder: str, path: str = "b.zip") -> str:
    """Zip a bundle as an artifact holds it."""
    Path(path).write_bytes(zip_folder(Path(folder), f"{folder}/"))
    return path


def policy(*freezes: str, head: str = "") -> str:
    """Write a policy with an entry for each `added..expires`."""
    text = f"schema: freeze-gate/policy/1\n{head}freezes:\n"
    for number, days in enumerate(freezes):
        added, expires = days.split("..")
        text += f"- {{fixture_id: f-{number}, fixture_sha256: {SHA}, owner: '@me', reason: why, unfreeze_when: then,\n"
        text += f"   added: {added}, expires: {expires}}}\n"
    Path("p.yml").write_text(text)
    return "p.yml"


def test_what_is_right_is_said_to_be_right() -> None:
    """No line, and exit code 0, for a bundle, its record, its zip and a policy."""
    bundle()
    ended = run("b", "b/records/an-id.json", zipped("b"), policy("2026-11-20..2026-12-10"))
    assert ended == CommandResult(0, [], "0 problems, 0 notes\n")


def test_every_problem_of_a_record_is_named_with_its_address() -> None:
    """Alone, in its folder and in a zip it reads the same, behind the place that it stands at."""
    bundle(oracle_passed="no", transport={"retry_count": -1, "timed_out": 0, "colour": 1}, run={"run_id": 1.5})
    lines = [
        "transport.colour: is unknown and ignored",
        "oracle_passed: must be true or false",
        "transport.timed_out: must be true or false",
        "transport.retry_count: must be a whole number of at least 0",
        "run.run_id: must be a whole number of at least 1",
    ]
    for path, place in (
        ("b/records/an-id.json",) * 2,
        ("b", "b/records/an-id.json"),
        (zipped("b"), "b.zip: b/records/an-id.json"),
    ):
        ended = run(path)
        assert ended.lines == [f"{'note: ' * (not number)}{place}: {line}" for number, line in enumerate(lines)]
        assert (ended.code, ended.words) == (1, "4 problems, 1 note\n")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"transport": {"fault": "length_check"}, "transport_ok": None}, f"transport.checks: {NO_CHECKS}"),
        ({"fixture_path": "fixtures/other"}, "fixture-missing: there is no fixtures/other in the bundle"),
        ({"oracle": {"fixture_sha256": "f" * 64}}, f"oracle-input-mismatch: the oracle was given {'f' * 64}"),
        ({"fixture_id": "other"}, "fixture_id: must be the file's name without .json"),
        ({"fixture_sha256": None}, "fixture_path: must be null where fixture_sha256 is, and only there"),
        ({"schema": "freeze-gate/record/2"}, "schema: must be freeze-gate/record/1"),
    ],
)  # fmt: skip
def test_what_the_gate_would_refuse_is_found_beforehand(changes: dict[str, Any], line: str) -> None:
    """The checks of a single side, by their ids, and the contradictions."""
    bundle(**changes)
    assert run("b").lines == [f"b/records/an-id.json: {line}"]
    assert run("b").code == 1


def test_a_pin_that_was_changed_is_found() -> None:
    """The bytes are hashed, not believed."""
    said = bundle()
    pin = Path("b", said["fixture_path"])
    pin.unlink()
    pin.write_bytes(b"a\nb")
    [line] = run("b").lines
    assert line.startswith(
        f"b/records/an-id.json: fixture-digest-mismatch: the record says {said['fixture_sha256']}, the bytes hash"
    )


@pytest.mark.parametrize(
    ("name", "payload", "line"),
    [
        ("r.json", b"{", "r.json: is not JSON"),
        ("r.json", b'{"schema": 1, "schema": 1}', "r.json: gives a key twice"),
        ("r.json", b'{"a": "' + b"x" * 70_000 + b'"}', "r.json: is over 64 KiB"),
        ("b.zip", b"PK\x03\x04", "b.zip: archive-invalid: "),
        ("p", b"a: *b", "p:1: a: is an alias; write the value out"),
        ("p.yaml", b'{"schema": "freeze-gate/policy/2"}', "p.yaml:1: schema: must be freeze-gate/policy/1"),
        ("p.json", b'{"schema": "freeze-gate/policy/1", "x": 1}', "p.json:1: x: is unknown; allowed are "),
        ("empty", b"", "empty:1: schema: is required"),
    ],
)
def test_a_file_is_taken_for_what_its_content_says(name: str, payload: bytes, line: str) -> None:
    """A zip, JSON or YAML; the name decides only for a policy."""
    Path(name).write_bytes(payload)
    ended = run(name)
    assert ended.lines[0].startswith(line)
    assert ended.code == 1


def test_a_folder_or_zip_without_records_is_no_bundle() -> None:
    """The usual cause is a path that is one folder off."""
    bundle()
    Path("nothing").mkdir()
    for path in ("nothing", "b/records", zipped("nothing", "n.zip")):
        assert run(path).lines == [f"{path}: record-missing: no folder records with <fixture_id>.json files was found"]


def test_two_records_of_one_id_are_found() -> None:
    """Side by side in a merged artifact they would make the pair undecided."""
    bundle("m/one")
    bundle("m/two", transport_ok=None)
    assert run("m").lines == ["m: an-id: record-duplicate: 2 different records say that they are an-id"]


def test_a_verdict_is_computed_again() -> None:
    """One that was edited does not follow from its evidence; one that is garbled says where."""
    source = Source("b")
    case = Case(github_metadata=False, pairs=(Pair(None, Side(source), Side(source)),), today=date(2026, 11, 29))
    payload = encode(case, evaluate(case))
    Path("v.json").write_bytes(payload)
    assert run("v.json") == CommandResult(0, [], "0 problems, 0 notes\n")
    Path("v.json").write_bytes(payload.replace(b'"exit_code": 1', b'"exit_code": 0'))
    assert run("v.json").lines == [
        "v.json: does not follow from its own evidence; freeze-gate verify shows where it differs"
    ]
    Path("v.json").write_bytes(payload.replace(b'"2026-11-29"', b'"today"'))
    assert run("v.json").lines == ["v.json: case.today: must be a day such as 2026-12-10"]


def test_entries_that_lapsed_or_lapse_within_a_week_are_noted() -> None:
    """They are no errors, so the CI of a policy does not turn red by the calendar."""
    ended = run(
        policy("2026-11-01..2026-11-28", "2026-11-28..2026-12-06", "2026-11-28..2026-12-07", "2026-11-29..2026-11-29")
    )
    assert ended.lines == [
        "note: p.yml:3: freezes[0]: expired on 2026-11-28, owner @me",
        "note: p.yml:5: freezes[1]: expires after 2026-12-06, owner @me",
        "note: p.yml:9: freezes[3]: expires after 2026-11-29, owner @me",
    ]
    assert (ended.code, ended.words) == (0, "0 problems, 3 notes\n")


def test_an_entry_with_too_long_a_horizon_is_an_error_until_it_lapses() -> None:
    """It would never be active, and its owner believes that it is."""
    ended = run(policy("2026-11-20..2099-12-31", "2026-10-01..2026-11-15", head="max_freeze_days: 40\n"))
    assert ended.lines == [
        "p.yml:4: freezes[0].expires: is 26704 days after added; max_freeze_days allows 40",
        "note: p.yml:6: freezes[1]: expired on 2026-11-15, owner @me",
    ]
    assert ended.code == 1


def test_dots_in_front_of_names_are_noted() -> None:
    """On the path that was given, and inside."""
    bundle(".hidden/b")
    assert run(".hidden/b").lines == [f"note: .hidden/b: {DOT}"]
    assert run("../" + Path.cwd().name + "/.hidden").lines == [f"note: ../{Path.cwd().name}/.hidden: {DOT}"]
    Path(".hidden").rename("shown")
    assert run("./shown").lines == []
    Path("shown/b").rename("shown/.b")
    assert run("shown").lines == [f"note: shown/.b/: {DOT}"]
    bundle("c", fixture_path="fixtures/.x/pin")
    Path("c/fixtures/.x").mkdir()
    Path("c/fixtures/.x/pin").write_bytes(b"a\r\nb")
    assert run("c").lines == [f"note: c/fixtures/.x/pin: {DOT}"]


def test_files_of_macos_beside_the_records_are_noted() -> None:
    """`._NAME.json` (AppleDouble) is no record, so it makes no bundle invalid."""
    bundle()
    Path("b/records/._an-id.json").write_bytes(b"\0\5\x16\7\0\2\0\0Mac OS X")
    result = run("b")
    assert result.lines == [
        "note: b/records/._an-id.json: is a file of macOS (AppleDouble) and no record; left out",
    ]
    assert (result.code, result.words) == (0, "0 problems, 1 note\n")


def test_a_program_gets_one_object() -> None:
    """`--json`: the texts of the lines, notes apart from problems."""
    bundle(oracle_passed="no", colour=1)
    result = run("b", "--json")
    assert json.loads("\n".join(result.lines)) == {
        "notes": ["b/records/an-id.json: colour: is unknown and ignored"],
        "problems": ["b/records/an-id.json: oracle_passed: must be true or false"],
    }
    assert result.code == 1


@pytest.mark.parametrize("path", ["b", "."])
def test_a_link_in_a_bundle_is_named(path: str) -> None:
    """With its path, so that somebody who checks a whole checkout finds it."""
    bundle()
    Path("b/records/other.json").symlink_to("an-id.json")
    place = "records/other.json" if path == "b" else "b/records/other.json"
    assert run(path).lines == [f"{path}: archive-invalid: it holds a link or a special file: {place}"]


def test_names_that_are_equal_but_for_case_are_named() -> None:
    """Some file systems have room for one of them."""
    bundle()
    Path("b/records/an-id.JSON").write_bytes(b"{}")
    (line,) = run("b").lines
    assert line.startswith("b: archive-invalid: it holds names that are equal but for case: records/")


def test_a_git_lfs_pointer_in_the_place_of_a_pin_is_noted() -> None:
    """It is bytes like any other, and hardly what was meant."""
    store = Store(Path("b"))
    pin = store.pin(f"version https://git-lfs.github.com/spec/v1\noid sha256:{SHA}\nsize 9\n".encode())
    store.write(Record("an-id", pin.sha256, pin.path, oracle_passed=True, transport_ok=True))
    result = run("b")
    assert result.code == 0
    assert any(
        line.startswith("note: b/records/an-id.json: the pinned file is a Git LFS pointer") for line in result.lines
    )


def test_a_path_that_is_not_there_is_a_usage_error() -> None:
    """Nothing was looked at, so nothing may look fine; all of them are named."""
    bundle()
    with pytest.raises(UsageError, match="not found: x, y") as caught:
        run("b", "x", "y")
    assert caught.value.exit_code == 2


def test_nothing_that_a_stranger_wrote_is_obeyed_by_the_runner() -> None:
    """Keys, names and owners come out on one line each, and no command is left in them."""
    bundle(**{"a\u202e##[error]x": 1, "::error::y": 1})
    Path("b/records/::stop-commands::z\n.json").write_bytes(encode_record(Record("z", None, None, None, None)))
    Path("::set-output name=a::b.yml").write_text("::error::x: y\n")
    ended = run("b", "::set-output name=a::b.yml", policy("2026-11-01..2026-11-28"))
    assert ended.code == 1
    for line in ended.lines:
        assert line.isprintable()
        assert "::" not in line
        assert "##[" not in line


def test_a_pipe_is_read_like_a_file() -> None:
    """So that `<(git show main:.github/freeze-gate.yml)` works."""
    read, write = os.pipe()
    os.write(write, b"schema: freeze-gate/policy/1\nx: y\n")
    os.close(write)
    try:
        [line] = run(f"/dev/fd/{read}").lines
    finally:
        os.close(read)
    assert line.startswith(f"/dev/fd/{read}:2: x: is unknown")
