"""From the records of two runs to pairs, one for each fixture id, so that nothing can vanish between the two sides."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from freeze_gate.evidence.bundle import SourceRecords
from freeze_gate.evidence.models import CheckFailure, Pair, Side, Source

_GLOB: Final = frozenset("*?[")


class RunEvidence(NamedTuple):
    """All that one run shows: the places that were looked at, one at least, and what each fixture id has there."""

    sources: tuple[Source, ...]
    sides: Mapping[str, Side]


def merge_sources(found: Iterable[SourceRecords]) -> RunEvidence:
    """Merge what several sources hold, one side for each fixture id.

    Records that are byte-identical count as one (a merged artifact beside its parts), with the worse of their pins; any
    other second record of one id is a `record-duplicate`: nothing says which of the two is right.
    """
    sources, candidates = [], dict[str, list[Side]]()
    for records in found:
        sources.append(records.source)
        for fixture_id, sides in records.sides.items():
            candidates.setdefault(fixture_id, []).extend(sides)
    return RunEvidence(
        tuple(sources), {fixture_id: resolve_duplicates(fixture_id, sides) for fixture_id, sides in candidates.items()}
    )


def resolve_duplicates(fixture_id: str, sides: Sequence[Side]) -> Side:
    """Return the side that counts of several with one id; see `merge_sources`."""
    digests = {side.record_sha256 for side in sides}
    if len(sides) > 1 and (len(digests) > 1 or None in digests):
        detail = f"{len(sides)} different records say that they are {fixture_id}"
        return Side(sides[0].source, fault=CheckFailure("record-duplicate", detail))
    return max(sides, key=_weight)


def _weight(side: Side) -> int:
    """Weigh one of several copies of a record. A pin that is wrong goes before a right one, and that before none."""
    if side.faults or (side.pin and side.record and side.pin.sha256 != side.record.fixture_sha256):
        return 2
    return 1 if side.pin else 0


def build_pairs(first: RunEvidence, rerun: RunEvidence, expected: Sequence[str] = ()) -> list[Pair]:
    """Pair two runs by fixture id, in the order of the ids.

    An id that one side lacks is a pair all the same, and so is an expected id (or a glob that matches nothing) that
    both lack. An archive that could not be read stands for the one side of such pairs; where no pair can stand for it,
    it is a pair of its own, without an id, before all others. A rerun that was made before its first run is none.
    """
    ids = {*first.sides, *rerun.sides}
    names = sorted(ids.union(name for name in expected if not _is_there(name, ids)))
    pairs = [_in_order(Pair(name, _side(first, name), _side(rerun, name))) for name in names]
    return _unaccounted(first, rerun, names) + pairs


def _in_order(pair: Pair) -> Pair:
    """Take away a rerun of an earlier attempt than the first run's: that attempt left it, and this one left none."""
    first, rerun = _made_by(pair.first), _made_by(pair.rerun)
    if not first or not rerun or first[0] != rerun[0] or first[1] <= rerun[1]:
        return pair
    detail = (
        f"what is there is of attempt {rerun[1]}, before the first run's attempt {first[1]}, so it is no rerun of it"
    )
    return pair._replace(rerun=Side(pair.rerun.source, fault=CheckFailure("artifact-missing", detail)))


def _made_by(side: Side) -> tuple[int, int] | None:
    """Return the run and the attempt that made a record, where GitHub was asked about the run."""
    asked = side.record and side.source.run_id
    return (asked, side.attempt) if asked and side.attempt else None


def _is_there(expected: str, names: Collection[str]) -> bool:
    return any(fnmatchcase(name, expected) for name in names) if _GLOB & set(expected) else expected in names


def _side(shown: RunEvidence, name: str) -> Side:
    return shown.sides.get(name) or _absent(shown, f"there is no record of {name}")


def _absent(shown: RunEvidence, detail: str) -> Side:
    """Return the side of an id that is not there: blamed on the one source that could not be read, if there is one."""
    broken = _broken(shown)
    if len(broken) == 1:
        return Side(broken[0])
    return Side(shown.sources[0], fault=CheckFailure("record-missing", detail))


def _broken(shown: RunEvidence) -> list[Source]:
    return [source for source in shown.sources if source.fault]


def _unaccounted(first: RunEvidence, rerun: RunEvidence, names: Sequence[str]) -> list[Pair]:
    """Return a pair for each broken source that no named pair shows, and one where there is nothing at all.

    Sources of one label are the two sides of one pair, and so are a run's only source and the other's.
    """
    ours, theirs = _unshown(first, names), _unshown(rerun, names)
    labels = sorted({*ours, *theirs}) or ([] if names else [""])
    return [Pair(None, _lost(first, ours.get(label)), _lost(rerun, theirs.get(label))) for label in labels]


def _unshown(shown: RunEvidence, names: Iterable[str]) -> dict[str, Source]:
    """Return the broken sources that none of a run's sides comes from, by their labels; a run's only source has ""."""
    broken = _broken(shown)
    if len(broken) == 1 and any(name not in shown.sides for name in names):
        return {}
    return {source.label if len(shown.sources) > 1 else "": source for source in broken}


def _lost(shown: RunEvidence, source: Source | None) -> Side:
    fault = CheckFailure("record-missing", "it holds no record for this pair")
    return Side(source) if source else Side(shown.sources[0], fault=fault)
