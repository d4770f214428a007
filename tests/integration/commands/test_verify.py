"""`freeze-gate verify`: a stored verdict computed again from itself."""

import hashlib
import io
import json
import resource
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from freeze_gate import cli
from tests.builders.bundle import make_bundle, make_capture
from tests.builders.pairs import CLASSES
from tests.builders.policy import POLICY_PATH, make_policy
from tests.builders.record import SAMPLE
from tests.support.gate_job import Job


@pytest.fixture
def verdict(job: Job) -> Path:
    """Return a gate's verdict of two pairs, a flake that a policy knows and a drift."""
    job.repository.add_file(POLICY_PATH, make_policy())
    for place, name in enumerate(("first", "rerun")):
        flake, drift = CLASSES["harness_flake"][0][place], CLASSES["fixture_drift"][0][place]
        job.upload(name, flake, drift.changed(fixture_id="zz"))
    job.gate(dry_run="true")
    return job.workspace / "freeze-gate-verdict.json"


def verify(*argv: str | Path) -> int:
    """Run the command."""
    return cli.main(["verify", *map(str, argv)], {})


def test_what_the_gate_wrote_is_consistent(verdict: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Offline, without a token."""
    assert verify(verdict) == 0
    assert "consistent" in capsys.readouterr().out


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Name every place of a document that holds no further places."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not items:
        yield path
    for key, item in items:
        yield from leaves(item, (*path, key))


def changed(document: Any, path: tuple[Any, ...]) -> bytes:
    """Change one place, and write the document as a tool would."""
    copy = json.loads(json.dumps(document))
    place = copy
    for key in path[:-1]:
        place = place[key]
    old = place[path[-1]]
    place[path[-1]] = (
        (not old)
        if isinstance(old, bool)
        else old + 1
        if isinstance(old, int)
        else "green"
        if isinstance(old, str) and old != "green"
        else "changed"
    )
    return (json.dumps(copy, sort_keys=True, indent=1) + "\n").encode()


def test_no_place_of_the_result_can_be_changed(verdict: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every single one follows from the rest."""
    document = json.loads(verdict.read_bytes())
    for path in leaves(document["result"]):
        verdict.write_bytes(changed(document, ("result", *path)))
        assert verify(verdict) == 1, path
        assert "result" in capsys.readouterr().out


def test_bytes_that_are_not_canonical_are_a_finding(verdict: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same document, written otherwise, has another digest."""
    verdict.write_text(json.dumps(json.loads(verdict.read_bytes())))
    assert verify(verdict) == 1
    assert "canonical" in capsys.readouterr().out


@pytest.mark.parametrize("payload", [b"", b"{}", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"schema": 1}'], ids=repr)
def test_what_is_no_verdict_is_a_finding(tmp_path: Path, payload: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    """Never a traceback."""
    path = tmp_path / "v.json"
    path.write_bytes(payload)
    assert verify(path) == 1
    assert capsys.readouterr().out


def test_what_is_not_there_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It was mistyped."""
    assert verify(tmp_path / "none") == 2
    assert "none" in capsys.readouterr().err


def test_the_bundles_are_hashed_again(
    verdict: Path, job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """First run, then rerun; the wrong ones, or in the wrong order, are found."""
    paths = [tmp_path / "first.zip", tmp_path / "rerun.zip"]
    for path, artifact in zip(paths, job.run.artifacts, strict=True):
        path.write_bytes(bytes(artifact.content))  # type: ignore[arg-type]

    assert verify(verdict, "--bundle", paths[0], "--bundle", paths[1]) == 0
    capsys.readouterr()
    assert verify(verdict, "--bundle", paths[1], "--bundle", paths[0]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all("the record of " in line for line in lines)
    assert all(line.endswith("give the first run's bundle first, then the rerun's") for line in lines)
    paths[0].write_bytes(make_bundle(make_capture()))
    assert verify(verdict, "--bundle", paths[0], "--bundle", paths[1]) == 1
    assert verify(verdict, "--bundle", tmp_path / "none", "--bundle", paths[1]) == 1


def test_another_record_and_another_pin_are_told_apart(
    verdict: Path, job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both are in the bundle of their own side, so nothing is said about the order."""
    folders = [tmp_path / "first", tmp_path / "rerun"]
    for folder, artifact in zip(folders, job.run.artifacts, strict=True):
        with zipfile.ZipFile(io.BytesIO(bytes(artifact.content))) as archive:  # type: ignore[arg-type]
            archive.extractall(folder)
    (record,) = folders[0].rglob("records/zz.json")
    record.write_bytes(record.read_bytes() + b"\n")
    (pin,) = (path for path in folders[1].rglob("fixtures/*") if path.read_bytes() != SAMPLE)
    pin.write_bytes(b"")
    capsys.readouterr()

    assert verify(verdict, "--bundle", folders[0], "--bundle", folders[1]) == 1

    assert capsys.readouterr().out.splitlines() == [
        "freeze-gate-verdict.json: first: the record of zz is another one than the verdict was computed from",
        "freeze-gate-verdict.json: rerun: the pin of zz holds other bytes than the verdict was computed from",
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "huge"),
        ("check", "huge"),
        ("check", "huge.yml"),
        ("classify", "first.zip", "rerun.zip", "--policy", "huge.yml"),
        ("prune", "store", "--policy", "huge.yml"),
    ],
    ids=" ".join,
)
def test_of_a_huge_file_no_more_is_read_than_the_limit(tmp_path: Path, words: tuple[str, ...]) -> None:
    """In a process that has no memory for 3 GB: the file is refused as too large, and no traceback is printed."""
    (tmp_path / "store/fixtures").mkdir(parents=True)
    for name, capture in zip(("first", "rerun"), CLASSES["harness_flake"][0], strict=True):
        (tmp_path / f"{name}.zip").write_bytes(make_bundle(capture))
    for name in ("huge", "huge.yml"):
        with (tmp_path / name).open("wb") as stream:
            stream.write(b'{"schema": "freeze-gate/verdict/1"')
            stream.truncate(3 << 30)

    process = subprocess.run(
        [sys.executable, "-m", "freeze_gate", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
    )

    assert process.returncode == (2 if words[0] == "prune" else 1)
    assert "Traceback" not in process.stderr
    assert "is over " in process.stdout + process.stderr


def test_a_program_gets_every_finding(verdict: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json`: one object, also where nothing is wrong; a person gets the first twenty, and their number."""
    capsys.readouterr()
    assert verify(verdict, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"consistent": True, "findings": []}
    document = json.loads(verdict.read_bytes())
    document["result"] = {}
    verdict.write_bytes((json.dumps(document, sort_keys=True, indent=1) + "\n").encode())
    assert verify(verdict, "--json") == 1
    result = json.loads(capsys.readouterr().out)
    assert (result["consistent"], result["findings"][0]) == (
        False,
        "result.deciding: does not follow from the rest of the file",
    )


def test_one_bundle_is_a_usage_error(verdict: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Twice, or not at all."""
    assert verify(verdict, "--bundle", tmp_path) == 2


def test_a_statement_is_about_the_pins(verdict: Path, tmp_path: Path) -> None:
    """in-toto: every pin once, by its digest; the predicate is the document."""
    out = tmp_path / "statement.json"
    assert verify(verdict, "--statement", out) == 0

    statement = json.loads(out.read_bytes())
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicate"] == json.loads(verdict.read_bytes())
    digests = [subject["digest"]["sha256"] for subject in statement["subject"]]
    assert len(digests) == len(set(digests)) == 2
    assert hashlib.sha256(SAMPLE).hexdigest() in digests


def test_no_statement_about_what_is_not_consistent(verdict: Path, tmp_path: Path) -> None:
    """Nothing to sign."""
    verdict.write_bytes(verdict.read_bytes().replace(b'"harness_flake"', b'"property_miss"'))
    out = tmp_path / "statement.json"
    assert verify(verdict, "--statement", out) == 1
    assert not out.exists()


def test_a_statement_that_cannot_be_written_is_a_usage_error(verdict: Path, tmp_path: Path) -> None:
    """Never a traceback."""
    assert verify(verdict, "--statement", tmp_path) == 2
