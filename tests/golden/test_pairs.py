"""One folder for each pair of bundles whose right answer is known; the folder's name is the assertion.

`first/` and `rerun/` are the bundles (`freeze-gate classify` takes them), `lines.txt` holds the four lines with the
reason and the exit code, `verdict.json` the document. `python -m tests.golden.test_pairs` writes all of them anew from
the table below, from the root of the repository; look at the difference. The class, the reasons and the exit codes in
the table are written by hand, and are checked whatever the files say.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from freeze_gate.evidence.archive import open_tree
from freeze_gate.evidence.bundle import BundleReader
from freeze_gate.evidence.kept import keep
from freeze_gate.evidence.pairing import gather, pair_up
from freeze_gate.evidence.side import Artifact, Other, Source
from freeze_gate.policy.freezes import Policy, PolicyReading
from freeze_gate.report.lines import four_lines
from freeze_gate.shelf import Shelf
from freeze_gate.verdict.document import encode
from freeze_gate.verdict.document_reader import recompute
from freeze_gate.verdict.evaluate import judge
from freeze_gate.verdict.models import Case, Result
from tests.builders.bundle import SAMPLE, Files, files, record, write, zipped
from tests.builders.evidence import FREEZE, TODAY

HERE: Final = Path(__file__).parent
RELEASED: Final = sorted((HERE / "released").glob("*/*.json"))
ID: Final = "sorted-patch"


class Run(NamedTuple):
    """What one run left of one fixture: what it says, the bytes that it pinned, and what came of either on the way."""

    says: Mapping[str, Any]
    pin: bytes | None
    kept: bytes | None
    garble: Callable[[bytes], bytes]

    def files(self, fixture_id: str, attempt: int) -> Files:
        """Return the record and the pin."""
        claim = record(fixture_id, self.pin, attempt=attempt, **self.says)
        made = files(claim, pins=())
        if self.kept is not None and self.pin is not None:
            made[record(fixture_id, self.pin)["fixture_path"]] = self.kept
        return {name: self.garble(each) if name.startswith("records/") else each for name, each in made.items()}


def run(
    passed: bool | None = True,
    ok: bool | None = True,
    pin: bytes | None = SAMPLE,
    *,
    kept: bytes | None = b"as pinned",
    garble: Callable[[bytes], bytes] = bytes,
    **changed: Any,
) -> Run:
    """Return a run: its oracle, its transport, its bytes; what is `changed` is merged into the record."""
    says = {"oracle_passed": passed, "transport_ok": ok, **changed}
    return Run(says, pin, pin if kept == b"as pinned" else kept, garble)


def edited(**changed: Any) -> Callable[[bytes], bytes]:
    """Change top-level keys of a record to what no record may say."""
    return lambda payload: json.dumps({**json.loads(payload), **changed}, indent=1).encode()


class Expected(NamedTuple):
    """A fixture's two runs, and the class and the reason that follow from them."""

    first: Run
    rerun: Run
    failure_class: str
    reason: str


class Golden(NamedTuple):
    """A case: what it says, its fixtures, the exit code, what the case holds besides, and where its files stand."""

    says: str
    fixtures: Mapping[str, Expected]
    exit_code: int = 1
    facts: Mapping[str, Any] = {}
    gate: bool = False
    roots: tuple[str, ...] = ("",)
    earlier: Run | None = None
    missing: tuple[str, ...] = ()

    def bundles(self) -> dict[str, Files]:
        """Return the files of the two bundles, and of a third attempt where there is one."""
        runs = {
            "first": {name: given.first for name, given in self.fixtures.items()},
            "rerun": {name: given.rerun for name, given in self.fixtures.items()},
            **({"earlier": {ID: self.earlier}} if self.earlier else {}),
        }
        return {name: self._files(shown, attempt) for attempt, (name, shown) in enumerate(runs.items(), 1)}

    def _files(self, shown: Mapping[str, Run], attempt: int) -> Files:
        """Put the files below each root; below a second one that is called `other/` stand those of another attempt."""
        return {
            root + name: content
            for root in self.roots
            for fixture_id, given in shown.items()
            for name, content in given.files(fixture_id, 7 if root == "other/" else attempt).items()
        }


def one(first: Run, rerun: Run, failure_class: str, reason: str) -> dict[str, Expected]:
    """Return a case's only fixture."""
    return {ID: Expected(first, rerun, failure_class, reason)}


def each(failure_class: str, reason: str, **pairs: tuple[Run, Run]) -> dict[str, Expected]:
    """Return fixtures that have one answer in common."""
    return {name.replace("_", "-"): Expected(*both, failure_class, reason) for name, both in pairs.items()}


U: Final = "unclassified"
MISS: Final = ("property_miss", "both-oracles-failed")
DRIFT: Final = ("fixture_drift", "digests-differ")
FLAKE: Final = ("harness_flake", "transport-fault")
BAD: Final = run(None, False)
GOOD: Final = run()
LINES: Final = b"a\nb\n"
CUT: Final = {"fault": "truncated", "pin_complete": False, "bytes_received": 14, "bytes_declared": 10_000}
REPLAY: Final = {"run": {"replay_of": record()["run"]["capture_id"]}}
ENDED: Final = {
    "killed": ("crashed", 137),
    "aborted": ("crashed", 134),
    "segfault": ("crashed", 139),
    "time-limit": ("timed_out", 124),
    "usage-error": ("failed", 2),
    "nothing-collected": ("failed", 5),
    "no-such-command": ("failed", 127),
}
PIN: Final = record()["fixture_sha256"]
FROZEN: Final = PolicyReading("read", Policy(freezes=(FREEZE._replace(fixture_sha256=PIN, fixture_id=ID),)), "b" * 40)


def _ended(outcome: str, exit_code: int, transport: bool | None) -> Run:
    return run(False, transport, oracle={"outcome": outcome, "exit_code": exit_code})


CASES: Final[dict[str, Golden]] = {
    "P01-a-string-for-a-boolean--unclassified": Golden(
        "Read loosely, each of them would be a flake.",
        {
            f"{key.split('_', maxsplit=1)[0]}-{name}": Expected(
                run(None, False, garble=edited(**{key: value})), GOOD, U, "record-invalid"
            )
            for key in ("oracle_passed", "transport_ok")
            for name, value in {"false": "false", "False": "False", "no": "no", "zero": 0, "one": 1}.items()
        },
    ),
    "P02-text-is-no-evidence--property_miss": Golden(
        "The oracle's own text blames the line; nobody reads it.",
        one(run(False, False, oracle={"text": "ConnectionError: reset"}), run(False), *MISS),
    ),
    "P03-split-oracle--unclassified": Golden(
        "A fail that a rerun did not repeat is still a fail, whatever the transport did.",
        each(U, "split-oracle", all_well=(run(False), GOOD), a_bad_line=(run(False, False), GOOD)),
    ),
    "P04-retries-are-no-fault--unclassified": Golden(
        "The call went through in the end.",
        one(run(None, transport={"retry_count": 2}), GOOD, U, "nothing-to-blame"),
    ),
    "P05-zero-bytes-and-no-bytes--unclassified": Golden(
        "Zero bytes are a real pin, no bytes are missing, and an empty digest is neither.",
        {
            "null": Expected(run(pin=b""), run(None, pin=None), U, "digest-missing"),
            "empty": Expected(
                run(pin=b""),
                run(None, pin=None, garble=edited(fixture_sha256="", fixture_path="x")),
                U,
                "record-invalid",
            ),
        },
    ),
    "P06-line-ends--unclassified": Golden(
        "Something on the way rewrote the line ends: neither drift, nor to be repaired.",
        one(BAD._replace(pin=LINES, kept=b"a\r\nb\r\n"), run(pin=LINES), U, "fixture-digest-mismatch"),
    ),
    "P07-a-malformed-digest--unclassified": Golden(
        "No digest is trimmed, lower-cased or cut into shape.",
        {
            name: Expected(run(None, False, garble=edited(fixture_sha256=value)), GOOD, U, "record-invalid")
            for name, value in {
                "upper-case": PIN.upper(),
                "prefix": f"sha256:{PIN}",
                "line-feed": f"{PIN}\n",
                "carriage-return": f"{PIN}\r",
                "short": PIN[:63],
            }.items()
        },
    ),
    "P08-bytes-that-mean-the-same--fixture_drift": Golden(
        "Bytes are bytes.",
        each(
            *DRIFT,
            key_order=(BAD._replace(pin=b'{"a":1,"b":2}', kept=b'{"a":1,"b":2}'), run(pin=b'{"b":2,"a":1}')),
            last_newline=(run(False, pin=b"{}"), run(False, pin=b"{}\n")),
            byte_order_mark=(run(pin=b"{}"), run(pin=b"\xef\xbb\xbf{}")),
            line_ends=(run(pin=LINES), run(pin=b"a\r\nb\r\n")),
        ),
    ),
    "P09-a-record-with-a-byte-order-mark--harness_flake": Golden(
        "Of the record, not of the pin: read normally.",
        one(BAD._replace(garble=lambda payload: b"\xef\xbb\xbf" + payload), GOOD, *FLAKE),
    ),
    "P10-a-garbled-record--unclassified": Golden(
        "Cut in half, with a key twice, over 64 KiB, and empty.",
        each(
            U,
            "record-invalid",
            cut=(BAD._replace(garble=lambda payload: payload[: len(payload) // 2]), GOOD),
            twice=(BAD._replace(garble=lambda payload: payload.replace(b"{", b'{"oracle_passed": true,', 1)), GOOD),
            large=(BAD._replace(garble=lambda payload: payload + b" " * (70 << 10)), GOOD),
            empty=(GOOD, BAD._replace(garble=lambda _: b"")),
        ),
    ),
    "P11-claims-that-cannot-both-be-true--unclassified": Golden(
        "One contradiction makes a record unusable.",
        each(
            U,
            "record-contradiction",
            timed_out=(run(None, transport={"timed_out": True}), run(None, False)),
            short_body=(run(None, transport={"bytes_received": 14, "bytes_declared": 10_000}), run(None, False)),
            no_fault=(run(None, False, transport={"fault": None}), GOOD),
            refused=(run(None, False, transport={"fault": "http_status", "status_code": 404}), GOOD),
            no_checks=(run(None, False, transport={"fault": "length_check"}), GOOD),
            outcome=(GOOD, run(None, False, oracle={"outcome": "failed"})),
        ),
    ),
    "P12-both-failed-over-a-bad-line--property_miss": Golden(
        "A dropped connection explains no failed property.", one(run(False, False), run(False, False), *MISS)
    ),
    "P13-an-oracle-that-ended-badly--property_miss": Golden(
        "A patch that crashes, hangs or deletes the test is no noise.",
        {
            name: Expected(_ended(*end, transport=False), _ended(*end, transport=True), *MISS)
            for name, end in ENDED.items()
        },
    ),
    "P14-eight-fixtures--property_miss": Golden(
        "Each has its class; the worst speaks, and no label follows from the one that is noise.",
        {
            "a": Expected(BAD, GOOD, *FLAKE),
            "f": Expected(run(False), run(False), *MISS),
            "g": Expected(run(False), run(False), *MISS),
            **{name: Expected(GOOD, GOOD, U, "green") for name in "bcdeh"},
        },
    ),
    "P16-at-midnight--property_miss": Golden("Both failed.", one(run(False), run(False), *MISS)),
    "P16-in-the-morning--unclassified": Golden("One failed.", one(run(False), GOOD, U, "split-oracle")),
    "P17-one-token-differs--fixture_drift": Golden(
        "The rerun checked another sample, so its pass says nothing about the first.",
        one(run(False, False), run(pin=SAMPLE.replace(b"3", b"4")), *DRIFT),
    ),
    "P18-a-cached-error-body--property_miss": Golden(
        "Both checked it, and it failed.", one(run(False, pin=b"<h1>500</h1>"), run(False, pin=b"<h1>500</h1>"), *MISS)
    ),
    "P18-a-cached-error-body-unchecked--unclassified": Golden(
        "No oracle ran on it, and no fault was seen.",
        one(run(None, None, pin=b"<h1>500</h1>"), run(None, None, pin=b"<h1>500</h1>"), U, "nothing-to-blame"),
    ),
    "P19-the-layout-of-a-record--harness_flake": Golden(
        "The order of its keys and its indentation say nothing.",
        one(
            BAD._replace(garble=lambda payload: json.dumps(dict(reversed(json.loads(payload).items()))).encode()),
            GOOD._replace(garble=lambda payload: json.dumps(json.loads(payload), indent=8).encode() + b"\r\n\r\n"),
            *FLAKE,
        ),
    ),
    "P20-no-oracle-ever-passed--harness_flake": Golden(
        "A freeze may be asked for, and a reviewer's is not active: nothing shows that the patch works.",
        one(BAD, run(None), *FLAKE),
        facts={"policy": FROZEN},
    ),
    "P21-an-oracle-that-reached-out--property_miss": Golden(
        "It closes the door, and is no excuse for a miss.",
        {
            "at-the-door": Expected(BAD, run(oracle={"egress_attempts": 3}), U, "oracle-egress"),
            "a-miss": Expected(run(False), run(False, oracle={"egress_attempts": 3}), *MISS),
        },
    ),
    "P22-a-stump-and-its-replay--unclassified": Golden(
        "Only fourteen bytes of the answer were ever checked.",
        one(run(None, False, transport=CUT), run(ok=None, **REPLAY), U, "pin-partial"),
    ),
    "P23-a-lane-that-was-dropped--harness_flake": Golden(
        "The sample was whole when the harness dropped the lane that executes it.",
        one(run(None, False, transport={"pin_complete": True}), run(ok=None, **REPLAY), *FLAKE),
    ),
    "P24-a-fail-cannot-be-rerun-away--unclassified": Golden(
        "An attempt before these two recorded a fail on the same bytes.",
        one(BAD, GOOD, U, "earlier-fail"),
        earlier=run(False),
    ),
    "P25-in-the-gate-without-a-run--unclassified": Golden(
        "Nothing ties the record to the artifact's run.",
        one(run(None, False, garble=edited(run=None)), GOOD, U, "run-mismatch"),
        gate=True,
    ),
    "P25-offline-without-a-run--harness_flake": Golden(
        "There is nothing to compare it with.", one(run(None, False, garble=edited(run=None)), GOOD, *FLAKE)
    ),
    "P26-an-expected-id-that-nobody-has--unclassified": Golden(
        "Silence is not green.",
        {ID: Expected(GOOD, GOOD, U, "green")},
        facts={"expected": ("pagination", "sorted-*")},
        missing=("pagination",),
    ),
    "P27-a-replay-that-made-a-call--unclassified": Golden(
        "It made none, so none can have failed.", one(run(None, False, **REPLAY), GOOD, U, "record-contradiction")
    ),
    "A08-a-pin-of-zero-bytes--harness_flake": Golden(
        "A real one.", one(BAD._replace(pin=b"", kept=b""), run(pin=b""), *FLAKE)
    ),
    "A10-a-folder-deeper--harness_flake": Golden(
        "One path more in the upload step moved everything.", one(BAD, GOOD, *FLAKE), roots=("out/freeze-gate/",)
    ),
    "A11-pins-that-were-left-out--unclassified": Golden(
        "The upload step skips folders with a dot in front.",
        one(run(None, False, kept=None, garble=edited(fixture_path=f".pins/{PIN}")), GOOD, U, "fixture-missing"),
    ),
    "A12-one-record-twice--harness_flake": Golden(
        "The same bytes count as one.", one(BAD, GOOD, *FLAKE), roots=("freeze-gate/", "copy/")
    ),
    "A12-two-records-of-one-id--unclassified": Golden(
        "Nothing says which is the run's word.", one(BAD, GOOD, U, "record-duplicate"), roots=("one/", "other/")
    ),
    "A13-a-digest-that-nobody-published--harness_flake": Golden(
        "Older uploaders publish none.", one(BAD, GOOD, *FLAKE), gate=True
    ),
    "E01-nothing-is-red--green": Golden("Nothing to mute.", one(GOOD, GOOD, U, "green"), exit_code=0),
    "E02-a-freeze-that-reviewers-merged--harness_flake": Golden(
        "Muted for one digest, until its last day.", one(BAD, GOOD, *FLAKE), exit_code=0, facts={"policy": FROZEN}
    ),
    "E03-the-day-after--harness_flake": Golden(
        "Red again.", one(BAD, GOOD, *FLAKE), facts={"policy": FROZEN, "today": date(2026, 12, 11)}
    ),
    "E04-observation-only--property_miss": Golden(
        "The class stands; the job stays green.",
        one(run(False), run(False), *MISS),
        exit_code=0,
        facts={"fail_on": "never"},
    ),
}


def _source(golden: Golden, attempt: int) -> Source:
    if not golden.gate:
        return Source(("first", "rerun", "earlier")[attempt - 1])
    artifact = Artifact(100 + attempt, f"freeze-gate-{attempt}", 4000, run_id=4242, head_sha="a" * 40)
    return Source(artifact.name, artifact, run_id=4242, attempt=attempt, newest_attempt=2)


def _judged(golden: Golden, paths: Mapping[str, Path]) -> tuple[Case, Result]:
    """Judge bundles, folders or zips."""
    shown, shelf = [], Shelf()
    for attempt, path in enumerate(paths.values(), 1):
        source = _source(golden, attempt)
        with open_tree(path) as tree:
            shown.append(gather([keep(source, shelf, BundleReader(tree, source).sides())]))
    first, rerun, *earlier = shown
    facts = {"today": TODAY, "repository": "octo-org/widgets" if golden.gate else None, **golden.facts}
    others = tuple(Other(name, side) for run in earlier for name, side in run.sides.items())
    pairs = pair_up(first, rerun, golden.facts.get("expected", ()))
    case = Case(github_metadata=golden.gate, pairs=pairs, other_attempts=others, **facts)
    return case, judge(case)


def _expected_files(golden: Golden, case: Case, result: Result) -> Files:
    lines = f"{four_lines(result)}\nreason={result.reason}\nexit={result.exit_code}\n\n{golden.says}\n"
    return {"lines.txt": lines.encode(), "verdict.json": encode(case, result)}


def _on_disk(folder: Path) -> Files:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_is_the_one_in_the_name(name: str) -> None:
    """Class, reason and exit code of each fixture and of the whole are those that were written by hand."""
    golden = CASES[name]
    _, result = _judged(golden, {each: HERE / name / each for each in golden.bundles()})
    assert {verdict.fixture_id: (verdict.failure_class, verdict.reason) for verdict in result.verdicts} == {
        **{fixture_id: given[2:] for fixture_id, given in golden.fixtures.items()},
        **dict.fromkeys(golden.missing, (U, "record-missing")),
    }
    assert name.endswith(f"--{'green' if result.reason == 'green' else result.failure_class}")
    assert result.exit_code == golden.exit_code
    assert result.freeze_allowed is name.endswith("--harness_flake")


@pytest.mark.parametrize("name", CASES)
def test_the_files_are_those_of_the_table(name: str, tmp_path: Path) -> None:
    """The bundles byte for byte, the four lines and the document; from folders as from zips."""
    golden = CASES[name]
    bundles = {f"{each}/{path}": content for each, made in golden.bundles().items() for path, content in made.items()}
    case, result = _judged(golden, {each: HERE / name / each for each in golden.bundles()})
    assert _on_disk(HERE / name) == bundles | _expected_files(golden, case, result)
    zips = {each: zipped(tmp_path / f"{each}.zip", made) for each, made in golden.bundles().items()}
    assert _expected_files(golden, *_judged(golden, zips)) == _expected_files(golden, case, result)


@pytest.mark.parametrize("name", CASES)
def test_the_document_is_computed_again_from_itself_alone(name: str) -> None:
    """The same bytes, by the one function that made them."""
    payload = (HERE / name / "verdict.json").read_bytes()
    assert recompute(payload) == payload


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_released_verdict_still_verifies(path: Path) -> None:
    """What an older version wrote is computed again by the rules of its time."""
    payload = path.read_bytes()
    assert recompute(payload) == payload


def test_no_folder_is_left_over() -> None:
    """What is in no table is looked at by nobody."""
    assert {path.name for path in HERE.glob("*--*")} == set(CASES)


def _write_all() -> None:
    for path in HERE.glob("*--*"):
        shutil.rmtree(path)
    for name, golden in CASES.items():
        paths = {each: write(HERE / name / each, made) for each, made in golden.bundles().items()}
        write(HERE / name, _expected_files(golden, *_judged(golden, paths)))


if __name__ == "__main__":
    _write_all()
