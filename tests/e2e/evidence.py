"""Two runs' evidence as uploaded artifacts, for each thing that the gate can say about them."""

import io
import zipfile
from typing import NamedTuple

from freeze_gate.evidence.digest import Sha256
from freeze_gate.evidence.record import Oracle, Record, Run, Transport, encode_record

FIXTURE_ID = "sorted-patch"
COMMIT = "d" * 40


class Seen(NamedTuple):
    """What one run saw: the sample, whether the oracle passed, whether the transport held."""

    sample: bytes = b'{"patch": 1}\n'
    oracle: bool | None = True
    transport: bool = True


class Example(NamedTuple):
    """A pair of runs and what the gate says about it without a freeze."""

    first: Seen
    rerun: Seen
    failure_class: str
    reason: str
    freeze_allowed: bool = False
    exit_code: int = 1


FLAKY = Seen(oracle=None, transport=False)
FAILED = Seen(oracle=False)
EXAMPLES = {
    "property_miss": Example(FAILED, FAILED, "property_miss", "both-oracles-failed"),
    "fixture_drift": Example(FAILED, Seen(b'{"patch": 2}\n'), "fixture_drift", "digests-differ"),
    "harness_flake": Example(FLAKY, Seen(), "harness_flake", "transport-fault", freeze_allowed=True),
    "unclassified": Example(FAILED, Seen(), "unclassified", "split-oracle"),
    "green": Example(Seen(), Seen(), "unclassified", "green", exit_code=0),
}


def artifact(seen: Seen, run_id: int, capture: int, repository: str, *, commit: str = COMMIT) -> bytes:
    """Zip the bundle that one job of a run would have uploaded."""
    digest = Sha256.of(seen.sample)
    path = f"fixtures/{digest}.json"
    outcome, exit_code = {True: ("passed", 0), False: ("failed", 1), None: ("not_run", None)}[seen.oracle]
    record = Record(
        fixture_id=FIXTURE_ID,
        fixture_sha256=digest,
        fixture_path=path,
        oracle_passed=seen.oracle,
        transport_ok=seen.transport,
        transport=Transport(200, timed_out=False, fault=None if seen.transport else "connection", pin_complete=True),
        oracle=Oracle(outcome, exit_code, fixture_sha256=digest, egress="sealed", egress_attempts=0, runs=1),
        run=Run(repository, run_id, 1, "agent-patch", commit, f"{capture:032x}"),
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"records/{FIXTURE_ID}.json", encode_record(record))
        archive.writestr(path, seen.sample)
    return packed.getvalue()
