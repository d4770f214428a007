"""`freeze-gate sample` as people run it, against a server that sends exactly these bytes."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from freeze_gate.capture.bundle.store import Store
from freeze_gate.capture.transport.merge import RequestKey
from freeze_gate.cli import main
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Oracle
from tests.support.exact_server import BETWEEN_PIECES, HOLD, RESET, Answer, ExactServer, answer, chunked, sized
from tests.support.recording_clients import ID, bundle, pinned_in, record_in
from tests.support.transport_cases import CASES, check

SECRET = "sk-live-3f1c"
DRIP = 600
TEXT_POINTER = "/choices/0/message/content"


def _sample(tmp_path: Path, url: str, *options: str, environ: Mapping[str, str] | None = None) -> int:
    argv = ["sample", "--id", ID, "--bundle", str(bundle(tmp_path)), "--url", url, *options]
    return main(argv, environ or {})


@pytest.mark.parametrize("case", CASES)
def test_sample_records_like_any_client(case: str, tmp_path: Path) -> None:
    """The same record as through the library, and exit code 0 only where the transport held."""
    expected = CASES[case]
    declared = [word for name, value in expected.checks.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    with ExactServer(*expected.answers) as server:
        retries = ["--retries", str(len(expected.answers) - 1), "--read-timeout", str(expected.wait)]
        code = _sample(tmp_path, server.url, *retries, *declared)
    check(bundle(tmp_path), expected)
    assert code == (0 if expected.ok else 1)


def test_sample_sends_what_it_is_told_and_prints_where_the_answer_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """POST by default, headers by value and by name, a body from a file; two lines on standard output."""
    (tmp_path / "body.json").write_bytes(b'{"model": "small-1"}')
    options = ("--header", "X-One: 1", "--header-env", "Authorization=KEY", "--data", f"@{tmp_path / 'body.json'}")
    with ExactServer(sized(b"sample")) as server:
        code = _sample(tmp_path, server.url, *options, "--suffix", ".json", environ={"KEY": f"Bearer {SECRET}\n"})
        ((head, body),) = server.requests
    assert code == 0
    assert head.startswith(b"POST /v1/sample HTTP/1.1\r\n")
    sent = {line.lower() for line in head.split(b"\r\n")}
    assert {b"x-one: 1", f"authorization: bearer {SECRET}".encode(), b"content-type: application/json"} <= sent
    assert b"accept-encoding: gzip" in sent
    assert body == b'{"model": "small-1"}'
    record = record_in(bundle(tmp_path))
    assert capsys.readouterr().out == f"fixture_sha256={record.fixture_sha256}\nfixture_path={record.fixture_path}\n"
    assert str(record.fixture_path).endswith(".json")
    assert record.sampler.model == "small-1"
    asked = RequestKey("POST", server.url, body)
    assert record.sampler == asked.sampler


@pytest.mark.parametrize(
    "answers", [(sized(b"sample"),), (sized(b"no", status="401 No"),), (answer(b"x", "Content-Length: 9"),)]
)
def test_sample_prints_and_records_no_secret(
    answers: tuple[Answer, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a header's value nor the URL's password or query is in the record or in the output."""
    with ExactServer(*answers) as server:
        url = server.url.replace("//", f"//user:{SECRET}@") + f"?key={SECRET}"
        _sample(tmp_path, url, "--header", f"X-Api-Key: {SECRET}")
        ((head, _),) = server.requests
    assert SECRET.encode() in head
    output = capsys.readouterr()
    written = b"".join(path.read_bytes() for path in bundle(tmp_path).rglob("*") if path.is_file())
    assert SECRET not in output.out + output.err
    assert SECRET.encode() not in written


def test_sample_names_no_secret_of_a_host_that_cannot_be_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the HTTP library says of the failure holds the URL; it is not passed on."""
    with ExactServer(sized(b"")) as server:
        url = server.url
    assert _sample(tmp_path, f"{url}?key={SECRET}") == 1
    output = capsys.readouterr()
    assert SECRET not in output.out + output.err
    assert output.out == "fixture_sha256=missing\nfixture_path=missing\n"
    assert record_in(bundle(tmp_path)).transport.fault == "connection"


@pytest.mark.parametrize(
    "options",
    [
        ("--url", f"ftp://host/{SECRET}"),
        ("--url", f"http:///{SECRET}"),
        ("--url", f"http://host:port/{SECRET}"),
        ("--url", f"http://host/\r\n{SECRET}"),
        ("--header", f"Authorization Bearer {SECRET}"),
        ("--header", f"Authorization: {SECRET}\r\nX: y"),
        ("--header-env", f"Authorization={SECRET}"),
        ("--header-env", SECRET),
        ("--data", f"@/nowhere/{SECRET}"),
        ("--method", f"GET {SECRET}"),
        ("--deadline", "0"),
        ("--deadline", "nan"),
        ("--read-timeout", "-1"),
        ("--retries", "-1"),
        ("--min-bytes", "9", "--max-bytes", "8"),
        ("--ends-with", ""),
        ("--suffix", "../x"),
        ("--select", f"choices.{SECRET}"),
        ("--id", "../x"),
    ],
    ids=lambda options: options[0],
)
def test_sample_refuses_what_it_cannot_send(
    options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bad argument is one line, exit code 2, no call and no record; what was given is not repeated."""
    with ExactServer(sized(b"sample")) as server:
        assert _sample(tmp_path, server.url, *options) == 2
        assert not server.requests
    output = capsys.readouterr()
    assert output.err.count("\n") == 1
    assert SECRET not in output.err
    assert not (bundle(tmp_path) / "records").exists()


@pytest.mark.parametrize(
    ("planned", "words"),
    [
        (sized(b"bad\n\x1b[1mkey " + b"x" * 999, status="401 No"), "127.0.0.1: status 401: bad"),
        (sized(b"::error::nothing here", status="404 Not Found"), "127.0.0.1: status 404: "),
        (sized(b"", status="503 Busy"), "127.0.0.1: status 503: without a body"),
        (sized(f"no such key: {SECRET}".encode(), status="401 No"), "status 401: no such key: ***"),
        (sized(b"key" + b" " * 4000 + SECRET.encode() * 99, status="401 No"), "status 401: key ***"),
        (sized(f"no such key: {SECRET[:-1]}".encode(), status="401 No"), "status 401: no such key: ***"),
        (
            sized(b"", f"Location: https://u:{SECRET}@other.example/v2?key={SECRET}", status="302 Found"),
            "127.0.0.1: status 302, a redirect, is not followed: name its target as --url: https://other.example/v2",
        ),
        (sized(b"", "Location: /v2", status="307 Away"), "/v2"),
        (Answer((), RESET), "127.0.0.1: the connection broke"),
        (Answer([b"SSH-2.0-server\r\n"]), "127.0.0.1: the bytes are not HTTP"),
        (answer(b"x", "Content-Length: 9"), "127.0.0.1: the answer was cut off"),
    ],
)
def test_a_failed_sample_names_the_host_and_the_cause(
    planned: Answer, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence; an error's body is cleaned and cut, a redirect's target named, and no secret repeated."""
    with ExactServer(planned) as server:
        assert _sample(tmp_path, f"{server.url}?key={SECRET}", "-H", f"Authorization: Bearer {SECRET}") == 1
    _, sentence, end = capsys.readouterr().err.split("\n")
    assert words in sentence
    assert (end, len(sentence) < 350) == ("", True)
    assert not {SECRET, "\x1b", "::error::"} & {part for part in (SECRET, "\x1b", "::error::") if part in sentence}


def test_a_port_at_which_nobody_listens_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The host, and that it refused."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert _sample(tmp_path, f"http://127.0.0.1:{port}/") == 1
    assert "127.0.0.1: the connection was refused" in capsys.readouterr().err


def test_a_name_that_no_resolver_knows_is_named(tmp_path: Path) -> None:
    """The look-up is made in a network of its own, so that it leaves this machine nowhere."""
    command = [sys.executable, "-m", "freeze_gate", "sample", "--id", ID, "--bundle", str(bundle(tmp_path))]
    ended = subprocess.run(
        ["unshare", "--map-root-user", "--net", *command, "--url", "http://sampler.invalid/"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "sampler.invalid: the name is not found" in ended.stderr


@pytest.mark.parametrize("planned", [sized(b""), answer(b"", status="204 No Content")], ids=["200", "204"])
def test_an_empty_answer_is_pinned_with_a_warning(
    planned: Answer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Zero bytes are a real pin, and seldom what was meant."""
    with ExactServer(planned) as server:
        assert _sample(tmp_path, server.url) == 0
    assert f"warning: the sample of {ID} is empty" in capsys.readouterr().err
    assert pinned_in(bundle(tmp_path), record_in(bundle(tmp_path))) == b""


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    """3xx is neither a fault nor a sample."""
    with ExactServer(sized(b"elsewhere", "Location: /other", status="302 Found")) as server:
        assert _sample(tmp_path, server.url) == 1
        assert len(server.requests) == 1
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.status_code, record.fixture_sha256) == (None, 302, None)


def test_a_body_that_was_begun_is_never_asked_for_again(tmp_path: Path) -> None:
    """A retry after a body byte would hide a second sample: there is none, whatever `--retries` says."""
    with ExactServer(answer(b"shorn", "Content-Length: 10"), sized(b"other sample")) as server:
        assert _sample(tmp_path, server.url, "--retries", "3") == 1
        assert len(server.requests) == 1
    assert pinned_in(bundle(tmp_path), record_in(bundle(tmp_path))) == b"shorn"


def test_the_deadline_ends_a_server_that_drips(tmp_path: Path) -> None:
    """No silence is ever longer than the read time-out, and yet it ends; what arrived is pinned."""
    dripping = answer([b"x"] * DRIP, "Content-Length: 10000", end=HOLD)
    begun = time.monotonic()
    with ExactServer(dripping) as server:
        assert _sample(tmp_path, server.url, "--deadline", "1.5", "--read-timeout", "5") == 1
        assert time.monotonic() - begun < DRIP * BETWEEN_PIECES
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault, record.transport.timed_out) == (False, "timeout", True)
    assert record.transport.bytes_received == len(pinned_in(bundle(tmp_path), record) or b"") > 0
    assert record.transport.pin_complete is False


def test_the_deadline_ends_headers_that_drip(tmp_path: Path) -> None:
    """Headers that never end are a time-out with nothing to pin."""
    dripping = Answer([b"HTTP/1.1 200 OK\r\n", *[b"X: y\r\n"] * DRIP], HOLD)
    with ExactServer(dripping) as server:
        assert _sample(tmp_path, server.url, "--deadline", "0.7", "--read-timeout", "5") == 1
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault, record.transport.status_code) == (False, "timeout", None)
    assert record.fixture_sha256 is None


def test_the_deadline_ends_the_waiting_between_attempts(tmp_path: Path) -> None:
    """A server that asks for a minute's patience does not get it; the last answer stands."""
    with ExactServer(sized(b"", "Retry-After: 60", status="503 Busy")) as server:
        assert _sample(tmp_path, server.url, "--deadline", "1.5", "--retries", "5") == 1
        assert len(server.requests) == 1
    seen = record_in(bundle(tmp_path)).transport
    assert (seen.fault, seen.status_code, seen.timed_out) == ("http_status", 503, False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("begun", [False, True], ids=["before-the-answer", "in-the-body"])
def test_an_interrupted_sample_leaves_a_record(number: signal.Signals, begun: bool, tmp_path: Path) -> None:
    """Ctrl-C and SIGTERM say nothing of the transport: null, the part that arrived as a part, exit code 1."""
    planned = answer([b"part ", b"of it"], "Content-Length: 100", end=HOLD) if begun else Answer((), HOLD)
    command = [sys.executable, "-m", "freeze_gate", "sample", "--id", ID, "--bundle", str(bundle(tmp_path)), "--url"]
    with ExactServer(planned) as server:
        with subprocess.Popen([*command, server.url], stdout=subprocess.PIPE) as process:
            _wait_for(lambda: bool(server.requests))
            time.sleep(1 if begun else 0)
            process.send_signal(number)
            process.communicate(timeout=30)
        assert process.returncode == 1
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault) == (None, None)
    assert pinned_in(bundle(tmp_path), record) == (b"part of it" if begun else None)
    assert record.transport.pin_complete is (False if begun else None)


def _wait_for(happened: object) -> None:
    end = time.monotonic() + 30
    while not happened():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_netrc_file_does_not_take_the_place_of_the_given_authorization(tmp_path: Path) -> None:
    """Requests alone would send the file's password instead."""
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine 127.0.0.1 login somebody password {SECRET}\n")
    netrc.chmod(0o600)
    command = [sys.executable, "-m", "freeze_gate", "sample", "--id", ID, "--bundle", str(bundle(tmp_path))]
    with ExactServer(sized(b"sample")) as server:
        environ = {**os.environ, "NETRC": str(netrc)}
        subprocess.run([*command, "--url", server.url, "-H", "Authorization: Bearer mine"], env=environ, check=True)
        ((head, _),) = server.requests
    assert b"Authorization: Bearer mine" in head


def test_an_undecodable_answer_is_not_pinned(tmp_path: Path) -> None:
    """A coding that was not asked for, or bytes that are not what the header says, are no sample and no fault."""
    for number, coded in enumerate(
        (sized(b"\x0b\x02\x80abc\x03", "Content-Encoding: br"), sized(b"plain", "Content-Encoding: gzip"))
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        with ExactServer(coded) as server:
            assert _sample(folder, server.url) == 1
        record = record_in(bundle(folder))
        assert (record.fixture_sha256, record.transport.fault) == (None, None)


def _completion(number: int, text: str = "sorted\u00e9") -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    return json.dumps({"id": f"chatcmpl-{number}", "created": number, "choices": [choice]}).encode()


def test_the_text_of_a_chat_completion_repeats_where_its_envelope_does_not(tmp_path: Path) -> None:
    """A new id and time each time, the same text: equal digests, and the record tells the whole answers apart."""
    records = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        with ExactServer(sized(_completion(number))) as server:
            assert _sample(folder, server.url, "--select", TEXT_POINTER) == 0
        record = record_in(bundle(folder))
        assert pinned_in(bundle(folder), record) == "sorted\u00e9".encode()
        assert record.sampler.selected == TEXT_POINTER
        assert record.sampler.answer_sha256 == Sha256.of(_completion(number))
        assert record.transport.pin_complete is True
        records.append(record)
    assert records[0].fixture_sha256 == records[1].fixture_sha256


@pytest.mark.parametrize(
    "planned",
    [
        sized(b'{"choices": []}'),
        sized(b"data: [DONE]\n\n", "Content-Type: text/event-stream"),
        answer(_completion(1)[:-9], "Content-Length: 9999"),
        sized(_completion(1), status="503 Busy"),
    ],
    ids=["no string", "no JSON", "truncated", "an error"],
)
def test_a_pointer_that_finds_no_string_pins_nothing(planned: Answer, tmp_path: Path) -> None:
    """Not the body in its place either; the exit code is 1."""
    with ExactServer(planned) as server:
        assert _sample(tmp_path, server.url, "--select", TEXT_POINTER) == 1
    assert record_in(bundle(tmp_path)).fixture_sha256 is None
    assert not (bundle(tmp_path) / "fixtures").exists()


@pytest.mark.parametrize("second", [b"one", b"two"], ids=["same bytes", "other bytes"])
def test_a_second_sample_needs_its_own_id(second: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An id that has its pin is not sampled again: no call is made, the record stays, nothing is said of its bytes."""
    with ExactServer(sized(b"one"), sized(second)) as server:
        assert _sample(tmp_path, server.url) == 0
        before = record_in(bundle(tmp_path))
        assert _sample(tmp_path, server.url) == 2
        assert len(server.requests) == 1
    assert record_in(bundle(tmp_path)) == before
    said = capsys.readouterr().err
    assert f"{ID} has its pin already: one call for each id and run. Use another --id" in said
    assert "different" not in said


def test_a_sample_after_one_that_brought_nothing_folds_in(tmp_path: Path) -> None:
    """The second call is pinned whole, and the first one's fault stays in the record: the exit code is 1."""
    with ExactServer(sized(b"", status="503 Busy"), sized(b"sample")) as server:
        assert _sample(tmp_path, server.url) == 1
        assert _sample(tmp_path, server.url) == 1
    record = record_in(bundle(tmp_path))
    assert (record.transport_ok, record.transport.fault, record.transport.status_code) == (False, "http_status", 503)
    assert (pinned_in(bundle(tmp_path), record), record.transport.pin_complete) == (b"sample", True)


def test_after_an_oracle_nothing_is_sampled(tmp_path: Path) -> None:
    """Whatever the oracle said, its record stays as it is, and no call is made."""
    with ExactServer(sized(b"sample")) as server:
        assert _sample(tmp_path, server.url) == 0
        store = Store(bundle(tmp_path))
        failed = record_in(bundle(tmp_path))._replace(
            oracle_passed=False, oracle=Oracle(outcome="failed", exit_code=1, runs=1)
        )
        store.write(failed)
        assert _sample(tmp_path, server.url) == 2
        assert len(server.requests) == 1
    assert record_in(bundle(tmp_path)) == failed


def test_the_runner_s_environment_is_in_the_record(tmp_path: Path) -> None:
    """The gate asks for the run, its attempt and the commit."""
    environ = {
        "GITHUB_REPOSITORY": "octo-org/widgets",
        "GITHUB_RUN_ID": "4242",
        "GITHUB_RUN_ATTEMPT": "2",
        "GITHUB_JOB": "agent-patch",
        "GITHUB_SHA": "a" * 40,
    }
    with ExactServer(answer(chunked(b"sample"), "Transfer-Encoding: chunked")) as server:
        assert _sample(tmp_path, server.url, environ=environ) == 0
    run = record_in(bundle(tmp_path)).run
    assert (run.repository, run.run_id, run.run_attempt, run.job) == ("octo-org/widgets", 4242, 2, "agent-patch")
    assert json.loads((bundle(tmp_path) / "records" / f"{ID}.json").read_bytes())["run"]["commit"] == "a" * 40


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_certificates_that_are_not_there_are_named(name: str, tmp_path: Path) -> None:
    """The variable that is set, with its path; no call is made and no record begun."""
    command = [sys.executable, "-m", "freeze_gate", "sample", "--id", ID, "--bundle", str(bundle(tmp_path))]
    environ = {key: value for key, value in os.environ.items() if not key.endswith("_CA_BUNDLE")}
    path = str(tmp_path / "missing.pem")
    ended = subprocess.run(
        [*command, "--url", "https://127.0.0.1:9"],
        env={**environ, name: path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"freeze-gate sample: {name} is {path!a}: must be a file of certificates")
    assert "A container sees no paths of its host" in ended.stderr
    assert not (bundle(tmp_path) / "records").exists()
