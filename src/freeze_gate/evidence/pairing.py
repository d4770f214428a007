"""Pairs the records of two runs by fixture id. Every record and every source ends up in a pair."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from freeze_gate.evidence.bundle import SourceRecords
from freeze_gate.evidence.models import CheckFailure, Pair, Side, Source

_GLOB_CHARACTERS: Final = frozenset("*?[")

_ONLY_SOURCE: Final = ""
"""Stands for the label of a run's only source, so that it is paired with the only source of the other run."""


class RunEvidence(NamedTuple):
    """The evidence of one run: its sources, at least one, and the side of each fixture id."""

    sources: tuple[Source, ...]
    sides: Mapping[str, Side]

    @property
    def failed_sources(self) -> list[Source]:
        """The sources that could not be read or hold no record."""
        return [source for source in self.sources if source.fault]


def merge_sources(records_of_sources: Iterable[SourceRecords]) -> RunEvidence:
    """Merge the records of several sources into one side for each fixture id.

    Byte-identical records count as one (a merged artifact beside its parts), with the worse of their pins. Any other
    second record of an id is a `record-duplicate`: nothing says which of the two is right.
    """
    sources, candidates = [], dict[str, list[Side]]()
    for records in records_of_sources:
        sources.append(records.source)
        for fixture_id, sides in records.sides.items():
            candidates.setdefault(fixture_id, []).extend(sides)
    merged = {fixture_id: resolve_duplicates(fixture_id, sides) for fixture_id, sides in candidates.items()}
    return RunEvidence(tuple(sources), merged)


def resolve_duplicates(fixture_id: str, sides: Sequence[Side]) -> Side:
    """Return the side that counts of several with one id; see `merge_sources`."""
    digests = {side.record_sha256 for side in sides}
    if len(sides) > 1 and (len(digests) > 1 or None in digests):
        detail = f"{len(sides)} different records say that they are {fixture_id}"
        return Side(sides[0].source, fault=CheckFailure("record-duplicate", detail))
    return max(sides, key=_pin_priority)


def _pin_priority(side: Side) -> int:
    """Rank copies of one record: a wrong pin counts before a right one, and a right one before none."""
    if side.faults or (side.pin and side.record and side.pin.sha256 != side.record.fixture_sha256):
        return 2
    return 1 if side.pin else 0


def build_pairs(first: RunEvidence, rerun: RunEvidence, expected: Sequence[str] = ()) -> list[Pair]:
    """Pair two runs by fixture id, in the order of the ids.

    An id that one side lacks makes a pair too. So does an expected id, or a glob that matches nothing, that both sides
    lack. A source that could not be read stands for the missing side of such pairs. If no pair can show it, it becomes
    a pair without an id, before all others.
    """
    present = {*first.sides, *rerun.sides}
    missing = [pattern for pattern in expected if not _matches_any(pattern, present)]
    fixture_ids = sorted({*present, *missing})
    pairs = [
        Pair(fixture_id, _side_or_missing(first, fixture_id), _side_or_missing(rerun, fixture_id))
        for fixture_id in fixture_ids
    ]
    return _whole_source_pairs(first, rerun, fixture_ids) + [_reject_stale_rerun(pair) for pair in pairs]


def _matches_any(pattern: str, fixture_ids: Collection[str]) -> bool:
    if _GLOB_CHARACTERS.isdisjoint(pattern):
        return pattern in fixture_ids
    return any(fnmatchcase(fixture_id, pattern) for fixture_id in fixture_ids)


def _side_or_missing(evidence: RunEvidence, fixture_id: str) -> Side:
    """Return the side of an id. If it is missing, the only source that could not be read is the reason."""
    side = evidence.sides.get(fixture_id)
    if side:
        return side
    if len(evidence.failed_sources) == 1:
        return Side(evidence.failed_sources[0])
    return _record_missing(evidence, f"there is no record of {fixture_id}")


def _record_missing(evidence: RunEvidence, detail: str) -> Side:
    return Side(evidence.sources[0], fault=CheckFailure("record-missing", detail))


def _reject_stale_rerun(pair: Pair) -> Pair:
    """Reject a rerun of an earlier attempt than the first run's: it is what an earlier attempt left behind."""
    first, rerun = pair.first, pair.rerun
    if not (first.record and rerun.record and first.attempt and rerun.attempt and first.source.run_id):
        return pair
    if first.source.run_id != rerun.source.run_id or first.attempt <= rerun.attempt:
        return pair
    detail = (
        f"what is there is of attempt {rerun.attempt}, before the first run's attempt {first.attempt}, "
        "so it is no rerun of it"
    )
    return pair._replace(rerun=Side(rerun.source, fault=CheckFailure("artifact-missing", detail)))


def _whole_source_pairs(first: RunEvidence, rerun: RunEvidence, fixture_ids: Sequence[str]) -> list[Pair]:
    """Return a pair for each failed source that no pair with an id shows, and one if there is nothing at all.

    Sources with the same label are the two sides of one pair, and so are a run's only source and the other run's.
    """
    first_sources = _unrepresented_sources(first, fixture_ids)
    rerun_sources = _unrepresented_sources(rerun, fixture_ids)
    labels = sorted({*first_sources, *rerun_sources})
    if not labels and not fixture_ids:
        labels = [_ONLY_SOURCE]
    return [
        Pair(None, _source_side(first, first_sources.get(label)), _source_side(rerun, rerun_sources.get(label)))
        for label in labels
    ]


def _source_side(evidence: RunEvidence, source: Source | None) -> Side:
    return Side(source) if source else _record_missing(evidence, "it holds no record for this pair")


def _unrepresented_sources(evidence: RunEvidence, fixture_ids: Iterable[str]) -> dict[str, Source]:
    """Return the failed sources that no side of a run comes from, by their labels."""
    failed = evidence.failed_sources
    if len(failed) == 1 and any(fixture_id not in evidence.sides for fixture_id in fixture_ids):
        return {}
    is_only_source = len(evidence.sources) == 1
    return {_ONLY_SOURCE if is_only_source else source.label: source for source in failed}
