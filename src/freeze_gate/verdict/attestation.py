"""An in-toto statement about a verdict. Signed by a workflow, it ties the verdict to a run.

https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
"""

from typing import Any, Final

from freeze_gate.verdict.document import canonical
from freeze_gate.verdict.models import Case

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:freeze-gate:verdict:1"


def statement(document: Any, case: Case) -> bytes:
    """Return the statement: its subjects are the pinned bytes of all pairs, its predicate is the verdict document."""
    return canonical(
        {"_type": STATEMENT_TYPE, "subject": subjects(case), "predicateType": PREDICATE_TYPE, "predicate": document}
    )


def subjects(case: Case) -> list[dict[str, Any]]:
    """List every pin once, by its digest, under the path that its record gives it."""
    pins = {
        side.pin.sha256: side.record.fixture_path
        for pair in case.pairs
        for side in (pair.rerun, pair.first)
        if side.record and side.pin
    }
    return [{"name": pins[sha256], "digest": {"sha256": sha256}} for sha256 in sorted(pins)]
