"""Artifacts as they come: expired, cut, crafted, deeper than expected, without a digest; and what is never shown."""

import io
import json
import os
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from freeze_gate import cli
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import encode_record
from tests.builders.bundle import Capture, make_bundle, make_capture
from tests.builders.pairs import DRIFT, FLAKE, MISS
from tests.builders.record import SAMPLE
from tests.builders.zip import make_zip
from tests.standin import Fault, Pretended, Standin
from tests.support.gate_job import GateResult, Job, override_listing
from tests.support.verdict_comparison import only_evidence

RERUN = make_capture()


def with_first(job: Job, payload: bytes, **facts: Any) -> GateResult:
    """Judge raw bytes as the first run's artifact beside a good rerun."""
    job.run.add_artifact("first", payload, **facts)
    job.upload("rerun", RERUN)
    return job.gate()


@pytest.mark.parametrize("facts", [{"expired": True}, {"gone": True}], ids=["in the list", "by its status"])
def test_an_expired_artifact_is_expired(job: Job, facts: dict[str, bool]) -> None:
    """The listing says so, or the download answers 410."""
    outcome = with_first(job, make_bundle(FLAKE[0]), **facts)

    assert outcome.said == ("unclassified", False, "artifact-expired")
    assert outcome.code == 1


def test_the_token_goes_to_the_api_alone_and_no_secret_is_shown(job: Job) -> None:
    """The blob host answers 400 if it sees a token."""
    job.pair(*MISS)

    outcome = job.gate()

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert all("authorization" not in request.headers for request in job.github.log if request.host == "blob")
    assert all("authorization" in request.headers for request in job.github.log if request.host == "api")
    shown = outcome.log + outcome.summary + (outcome.verdict or b"").decode()
    assert all(secret not in shown for secret in [job.github.token, *job.github.storage.signatures()])


def test_a_token_of_a_netrc_does_not_replace_ours(job: Job, tmp_path: Path) -> None:
    """`HOME` is shared by all steps of a job."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".netrc").write_text("default login evil password evil\n")
    (home / ".netrc").chmod(0o600)
    job.pair(*MISS)

    outcome = job.gate_apart({"HOME": str(home), "NETRC": str(home / ".netrc")})

    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    sent = {request.headers.get("authorization") for request in job.github.log}
    assert sent == {f"Bearer {job.github.token}", None}


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        pytest.param(make_bundle(RERUN)[:-30], "archive-invalid", id="cut in half"),
        pytest.param(b"not a zip at all", "archive-invalid", id="no zip"),
        pytest.param(b"", "archive-invalid", id="no byte"),
        pytest.param(make_zip({}), "record-missing", id="an empty zip"),
        pytest.param(make_zip({"freeze-gate/readme": b""}), "record-missing", id="no record"),
    ],
)
def test_what_holds_no_record_is_said_to(job: Job, payload: bytes, reason: str) -> None:
    """The artifact arrived as it was uploaded, and holds no record that can be read."""
    assert with_first(job, payload).said == ("unclassified", False, reason)


def test_bytes_that_are_not_the_published_ones_are_never_opened(job: Job) -> None:
    """Cut on the way, or replaced; a crafted archive is not even looked into."""
    whole = make_bundle(make_capture())

    outcome = with_first(job, b"PK" + os.urandom(100), digest=f"sha256:{Sha256.of(whole)}")

    assert outcome.said == ("unclassified", False, "archive-digest-mismatch")


def test_zero_bytes_are_a_real_pin(job: Job) -> None:
    """A pin of zero bytes is a real one, and null beside it is missing."""
    job.pair(make_capture(pin=b"", oracle=False), make_capture(pin=b"", oracle=False))
    outcome = job.gate()
    assert outcome.said == ("property_miss", False, "both-oracles-failed")
    assert outcome.lines["fixture_sha256"] == Sha256.of(b"")

    job.run.artifacts.clear()
    job.pair(make_capture(pin=b""), make_capture(pin=None, oracle=None))
    assert job.gate().said == ("unclassified", False, "digest-missing")


def linked() -> bytes:
    """Return a zip with a link in it."""
    packed = io.BytesIO(make_bundle(make_capture()))
    with zipfile.ZipFile(packed, "a") as archive:
        member = zipfile.ZipInfo("freeze-gate/fixtures/link")
        member.external_attr = 0o120777 << 16
        archive.writestr(member, "/etc/passwd")
    return packed.getvalue()


def encrypted() -> bytes:
    """Return a zip whose members say that they are encrypted."""
    payload = bytearray(make_bundle(make_capture()))
    for mark, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        place = payload.find(mark)
        while place >= 0:
            payload[place + offset] |= 1
            place = payload.find(mark, place + 4)
    return bytes(payload)


def doubled() -> bytes:
    """Return a zip with one name twice."""
    payload = make_zip({"freeze-gate/records/sorted-patch.json": b"{}", "freeze-gate/records/sorted-patci.json": b"{}"})
    return payload.replace(b"sorted-patci", b"sorted-patch")


def bomb() -> bytes:
    """Return a zip of 300 MiB of zeros in 300 kB."""
    block = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = bytes(1 << 20)
    packed = b"".join(block.compress(zeros) for _ in range(300)) + block.flush()
    crc = 0
    for _ in range(300):
        crc = zlib.crc32(zeros, crc)
    name, size = b"freeze-gate/records/sorted-patch.json", 300 << 20
    fields = (0, 8, 0, 0, crc, len(packed), size, len(name), 0)
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, *fields) + name + packed
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, *fields, 0, 0, 0, 0, 0) + name
    return local + entry + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(entry), len(local), 0)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        pytest.param(make_zip({"../../x": b"", "freeze-gate/records/a.json": b"{}"}), "archive-invalid", id="up"),
        pytest.param(make_zip({"/etc/x": b""}), "archive-invalid", id="absolute"),
        pytest.param(linked(), "archive-invalid", id="a link"),
        pytest.param(encrypted(), "archive-invalid", id="encrypted"),
        pytest.param(doubled(), "archive-invalid", id="one name twice"),
        pytest.param(bomb(), "archive-limits", id="zeros"),
    ],
)
def test_a_crafted_archive_is_refused_as_a_whole_and_nothing_is_written(
    job: Job, payload: bytes, reason: str, tmp_path: Path
) -> None:
    """It is named by its id, and nothing of it is left but the verdict."""
    before = set(tmp_path.parent.rglob("*"))

    outcome = with_first(job, payload)

    assert outcome.said == ("unclassified", False, reason)
    assert outcome.outputs["label-posted"] == "false"
    assert set(tmp_path.parent.rglob("*")) - before == {job.workspace / "freeze-gate-verdict.json"}


@pytest.mark.parametrize("root", ["", "out/freeze-gate/", "a/b/c/"])
def test_a_bundle_is_found_at_any_depth(job: Job, root: str) -> None:
    """One path more in the upload step moves everything deeper."""
    for name, side in zip(("first", "rerun"), MISS, strict=True):
        job.run.add_artifact(name, make_bundle(side, root=root))

    assert job.gate().said == ("property_miss", False, "both-oracles-failed")


def test_pins_that_the_uploader_skipped_are_missing_and_the_hint_says_why(job: Job) -> None:
    """The uploader skips folders whose name begins with a dot."""
    side = make_capture(oracle=False)
    record = side.record._replace(fixture_path=f".pins/{side.record.fixture_sha256}.json")

    outcome = with_first(job, make_zip({"freeze-gate/records/sorted-patch.json": encode_record(record)}))

    assert outcome.said == ("unclassified", False, "fixture-missing")
    assert "include-hidden-files" in outcome.text


def test_an_unpublished_digest_is_allowed_and_said(job: Job) -> None:
    """Older uploaders and servers publish none."""
    for name, side in zip(("first", "rerun"), FLAKE, strict=True):
        job.upload(name, side, digest=None)

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert "not published" in outcome.summary


def test_an_artifact_over_the_cap_is_not_asked_for(job: Job) -> None:
    """`max-artifact-mb`: by the size that the listing announces."""
    job.upload("first", FLAKE[0], size=3 << 20)
    job.upload("rerun", FLAKE[1])

    outcome = job.gate(max_artifact_mb="2")

    assert outcome.said == ("unclassified", False, "archive-limits")
    assert len(job.github.asked("blob")) == 1


def test_the_cap_holds_whatever_the_listing_announced(job: Job) -> None:
    """A size that is a lie."""
    job.run.add_artifact("first", os.urandom(2 << 20), size=10, digest=None)
    job.upload("rerun", FLAKE[1])

    assert job.gate(max_artifact_mb="1").said == ("unclassified", False, "archive-limits")


def test_each_try_asks_for_a_fresh_link(job: Job, pretended: Pretended) -> None:
    """A download that was cut once is whole the second time, over a link of its own."""
    job.pair(*MISS)
    job.github.storage.uses = 1
    job.github.fault(Fault("cut", host="blob", times=1))

    assert job.gate(pretended.clock, wait_seconds="10").said == ("property_miss", False, "both-oracles-failed")
    assert len(job.github.storage.signatures()) == 3


def test_converted_line_ends_are_neither_drift_nor_repaired(job: Job) -> None:
    """The file is not what the record names."""
    first = make_capture(pin=b"a\nb\n", oracle=False)

    outcome = with_first(job, make_bundle(first._replace(pin=b"a\r\nb\r\n")))

    assert outcome.said == ("unclassified", False, "fixture-digest-mismatch")
    assert outcome.lines["fixture_sha256"] == "missing"


@pytest.mark.parametrize("prefix", ["", "/api/v3"])
def test_an_enterprise_server_has_a_prefix_and_its_own_address_in_links(tmp_path: Path, prefix: str) -> None:
    """`GITHUB_API_URL` and `GITHUB_SERVER_URL` are the only addresses."""
    with Standin(prefix=prefix) as github:
        job = Job(tmp_path, github)
        for number in range(120):
            job.run.add_artifact(f"other-{number}", b"")
        job.pair(*FLAKE)

        outcome = job.gate()

        assert outcome.said == ("harness_flake", True, "transport-fault")
        assert job.pull.issue.labels == ["freeze-request"]
        assert all(path.split(" ")[1].startswith(f"{prefix}/repos/") for path in github.asked("api"))
        assert f"({github.server_url}/octo-org/widgets/actions/runs/4242" in outcome.summary
        assert "https://github.com/" not in outcome.summary


def test_nothing_stays_in_the_temporary_folder(job: Job, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What was downloaded goes when the step ends."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    job.pair(*FLAKE)

    job.gate()

    assert not list(place.iterdir())


def test_the_same_evidence_has_the_same_verdict_offline(
    job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`classify` and the gate agree on every pair, in all that is not GitHub's word."""
    pairs: list[tuple[Capture, Capture]] = [
        FLAKE,
        MISS,
        (make_capture(pin=SAMPLE + b"x"), make_capture()),
        (make_capture(), make_capture()),
    ]
    for first, rerun in pairs:
        job.run.artifacts.clear()
        job.pair(first, rerun)
        outcome = job.gate(dry_run="true")
        paths = [tmp_path / "first", tmp_path / "rerun"]
        for path, artifact in zip(paths, job.run.artifacts, strict=True):
            path.write_bytes(bytes(artifact.content))  # type: ignore[arg-type]

        code = cli.main(["classify", *map(str, paths), "--json"], {})
        said = capsys.readouterr().out

        assert code == outcome.code
        assert cli.main(["verify", str(job.workspace / "freeze-gate-verdict.json")], {}) == 0
        assert "consistent" in capsys.readouterr().out
        assert only_evidence(said.encode()) == only_evidence(outcome.verdict or b"")


def test_a_server_that_says_nothing_of_the_run_is_enough(job: Job) -> None:
    """Older servers: the records are compared with the run that was asked, the label goes by the event."""
    job.pair(*FLAKE)
    override_listing(job, workflow_run=None, digest=None)

    outcome = job.gate()

    assert outcome.said == ("harness_flake", True, "transport-fault")
    assert job.pull.issue.labels == ["freeze-request"]


def test_the_evidence_of_a_fork_that_is_gone_opens_no_ticket(job: Job) -> None:
    """A repository that is not named is not ours."""
    job.pair(*DRIFT)
    origin = {"id": 4242, "repository_id": job.repository.id, "head_repository_id": None, "head_sha": "c" * 40}
    override_listing(job, workflow_run=origin)

    outcome = job.gate()

    assert outcome.said == ("fixture_drift", False, "digests-differ")
    assert "came from a fork" in outcome.summary
    assert len(job.repository.issues) == 1


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        {},
        {"total_count": 2},
        {"total_count": 1, "artifacts": [{"id": "1"}]},
        {"artifacts": {}, "total_count": 0},
    ],
    ids=str,
)
def test_a_listing_of_another_shape_gives_no_verdict(job: Job, payload: Any) -> None:
    """Never "nothing is there"."""
    job.pair(*FLAKE)
    job.github.fault(Fault("status", "GET", "/artifacts$", status=200, payload=json.dumps(payload).encode()))

    outcome = job.gate()

    assert outcome.said == ("unclassified", False, "")
    assert outcome.code == 3
    assert "error in Freeze Gate itself" not in outcome.summary
