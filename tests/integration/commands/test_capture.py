"""`pin`, `transport`, `replay` and `status` as people run them, and curl itself."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from freeze_gate.capture.bundle.store import Store
from freeze_gate.cli import main
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Oracle, Record
from tests.builders.zip import zip_folder
from tests.support.exact_server import CLOSE, HOLD, RESET, Answer, ExactServer, answer, sized
from tests.support.recording_clients import ID, bundle, pinned_in, record_in

FIRST_RUN = {"GITHUB_RUN_ID": "1", "GITHUB_RUN_ATTEMPT": "1"}


def _run(tmp_path: Path, command: str, *options: str, environ: dict[str, str] | None = None) -> int:
    return main([command, "--id", ID, "--bundle", str(bundle(tmp_path)), *options], environ or {})


def _pin(tmp_path: Path, payload: bytes, *options: str, environ: dict[str, str] | None = None) -> int:
    (tmp_path / "sampled").write_bytes(payload)
    return _run(tmp_path, "pin", *options, str(tmp_path / "sampled"), environ=environ)


def _after_an_oracle(tmp_path: Path) -> Record:
    record = record_in(bundle(tmp_path))._replace(oracle_passed=False, oracle=Oracle(outcome="failed", runs=1))
    Store(bundle(tmp_path)).write(record)
    return record


def test_pin_stores_bytes_as_they_are_and_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No byte is read as text; the pin is read-only; nothing is known of the transport."""
    payload = b"\xef\xbb\xbfa\r\n\x00\xff"
    assert _pin(tmp_path, payload, "--suffix", ".txt") == 0
    record = record_in(bundle(tmp_path))
    digest = Sha256.of(payload)
    assert capsys.readouterr().out == f"fixture_sha256={digest}\nfixture_path=fixtures/{digest}.txt\n"
    assert pinned_in(bundle(tmp_path), record) == payload
    assert (record.transport_ok, record.transport.pin_complete, record.oracle_passed) == (None, None, None)
    assert stat.S_IMODE((bundle(tmp_path) / str(record.fixture_path)).stat().st_mode) == 0o444


def test_status_prints_lines_and_ends_with_1_unless_a_complete_sample_is_pinned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The capture action and the recipes read these lines, and parse no record."""
    nothing = "record=missing\nfixture_sha256=missing\npinned_whole=false\nfailure_explained=false\n"
    assert _run(tmp_path, "status") == 1
    assert capsys.readouterr() == (nothing, "")

    assert _pin(tmp_path, b"x") == 0
    capsys.readouterr()
    assert _run(tmp_path, "status") == 0
    printed = capsys.readouterr()
    assert printed.out == (
        f"record=usable\nfixture_sha256={Sha256.of(b'x')}\npinned_whole=true\nfailure_explained=true\n"
    )
    assert f"freeze-gate status: {ID}: transport_ok=null" in printed.err

    assert main(["status", "--id", "../x"], {}) == 2


def test_status_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same facts, as one object, also of a record that nobody can use."""
    _pin(tmp_path, b"x")
    capsys.readouterr()
    assert _run(tmp_path, "status", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "failure_explained": True,
        "fixture_id": ID,
        "fixture_sha256": Sha256.of(b"x"),
        "pinned_whole": True,
        "problems": [],
        "record": "usable",
    }

    Store(bundle(tmp_path)).record_file(ID).write_bytes(b"{}")
    assert _run(tmp_path, "status", "--json") == 1
    unusable = json.loads(capsys.readouterr().out)
    assert (unusable["record"], len(unusable["problems"])) == ("unusable", 1)


def test_an_empty_file_is_pinned_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As an empty answer is."""
    assert _pin(tmp_path, b"") == 0
    assert "is empty: zero bytes are pinned" in capsys.readouterr().err
    assert _pin(tmp_path, b"x", "--replace") == 0
    assert capsys.readouterr().err == ""


def test_pin_reads_standard_input(tmp_path: Path) -> None:
    """`-` is the end of a pipe."""
    command = [sys.executable, "-m", "freeze_gate", "pin", "--id", ID, "--bundle", str(bundle(tmp_path)), "-"]
    subprocess.run(command, input=b"", check=True, capture_output=True)
    assert pinned_in(bundle(tmp_path), record_in(bundle(tmp_path))) == b""


def test_the_folder_is_named_by_the_environment_unless_by_an_option(tmp_path: Path) -> None:
    """FREEZE_GATE_BUNDLE serves a whole job; `--bundle` goes before it."""
    (tmp_path / "sampled").write_bytes(b"x")
    environ = {"FREEZE_GATE_BUNDLE": str(tmp_path / "elsewhere")}
    assert main(["pin", "--id", ID, str(tmp_path / "sampled")], environ) == 0
    assert record_in(tmp_path / "elsewhere").fixture_sha256 == Sha256.of(b"x")
    assert _pin(tmp_path, b"y", environ=environ) == 0
    assert record_in(bundle(tmp_path)).fixture_sha256 == Sha256.of(b"y")


def test_pinning_equal_bytes_again_begins_anew(tmp_path: Path) -> None:
    """A fresh capture_id, no transport, and one file."""
    assert _pin(tmp_path, b"sample") == _run(tmp_path, "transport", "--status-code", "200") == 0
    before = record_in(bundle(tmp_path))
    assert _pin(tmp_path, b"sample") == 0
    after = record_in(bundle(tmp_path))
    assert after.fixture_path == before.fixture_path
    assert (before.transport_ok, after.transport_ok) == (True, None)
    assert after.run.capture_id != before.run.capture_id


def test_other_bytes_under_one_id_are_refused_unless_they_may_replace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second sample needs its own fixture id."""
    assert _pin(tmp_path, b"one") == 0
    before = record_in(bundle(tmp_path))
    assert _pin(tmp_path, b"two") == 2
    assert "use another fixture id for a second sample" in capsys.readouterr().err
    assert record_in(bundle(tmp_path)) == before
    assert _pin(tmp_path, b"two", "--replace") == 0
    assert pinned_in(bundle(tmp_path), record_in(bundle(tmp_path))) == b"two"


def test_the_body_of_a_recorded_error_is_not_pinned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Curl without `--fail` writes it where the sample would be; what was recorded of the call stays."""
    for facts, words in (
        (("--status-code", "503"), "status 503"),
        (("--status-code", "401"), "status 401"),
        (("--fault", "connection"), "no call brought an answer"),
    ):
        folder = tmp_path / facts[1]
        folder.mkdir()
        assert _run(folder, "transport", *facts) == 0
        before = record_in(bundle(folder))
        capsys.readouterr()
        assert _pin(folder, b"Service Unavailable", "--replace") == 2
        assert words in capsys.readouterr().err
        assert record_in(bundle(folder)) == before


def test_a_pin_completes_what_was_said_of_the_transport_before(tmp_path: Path) -> None:
    """Whoever records the call first, and pins then, loses nothing."""
    assert _run(tmp_path, "transport", "--fault", "truncated", "--status-code", "200") == 0
    assert _pin(tmp_path, b"shorn") == 0
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault, record.transport.pin_complete) == (False, "truncated", False)


@pytest.mark.parametrize(
    ("name", "words"), [("missing", "No such file"), ("folder", "directory"), ("link-to-nothing", "No such file")]
)
def test_pin_says_what_it_cannot_read(
    name: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is not there is no sample of zero bytes."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "link-to-nothing").symlink_to(tmp_path / "nothing")
    assert _run(tmp_path, "pin", str(tmp_path / name)) == 2
    assert words in capsys.readouterr().err
    assert not list(bundle(tmp_path).rglob("*.json"))


@pytest.mark.parametrize("option", [["--id", "../x"], ["--id", ""], ["--id", ".x"], ["--suffix", "/../x"]])
def test_pin_writes_nowhere_else(option: list[str], tmp_path: Path) -> None:
    """Neither an id nor a suffix leads out of the bundle."""
    (tmp_path / "sampled").write_bytes(b"x")
    argv = ["pin", "--id", ID, "--bundle", str(bundle(tmp_path)), str(tmp_path / "sampled"), *option]
    assert main(argv, {}) == 2
    assert {path.name for path in tmp_path.iterdir()} <= {"sampled", "freeze-gate"}
    assert not list(bundle(tmp_path).rglob("*.json"))


def test_nothing_touches_a_record_once_an_oracle_has_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A retry inside one job does not wash a fail away: exit code 2, the record unchanged to the byte."""
    assert _pin(tmp_path, b"sample") == 0
    _after_an_oracle(tmp_path)
    written = (bundle(tmp_path) / "records" / f"{ID}.json").read_bytes()
    shutil.copytree(bundle(tmp_path), tmp_path / "first")
    assert _pin(tmp_path, b"sample") == 2
    assert _pin(tmp_path, b"other", "--replace") == 2
    assert _run(tmp_path, "transport", "--fault", "timeout") == 2
    assert _run(tmp_path, "replay", str(tmp_path / "first")) == 2
    assert (bundle(tmp_path) / "records" / f"{ID}.json").read_bytes() == written
    assert capsys.readouterr().err.count("an oracle has already run") == 4


@pytest.mark.parametrize(
    ("options", "ok", "fault"),
    [
        (["--status-code", "200"], True, None),
        (["--status-code", "200", "--bytes-received", "9", "--bytes-declared", "9"], True, None),
        (["--status-code", "200", "--bytes-received", "8", "--bytes-declared", "9"], False, "truncated"),
        (["--status-code", "503"], False, "http_status"),
        (["--status-code", "404"], None, None),
        (["--status-code", "302"], None, None),
        (["--fault", "timeout"], False, "timeout"),
        (["--fault", "connection", "--retry-count", "3"], False, "connection"),
        (["--fault", "length_check", "--status-code", "200", "--min-bytes", "9"], False, "length_check"),
        (["--fault", "stream_error", "--status-code", "200"], False, "stream_error"),
        (["--retry-count", "2"], None, None),
    ],
)
def test_transport_takes_the_facts_as_options(
    options: list[str], ok: bool | None, fault: str | None, tmp_path: Path
) -> None:
    """A fault has a name, a status speaks for itself, and nothing said is nothing known."""
    assert _run(tmp_path, "transport", *options) == 0
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault) == (ok, fault)
    assert record.transport.timed_out is (fault == "timeout")


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--min-bytes", "9"],
        ["--fault", "length_check"],
        ["--fault", "http_status", "--status-code", "404"],
        ["--status-code", "7"],
        ["--bytes-received", "-1"],
        ["--from-curl", "-", "--status-code", "200"],
    ],
)
def test_transport_refuses_what_no_record_may_say(options: list[str], tmp_path: Path) -> None:
    """A contradiction is an error in the call, exit code 2, and is not written."""
    assert _run(tmp_path, "transport", *options) == 2
    assert not list(bundle(tmp_path).rglob("*.json"))


def test_calls_fold_and_the_first_failed_one_is_described(tmp_path: Path) -> None:
    """A later call can only make it worse; retries add up; the pin was whole and stays so."""
    with ExactServer(sized(b"sample")) as server:
        assert _run(tmp_path, "sample", "--url", server.url) == 0
    assert _run(tmp_path, "transport", "--status-code", "200", "--retry-count", "1") == 0
    assert record_in(bundle(tmp_path)).transport_ok is True
    assert _run(tmp_path, "transport", "--fault", "connection", "--retry-count", "2") == 0
    assert _run(tmp_path, "transport", "--fault", "timeout") == 0
    assert _run(tmp_path, "transport", "--status-code", "200") == 0
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault, record.transport.timed_out) == (False, "connection", False)
    assert (record.transport.retry_count, record.transport.pin_complete) == (3, True)


def test_an_unknown_call_leaves_the_whole_unknown(tmp_path: Path) -> None:
    """A refusal after a call that held: null, which is no fault and no clean bill."""
    assert _run(tmp_path, "transport", "--status-code", "200") == 0
    assert _run(tmp_path, "transport", "--status-code", "401") == 0
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.status_code) == (None, 200)


def test_a_lane_that_brought_nothing_says_nothing_of_the_pin(tmp_path: Path) -> None:
    """The bytes were pinned, then the lane did not answer: that makes the pin no truncated sample."""
    assert _pin(tmp_path, b"sample") == _run(tmp_path, "transport", "--fault", "timeout") == 0
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.pin_complete) == (False, None)


def test_a_record_of_another_run_is_not_folded_into(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A workspace that kept the last run's bundle is noticed."""
    assert _pin(tmp_path, b"sample", environ=FIRST_RUN) == 0
    assert _run(tmp_path, "transport", "--status-code", "200", environ={**FIRST_RUN, "GITHUB_RUN_ATTEMPT": "2"}) == 2
    assert "another run" in capsys.readouterr().err


CURL_CASES = {
    "whole": (sized(b"sample"), [], True, None),
    "empty": (sized(b""), [], True, None),
    "short-18": (answer(b"fourteen bytes", "Content-Length: 10000"), [], False, "truncated"),
    "cut-chunk-18": (answer(b"400\r\nfive!", "Transfer-Encoding: chunked"), [], False, "truncated"),
    "silence-28": (Answer((), HOLD), ["--max-time", "0.4"], False, "timeout"),
    "no-answer-52": (Answer((), CLOSE), [], False, "connection"),
    "reset-56": (Answer((), RESET), [], False, "connection"),
    "busy": (sized(b"{}", status="503 Busy"), [], False, "http_status"),
    "busy-with-fail-22": (sized(b"{}", status="503 Busy"), ["--fail"], False, "http_status"),
    "refused": (sized(b"{}", status="401 No"), [], None, None),
    "refused-with-fail-22": (sized(b"{}", status="404 No"), ["--fail"], None, None),
    "no-http-1": (Answer([b"SSH-2.0-x\r\n\r\n"]), [], None, None),
}


@pytest.mark.parametrize("case", CURL_CASES)
def test_transport_reads_what_curl_prints(case: str, tmp_path: Path) -> None:
    """Curl's exit code and status become the fault, its byte count the bytes."""
    planned, options, ok, fault = CURL_CASES[case]
    with ExactServer(planned) as server:
        command = ["curl", "-sS", "-q", "-o", str(tmp_path / "body"), "-w", "%{json}", *options, server.url]
        printed = subprocess.run(command, capture_output=True, check=False, timeout=30).stdout
    (tmp_path / "curl.json").write_bytes(printed)
    assert _run(tmp_path, "transport", "--from-curl", str(tmp_path / "curl.json")) == 0
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault) == (ok, fault)
    if case == "short-18":
        assert (record.transport.bytes_received, record.transport.status_code) == (14, 200)


@pytest.mark.parametrize(
    "printed",
    [b"", b"{}", b"[]", b"null", b"200", b'{"http_code": 200}', b'{"exitcode": true}', b"{" * 100_000, b"\xff"],
)
def test_transport_refuses_what_curl_never_printed(printed: bytes, tmp_path: Path) -> None:
    """Without an exit code nothing is known of the call."""
    (tmp_path / "curl.json").write_bytes(printed)
    assert _run(tmp_path, "transport", "--from-curl", str(tmp_path / "curl.json")) == 2


def _zip(folder: Path, root: str = "") -> Path:
    target = folder.parent / "first.zip"
    target.write_bytes(zip_folder(folder, root))
    return target


def _first_run(tmp_path: Path) -> Path:
    (tmp_path / "first").mkdir()
    assert _pin(tmp_path / "first", b"sample", "--suffix", ".json", environ=FIRST_RUN) == 0
    assert _run(tmp_path / "first", "transport", "--fault", "connection", environ=FIRST_RUN) == 0
    return bundle(tmp_path / "first")


@pytest.mark.parametrize("form", ["folder", "zip", "zip-one-folder-deeper"])
def test_replay_starts_from_the_first_run_s_bytes(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same bytes, this run, no call and no oracle; the record names the capture that it replays."""
    first = _first_run(tmp_path)
    source = {"folder": first, "zip": _zip(first), "zip-one-folder-deeper": _zip(first, "out/")}[form]
    capsys.readouterr()
    assert _run(tmp_path, "replay", str(source), environ={"GITHUB_RUN_ID": "2"}) == 0
    before, after = record_in(first), record_in(bundle(tmp_path))
    assert capsys.readouterr().out == f"fixture_sha256={after.fixture_sha256}\nfixture_path={after.fixture_path}\n"
    assert (after.fixture_sha256, after.fixture_path) == (before.fixture_sha256, before.fixture_path)
    assert pinned_in(bundle(tmp_path), after) == b"sample"
    assert after.run.replay_of == before.run.capture_id != after.run.capture_id
    assert after.run.run_id == 2
    blank = Record(ID, after.fixture_sha256, after.fixture_path, None, None, run=after.run)
    assert after == blank


def test_no_call_is_folded_into_a_replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A replay made no call, so none can have failed; and it is not sampled over."""
    assert _run(tmp_path, "replay", str(_first_run(tmp_path))) == 0
    before = record_in(bundle(tmp_path))
    assert _run(tmp_path, "transport", "--fault", "timeout") == 2
    assert _pin(tmp_path, b"sample") == 2
    with ExactServer(sized(b"sample")) as server:
        assert _run(tmp_path, "sample", "--url", server.url) == 2
        assert not server.requests
    assert record_in(bundle(tmp_path)) == before
    assert capsys.readouterr().err.count("replay") == 2


def _without(first: Path, name: str) -> None:
    next(first.rglob(name)).unlink()


def _changed(first: Path, **fields: object) -> None:
    path = first / "records" / f"{ID}.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | fields))


def _swap_the_pin(first: Path) -> None:
    path = next((first / "fixtures").iterdir())
    path.chmod(0o644)
    path.write_bytes(b"swapped")


BROKEN: dict[str, Callable[[Path], object]] = {
    "no record": lambda first: _without(first, f"{ID}.json"),
    "no pinned file": lambda first: _without(first / "fixtures", "*"),
    "other bytes": _swap_the_pin,
    "no pin in the record": lambda first: _changed(first, fixture_sha256=None, fixture_path=None),
    "no capture_id": lambda first: _changed(first, run={}),
    "not a record": lambda first: _changed(first, oracle_passed="false"),
    "a contradiction": lambda first: _changed(first, transport_ok=True),
    "two records": lambda first: shutil.copytree(first, first / "again"),
    "a link": lambda first: (first / "records" / "x").symlink_to(first),
    "no folder": shutil.rmtree,
}


@pytest.mark.parametrize("kind", BROKEN)
def test_replay_refuses_a_bundle_that_does_not_hold_the_very_bytes(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one sentence, and nothing is written."""
    first = _first_run(tmp_path)
    BROKEN[kind](first)
    assert _run(tmp_path, "replay", str(first)) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("freeze-gate replay: ")
    assert not list(bundle(tmp_path).rglob("*.json"))


def test_replay_does_not_take_the_place_of_a_capture(tmp_path: Path) -> None:
    """An id with a sample, or with calls, of its own is not turned into a replay."""
    first = _first_run(tmp_path)
    assert _pin(tmp_path, b"other") == 0
    assert _run(tmp_path, "replay", str(first)) == 2
    assert _pin(tmp_path, b"sample", "--replace") == _run(tmp_path, "transport", "--status-code", "200") == 0
    assert _run(tmp_path, "replay", str(first)) == 2


def test_pin_loads_no_http_client_and_the_library_none_until_asked(tmp_path: Path) -> None:
    """A pin is hashing and writing; `requests` and `httpx` belong to whoever makes calls."""
    program = (
        "import sys; from freeze_gate.cli import main; main(sys.argv[1:], {}); import freeze_gate.capture;"
        "loaded = {name.split('.')[0] for name in sys.modules};"
        "print(sorted(loaded & {'requests', 'urllib3', 'httpx', 'httpx2', 'yaml'}))"
    )
    (tmp_path / "sampled").write_bytes(b"x")
    argv = ["pin", "--id", ID, "--bundle", str(bundle(tmp_path)), str(tmp_path / "sampled")]
    done = subprocess.run([sys.executable, "-c", program, *argv], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("place", ["", "records", "fixtures", f"records/{ID}.json", ".lock"])
def test_a_link_in_the_way_is_refused(place: str, tmp_path: Path) -> None:
    """The workspace is hostile: nothing is written through a link, and what it leads to is untouched."""
    (tmp_path / "sampled").write_bytes(b"sample")
    outside = tmp_path / "outside"
    outside.mkdir() if "." not in place else outside.write_bytes(b"precious")
    link = bundle(tmp_path) / place if place else bundle(tmp_path)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    assert _run(tmp_path, "pin", str(tmp_path / "sampled")) == 2
    assert list(outside.iterdir()) == [] if outside.is_dir() else outside.read_bytes() == b"precious"


def test_a_fifo_in_the_way_is_refused_without_waiting(tmp_path: Path) -> None:
    """Opening one would wait for ever."""
    (bundle(tmp_path) / "records").mkdir(parents=True)
    os.mkfifo(bundle(tmp_path) / "records" / f"{ID}.json")
    assert _pin(tmp_path, b"sample") == 2


def test_a_pinned_git_lfs_pointer_is_named(tmp_path: Path) -> None:
    """It is pinned as it is, and the message says what it is and what to do."""
    sample = tmp_path / "sample.json"
    sample.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 9\n")
    command = [sys.executable, "-m", "freeze_gate", "pin", "--id", "x", "--bundle", str(tmp_path / "b"), str(sample)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    assert "is a Git LFS pointer" in done.stderr
    assert "git lfs pull" in done.stderr
