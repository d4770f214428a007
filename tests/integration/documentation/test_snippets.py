"""What the README shows of the command line and of the library does what it says, word for word."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from freeze_gate import cli
from freeze_gate.cli import COMMANDS
from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Record, read_record
from freeze_gate.version import VERSION
from tests.demo.sampler import ROWS, sampler
from tests.support.actions_expressions import fill, is_true, says_when
from tests.support.exact_server import ExactServer, answer, sized
from tests.support.model_answers import COMPLETION, MESSAGE, TEXT
from tests.support.readme import blocks, rows, section
from tests.support.recipes import README

BIN = Path(sys.executable).parent


class Checkout:
    """A checkout with the property test that the README shows, and a request to send."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.environ = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder), "SAMPLER_URL": url}
        (folder / "request.json").write_text('{"model": "small-1"}')
        (test,) = blocks("With pytest and Hypothesis", "python")
        properties = folder / "tests" / "properties"
        properties.mkdir(parents=True)
        (properties / "test_order.py").write_text(test)

    def run(self, script: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        """Run lines as a step of a workflow does."""
        return self._run(["bash", "-eo", "pipefail", "-c", script], environ)

    def python(self, *lines: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        """Run lines of Python."""
        return self._run([sys.executable, "-c", "\n".join(lines)], environ)

    def _run(self, command: list[str], environ: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    @property
    def record(self) -> Record:
        """The record that was written."""
        return read_record((self.folder / "freeze-gate/records/sorted-patch.json").read_bytes(), "sorted-patch")

    @property
    def pin(self) -> bytes:
        """The bytes that were pinned."""
        return (self.folder / "freeze-gate" / str(self.record.fixture_path)).read_bytes()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Checkout]:
    """Return a checkout with a sampler to ask."""
    with sampler() as url:
        yield Checkout(tmp_path, f"{url}/still")


def test_sample_then_oracle(place: Checkout) -> None:
    """Both lines end with 0, and the record holds the transport and a sealed pass."""
    (script,) = blocks("With `freeze-gate sample`", "sh")

    done = place.run(script.replace("--min-bytes 100", "--min-bytes 10"), SAMPLER_AUTH="Bearer secret")

    assert done.returncode == 0, done.stderr
    assert (place.record.oracle_passed, place.record.transport_ok) == (True, True)
    assert place.record.oracle.egress == "sealed"
    assert place.record.transport.checks.min_bytes == 10
    assert json.loads(place.pin)["rows"] == ROWS


def test_sample_holds_the_answer_to_what_was_declared(place: Checkout) -> None:
    """The README's own 100 bytes are more than this sampler sends: a fault by name, and no oracle."""
    (script,) = blocks("With `freeze-gate sample`", "sh")

    done = place.run(script, SAMPLER_AUTH="Bearer secret")

    assert done.returncode == 1
    assert (place.record.transport.fault, place.record.oracle_passed) == ("length_check", None)
    assert "secret" not in done.stdout + done.stderr


def test_curl_then_oracle(place: Checkout) -> None:
    """What curl brought is pinned, what curl says of the transport is recorded, and the oracle passes."""
    (script,) = blocks("With curl", "sh")

    done = place.run(script)

    assert done.returncode == 0, done.stderr
    assert (place.record.oracle_passed, place.record.transport_ok) == (True, True)
    assert json.loads(place.pin)["rows"] == ROWS


@pytest.mark.parametrize(
    ("served", "fault", "pinned"),
    [
        (answer(b'{"rows": [1', "Content-Length: 10000"), "truncated", b'{"rows": [1'),
        (sized(b'{"error": "overloaded"}', status="529 Overloaded"), "http_status", None),
        (answer(end="reset"), "connection", None),
    ],
    ids=["cut", "an error", "reset"],
)
def test_curl_that_fails_leaves_a_record_and_runs_no_oracle(
    tmp_path: Path, served: object, fault: str, pinned: bytes | None
) -> None:
    """A cut answer is pinned as a part, an error body is no sample, a file from before neither; nothing is checked."""
    (script,) = blocks("With curl", "sh")
    with ExactServer(served) as server:  # type: ignore[arg-type]
        place = Checkout(tmp_path, server.url)
        (place.folder / "answer.json").write_text("from before")

        done = place.run(script)

    assert done.returncode != 0
    assert (place.record.transport.fault, place.record.oracle_passed) == (fault, None)
    assert (place.pin if place.record.fixture_path else None) == pinned
    assert place.record.transport.pin_complete is (False if pinned else None)


def test_requests(place: Checkout) -> None:
    """The session records, and the body is pinned before anything is asserted."""
    (script,) = blocks("With requests", "python")

    done = place.python(f"url, question = {place.environ['SAMPLER_URL']!r}, {{}}", script, "print(path)")

    assert done.returncode == 0, done.stderr
    assert place.record.transport_ok is True
    assert Path(done.stdout.strip()).read_bytes() == place.pin


@pytest.mark.parametrize("status", ["401 Unauthorized", "404 Not Found", "503 Busy"])
def test_requests_that_get_an_error_pin_nothing_and_say_why(tmp_path: Path, status: str) -> None:
    """The script ends before its oracle, and its last line names the status."""
    (script,) = blocks("With requests", "python")
    with ExactServer(sized(b"no sample", status=status)) as server:
        place = Checkout(tmp_path, server.url)

        done = place.python(f"url, question = {server.url!r}, {{}}", script, "print(path)")

    assert done.returncode == 1
    assert f"sorted-patch: the call ended with status {status[:3]}" in done.stderr.splitlines()[-1]
    assert place.record.fixture_sha256 is None


def test_curl_without_fail_pins_no_error_body(tmp_path: Path) -> None:
    """Curl then ends with 0 and leaves the error's body as the answer."""
    (script,) = blocks("With curl", "sh")
    with ExactServer(sized(b"busy", status="503 Busy")) as server:
        place = Checkout(tmp_path, server.url)

        done = place.run(script.replace("--fail ", ""))

    assert done.returncode != 0
    assert (place.record.fixture_sha256, place.record.transport.fault) == (None, "http_status")
    assert place.record.oracle_passed is None


@pytest.mark.parametrize("body", [COMPLETION, MESSAGE], ids=["openai", "anthropic"])
def test_sdks(tmp_path: Path, body: bytes) -> None:
    """The real SDK calls a server on the loopback; the text alone is pinned, and the record knows the whole answer."""
    script = blocks("With the OpenAI and Anthropic SDKs", "python")[[COMPLETION, MESSAGE].index(body)]
    with ExactServer(sized(body, "Content-Type: application/json")) as server:
        place = Checkout(tmp_path, server.url)
        bases = {"OPENAI_BASE_URL": server.url, "ANTHROPIC_BASE_URL": server.url}
        keys = {"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x"}

        done = place.python(
            "model, messages = 'small-1', [{'role': 'user', 'content': 'sort'}]", script, "print(path)", **keys, **bases
        )

    assert done.returncode == 0, done.stderr
    assert place.record.transport_ok is True
    assert Path(done.stdout.strip()).read_bytes() == place.pin == TEXT.encode()
    assert place.record.sampler.answer_sha256 == Sha256.of(body)
    assert place.record.transport.pin_complete is True


def test_other_httpx_transports_are_there() -> None:
    """Every method of the recorder that the README names exists."""
    from freeze_gate.capture import Capture

    named = set(re.findall(r"\bcapture\.(\w+)\(", README))
    assert named >= {"record", "transport", "async_transport", "requests_session", "pin"}
    assert {name for name in named if not hasattr(Capture, name)} == set()


def test_pytest_with_hypothesis(place: Checkout) -> None:
    """The property is checked on the pinned file; a sample that breaks it is a recorded fail."""
    (oracle,) = blocks("With pytest and Hypothesis", "sh")
    (place.folder / "sorted.json").write_text('{"rows": [1, 2]}')
    (place.folder / "unsorted.json").write_text('{"rows": [2, 1]}')

    passed = place.run(f"freeze-gate pin --id sorted-patch sorted.json\n{oracle}")
    assert (passed.returncode, place.record.oracle_passed) == (0, True), passed.stdout

    shutil.rmtree(place.folder / "freeze-gate")
    failed = place.run(f"freeze-gate pin --id sorted-patch unsorted.json\n{oracle}")
    assert (failed.returncode, place.record.oracle_passed) == (1, False)


def test_replay(place: Checkout) -> None:
    """The rerun's `sampler` of the workflow starts from the first run's bundle, without a call."""
    first = place.run('freeze-gate sample --id sorted-patch --url "$SAMPLER_URL" --data {} --bundle first-bundle')
    assert first.returncode == 0, first.stderr
    (step,) = blocks("A rerun on the same bytes", "yaml")
    command = re.search(r"sampler: (.*)", step)
    assert command

    done = place.run(command[1], FREEZE_GATE_ID="sorted-patch", SAMPLER_URL="http://127.0.0.1:9")

    assert done.returncode == 0, done.stderr
    before = read_record((place.folder / "first-bundle/records/sorted-patch.json").read_bytes(), "sorted-patch")
    assert place.record.run.replay_of == before.run.capture_id
    assert place.record.fixture_sha256 == before.fixture_sha256
    assert place.record.transport_ok is None


@pytest.fixture
def judged(place: Checkout) -> Checkout:
    """Return a place with two bundles, as a folder and as a zip, and the verdict on them."""
    first = "--id sorted-patch --bundle first"
    done = place.run(
        f"""
        freeze-gate sample {first} --url "$SAMPLER_URL" --data '{{}}' --suffix .json
        freeze-gate transport {first} --fault connection
        freeze-gate replay first --id sorted-patch --bundle rerun
        freeze-gate oracle --id sorted-patch --bundle rerun -- true
        """
    )
    assert done.returncode == 0, done.stderr
    for side in ("first", "rerun"):
        shutil.make_archive(str(place.folder / side), "zip", place.folder / side)
    return place


def test_two_bundles_are_judged_offline(judged: Checkout) -> None:
    """A folder and a zip, without a token: the four lines, and the exit code of a flake without a freeze."""
    script = next(block for block in blocks("Try it", "sh") if "classify" in block)

    done = judged.run(script)

    assert done.returncode == 1
    assert [line.partition("=")[0] for line in done.stdout.splitlines()] == _four_lines()
    assert "failure_class=harness_flake\nfreeze_allowed=true\n" in done.stdout


def _four_lines() -> list[str]:
    """Return the names of the four lines that the README begins with."""
    return [
        line.partition("=")[0] for line in re.findall(r"^```\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)[0].split()
    ]


def test_a_verdict_is_verified_and_stated(judged: Checkout) -> None:
    """Consistent, with its pins hashed again; then a statement whose subjects `jq` turns into lines of digests."""
    judged.run("freeze-gate classify first rerun.zip --verdict-file freeze-gate-verdict.json")
    (verify,) = blocks("Verdicts that anyone can check again", "sh")

    done = judged.run(verify)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("consistent") == 2

    stated = _state(judged, "freeze-gate-verdict.json")
    assert stated.returncode == 0, stated.stderr
    (subject,) = json.loads((judged.folder / "statement.json").read_bytes())["subject"]
    line = f"{subject['digest']['sha256']}  {subject['name']}\n"
    assert (judged.folder / "pins.sha256").read_text() == line
    assert re.fullmatch(r"[0-9a-f]{64}  \S+\n", line)
    assert (judged.folder / "output").read_text() == "pins=true\n"


def _signing() -> list[dict[str, Any]]:
    """Return the README's steps that sign a verdict."""
    (attest,) = blocks("Verdicts that anyone can check again", "yaml")
    return list(yaml.safe_load(attest))


def _state(judged: Checkout, verdict: str) -> "subprocess.CompletedProcess[str]":
    """Run the step before the signature as a runner does."""
    (judged.folder / "output").write_text("")
    return judged.run(_signing()[0]["run"], VERDICT=verdict, GITHUB_OUTPUT=str(judged.folder / "output"))


def test_a_verdict_without_pins_is_not_signed(judged: Checkout) -> None:
    """A signature needs a subject: the step before it is green, and puts out that there is none."""
    missing = judged.run("freeze-gate classify nothing nothing-else --verdict-file freeze-gate-verdict.json")
    assert missing.returncode == 1

    stated = _state(judged, "freeze-gate-verdict.json")

    assert stated.returncode == 0, stated.stderr
    assert (judged.folder / "output").read_text() == ""


@pytest.mark.parametrize(
    ("verdict", "pins", "stated", "signed"),
    [("verdict.json", "true", True, True), ("verdict.json", "", True, False), ("", "", False, False)],
    ids=["pins", "no pins", "the gate did not look"],
)
def test_only_a_verdict_with_pins_is_signed(verdict: str, pins: str, stated: bool, signed: bool) -> None:
    """Where the gate's step was skipped it put out no file; a verdict that blocks is signed too."""
    outputs = {"gate": {"outputs": {"verdict-file": verdict}}, "statement": {"outputs": {"pins": pins}}}
    step, sign = _signing()
    due = [is_true(fill(one["if"], {"steps": outputs}, {"cancelled": lambda: False})) for one in (step, sign)]
    assert due == [stated, signed]
    assert all(says_when(one["if"]) for one in (step, sign))
    assert fill(step["env"]["VERDICT"], {"steps": outputs}, {}) == verdict
    assert fill(sign["with"]["predicate-path"], {"steps": outputs}, {}) == verdict


def test_the_statement_is_of_the_type_that_the_readme_tells_the_signer(judged: Checkout) -> None:
    """The predicate that `actions/attest` is given is the one that the statement has."""
    judged.run("freeze-gate classify first rerun --verdict-file v.json")
    assert _state(judged, "v.json").returncode == 0

    statement = json.loads((judged.folder / "statement.json").read_bytes())

    assert _signing()[1]["with"]["predicate-type"] == statement["predicateType"]
    assert statement["predicate"] == json.loads((judged.folder / "v.json").read_bytes())


def test_the_policy_is_accepted(place: Checkout) -> None:
    """`freeze-gate check` finds nothing wrong with it."""
    (policy,) = blocks("Freezes", "yaml")
    path = place.folder / ".github" / "freeze-gate.yml"
    path.parent.mkdir()
    path.write_text(policy)
    command = re.search(r"`(freeze-gate check\s+\S+)`", section("Freezes"))
    assert command

    done = place.run(" ".join(command[1].split()))

    assert done.returncode == 0, done.stdout + done.stderr


def test_prune_lists_and_removes(judged: Checkout) -> None:
    """The line of the README only lists; `--yes` removes."""
    (judged.folder / "FILE").write_text("schema: freeze-gate/policy/1\nretention: {fixtures_days: 1}\n")
    store = judged.folder / "STORE"
    (store / "fixtures").mkdir(parents=True)
    pin = shutil.copy(next((judged.folder / "first/fixtures").iterdir()), store / "fixtures")
    os.utime(pin, (0, 0))
    command = re.search(r"`(freeze-gate prune STORE --policy FILE)`", README)
    assert command

    listed = judged.run(command[1])
    assert listed.returncode == 0, listed.stderr
    assert Path(pin).name in listed.stdout
    assert Path(pin).exists()

    assert judged.run(f"{command[1]} --yes").returncode == 0
    assert not Path(pin).exists()


@cache
def _help(*words: str) -> str:
    said = io.StringIO()
    with redirect_stdout(said), pytest.raises(SystemExit):
        cli.main([*words, "--help"], {})
    return said.getvalue()


def test_the_readme_lists_every_command() -> None:
    """The tables of commands and `freeze-gate --help` name the same ones."""
    shown = re.findall(r"^    ([a-z]+)\b", _help(), re.MULTILINE)
    assert shown == list(COMMANDS)
    named = [row[0] for heading in ("Try it", "Capture in your job") for row in rows(heading)]
    assert sorted(re.sub(r"`freeze-gate (\w+).*", r"\1", one) for one in named) == sorted(shown)


def test_names_one_release_of_itself() -> None:
    """The version beside every commit and in the line that installs is this one."""
    named = re.findall(r"OWNER/freeze-gate\S*@(?:0{40} # )?v([0-9.]+)", README)
    assert len(named) > 10
    assert set(named) == {VERSION}


def test_every_flag_that_the_readme_names_exists() -> None:
    """A line that calls a command names only options that the command has."""
    text = README.replace("\\\n", " ")
    calls = [call for call in re.findall(r"freeze-gate ([a-z]+)\b([^\n|`#]*)", text) if call[0] in COMMANDS]
    assert {command for command, _ in calls} == set(COMMANDS)
    for command, rest in calls:
        ours = rest.partition(" -- ")[0]
        for flag in re.findall(r"(?<=\s)--[a-z-]+", ours):
            assert flag in _help(command), f"freeze-gate {command} has no {flag}"


def test_every_option_that_the_text_names_exists() -> None:
    """Options in running text are options of some command, of the capture action's tools, or of curl."""
    known = "".join(_help(command) for command in COMMANDS)
    curls = set(re.findall(r"--[a-z-]+", "".join(blocks("With curl", "sh"))))
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    assert {flag for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", prose) if flag not in known} - curls == set()
