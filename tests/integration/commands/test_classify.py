"""`freeze-gate classify`: the same verdict, offline, from folders or zips."""

import json
import re
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import pytest

from freeze_gate import cli
from tests.builders.bundle import Capture, make_bundle, make_capture, write_zip
from tests.builders.pairs import CLASSES, FLAKE, GREEN, MISS
from tests.builders.policy import make_policy
from tests.builders.record import make_mapping


class CommandResult(NamedTuple):
    """What a command left."""

    code: int
    out: str
    err: str


class Terminal(NamedTuple):
    """A folder to work in, and what the commands print."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    def run(self, *argv: str | Path) -> CommandResult:
        """Run a command."""
        code = cli.main([str(word) for word in argv], {})
        return CommandResult(code, *self.capsys.readouterr())

    def zip(self, name: str, *captures: Capture) -> Path:
        """Write a zip."""
        path = self.folder / f"{name}.zip"
        path.write_bytes(make_bundle(*captures))
        return path

    def bundle(self, name: str, *captures: Capture) -> Path:
        """Write a folder."""
        path = self.folder / name
        with zipfile.ZipFile(BytesIO(make_bundle(*captures))) as archive:
            archive.extractall(path)
        return path


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """Return an empty desk."""
    return Terminal(tmp_path, capsys)


@pytest.mark.parametrize("name", CLASSES)
def test_the_four_lines_are_all_that_stands_on_stdout(desk: Terminal, name: str) -> None:
    """Data on stdout, words on stderr; a folder beside a zip."""
    pair, reason = CLASSES[name]

    said = desk.run("classify", desk.zip("first", pair[0]), desk.bundle("rerun", pair[1]))

    assert [line.split("=")[0] for line in said.out.splitlines()] == [
        "fixture_sha256",
        "failure_class",
        "freeze_allowed",
        "fixture_path",
    ]
    assert f"failure_class={name}\n" in said.out
    assert f"freeze_allowed={'true' if name == 'harness_flake' else 'false'}\n" in said.out
    fixture, why, following = said.err.splitlines()
    assert fixture == "fixture: sorted-patch"
    assert why.startswith(f"why: {reason}. ")
    assert re.fullmatch(r"next: [^*\\]+", following)
    assert said.code == 1


def test_green_is_0(desk: Terminal) -> None:
    """Nothing to mute."""
    said = desk.run("classify", desk.zip("first", GREEN[0]), desk.zip("rerun", GREEN[1]))
    assert (said.code, said.err.splitlines()[1].split(".")[0]) == (0, "why: green")


def test_a_record_without_a_run_is_classified(desk: Terminal) -> None:
    """Offline there is no word of GitHub's to compare it with."""
    sides = [side.changed(run=dict.fromkeys(side.record.run._fields)) for side in MISS]
    said = desk.run("classify", desk.zip("first", sides[0]), desk.zip("rerun", sides[1]))
    assert "failure_class=property_miss\n" in said.out


def test_the_same_path_twice_is_one_side(desk: Terminal) -> None:
    """Also under another name."""
    path = desk.bundle("first", MISS[0])
    link = desk.folder / "link"
    link.symlink_to(path)
    for other in (path, link):
        assert "\nwhy: artifact-same. " in desk.run("classify", path, other).err


def test_what_is_not_there_is_missing_and_blocks(desk: Terminal) -> None:
    """Missing evidence is a verdict, not a usage error."""
    said = desk.run("classify", desk.zip("first", MISS[0]), desk.folder / "none")
    assert "\nwhy: artifact-missing. " in said.err
    assert said.code == 1


def test_expected_ids_that_are_not_there_block(desk: Terminal) -> None:
    """`--expect`, repeatable."""
    paths = desk.zip("first", GREEN[0]), desk.zip("rerun", GREEN[1])
    assert desk.run("classify", *paths, "--expect", "sorted-*").code == 0
    said = desk.run("classify", *paths, "--expect", "sorted-patch", "--expect", "gone")
    assert "\nwhy: record-missing. " in said.err
    assert said.code == 1


def test_a_policy_mutes_a_flake(desk: Terminal) -> None:
    """`--policy`; `freeze_allowed` stays a request."""
    file = desk.folder / "policy.yml"
    file.write_bytes(make_policy())
    paths = desk.zip("first", FLAKE[0]), desk.zip("rerun", FLAKE[1])

    assert desk.run("classify", *paths).code == 1
    assert "muted" not in desk.run("classify", *paths).err
    said = desk.run("classify", *paths, "--policy", file)
    assert said.code == 0
    assert "freeze_allowed=true\n" in said.out
    last = datetime.now(UTC).date() + timedelta(days=3)
    assert said.err.splitlines()[3:] == [
        f"freeze: sorted-patch, line 1: mutes this pair until {last} (last day, UTC); owner @octo-org/harness"
    ]


ENTRIES = {
    "for another digest": ({"fixture_sha256": "f" * 64}, f"mutes nothing: it is for other bytes, {'f' * 64}"),
    "for another pull request": (
        {"pull_request": 12},
        "mutes nothing: it is only for pull request 12; --pull-request names the one to judge for",
    ),
    "lapsed": ({"added": "2026-01-01", "expires": "2026-01-20"}, "mutes nothing: it expired on 2026-01-20"),
}


@pytest.mark.parametrize(("changes", "effect"), ENTRIES.values(), ids=ENTRIES)
def test_an_entry_that_mutes_nothing_is_named_with_the_reason(
    desk: Terminal, changes: dict[str, object], effect: str
) -> None:
    """One line for each entry of `--policy` that names the fixture id."""
    file = desk.folder / "policy.yml"
    file.write_bytes(make_policy(**changes))

    result = desk.run("classify", desk.zip("a", FLAKE[0]), desk.zip("b", FLAKE[1]), "--policy", file)

    assert (result.code, result.err.splitlines()[3:]) == (
        1,
        [f"freeze: sorted-patch, line 1: {effect}; owner @octo-org/harness"],
    )


def test_an_entry_for_what_is_no_flake_is_named_and_leaves_the_verdict(desk: Terminal) -> None:
    """The policy matters to a flake alone, so the document does not hold it; a reader sees that the entry is idle."""
    file = desk.folder / "policy.yml"
    file.write_bytes(make_policy())
    paths = desk.zip("a", MISS[0]), desk.zip("b", MISS[1])

    result = desk.run("classify", *paths, "--json", "--policy", file)

    assert json.loads(result.out)["case"]["policy"]["state"] == "not_asked"
    assert result.err.splitlines()[3:] == [
        "freeze: sorted-patch, line 1: mutes nothing: the pair is property_miss, not a flake; owner @octo-org/harness"
    ]
    file.write_bytes(make_policy(fixture_id="other"))
    assert desk.run("classify", *paths, "--policy", file).err.splitlines()[3:] == [
        "policy: 1 entry, none for a fixture id of these bundles"
    ]


def test_a_freeze_for_one_pull_request_mutes_with_its_number(desk: Terminal) -> None:
    """`--pull-request`; any other number leaves the flake red, and no number is one of a pull request below 1."""
    file = desk.folder / "policy.yml"
    file.write_bytes(make_policy(pull_request=12))
    words = "classify", desk.zip("a", FLAKE[0]), desk.zip("b", FLAKE[1]), "--policy", file, "--pull-request"

    assert desk.run(*words, "12").code == 0
    assert desk.run(*words, "13").code == 1
    assert desk.run(*words, "0").code == 2


def test_the_summary_is_the_page_of_the_action(desk: Terminal) -> None:
    """`--summary`: the same four lines, in a page of Markdown; one that cannot be written is exit code 3."""
    page = desk.folder / "summary.md"

    result = desk.run("classify", desk.zip("a", MISS[0]), desk.zip("b", MISS[1]), "--summary", page)

    assert page.read_text(encoding="utf-8").startswith("## Freeze Gate: `property_miss`\n")
    assert result.out in page.read_text(encoding="utf-8")
    assert desk.run("classify", desk.zip("a", MISS[0]), desk.zip("b", MISS[1]), "--summary", desk.folder).code == 3


def test_several_pairs_are_counted(desk: Terminal) -> None:
    """Worst first, and the pair that decides is named."""
    sides = [
        desk.zip(name, FLAKE[place], MISS[place].changed(fixture_id="b"), GREEN[place].changed(fixture_id="c"))
        for place, name in enumerate(("first", "rerun"))
    ]
    assert desk.run("classify", *sides).err.splitlines()[:2] == [
        "fixture: b",
        "pairs: 3 (1 property_miss, 1 harness_flake, 1 green)",
    ]


def test_files_of_macos_are_named_and_make_no_pair(desk: Terminal) -> None:
    """A record beside `._NAME.json` is judged as if that were not there."""
    first = desk.bundle("first", FLAKE[0])
    (record,) = first.rglob("records/*.json")
    record.with_name("._sorted-patch.json").write_bytes(b"\0\5\x16\7")

    result = desk.run("classify", first, desk.zip("rerun", FLAKE[1]))

    assert "failure_class=harness_flake\n" in result.out
    place = f"{record.parent.relative_to(first).as_posix()}/._sorted-patch.json"
    assert result.err.splitlines()[-1] == (
        f"note: Left out of first: {place}. macOS adds such files (AppleDouble); they are no records."
    )


def test_a_broken_policy_mutes_nothing_and_is_said_with_its_lines(desk: Terminal) -> None:
    """Fail closed, and loudly: each problem with its place, harmless in a log."""
    file = desk.folder / "policy ::error::.yml"
    file.write_text("schema: freeze-gate/policy/1\nmax_freeze_days: 1000\nfrezes: []\n")
    paths = desk.zip("first", FLAKE[0]), desk.zip("rerun", FLAKE[1])

    said = desk.run("classify", *paths, "--policy", file)

    assert said.code == 1
    *_, loud, first, second = said.err.splitlines()
    problems = [first, second]
    assert loud.startswith("policy: could not be used. No freeze is active")
    assert [problem.split(".yml:")[1][:2] for problem in problems] == ["2:", "3:"]
    assert "::error" not in said.err
    assert "frezes" in problems[1]


def test_a_policy_that_is_no_utf8_leaves_the_verdict(desk: Terminal) -> None:
    """Behind a byte-order mark and a letter beyond ASCII too: it is unusable, and no exception ends the command."""
    file = desk.folder / "policy.yml"
    file.write_bytes(b"\xef\xbb\xbf# \xc3\xa9\xff\n" + make_policy())
    paths = desk.zip("first", FLAKE[0]), desk.zip("rerun", FLAKE[1])

    result = desk.run("classify", *paths, "--policy", file)

    assert (result.code, "failure_class=harness_flake\n" in result.out) == (1, True)
    assert "policy.yml:1: is not UTF-8 from here" in result.err


def test_a_policy_that_cannot_be_read_is_named_as_it_was_given(desk: Terminal) -> None:
    """A path that does not exist was mistyped: a usage error that shows all of it."""
    paths = desk.zip("first", FLAKE[0]), desk.zip("rerun", FLAKE[1])

    said = desk.run("classify", *paths, "--policy", desk.folder / "gone" / "policy.yml")

    assert said.code == 2
    assert str(desk.folder / "gone" / "policy.yml") in said.err


def test_never_is_0(desk: Terminal) -> None:
    """`--fail-on never` observes."""
    said = desk.run("classify", desk.zip("a", MISS[0]), desk.zip("b", MISS[1]), "--fail-on", "never")
    assert said.code == 0
    assert "failure_class=property_miss\n" in said.out


def test_the_document_is_printed_and_written_and_verified(desk: Terminal) -> None:
    """`--json` and `--verdict-file` give the same bytes, and `verify` agrees with them."""
    file = desk.folder / "out" / "verdict.json"
    file.parent.mkdir()

    said = desk.run("classify", desk.zip("a", MISS[0]), desk.zip("b", MISS[1]), "--json", "--verdict-file", file)

    assert file.read_text() == said.out
    assert json.loads(said.out)["result"]["failure_class"] == "property_miss"
    assert desk.run("verify", file).code == 0


def test_a_verdict_file_that_cannot_be_written_comes_after_the_verdict(desk: Terminal) -> None:
    """The lines first; then exit code 3."""
    said = desk.run("classify", desk.zip("a", MISS[0]), desk.zip("b", MISS[1]), "--verdict-file", desk.folder)
    assert "failure_class=property_miss\n" in said.out
    assert said.code == 3


def test_neither_requests_nor_yaml_is_imported(desk: Terminal) -> None:
    """A stranger's machine needs the standard library alone."""
    paths = desk.zip("first", FLAKE[0]), desk.zip("rerun", FLAKE[1])
    program = (
        "import sys; from freeze_gate import cli; cli.main(sys.argv[1:], {}); "
        "sys.exit(bool({'requests', 'urllib3', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "classify", *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "failure_class=harness_flake" in done.stdout) == (0, True)


def test_a_hundred_pairs_are_judged_by_the_worst(desk: Terminal) -> None:
    """The four lines are those of the deciding pair."""
    first = [make_capture(fixture_id=f"s{number:03}", oracle=number != 42) for number in range(100)]
    rerun = [make_capture(fixture_id=f"s{number:03}", oracle=number != 42) for number in range(100)]
    said = desk.run("classify", desk.zip("first", *first), desk.bundle("rerun", *rerun))
    assert "failure_class=property_miss\n" in said.out


def test_a_document_that_is_too_large_is_not_printed_by_half(desk: Terminal) -> None:
    """Records that are three times as long in ASCII; the four lines stand where they were asked for."""
    sides = []
    for attempt in (1, 2):
        texts = {"model": "\U0001f600" * 16_000}
        made = (make_mapping(f"f{n:03}", attempt=attempt, sampler=texts) for n in range(300))
        payloads = {f"records/{each['fixture_id']}.json": json.dumps(each, ensure_ascii=False) for each in made}
        sides.append(
            write_zip(desk.folder / f"{attempt}.zip", {name: text.encode() for name, text in payloads.items()})
        )

    printed = desk.run("classify", *sides, "--json")
    written = desk.run("classify", *sides, "--verdict-file", desk.folder / "v.json")

    assert (printed.code, printed.out) == (3, "")
    assert "the verdict document was not written: it would be over 96 MiB" in printed.err
    assert written.code == 3
    assert written.out.splitlines()[1] == "failure_class=unclassified"
    assert not (desk.folder / "v.json").exists()


def test_whoever_reads_no_more_of_the_document_gets_no_traceback(desk: Terminal) -> None:
    """`| head -1`: what goes into a file is whole all the same."""
    sides = [
        desk.zip(name, *(make_capture(attempt, fixture_id=f"f{number:03}") for number in range(300)))
        for attempt, name in ((1, "first"), (2, "rerun"))
    ]
    words = [sys.executable, "-I", "-m", "freeze_gate", "classify", *sides, "--json", "--verdict-file", "v.json"]
    with subprocess.Popen(words, cwd=desk.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"{\n"
        process.stdout.close()
        lines = process.stderr.read().splitlines()
        assert lines[:2] == [b"fixture: f000", b"pairs: 300 (300 green)"]
        assert lines[2].startswith(b"why: green. Nothing to mute")
        assert process.wait() == 3
    assert json.loads((desk.folder / "v.json").read_bytes())["result"]["reason"] == "green"
